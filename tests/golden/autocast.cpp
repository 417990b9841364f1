// The dtypes that operations give under autocast, compared with PyTorch's answers (autocast.json, which autocast.py asked for).
#include <sstream>

#include "golden.h"

namespace golden {
namespace {

/// A letter for each result, as in the file.
std::string letters(const Results& results, DType lower) {
  std::string text;
  for (const Tensor& result : results) {
    const DType dtype = result.dtype();
    if (is_half(dtype)) text += dtype == lower ? 'l' : 'h';
    else text += dtype == kFloat32 ? 'f' : dtype == kFloat64 ? 'd' : dtype == kBool ? 'b' : 'i';
  }
  return text;
}

std::string call(const Table& table, const std::string& op, const Json& test, Tensors& tensors, DType lower) {
  make_tensors(
      test["args"], [](const std::string&) { return false; }, tensors);
  make_tensors(
      test["kwargs"], [](const std::string&) { return false; }, tensors);
  const auto guard = autocast(tensors.device());
  try {
    return letters(table.call(op, test["args"], test["kwargs"], tensors), lower);
  } catch (const Error& error) {
    if (std::string(error.what()).find("unsafe to autocast") != std::string::npos) return "!";
    throw;
  }
}

/// Fake tensors compute nothing, so PyTorch gave answers to calls that its kernels refuse, as ours do.
bool refuses_dtypes(const std::string& error) {
  for (const char* text : {"Low precision dtypes not supported", "expected to have the same dtype", "tensors with different dtypes",
                           "per_sample_weights to have the type of weight"})
    if (error.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string different_under_autocast(const Table& table, const std::string& op, const Json& test, const io::TensorMap& stored,
                                     Device device, const std::string& answers) {
  const DType lower = get_autocast_dtype(device);
  std::istringstream words(answers);
  for (const auto& [which, name] : {std::pair(Lowered::None, "float32"), std::pair(Lowered::All, "the lower precision"),
                                    std::pair(Lowered::First, "the lower precision first, then float32")}) {
    std::string theirs;
    words >> theirs;
    if (theirs.find('?') != std::string::npos) continue;
    Tensors tensors(stored, device, {which, lower});
    std::string ours;
    try {
      ours = call(table, op, test, tensors, lower);
    } catch (const Error& error) {
      ours = error.what();
      if (refuses_dtypes(ours)) continue;
    }
    if (ours != theirs) return std::string("of ") + name + ": " + ours + " instead of " + theirs;
  }
  return "";
}

}  // namespace golden
