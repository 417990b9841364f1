#include "parallel/scatter_gather.h"

#include "base/error.h"
#include "ops/join.h"
#include "ops/view.h"

namespace tandem::parallel {

std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices, int64_t dim, Site site) {
  if (devices.empty()) fail("[scatter] no devices were given");
  if (x.dim() == 0) fail("[scatter] a tensor without dimensions cannot be cut into chunks: give it a batch dimension, as x.unsqueeze(0)");
  std::vector<Tensor> chunks = chunk(x, static_cast<int64_t>(devices.size()), dim, site);
  for (size_t i = 0; i < chunks.size(); ++i) chunks[i] = chunks[i].to(devices[i], {}, site);
  return chunks;
}

Tensor gather(const std::vector<Tensor>& tensors, Device device, int64_t dim, Site site) {
  if (tensors.empty()) fail("[gather] no tensors were given");
  const bool scalars = tensors[0].dim() == 0;
  std::vector<Tensor> here;
  here.reserve(tensors.size());
  for (const Tensor& tensor : tensors) here.push_back(tensor.to(device, {}, site));
  if (here.size() == 1 && !scalars) return here[0];
  return scalars ? stack(here, 0, site) : cat(here, dim, site);
}

}  // namespace tandem::parallel
