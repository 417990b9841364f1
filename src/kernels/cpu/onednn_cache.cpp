#include "kernels/cpu/onednn_cache.h"

#include "runtime/host_cache.h"

namespace tandem::kernels::cpu {

void PrimitiveList::add(CachedPrimitive& primitive) noexcept {
  by_use_.splice(by_use_.begin(), primitive.node_);
  runtime::primitive_bytes.fetch_add(primitive.bytes_);
}

void PrimitiveList::use(CachedPrimitive& primitive) noexcept {
  ++primitive.users_;
  by_use_.splice(by_use_.begin(), by_use_, primitive.place_);
}

void PrimitiveList::grow(CachedPrimitive& primitive, ptrdiff_t bytes) noexcept {
  primitive.bytes_ += static_cast<size_t>(bytes);
  runtime::primitive_bytes.fetch_add(static_cast<size_t>(bytes));
}

std::unique_ptr<CachedPrimitive> PrimitiveList::surplus() noexcept {
  if (runtime::primitive_bytes.load() <= runtime::primitive_limit()) return nullptr;
  for (auto place = by_use_.end(); place != by_use_.begin();) {
    CachedPrimitive& oldest = **--place;
    if (oldest.users_ > 0) continue;
    by_use_.erase(place);
    runtime::primitive_bytes.fetch_sub(oldest.bytes_);
    return oldest.leave();
  }
  return nullptr;
}

PrimitiveList& all_primitives() {
  static auto* const all = new PrimitiveList;  // not destroyed: kernels may run while the program ends
  return *all;
}

}  // namespace tandem::kernels::cpu
