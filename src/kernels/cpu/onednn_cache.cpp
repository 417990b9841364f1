#include "kernels/cpu/onednn_cache.h"

#include "runtime/host_cache.h"

namespace tandem::kernels::cpu {

void KeptPrimitives::add(KeptPrimitive& kept) noexcept {
  by_use_.splice(by_use_.begin(), kept.node_);
  runtime::primitive_bytes.fetch_add(kept.bytes_);
}

void KeptPrimitives::use(KeptPrimitive& kept) noexcept {
  ++kept.users_;
  by_use_.splice(by_use_.begin(), by_use_, kept.place_);
}

void KeptPrimitives::grow(KeptPrimitive& kept, ptrdiff_t bytes) noexcept {
  kept.bytes_ += static_cast<size_t>(bytes);
  runtime::primitive_bytes.fetch_add(static_cast<size_t>(bytes));
}

std::unique_ptr<KeptPrimitive> KeptPrimitives::surplus() noexcept {
  if (runtime::primitive_bytes.load() <= runtime::primitive_limit()) return nullptr;
  for (auto place = by_use_.end(); place != by_use_.begin();) {
    KeptPrimitive& oldest = **--place;
    if (oldest.users_ > 0) continue;
    by_use_.erase(place);
    runtime::primitive_bytes.fetch_sub(oldest.bytes_);
    return oldest.leave();
  }
  return nullptr;
}

KeptPrimitives& kept_primitives() {
  static auto* const all = new KeptPrimitives;  // not destroyed: kernels may run while the program ends
  return *all;
}

}  // namespace tandem::kernels::cpu
