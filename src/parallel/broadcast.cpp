// A copy between GPUs costs two waits between their streams, several times what a small copy within a GPU costs. So small tensors are
// packed into one piece of memory on their own GPU, which is sent at once; the copies are tensors over parts of what arrives.
#include "parallel/broadcast.h"

#include <optional>

#include "autograd/history.h"
#include "base/error.h"
#include "parallel/parcel.h"
#include "runtime/capture.h"

namespace tandem::parallel {
namespace {

using detail::kParcelItem;
using detail::Parcel;

/// The history of a parcel, or of a large tensor alone: gradients go back as the tensors came.
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
  // A copy to another GPU waits for what that one is doing. Beside the stream that computes, backward goes on here meanwhile.
  const Device there = copies[0].device();
  if (there.is_cuda() && !runtime::capture_on(there.index())) node->stream = runtime::copy_stream(there.index());
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
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (packed && tensors[i].nbytes() <= kParcelItem) continue;
      result[d][i] = tensors[i].detach().to(device, {}, site);
      record({tensors[i]}, {result[d][i]}, site);
    }
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
