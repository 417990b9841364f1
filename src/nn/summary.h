// What a model is made of, and what one run of it costs.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "nn/module.h"

namespace tandem::nn {

/// A module of the model. Figures are its own, without those of the modules below it.
struct LayerSummary {
  std::string name;            // "layer1.0.conv1"; empty for the model itself
  std::string type;            // "Conv2d"
  int depth = 0;               // how many modules it lies in
  int64_t calls = 0;           // how often it was called; 0 also where only its `forward` was
  std::vector<Shape> outputs;  // sizes of its last run's results
  int64_t parameters = 0;      // numbers, a tied one where it comes first
  int64_t multiply_adds = 0;   // products of linear layers, convolutions, recurrent networks and attention
  int64_t output_bytes = 0;    // memory that its runs' results took: none for a view or for what is computed in place
};

/// As nn::summary finds it. Printed as a table.
struct Summary {
  std::vector<LayerSummary> layers;
  int64_t parameters = 0, trainable_parameters = 0;
  int64_t multiply_adds = 0;
  int64_t input_bytes = 0, parameter_bytes = 0, buffer_bytes = 0, output_bytes = 0;
};

/// Runs the model once on `input`, in evaluation mode and without gradients, and tells for each module the sizes of its results, its
/// parameters, how many products it adds up and how much memory its results take. All results are kept until the end, as training keeps
/// those it needs; in evaluation one may get the memory of another. Lazy modules learn their sizes.
[[nodiscard]] Summary summary(Module& model, const Tensor& input, Site site = Site::here());
/// The same of a model with another signature: `run` is to call it once, `nn::summary(model, [&] { (void)model(source, target); })`.
[[nodiscard]] Summary summary(ModuleBase& model, const std::function<void()>& run);

/// The table as text.
[[nodiscard]] std::string to_string(const Summary& summary);
/// The table.
std::ostream& operator<<(std::ostream& out, const Summary& summary);

}  // namespace tandem::nn
