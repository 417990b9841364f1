#include "tensor/tensor.h"

#include <optional>

#include "base/error.h"
#include "base/work_site.h"
#include "runtime/allocator.h"
#include "runtime/observer.h"
#include "runtime/tracer.h"
#include "tensor/dims.h"

namespace tandem {

void Tensor::undefined(Site site) {
  std::optional<Site::InForce> in_force;
  if (site.line) in_force.emplace(site.file, site.line);
  fail("the tensor is undefined: it was never given a value (a default Tensor(), or a .grad that backward has not filled)");
}

int64_t Tensor::size(int64_t dim, Site /*site*/) const {
  const auto& sizes = impl().sizes;
  if (sizes.empty()) fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  return sizes[static_cast<size_t>(wrap_dim(dim, this->dim()))];
}

int64_t Tensor::stride(int64_t dim, Site /*site*/) const {
  const auto& strides = impl().strides;
  if (strides.empty()) fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  return strides[static_cast<size_t>(wrap_dim(dim, this->dim()))];
}

void* Tensor::data_ptr(Site /*site*/) const {
  const TensorImpl& self = impl();
  runtime::refuse_trace("data_ptr");
  // Whoever has this address may read and write, so that of page-locked memory is told: copies by themselves go there.
  if (self.storage->is_pinned() && self.numel > 0) {
    const runtime::Telling told([&] {
      runtime::facts::Kernel fact{.op = "data_ptr", .site = detail::site_of_work(Site::none())};
      fact.accesses.push_back({.begin = self.data,
                               .bytes = is_contiguous() ? nbytes() : element_size(),
                               .sizes = self.sizes,
                               .dtype = self.dtype,
                               .kind = runtime::Access::Changed});
      return fact;
    });
  }
  auto* start = static_cast<char*>(self.storage->user_data());
  return start ? start + self.offset * static_cast<int64_t>(size_of(self.dtype)) : nullptr;
}

void Tensor::check_dtype(DType wanted) const {
  if (dtype() != wanted)
    fail("[data_ptr] expected scalar type ", scalar_name(wanted), " but found ", scalar_name(dtype()), "; convert with to()");
}

void Tensor::record_stream(const cuda::Stream& stream) const {
  const Storage& storage = *impl().storage;
  if (!storage.block()) return;
  const runtime::Allocation allocation{storage.data(), storage.block()};
  if (storage.is_pinned()) runtime::record_stream_pinned(allocation, stream);
  else runtime::record_stream(storage.device(), allocation, stream);
}

}  // namespace tandem
