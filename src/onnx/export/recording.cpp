#include "onnx/export/recording.h"

#include <algorithm>
#include <map>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "tensor/tensor_impl.h"

namespace tandem::onnx::exporting {

OnHost::OnHost(const NamedTensors& tensors) {
  std::map<Storage*, Storage*> places;
  std::vector<TensorImpl*> met;
  for (const auto& [name, tensor] : tensors) {
    TensorImpl& impl = tensor.impl();
    if (impl.device.is_cpu() || std::find(met.begin(), met.end(), &impl) != met.end()) continue;
    met.push_back(&impl);
    Storage*& place = places[impl.storage];
    if (!place) {
      auto block = std::make_unique<compiling::Block>(std::max<size_t>(impl.storage->bytes(), 1));
      char* const data = block->data;
      place = new Storage(
          Device(), data, impl.storage->bytes(), [](void* held) { delete static_cast<compiling::Block*>(held); }, block.release());
    }
    place->retain();
    moved_.push_back({tensor, impl.storage, impl.device});
    impl.storage = place;
    impl.device = Device();
    impl.refresh();
  }
}

OnHost::~OnHost() {
  for (const Moved& moved : moved_) {
    TensorImpl& impl = moved.tensor.impl();
    Storage* const place = impl.storage;
    impl.storage = moved.storage;
    impl.device = moved.device;
    impl.refresh();
    place->release();
  }
}

std::unique_ptr<Recording> record(const Forward& forward, const std::vector<Tensor>& examples, const std::vector<Shape>& sizes,
                                  const std::vector<Range>& module) {
  auto recording = std::make_unique<Recording>();
  Recording& to = *recording;
  const auto is_known = [&](const char* at) {
    if (to.trace.find(at) >= 0) return true;
    return std::any_of(module.begin(), module.end(), [&](const Range& r) { return at >= r.begin && at < r.begin + r.bytes; });
  };
  // Others' memory may be gone once forward has ended.
  const auto keep = [&](compiling::Call& call) {
    for (const compiling::Address& address : call.addresses()) {
      if (address.kind != Touch::Read || is_known(address.begin)) continue;
      const auto is_kept = [&](const Captured& c) { return c.range.begin == address.begin && c.range.bytes == address.bytes; };
      if (std::none_of(to.captured.begin(), to.captured.end(), is_kept))
        to.captured.push_back({{address.begin, address.bytes}, std::string(address.begin, address.bytes)});
    }
  };
  const auto call = [&] {
    for (size_t i = 0; i < examples.size(); ++i) to.inputs.push_back(empty(sizes[i], {.dtype = examples[i].dtype()}, Site::none()));
    to.outputs = forward(to.inputs);
  };
  try {
    if (!to.trace.record(call, keep)) to.error = to.trace.why();
  } catch (const Error& error) {
    to.error = error.what();
  }
  return recording;
}

}  // namespace tandem::onnx::exporting
