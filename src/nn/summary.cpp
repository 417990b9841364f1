#include "nn/summary.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <unordered_set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/format.h"
#include "nn/sequential.h"
#include "nn/walk.h"
#include "runtime/memory_text.h"

namespace tandem::nn {
namespace {

/// Listens to modules and writes down what their calls take. Its hooks are gone at the end, whatever happens.
class Recorder {
 public:
  Recorder(Summary& summary, const std::vector<ModuleBase*>& modules) : summary_(summary) {
    for (size_t i = 0; i < modules.size(); ++i) {
      handles_.push_back(modules[i]->register_forward_pre_hook([this, i](ModuleBase&, std::span<Tensor> inputs) { begin(i, inputs); }));
      handles_.push_back(modules[i]->register_forward_hook(
          [this](ModuleBase& module, std::span<const Tensor> inputs, std::span<Tensor> outputs) { end(module, inputs, outputs); }));
    }
    for (const ModuleBase* module : modules)
      detail::walk(*module, false, [&](const detail::Field& field) {
        if (field.tensor && field.tensor->defined()) (void)bytes_of_new(*field.tensor);
      });
  }
  ~Recorder() {
    for (HookHandle& handle : handles_) handle.remove();
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  void begin(size_t layer, std::span<const Tensor> inputs) {
    // What comes in and is no module's result, the module around has computed with operations of its own.
    int64_t& bytes = running_.empty() ? summary_.input_bytes : summary_.layers[running_.back()].output_bytes;
    for (const Tensor& input : inputs) bytes += bytes_of_new(input);
    running_.push_back(layer);
  }
  void end(const ModuleBase& module, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
    LayerSummary& layer = summary_.layers[running_.back()];
    running_.pop_back();
    ++layer.calls;
    layer.outputs.clear();
    for (const Tensor& output : outputs) {
      if (!output.defined()) continue;
      layer.outputs.push_back(output.sizes());
      layer.output_bytes += bytes_of_new(output);
    }
    if (!inputs.empty() && !layer.outputs.empty()) layer.multiply_adds += module.multiply_adds(inputs, outputs);
  }
  /// Of the memory behind a tensor that is met for the first time.
  int64_t bytes_of_new(const Tensor& tensor) {
    if (!tensor.defined() || !met_.insert(tensor.impl().storage).second) return 0;
    kept_.push_back(tensor);  // so that no other memory gets its place
    return static_cast<int64_t>(tensor.impl().storage->bytes());
  }

  Summary& summary_;
  std::vector<HookHandle> handles_;
  std::vector<size_t> running_;  // layers, the innermost last
  std::unordered_set<const Storage*> met_;
  std::vector<Tensor> kept_;
};

std::string sizes_text(const std::vector<Shape>& sizes) {
  std::string text;
  for (const Shape& one : sizes) text += (text.empty() ? "" : ", ") + str(one);
  return text.empty() ? "-" : text;
}

std::string grouped(int64_t number) { return tandem::detail::with_commas(std::to_string(number)); }
std::string bytes_text(int64_t bytes) { return runtime::readable_size(static_cast<size_t>(bytes)); }

}  // namespace

Summary summary(Module& model, const Tensor& input, Site site) {
  return summary(model, [&] { (void)model(input, site); });
}

Summary summary(ModuleBase& model, const std::function<void()>& run) {
  Summary result;
  std::vector<ModuleBase*> modules;
  for (const auto& [name, module] : model.named_modules()) {
    LayerSummary layer;
    layer.name = name;
    layer.depth = name.empty() ? 0 : static_cast<int>(std::count(name.begin(), name.end(), '.')) + 1;
    result.layers.push_back(std::move(layer));
    modules.push_back(module);
  }
  {
    Recorder recorder(result, modules);
    const detail::Evaluation evaluation(model);
    const NoGradGuard no_grad;
    run();
  }
  // Without listeners these run as one, and what lies between is never there.
  for (ModuleBase* module : modules) {
    const auto* sequential = dynamic_cast<const Sequential*>(module);
    for (size_t i = 0; sequential && i < sequential->size(); ++i) {
      if (!sequential->runs_with_next(i)) continue;
      const auto child = std::find(modules.begin(), modules.end(), &sequential->at(static_cast<int64_t>(i)));
      result.layers[static_cast<size_t>(child - modules.begin())].output_bytes = 0;
    }
  }
  detail::Met met;
  size_t at = 0;
  detail::walk(model, false, [&](const detail::Field& field) {
    if (field.is_module()) {
      result.layers[at].type = field.module->name();
      ++at;
      return;
    }
    const Tensor& tensor = *field.tensor;
    if (!tensor.defined() || !met.add(tensor)) return;
    if (field.is_buffer) {
      result.buffer_bytes += static_cast<int64_t>(tensor.nbytes());
      return;
    }
    // A module's tensors come right behind it.
    result.layers[at - 1].parameters += tensor.numel();
    result.parameters += tensor.numel();
    if (tensor.requires_grad()) result.trainable_parameters += tensor.numel();
    result.parameter_bytes += static_cast<int64_t>(tensor.nbytes());
  });
  for (const LayerSummary& layer : result.layers) {
    result.multiply_adds += layer.multiply_adds;
    result.output_bytes += layer.output_bytes;
  }
  return result;
}

std::string to_string(const Summary& summary) {
  using Line = std::array<std::string, 5>;
  std::vector<Line> lines{{"Layer", "Output size", "Parameters", "Multiply-adds", "Memory"}};
  for (const LayerSummary& layer : summary.layers) {
    const size_t dot = layer.name.rfind('.');
    const std::string own = dot == std::string::npos ? layer.name : layer.name.substr(dot + 1);
    lines.push_back({std::string(2 * static_cast<size_t>(layer.depth), ' ') + (own.empty() ? layer.type : own + ": " + layer.type),
                     sizes_text(layer.outputs), layer.parameters ? grouped(layer.parameters) : "-",
                     layer.multiply_adds ? grouped(layer.multiply_adds) : "-", layer.output_bytes ? bytes_text(layer.output_bytes) : "-"});
  }
  std::array<size_t, 5> widths{};
  for (const Line& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  size_t total = 2 * (widths.size() - 1);
  for (const size_t width : widths) total += width;
  const std::string rule = std::string(total, '-') + "\n";
  std::string text;
  for (size_t row = 0; row < lines.size(); ++row) {
    for (size_t i = 0; i < widths.size(); ++i) text += (i ? "  " : "") + tandem::detail::padded(lines[row][i], widths[i], i >= 2);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
    if (row == 0) text += rule;
  }
  return text + rule +
         str("Parameters: ", grouped(summary.parameters), " (", grouped(summary.trainable_parameters), " trainable)\n",
             "Multiply-adds: ", grouped(summary.multiply_adds), "\n", "Memory: input ", bytes_text(summary.input_bytes), ", parameters ",
             bytes_text(summary.parameter_bytes), ", buffers ", bytes_text(summary.buffer_bytes), ", results ",
             bytes_text(summary.output_bytes));
}

std::ostream& operator<<(std::ostream& out, const Summary& summary) { return out << to_string(summary); }

}  // namespace tandem::nn
