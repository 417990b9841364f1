#include "compile/memory.h"

#include <algorithm>

#include "base/align.h"

namespace tandem::compiling {

size_t place(std::vector<Room>& rooms) {
  std::vector<Room*> order;
  for (Room& room : rooms)
    if (room.first >= 0) order.push_back(&room);
  std::stable_sort(order.begin(), order.end(), [](const Room* a, const Room* b) { return a->bytes > b->bytes; });
  std::vector<const Room*> placed;  // by offset
  size_t total = 0;
  for (Room* const room : order) {
    room->offset = 0;
    for (const Room* other : placed) {
      if (other->last < room->first || other->first > room->last) continue;
      if (other->offset >= room->offset + room->bytes) break;
      room->offset = std::max(room->offset, align_up(other->offset + other->bytes));
    }
    placed.insert(std::upper_bound(placed.begin(), placed.end(), room, [](const Room* a, const Room* b) { return a->offset < b->offset; }),
                  room);
    total = std::max(total, room->offset + room->bytes);
  }
  return total;
}

ResultForm::ResultForm(const Tensor& traced, size_t bytes)
    : bytes_(bytes), sizes_(traced.sizes()), strides_(traced.strides()), offset_(traced.storage_offset()), dtype_(traced.dtype()) {
  dense_ = offset_ == 0 && static_cast<size_t>(sizes_.numel()) * size_of(dtype_) == bytes_ && strides_ == contiguous_strides(sizes_);
}

Ref<TensorImpl> ResultForm::memory(Site site) const {
  return dense_ ? TensorImpl::make(sizes_, dtype_, Device(), false, site)
                : TensorImpl::make({static_cast<int64_t>(bytes_)}, kUInt8, Device(), false, site);
}

Tensor ResultForm::tensor(Ref<TensorImpl> memory) const {
  return Tensor(dense_ ? std::move(memory) : TensorImpl::view(memory->storage, sizes_, strides_, offset_, dtype_));
}

}  // namespace tandem::compiling
