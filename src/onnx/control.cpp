// Operators with graphs in them.
#include "onnx/call.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/view.h"
#include "runtime/tracer.h"

namespace tandem::onnx {
namespace {

void branch(Call& call) {
  const char* name = call.number(0).to<bool>() ? "then_branch" : "else_branch";
  for (Value& value : call.run_graph(name, {})) call.give(std::move(value));
}

Tensor host_number(int64_t value) {
  const runtime::TracerGuard guard(nullptr);
  return tensor(value, {.dtype = kInt64});
}
Tensor host_truth(bool value) {
  const runtime::TracerGuard guard(nullptr);
  return tensor(value, {.dtype = kBool});
}
bool truth_of(const Value& value) { return (value.host.defined() ? value.host : value.tensor).item().to<bool>(); }
Tensor tensor_of(const Value& value, Device device, Site site) {
  return value.tensor.defined() ? value.tensor : brought(value.host, device, site);
}

void loop(Call& call) {
  const Site site = call.site();
  const int64_t most = call.has(0) ? call.number(0).to<int64_t>() : INT64_MAX;
  bool goes_on = !call.has(1) || call.number(1).to<bool>();
  const size_t carried = call.inputs() < 2 ? 0 : call.inputs() - 2;
  std::vector<Value> state(carried);
  for (size_t i = 0; i < carried; ++i)
    if (call.has(i + 2)) state[i] = call.value(i + 2);
  std::vector<std::vector<Tensor>> collected(call.outputs() > carried ? call.outputs() - carried : 0);
  Device device = call.device();
  for (const Value& value : state)
    if (value.tensor.defined() && value.tensor.is_cuda()) device = value.tensor.device();
  for (int64_t i = 0; i < most && goes_on; ++i) {
    std::vector<Value> inputs{{{}, host_number(i), {}}, {{}, host_truth(goes_on), {}}};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Value> outputs = call.run_graph("body", inputs);
    if (outputs.size() < 1 + carried + collected.size()) fail("its graph has ", outputs.size(), " outputs, too few");
    goes_on = truth_of(outputs[0]);
    for (size_t k = 0; k < carried; ++k) state[k] = std::move(outputs[1 + k]);
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(tensor_of(outputs[1 + carried + k], device, site));
  }
  for (Value& value : state) call.give(std::move(value));
  for (const auto& all : collected) call.give(all.empty() ? empty({0}, {.device = device}, site) : stack(all, 0, site));
}

void scan_over(Call& call) {
  const Site site = call.site();
  const bool batched = call.version() < 9;
  if (batched) fail("its version ", call.version(), " is one that tandem does not have: 9 and later");
  const auto scans = static_cast<size_t>(call.integer("num_scan_inputs", 1));
  if (scans < 1 || scans > call.inputs()) fail("it has ", scans, " scan inputs of ", call.inputs());
  const size_t carried = call.inputs() - scans;
  const auto list = [&](const char* name, size_t i) {
    const auto found = call.list(name);
    return found && i < found->size() ? (*found)[i] : 0;
  };
  std::vector<Value> state;
  for (size_t i = 0; i < carried; ++i) state.push_back(call.value(i));
  std::vector<Tensor> inputs;
  int64_t length = 0;
  for (size_t i = 0; i < scans; ++i) {
    inputs.push_back(call.in(carried + i).movedim(axis_of(list("scan_input_axes", i), call.in(carried + i).dim()), 0, site));
    if (list("scan_input_directions", i) != 0) inputs.back() = flip(inputs.back(), {0}, site);
    if (i > 0 && inputs.back().size(0) != length) fail("its scan inputs have ", length, " and ", inputs.back().size(0), " steps");
    length = inputs.back().size(0);
  }
  std::vector<std::vector<Tensor>> collected(call.outputs() > carried ? call.outputs() - carried : 0);
  for (int64_t step = 0; step < length; ++step) {
    std::vector<Value> given = state;
    for (const Tensor& input : inputs) given.push_back({input.select(0, step, site), {}, {}});
    std::vector<Value> outputs = call.run_graph("body", given);
    if (outputs.size() < carried + collected.size()) fail("its graph has ", outputs.size(), " outputs, too few");
    for (size_t i = 0; i < carried; ++i) state[i] = std::move(outputs[i]);
    for (size_t i = 0; i < collected.size(); ++i) collected[i].push_back(tensor_of(outputs[carried + i], call.device(), site));
  }
  for (Value& value : state) call.give(std::move(value));
  for (size_t i = 0; i < collected.size(); ++i) {
    if (collected[i].empty()) fail("it has no steps");
    Tensor all = stack(collected[i], 0, site);
    if (list("scan_output_directions", i) != 0) all = flip(all, {0}, site);
    call.give(all.movedim(0, axis_of(list("scan_output_axes", i), all.dim()), site));
  }
}

constexpr OperatorRow kRows[] = {
    {"If", 1, branch},
    {"Loop", 1, loop},
    {"Scan", 8, scan_over},
};

}  // namespace

std::span<const OperatorRow> control_operators() { return kRows; }

}  // namespace tandem::onnx
