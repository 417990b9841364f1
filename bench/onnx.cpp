#include "bench/onnx.h"

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/measure.h"
#include "tandem.h"

namespace tandem::bench {
namespace {

constexpr int kDiffers = 3;
constexpr double kTolerance = 1e-3;  // of the largest number

bool are_alike(const Tensor& ours, const Tensor& theirs) {
  if (ours.sizes() != theirs.sizes()) return false;
  if (ours.numel() == 0) return true;
  const Tensor a = ours.to(kFloat64), b = theirs.to(kFloat64);
  const auto largest = abs(b).max().item<double>(), difference = abs(a - b).max().item<double>();
  return difference <= kTolerance * largest;  // nan is unlike
}

}  // namespace

int bench_onnx(const BenchOnnxOptions& options) {
  if (options.threads > 0) set_num_threads(options.threads);
  const NoGradGuard no_grad;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (size_t i = 0; i < options.models.size(); ++i) {
    onnx::Model model = onnx::load(options.models[i]);
    model.eval();
    const io::TensorMap arrays = io::load_npz(options.data + "/" + std::to_string(i) + ".npz");
    std::vector<Tensor> inputs;
    for (const auto& input : model.inputs()) inputs.push_back(arrays.at(input.name));
    std::optional<Compiled> compiled;
    if (inputs.size() == 1) compiled = compile(model);
    const std::function<Tensor()> run = [&] { return compiled ? (*compiled)(inputs[0]) : model.run_in_order(inputs)[0]; };
    if (!are_alike(run(), arrays.at(model.outputs()[0].name))) {
      std::cerr << "tandem_bench: " << options.models[i] << ": the first output is not onnxruntime's\n";
      return kDiffers;
    }
    const Measured time = measure(options.models[i], options.ms, [&] { (void)run(); });
    results.push_back({{"name", time.name}, {"ns", time.ns}, {"best_ns", time.best_ns}, {"batches", time.batches}});
  }
  std::cout << nlohmann::ordered_json{{"library", "tandem"}, {"threads", get_num_threads()}, {"results", results}} << std::endl;
  return 0;
}

}  // namespace tandem::bench
