// td::compile: a module whose forward is learned once for each size of its input, and then done in fewer and faster steps. As
// torch.compile.
//
//   auto fast = td::compile(model);
//   td::Tensor y = fast(x);  // the first call of a size takes longer
//   loss(y).backward();      // where gradients are recorded
#pragma once

#include <memory>
#include <string>

#include "nn/borrowed.h"
#include "nn/module.h"

namespace tandem {

/// Options of compile().
struct CompileOptions {
  int max_sizes = 8;  // for how many sizes of the input steps are kept: the least recently used go first
};

/// A module around another one that gives the same results within rounding. It is for the CPU: where the module has hooks or takes its
/// input from a GPU, where it trains and no gradients are recorded, and where its forward cannot be learned, the module itself is called,
/// and `why` says so. Refers to the module, whose parameters may change: what was made of them is made anew. Several threads may call it;
/// while one is in the steps, others call the module.
///
/// Where gradients are recorded, its backward is learned with its forward: both are the module's own kernels, and so are the results, to
/// the bit. Buffers change as in the module's own forward. A backward with create_graph is an error.
///
/// A forward is learned by calling it once without computing. So it has to be the same operations for all inputs of a size: one that asks
/// for values (item, data_ptr, if (tensor)) or draws random numbers is never replaced; one that goes by what is no tensor - a member that
/// counts calls - is not to be compiled.
class Compiled : public nn::Module {
 public:
  explicit Compiled(nn::Module& module, const CompileOptions& options = {});

  /// The module itself, under the name "module".
  void fields(nn::Fields& f) override;
  Tensor forward(const Tensor& x) override;
  /// The module that it is around.
  [[nodiscard]] nn::Module& module() const { return module_.get(*this); }
  /// Why the last call was the module's own forward; empty where it was not.
  [[nodiscard]] std::string why() const;
  /// The steps of the size that was used last, one a line; empty where there are none. A line "backward:" stands before those of backward.
  [[nodiscard]] std::string steps() const;
  /// Forgets all that was learned, as after a change that no tensor shows.
  void reset();

 private:
  struct State;
  nn::detail::Borrowed<nn::Module> module_;
  std::shared_ptr<State> state_;
};

/// The module with its forward compiled; it must live as long as the result is used. As torch.compile, of a module from tensor to tensor.
[[nodiscard]] Compiled compile(nn::Module& module, const CompileOptions& options = {});

}  // namespace tandem
