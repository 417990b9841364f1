#include "parallel/parcel.h"

#include "ops/launch.h"

namespace tandem::parallel::detail {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

Parcel::Parcel(const std::vector<Tensor>& tensors, Site site, bool fill) : tensors_(tensors) {
  size_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    offsets_.push_back(bytes);
    bytes += (tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  packed_ = Tensor(TensorImpl::make({static_cast<int64_t>(bytes)}, kUInt8, tensors[0].device(), false, site));
  for (size_t i = 0; fill && i < tensors.size(); ++i) {
    if (tensors[i].numel() == 0) continue;
    kernels::Out part = ops::out(tensors[i]);
    part.data = static_cast<char*>(packed_.impl().data) + offsets_[i];
    int64_t stride = 1;
    for (int d = part.ndim - 1; d >= 0; --d) {
      part.strides[d] = stride;
      stride *= part.sizes[d];
    }
    ops::launch(packed_, "broadcast", site, &kernels::Table::copy, part, tensors[i]);
  }
}

std::vector<Tensor> Parcel::unpacked_on(Device device, Site site) const {
  const Tensor there = packed_.to(device, {}, site);
  std::vector<Tensor> result;
  result.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Ref<Storage> part(new Storage(*there.impl().storage, offsets_[i], tensors_[i].nbytes()));
    const Shape& sizes = tensors_[i].sizes();
    result.emplace_back(TensorImpl::view(part.get(), sizes, contiguous_strides(sizes), 0, tensors_[i].dtype()));
  }
  return result;
}

}  // namespace tandem::parallel::detail
