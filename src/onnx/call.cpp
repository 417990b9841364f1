#include "onnx/call.h"

#include <algorithm>
#include <cstring>

#include "autograd/autograd.h"
#include "base/cgroup.h"
#include "io/named.h"
#include "onnx/tensor_data.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/view.h"
#include "runtime/capture.h"
#include "runtime/tracer.h"
#include "tensor/host_values.h"
#include "tensor/tensor_impl.h"

namespace tandem::onnx {
namespace {

/// Thrown where a result is too large to be kept on the host.
struct Elsewhere {};

}  // namespace

int64_t axis_of(int64_t axis, int64_t dims) {
  const int64_t found = axis < 0 ? axis + dims : axis;
  if (found < 0 || found >= dims) fail<IndexError>("axis ", axis, " is none of a tensor's of ", dims, " dimensions");
  return found;
}

Tensor brought(const Tensor& host, Device device, Site site) {
  runtime::Tracer* const tracer = runtime::tracer();
  if (device.is_cpu() && !tracer) return host;
  // From page-locked memory, so that nothing waits.
  const Tensor copy = empty(host.sizes(), {.dtype = host.dtype(), .pin_memory = device.is_cuda()}, site);
  if (host.numel() > 0) std::memcpy(copy.impl().data, host.impl().data, host.nbytes());
  if (tracer) tracer->wrote(copy.impl().data);
  if (device.is_cpu()) return copy;
  if (runtime::Capture* const capture = runtime::capture_of_current_stream(device))
    capture->uses.emplace_back([copy](const cuda::Stream& stream) { copy.record_stream(stream); });
  return copy.to(device, {.non_blocking = true}, site);
}

Run::Run(const Program& program, std::span<const Tensor> stored, Site site)
    : program_(program), values_(static_cast<size_t>(program.places)), site_(site) {
  for (size_t i = 0; i < stored.size(); ++i) {
    const Stored& entry = program.stored[i];
    Tensor host = entry.host;
    if (host.defined() && host.dtype() != stored[i].dtype()) {  // the module was moved to another dtype
      const runtime::TracerGuard guard(nullptr);
      host = host.to(stored[i].dtype(), {}, site);
    }
    values_[static_cast<size_t>(entry.place)] = {stored[i], host, {}};
    if (device_.is_cpu() && stored[i].is_cuda()) device_ = stored[i].device();
  }
}

void Run::put(int place, const Tensor& tensor) {
  values_[static_cast<size_t>(place)] = {tensor, {}, {}};
  if (device_.is_cpu() && tensor.is_cuda()) device_ = tensor.device();
}

void Run::run() { run(program_.graph); }

Tensor Run::result(const Port& port) {
  const Value& value = values_[static_cast<size_t>(port.place)];
  if (value.sequence) fail("output '", port.name, "' is a sequence of tensors: run gives tensors only");
  if (value.tensor.defined()) return value.tensor;
  if (!value.host.defined()) fail("output '", port.name, "' was not computed");
  // A copy: it may be a constant of the program, and the caller may write to it.
  const Tensor result = brought(value.host, device_, site_);
  return result.is_same(value.host) ? result.clone(site_) : result;
}

void Run::run(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    call(node);
    for (const int place : node.last) values_[static_cast<size_t>(place)] = {};
  }
}

void Run::call(const Node& node) {
  try {
    Call(*this, node).run();
  } catch (const OutOfMemoryError& error) {
    fail<OutOfMemoryError>(node.name, ": ", error.message());
  } catch (const IndexError& error) {
    fail<IndexError>(node.name, ": ", error.message());
  } catch (const Error& error) {
    fail(node.name, ": ", error.message());
  }
}

Call::Call(Run& run, const Node& node) : run_(run), node_(node) {
  on_host_ = true;
  bool any = false;
  int64_t numbers = 0;
  for (const int place : node.inputs) {
    if (place == kNoPlace) continue;
    const Value& value = run.values_[static_cast<size_t>(place)];
    any = true;
    if (value.host.defined()) numbers += value.host.numel();
    else on_host_ = false;
    if (device_.is_cpu() && !value.host.defined() && value.tensor.defined() && value.tensor.is_cuda()) device_ = value.tensor.device();
  }
  on_host_ = on_host_ && any && numbers <= kMostOnHost;
  if (!on_host_ && device_.is_cpu())  // constants only, and large ones: where they live
    for (const int place : node.inputs)
      if (place != kNoPlace)
        if (const Value& value = run.values_[static_cast<size_t>(place)]; value.tensor.defined() && value.tensor.is_cuda())
          device_ = value.tensor.device();
}

Options Call::place(const Shape& sizes, DType dtype) {
  const auto count = element_count({sizes.data(), sizes.size()});
  if (!count || sizes.size() > static_cast<size_t>(kMaxDims)) fail("its result would have the sizes ", sizes, ", which no tensor can have");
  static const auto machine = static_cast<double>(tandem::detail::machine_memory());
  if (machine > 0 && static_cast<double>(*count) * static_cast<double>(size_of(dtype)) > machine)
    fail<OutOfMemoryError>("its result would have the sizes ", sizes, ", more than the machine's memory");
  if (on_host_ && *count > kMostOnHost) {
    on_host_ = false;
    device_ = run_.device_;
    throw Elsewhere();
  }
  return {.dtype = dtype, .device = on_host_ ? Device() : node_.inputs.empty() || device_.is_cpu() ? run_.device_ : device_};
}

bool Call::has(size_t i) const {
  return i < node_.inputs.size() && node_.inputs[i] != kNoPlace && run_.values_[static_cast<size_t>(node_.inputs[i])].defined();
}

Value& Call::at(size_t i) {
  if (!has(i)) fail("it has no input ", i, ", which it needs");
  return run_.values_[static_cast<size_t>(node_.inputs[i])];
}

const Value& Call::value(size_t i) const { return const_cast<Call*>(this)->at(i); }

Tensor Call::in(size_t i) {
  const Value& value = at(i);
  if (value.sequence) fail("its input ", i, " is a sequence, where it needs a tensor");
  if (on_host_) return value.host;
  if (value.tensor.defined()) {
    if (value.tensor.device() == device_) return value.tensor;
    if (!value.host.defined()) return value.tensor.to(device_, {}, site());
  }
  return brought(value.host, device_, site());
}

Shape Call::ints(size_t i) {
  const Value& value = at(i);
  const HostValues values = [&] {
    const runtime::TracerGuard guard(value.host.defined() ? nullptr : runtime::tracer());
    return read_values(value.host.defined() ? value.host : value.tensor, -1, "onnx::run", site());
  }();
  if (is_floating(values.dtype)) fail("its input ", i, " has numbers of the type ", values.dtype, ", where it needs whole ones");
  return Shape(values.integers);
}

std::vector<double> Call::reals(size_t i) {
  const Value& value = at(i);
  const runtime::TracerGuard guard(value.host.defined() ? nullptr : runtime::tracer());
  HostValues values = read_values(value.host.defined() ? value.host : value.tensor, -1, "onnx::run", site());
  if (!is_floating(values.dtype)) values.floating.assign(values.integers.begin(), values.integers.end());
  return values.floating;
}

Scalar Call::number(size_t i) {
  const Value& value = at(i);
  const runtime::TracerGuard guard(value.host.defined() ? nullptr : runtime::tracer());
  return read_value(value.host.defined() ? value.host : value.tensor, "onnx::run", site());
}

const AttributeProto* Call::find(std::string_view name) const {
  for (const AttributeProto& attribute : node_.attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}
int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const auto* found = find(name);
  return found ? found->i : otherwise;
}
double Call::real(std::string_view name, double otherwise) const {
  const auto* found = find(name);
  return found ? double{found->f} : otherwise;
}
std::string Call::text(std::string_view name, const char* otherwise) const {
  const auto* found = find(name);
  return found ? found->s : otherwise;
}
std::optional<Shape> Call::list(std::string_view name) const {
  const auto* found = find(name);
  return found ? std::optional(Shape(found->ints)) : std::nullopt;
}
Tensor Call::tensor(std::string_view name) const {
  for (const auto& [key, tensor] : node_.tensors)
    if (key == name) return tensor;
  return {};
}
DType Call::dtype(std::string_view name, DType otherwise) const {
  const auto* found = find(name);
  if (!found) return otherwise;
  const auto dtype = dtype_of(found->i);
  if (!dtype) fail("it wants the type ", type_name(found->i), ", which no tensor has");
  return *dtype;
}
std::optional<Shape> Call::axes(size_t input, std::string_view name) {
  if (auto found = list(name)) return found;
  if (has(input)) return ints(input);
  return std::nullopt;
}

std::vector<Value> Call::run_graph(std::string_view name, std::span<const Value> inputs) {
  for (const auto& [key, graph] : node_.graphs) {
    if (key != name) continue;
    if (graph->inputs.size() != inputs.size())
      fail("its graph '", std::string(name), "' has ", graph->inputs.size(), " inputs, not ", inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) run_.values_[static_cast<size_t>(graph->inputs[i])] = inputs[i];
    run_.run(*graph);
    std::vector<Value> outputs;
    for (const int place : graph->outputs) outputs.push_back(run_.values_[static_cast<size_t>(place)]);
    return outputs;
  }
  fail("it has no graph '", std::string(name), "'");
}

void Call::run_operator() {
  const OperatorRow& row = *node_.row;
  if (row.unary) {
    give(row.unary(in(0), site()));
  } else if (row.binary) {
    Tensor b = in(1);
    const Tensor a = in(0);
    // Before version 7 the second operand's dimensions stand from `axis` on.
    if (version() < 7 && integer("broadcast", 0) != 0 && find("axis")) {
      Shape sizes = b.sizes();
      for (int64_t i = axis_of(integer("axis", 0), a.dim()) + b.dim(); i < a.dim(); ++i) sizes.push_back(1);
      b = b.reshape(sizes, site());
    }
    give(row.binary(a, b, site()));
  } else {
    row.run(*this);
  }
}

void Call::run() {
  if (on_host_ && node_.graphs.empty()) {
    // Values that are known are computed with at once, also where a tracer only notes what is done.
    const runtime::TracerGuard guard(nullptr);
    const NoGradGuard no_grad;
    try {
      run_operator();
      for (Value& value : given_)
        if (value.tensor.defined() && value.tensor.is_cpu()) value = {{}, value.tensor.contiguous(site()), {}};
    } catch (const Elsewhere&) {
      given_.clear();
    }
  }
  if (!on_host_ || !node_.graphs.empty()) run_operator();
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (node_.outputs[i] == kNoPlace) continue;
    if (i >= given_.size()) fail("it has no output ", i);
    run_.values_[static_cast<size_t>(node_.outputs[i])] = std::move(given_[i]);
  }
}

}  // namespace tandem::onnx
