#include <filesystem>
#include <fstream>

#include "fuzz.h"
#include "onnx/model.h"

namespace {

/// A name for `file` in a folder where there is a file "weights" of 64 bytes, too, which models may refer to.
const std::string& model_path(const std::string& file) {
  static const std::string path = [&] {
    const std::filesystem::path model = fuzz::folder() / "model.onnx";
    std::ofstream(fuzz::folder() / "weights", std::ios::binary) << std::string(64, '\1');
    std::filesystem::create_symlink(file, model);
    return model.string();
  }();
  return path;
}

}  // namespace

// A model, whatever its operators. It is not run: a loop may be as long as it likes.
void fuzz::read(std::string_view bytes) {
  const std::string& path = model_path(file_of(bytes));
  tandem::onnx::Summary summary;
  if (!succeeds([&] { summary = tandem::onnx::summarize(path); })) return;
  (void)succeeds([&] {
    const auto model = tandem::onnx::load(path);
    expect(summary.missing.empty(), "a model is loaded whose operators are missing");
    expect(model.inputs().size() == summary.inputs.size() && model.outputs().size() == summary.outputs.size(),
           "a model of other inputs and outputs than its summary says");
    expect(model.num_parameters() == summary.parameters, "a model of other parameters than its summary says");
    expect(!model.extra_repr().empty(), "a model that prints as nothing");
    for (const auto& [name, tensor] : model.state_dict())
      if (tensor.numel() < 1000) (void)tensor.clone();
  });
}
