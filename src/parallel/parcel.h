// Small tensors packed into one piece of memory, so that sending many costs one copy or one collective. For the library.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// A larger tensor's own way takes longer than what a parcel saves: it travels alone.
inline constexpr size_t kParcelItem = size_t{64} << 10;

/// Tensors of one device, of any dtypes, one after another.
class Parcel {
 public:
  /// With `fill` off the memory holds nothing yet: it is to be received. The tensors must outlive the parcel.
  Parcel(const std::vector<Tensor>& tensors, Site site, bool fill = true);

  /// All of it, as bytes.
  [[nodiscard]] const Tensor& packed() const { return packed_; }
  /// The tensors on `device`. Each has a storage of its own over its part, so that changing one in place counts for none of the others.
  [[nodiscard]] std::vector<Tensor> unpacked_on(Device device, Site site) const;

 private:
  const std::vector<Tensor>& tensors_;
  std::vector<size_t> offsets_;
  Tensor packed_;
};

}  // namespace tandem::parallel::detail
