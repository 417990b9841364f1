// `tandem onnx`: what an ONNX model holds, and what it gives for arrays of a file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/autograd.h"
#include "base/json_text.h"
#include "io/npy.h"
#include "onnx/model.h"
#include "tensor/print.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

using nlohmann::ordered_json;

struct OnnxOptions {
  std::string model, input, output, device = "cpu";
  int repeat = 0;
  bool json = false;
};

/// A size as it is shown: a number, a name, or a question mark.
std::string size_text(const onnx::Dimension& dimension) {
  return dimension.size ? str(*dimension.size) : dimension.name.empty() ? "?" : dimension.name;
}

std::string port_text(const onnx::ValueInfo& port) {
  std::string sizes;
  for (const auto& dimension : port.sizes) sizes += (sizes.empty() ? "" : ", ") + size_text(dimension);
  return str("  ", port.name, "  ", port.type, port.has_sizes ? "[" + sizes + "]" : "");
}

ordered_json port_json(const onnx::ValueInfo& port) {
  ordered_json one = {{"name", port.name}, {"type", port.type}};
  if (!port.has_sizes) return one;
  one["sizes"] = ordered_json::array();
  for (const auto& dimension : port.sizes) {
    if (dimension.size) one["sizes"].push_back(*dimension.size);
    else one["sizes"].push_back(size_text(dimension));
  }
  return one;
}

int check(const OnnxOptions& options) {
  const onnx::Summary summary = onnx::summarize(options.model);
  if (options.json) {
    ordered_json all = {{"model", options.model}, {"producer", summary.producer}, {"opsets", ordered_json::object()}};
    for (const auto& [domain, version] : summary.opsets) all["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
    all["parameters"] = summary.parameters;
    const auto add_ports = [&](const char* key, const std::vector<onnx::ValueInfo>& ports) {
      all[key] = ordered_json::array();
      for (const auto& port : ports) all[key].push_back(port_json(port));
    };
    add_ports("inputs", summary.inputs);
    add_ports("outputs", summary.outputs);
    all["operators"] = ordered_json::object();
    for (const auto& [name, count] : summary.operators) all["operators"][name] = count;
    all["missing"] = summary.missing;
    std::cout << detail::json_text(all, 2) << std::endl;
  } else {
    std::cout << options.model << ": " << (summary.producer.empty() ? "" : "of " + summary.producer + ", ") << summary.parameters
              << " parameters";
    for (const auto& [domain, version] : summary.opsets)
      std::cout << ", " << (domain.empty() ? "ai.onnx" : domain) << " version " << version;
    std::cout << "\ninputs\n";
    for (const auto& port : summary.inputs) std::cout << port_text(port) << "\n";
    std::cout << "outputs\n";
    for (const auto& port : summary.outputs) std::cout << port_text(port) << "\n";
    std::cout << "operators\n";
    for (const auto& [name, count] : summary.operators) std::cout << "  " << name << "  " << count << "\n";
    for (const std::string& name : summary.missing) std::cout << "missing: " << name << "\n";
    std::cout << std::flush;
  }
  return summary.missing.empty() ? 0 : 1;
}

int run(const OnnxOptions& options) {
  const Device device = device_named("onnx run", options.device);
  onnx::Model model = onnx::load(options.model);
  model.to(device);
  model.eval();
  const InferenceMode inference;
  const io::TensorMap inputs = io::load_npz(options.input, device);
  const auto once = [&] {
    io::TensorMap outputs = model.run(inputs);
    if (device.is_cuda()) cuda::synchronize(device);
    return outputs;
  };
  const io::TensorMap outputs = once();
  std::vector<double> seconds;
  for (int i = 0; i < options.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    (void)once();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  io::TensorMap host;
  for (const auto& [name, tensor] : outputs) host[name] = tensor.cpu();
  if (!options.output.empty()) io::save_npz(options.output, host);
  for (const auto& [name, tensor] : host) std::cout << name << "  " << str(tensor.dtype(), tensor.sizes()) << "\n";
  if (options.output.empty())
    for (const auto& [name, tensor] : host) std::cout << name << " = " << tensor << "\n";
  if (!seconds.empty()) {
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    std::cout << "median of " << seconds.size() << " runs: " << seconds[seconds.size() / 2] * 1e3 << " ms\n";
  }
  std::cout << std::flush;
  return 0;
}

}  // namespace

void add_onnx(CLI::App& app, Action& action) {
  CLI::App* onnx_app = app.add_subcommand("onnx", "Models in ONNX files: what they hold, and what they give");
  onnx_app->require_subcommand(1);
  const auto options = std::make_shared<OnnxOptions>();
  const auto add = [&](const char* name, const char* description, int (*function)(const OnnxOptions&)) {
    CLI::App* command = onnx_app->add_subcommand(name, description);
    command->add_option("MODEL", options->model, "An ONNX file")->required()->check(existing_file());
    command->callback([options, &action, function] { action = [options, function] { return function(*options); }; });
    return command;
  };
  CLI::App* check_app = add("check", "Inputs, outputs and operators of a model, and which of them tandem does not have", check);
  check_app->add_flag("--json", options->json, "Print them as JSON");
  CLI::App* run_app = add("run", "Run a model on the arrays of a file, by the names of its inputs", run);
  run_app->add_option("INPUT", options->input, "A .npz file")->required()->check(existing_file());
  run_app->add_option("--output", options->output, "The .npz file to write; without it outputs are printed")->check(not_empty());
  run_app->add_option("--repeat", options->repeat, "Run it so often once more, and print how long one takes")->check(CLI::PositiveNumber);
  run_app->add_option("--device", options->device, "Where to compute")->capture_default_str();
}

}  // namespace tandem::tools
