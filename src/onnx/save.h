// Writing modules as ONNX files, for other programs to run. As torch.onnx.export.
//
//   td::onnx::save(net, x, "net.onnx", {.input_names = {"image"}, .dynamic_axes = {{"image", {{0, "batch"}}}}});
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nn/module.h"

namespace tandem::onnx {

/// A size that may be another one in each call: its name in the file, and from which to which number `forward` takes it. Those of one name
/// are always equal. As torch.export.Dim.
struct Dim {
  std::string name;
  int64_t min = 1, max = std::numeric_limits<int64_t>::max();

  Dim() = default;
  Dim(const char* name_) : name(name_) {}             // NOLINT: its name stands for it
  Dim(std::string name_) : name(std::move(name_)) {}  // NOLINT
  /// Between two sizes, both of them allowed.
  Dim(std::string name_, int64_t min_, int64_t max_) : name(std::move(name_)), min(min_), max(max_) {}
};

/// In which mode the module is called. As torch.onnx.TrainingMode.
enum class TrainingMode : uint8_t { Eval, Preserve, Training };

/// Options of save().
struct SaveOptions {
  std::vector<std::string> input_names = {}, output_names = {};  // "input_0", … and "output_0", … where there are none
  /// By an input's name: dimensions whose size may change, all others are those of the examples.
  std::map<std::string, std::map<int64_t, Dim>> dynamic_axes = {};
  int64_t opset_version = 18;  // of ONNX's operators, from 13 to 23
  TrainingMode training = TrainingMode::Eval;
  bool external_data = false;  // parameters go into path + ".data", as those do that are too large for one file
};

/// A module's tensors by their names, and what it computes: for those that derive from none of ours.
struct Savable {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> forward;
  bool changes_are_let_be = false;  // forward changes its own tensors, as running figures are: the file does not
};

/// Writes what `model` computes for inputs of these dtypes and sizes. `forward` is called, without computing anything, and what it does is
/// written: branches that it does not take are not. The file has parameters and buffers that are used, by their names of state_dict().
/// Nothing is changed: neither modes nor gradients nor running figures. Nobody else may use the model meanwhile. Error, and no file, for
/// what cannot be written, which names the operation and its line; and where `forward` reads values, as item() does.
void save(const Savable& model, const std::vector<Tensor>& inputs, const std::string& path, const SaveOptions& options = {},
          Site site = Site::here());
namespace detail {
/// The tensors of a module; what `forward` does in the mode that is asked for, with each part's own mode again afterwards.
void save_module(nn::ModuleBase& model, std::function<std::vector<Tensor>(const std::vector<Tensor>&)> forward,
                 const std::vector<Tensor>& inputs, const std::string& path, const SaveOptions& options, Site site);

template <class M, size_t... i>
std::vector<Tensor> results(M& model, const std::vector<Tensor>& inputs, std::index_sequence<i...>) {
  auto result = model(inputs[i]...);
  return nn::detail::tensors_of(result);
}
}  // namespace detail

/// The same of a module that takes one tensor. It gives a tensor, or several: a pair, a tuple, a struct that names its tensors to hooks.
template <class M>
requires std::derived_from<M, nn::ModuleBase>
void save(M& model, const Tensor& input, const std::string& path, const SaveOptions& options = {}, Site site = Site::here()) {
  detail::save_module(
      model, [&](const std::vector<Tensor>& given) { return detail::results(model, given, std::make_index_sequence<1>()); }, {input}, path,
      options, site);
}
/// The same of a module that takes several tensors: `save(net, {ids, mask}, "net.onnx")`.
template <class M, size_t n>
requires(std::derived_from<M, nn::ModuleBase>&& n > 1) void save(M& model, const Tensor (&inputs)[n], const std::string& path,
                                                                 const SaveOptions& options = {}, Site site = Site::here()) {
  detail::save_module(
      model, [&](const std::vector<Tensor>& given) { return detail::results(model, given, std::make_index_sequence<n>()); },
      {inputs, inputs + n}, path, options, site);
}

}  // namespace tandem::onnx
