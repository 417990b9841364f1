// What a model is made of, and what one run of it costs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "nn/module.h"

namespace tandem::nn {

/// A module of the model. Figures are its own, without those of the modules below it.
struct LayerSummary {
  std::string name;           // "layer1.0.conv1"; empty for the model itself
  std::string type;           // "Conv2d"
  int depth = 0;              // how many modules it lies in
  bool is_leaf = true;        // whether it has no modules of its own
  int64_t calls = 0;          // how often it ran with one tensor; 0: not at all, or with other arguments
  Shape output;               // of its last run
  int64_t parameters = 0;     // numbers, a tied one where it comes first
  int64_t multiply_adds = 0;  // products of linear layers and convolutions
  int64_t output_bytes = 0;   // of all its runs' results; 0 for a module with modules of its own
};

/// As nn::summary finds it. Printed as a table.
struct Summary {
  std::vector<LayerSummary> layers;
  int64_t parameters = 0, trainable_parameters = 0;
  int64_t multiply_adds = 0;
  int64_t input_bytes = 0, parameter_bytes = 0, buffer_bytes = 0, output_bytes = 0;
};

/// Runs the model once on `input`, in evaluation mode and without gradients, and tells for each module the size of its result, its
/// parameters, how many products it adds up and how much memory its result takes. Lazy modules learn their sizes.
[[nodiscard]] Summary summary(Module& model, const Tensor& input, Site site = Site::here());

[[nodiscard]] std::string to_string(const Summary& summary);
std::ostream& operator<<(std::ostream& out, const Summary& summary);

}  // namespace tandem::nn
