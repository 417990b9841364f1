// ONNX models: read from a file, run by tandem's operations, on any device.
//
//   auto model = td::onnx::load("model.onnx");
//   td::Tensor y = model(x);                                   // one input; the first output
//   auto outputs = model.run({{"ids", ids}, {"mask", mask}});  // by name
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "nn/module.h"

namespace tandem::onnx {

/// A size as a model's file has it: a number, or one that is known only when the model runs.
struct Dimension {
  std::optional<int64_t> size;
  std::string name;  // of one that is not known, where the file gives it a name
};

/// What goes into a model or comes out of it.
struct ValueInfo {
  std::string name;
  std::optional<DType> dtype;         // nothing where the file does not say it, or where it is none that a tensor has
  std::string type;                   // as ONNX calls it: "float", "int64", "sequence"
  bool has_sizes = false;             // whether the file says how many dimensions it has
  std::vector<Dimension> sizes = {};  // one each
};

/// What a file holds.
struct Summary {
  std::string producer;                      // the program that wrote it
  std::map<std::string, int64_t> opsets;     // the version of the operators, by domain; the domain "" is ONNX's own
  std::vector<ValueInfo> inputs, outputs;    // without inputs that the file has a value for
  std::map<std::string, int64_t> operators;  // how many nodes there are of each, subgraphs included
  std::vector<std::string> missing;          // operators that tandem does not have
  int64_t parameters = 0;                    // how many numbers the model's parameters are
};

/// A model as a module. Its parameters are the file's floating-point initializers, by their names; buffers are whole numbers, the running
/// figures of batch normalization, the factors of a resize and the like, and constants. It computes what the file says, in training too:
/// batch normalization keeps its figures, dropout drops nothing. Copies share parameters, as those of all modules.
struct Model : nn::Module {
  /// Without a graph; load() makes others.
  Model() = default;

  /// The first output, of a model that needs one input.
  Tensor forward(const Tensor& x) override;
  /// All outputs, in their order; inputs in the order of inputs().
  std::vector<Tensor> run_in_order(const std::vector<Tensor>& inputs, Site site = Site::here());
  /// All outputs by name. Inputs that the file has a value for may be left out. Error for a name that is no input's.
  io::TensorMap run(const io::TensorMap& inputs, Site site = Site::here());

  /// The inputs that the model needs, in their order.
  [[nodiscard]] const std::vector<ValueInfo>& inputs() const;
  /// The outputs, in their order.
  [[nodiscard]] const std::vector<ValueInfo>& outputs() const;
  /// What the file holds.
  [[nodiscard]] const Summary& summary() const;

  /// "OnnxModel".
  [[nodiscard]] std::string name() const override { return "OnnxModel"; }
  /// The file, and how many inputs and outputs there are.
  [[nodiscard]] std::string extra_repr() const override;
  /// Parameters and buffers, by their names in the file.
  void fields(nn::Fields& f) override;

 private:
  friend Model load(const std::string& path, Site site);
  struct Content;
  std::vector<Tensor> compute(const io::TensorMap& inputs, Site site);

  std::shared_ptr<const Content> content_;
  std::vector<Tensor> tensors_;
};

/// Reads a model, onto the CPU. Weights may lie in other files of the same folder, and nowhere else. Nothing in the file is trusted: sizes
/// are compared with what there is before memory is taken. Error that names the file, and the node, for what makes no sense, and one that
/// lists all operators that are missing.
[[nodiscard]] Model load(const std::string& path, Site site = Site::here());
/// What a file holds, also of one that cannot be loaded because operators are missing.
[[nodiscard]] Summary summarize(const std::string& path, Site site = Site::here());

}  // namespace tandem::onnx
