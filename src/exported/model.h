// PyTorch's exported programs (torch.export.save): read from a file, run by tandem's operations, on any device.
//
//   auto model = td::exported::load("model.pt2");
//   td::Tensor y = model(x);                  // one input; the first output
//   auto outputs = model.run({ids, mask});    // all of both
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"

namespace tandem::exported {

struct Program;

/// A size as a program's file has it: a number, or one that is known only when the program runs.
struct Dimension {
  std::optional<int64_t> size;
  std::string name;  // of one that is not known: "s77"
};

/// What goes into a program.
struct InputInfo {
  std::string name;
  bool is_tensor = true;  // else a whole number
  DType dtype = kFloat32;
  std::vector<Dimension> sizes;
};

/// A program as a module. Its parameters and buffers have the names that they had in PyTorch's module, so that its state_dict is that
/// module's. It computes what was exported: dropout drops, and batch normalization takes the batch's figures, where it did so then,
/// whatever train() and eval() say. Copies share parameters, as those of all modules.
struct Model : nn::Module {
  /// Without a program; load() makes others.
  Model() = default;

  /// The first output, of a program that takes one input.
  Tensor forward(const Tensor& x) override;
  /// All outputs, from all inputs, both in the order in which PyTorch flattens them. An output that is None is an undefined tensor, one
  /// that is a number a tensor without dimensions. Error for inputs of other dtypes or sizes than those that were exported.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, Site site = Site::here());

  /// What the program takes, in this order.
  [[nodiscard]] const std::vector<InputInfo>& inputs() const;
  /// The names of what it gives, in this order; empty for what is a constant.
  [[nodiscard]] std::vector<std::string> outputs() const;

  [[nodiscard]] std::string name() const override { return "ExportedModel"; }
  [[nodiscard]] std::string extra_repr() const override;
  void fields(nn::Fields& f) override;

 private:
  friend Model load(const std::string& path, Site site);
  [[nodiscard]] const Program& program() const;

  std::shared_ptr<const Program> program_;
  std::vector<Tensor> tensors_;
};

/// Reads what torch.export.save wrote (`torch.export.save(torch.export.export(net, (x,)), "model.pt2")`), onto the CPU. Nothing in the file
/// is trusted, and no code of it is run. Error that names the file, and the node, for what makes no sense, and one that lists all
/// operations that are missing. As torch.export.load(path).module().
[[nodiscard]] Model load(const std::string& path, Site site = Site::here());

}  // namespace tandem::exported
