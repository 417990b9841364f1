#include "nn/summary.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/walk.h"
#include "runtime/memory_text.h"

namespace tandem::nn {
namespace {

// Hooks that are gone at the end, whatever happens.
struct Listeners {
  std::vector<HookHandle> handles;
  ~Listeners() {
    for (HookHandle& handle : handles) handle.remove();
  }
};

// "1,234,567"
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string bytes_text(int64_t bytes) { return runtime::readable_size(static_cast<size_t>(bytes)); }

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

Summary summary(Module& model, const Tensor& input, Site site) {
  Summary result;
  std::vector<Module*> modules;
  for (const auto& [name, module] : model.named_modules()) {
    LayerSummary layer;
    layer.name = name;
    layer.depth = name.empty() ? 0 : static_cast<int>(std::count(name.begin(), name.end(), '.')) + 1;
    layer.is_leaf = module->named_children().empty();
    result.layers.push_back(std::move(layer));
    modules.push_back(module);
  }
  {
    Listeners listeners;
    for (size_t i = 0; i < modules.size(); ++i) {
      listeners.handles.push_back(
          modules[i]->register_forward_hook([&layer = result.layers[i]](Module& module, const Tensor& x, Tensor& y) {
            ++layer.calls;
            layer.output = y.sizes();
            layer.multiply_adds += module.multiply_adds(x, y);
            if (layer.is_leaf) layer.output_bytes += static_cast<int64_t>(y.nbytes());
          }));
    }
    const detail::Evaluation evaluation(model);
    const NoGradGuard no_grad;
    (void)model(input, site);
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
  result.input_bytes = static_cast<int64_t>(input.nbytes());
  return result;
}

std::string to_string(const Summary& summary) {
  using Line = std::array<std::string, 5>;
  std::vector<Line> lines{{"Layer", "Output size", "Parameters", "Multiply-adds", "Memory"}};
  for (const LayerSummary& layer : summary.layers) {
    const size_t dot = layer.name.rfind('.');
    const std::string own = dot == std::string::npos ? layer.name : layer.name.substr(dot + 1);
    lines.push_back({std::string(2 * static_cast<size_t>(layer.depth), ' ') + (own.empty() ? layer.type : own + ": " + layer.type),
                     layer.calls ? str(layer.output) : "-", layer.parameters ? grouped(layer.parameters) : "-",
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
    for (size_t i = 0; i < widths.size(); ++i) text += (i ? "  " : "") + padded(lines[row][i], widths[i], i >= 2);
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
