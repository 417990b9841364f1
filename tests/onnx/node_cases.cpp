#include "onnx/node_cases.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "onnx/model.h"
#include "onnx/proto.h"
#include "onnx/tensor_data.h"
#include "tandem.h"

namespace td = tandem;
namespace fs = std::filesystem;

namespace node_cases {
namespace {

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

td::Tensor tensor_in(const fs::path& path) {
  const std::string bytes = bytes_of(path);
  return td::onnx::tensor_of(td::onnx::parse_tensor(bytes), "", td::Site::here());
}

/// Whether an error says that an element type is none of ours.
bool is_about_dtype(const std::string& text) {
  return text.find("which no tensor has") != std::string::npos || text.find("text or sparse") != std::string::npos;
}

std::string difference(const td::Tensor& found, const td::Tensor& wanted, const td::onnx::ValueInfo& info) {
  if (found.dtype() != wanted.dtype()) return td::str(info.name, " is of ", found.dtype(), ", not ", wanted.dtype());
  if (found.sizes() != wanted.sizes()) return td::str(info.name, " has the sizes ", found.sizes(), ", not ", wanted.sizes());
  const td::DType dtype = wanted.dtype();
  const bool half = dtype == td::kFloat16 || dtype == td::kBFloat16;
  const td::Tensor a = found.cpu().to(td::kFloat64), b = wanted.to(td::kFloat64);
  if (td::allclose(a, b, dtype == td::kBFloat16 ? 2e-2 : half ? 4e-3 : 1e-3, half ? 1e-3 : 1e-5, true)) return "";
  const td::Tensor off = (a - b).abs();
  return td::str(info.name, " is off by up to ", td::nan_to_num(off, 1e30).max().item<double>());
}

}  // namespace

Result run(const std::string& folder, const std::string& device) {
  try {
    auto model = td::onnx::load((fs::path(folder) / "model.onnx").string());
    for (const auto& list : {model.inputs(), model.outputs()})
      for (const auto& info : list) {
        if (info.type == "sequence" || info.type == "optional") return {Outcome::DType, "a " + info.type + " goes in or comes out"};
        if (!info.type.empty() && !info.dtype) return {Outcome::DType, "type " + info.type};
      }
    model.to(device);
    const td::NoGradGuard no_grad;
    for (int set = 0;; ++set) {
      const fs::path data = fs::path(folder) / td::str("test_data_set_", set);
      if (!fs::exists(data)) return set > 0 ? Result{Outcome::Passed, ""} : Result{Outcome::Failed, "no data"};
      std::vector<td::Tensor> inputs;
      for (int i = 0; fs::exists(data / td::str("input_", i, ".pb")); ++i)
        inputs.push_back(tensor_in(data / td::str("input_", i, ".pb")).to(device));
      inputs.resize(std::min(inputs.size(), model.inputs().size()));
      const auto outputs = model.run_in_order(inputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const fs::path path = data / td::str("output_", i, ".pb");
        if (!fs::exists(path)) continue;
        if (const auto text = difference(outputs[i], tensor_in(path), model.outputs()[i]); !text.empty()) return {Outcome::Failed, text};
      }
    }
  } catch (const td::NotImplementedError& error) {
    return {std::string(error.what()).find("does not have the operators") == std::string::npos ? Outcome::Failed : Outcome::Missing,
            error.what()};
  } catch (const td::Error& error) {
    return {is_about_dtype(error.what()) ? Outcome::DType : Outcome::Failed, error.what()};
  }
}

}  // namespace node_cases
