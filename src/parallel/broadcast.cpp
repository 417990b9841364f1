// A copy between GPUs costs two waits between their streams, several times what a small copy within a GPU costs. So small tensors are
// packed into one piece of memory on their own GPU, which is sent at once; the copies are tensors over parts of what arrives.
#include "parallel/broadcast.h"

#include <optional>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/launch.h"

namespace tandem::parallel {
namespace {

constexpr size_t kParcelItem = size_t{64} << 10;  // a larger tensor's own copy takes longer than the waits: it travels alone
constexpr size_t kAlignment = 64;

/// Tensors packed one after another.
class Parcel {
 public:
  Parcel(const std::vector<Tensor>& tensors, Site site) : tensors_(tensors) {
    size_t bytes = 0;
    for (const Tensor& tensor : tensors) {
      offsets_.push_back(bytes);
      bytes += (tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
    }
    packed_ = Tensor(TensorImpl::make({static_cast<int64_t>(bytes)}, kUInt8, tensors[0].device(), false, site));
    for (size_t i = 0; i < tensors.size(); ++i) {
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

  /// The tensors on `device`. Each has a storage of its own over its part, so that changing one in place counts for none of the others.
  [[nodiscard]] std::vector<Tensor> unpacked_on(Device device, Site site) const {
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

 private:
  const std::vector<Tensor>& tensors_;
  std::vector<size_t> offsets_;
  Tensor packed_;
};

/// The history of a parcel: gradients go back in one, too.
class BroadcastNode final : public autograd::Node {
 public:
  BroadcastNode(Site site, std::vector<autograd::Edge> edges, Device home)
      : Node("BroadcastBackward", site, static_cast<uint32_t>(edges.size()), edges.data(), static_cast<uint32_t>(edges.size())),
        edges_(std::move(edges)),
        home_(home) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    std::vector<Tensor> there;
    std::vector<size_t> numbers;
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined() || !edges_[i]) continue;
      there.push_back(gradients[i]);
      numbers.push_back(i);
    }
    if (there.empty()) return;
    std::vector<Tensor> here = broadcast_coalesced(there, {home_}, site())[0];
    for (size_t i = 0; i < numbers.size(); ++i) results[numbers[i]] = std::move(here[i]);
  }

 private:
  std::vector<autograd::Edge> edges_;
  Device home_;
};

void record(const std::vector<Tensor>& from, const std::vector<Tensor>& copies, Site site) {
  std::vector<autograd::Edge> edges;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!autograd::needs_grad(from[i])) continue;
    edges.push_back(autograd::edge_of(from[i]));
    numbers.push_back(i);
  }
  if (edges.empty()) return;
  const Ref<autograd::Node> node(new BroadcastNode(site, std::move(edges), from[0].device()));
  for (size_t i = 0; i < numbers.size(); ++i) autograd::set_history(copies[numbers[i]], node, static_cast<uint32_t>(i));
}

}  // namespace

std::vector<std::vector<Tensor>> broadcast_coalesced(const std::vector<Tensor>& tensors, const std::vector<Device>& devices, Site site) {
  std::vector<std::vector<Tensor>> result(devices.size(), tensors);
  if (tensors.empty()) return result;
  const Device home = tensors[0].device();
  std::vector<Tensor> small;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].device() != home)
      fail("[broadcast] tensors must be on one device, but there are some on ", home, " and on ", tensors[i].device());
    if (tensors[i].nbytes() > kParcelItem) continue;
    small.push_back(tensors[i]);
    numbers.push_back(i);
  }
  std::optional<Parcel> parcel;  // packed once for all devices
  for (size_t d = 0; d < devices.size(); ++d) {
    const Device device = tandem::detail::resolve(devices[d]);
    if (device == home) continue;
    const bool packed = small.size() > 1;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!packed || tensors[i].nbytes() > kParcelItem) result[d][i] = tensors[i].to(device, {}, site);
    if (!packed) continue;
    std::vector<Tensor> copies;
    {
      const NoGradGuard no_grad;
      if (!parcel) parcel.emplace(small, site);
      copies = parcel->unpacked_on(device, site);
    }
    record(small, copies, site);
    for (size_t i = 0; i < numbers.size(); ++i) result[d][numbers[i]] = std::move(copies[i]);
  }
  return result;
}

}  // namespace tandem::parallel
