// What users hang on gradients: hooks, and results that keep theirs. Several threads may add, remove and run them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "autograd/divided.h"
#include "base/lazy.h"
#include "base/ref.h"
#include "base/small_mutex.h"
#include "tensor/tensor.h"

namespace tandem::autograd {

/// Functions that see a gradient and may replace it, in the order they were added.
class Hooks {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  /// For the gradient of one output. Returns a number that no other hook has.
  int64_t add(uint32_t output_nr, Function function);
  void remove(int64_t number);
  [[nodiscard]] bool empty() const;
  /// The gradient of an output, through its hooks. Error where one gives a tensor of other sizes, dtype or device.
  [[nodiscard]] Tensor run(uint32_t output_nr, Tensor gradient) const;

 private:
  struct Hook {
    uint32_t output_nr;
    int64_t number;
    std::shared_ptr<const Function> function;  // one in all lists: what it remembers is not copied
  };
  using List = std::vector<Hook>;

  mutable tandem::detail::SmallMutex mutex_;
  std::shared_ptr<const List> hooks_;  // replaced, never changed: hooks that add or remove hooks do it for the next run
};

/// A result that keeps its gradient, as its node knows it: the tensor may die, or get another history, while a thread walks.
class RetainedGrad : public Counted<RetainedGrad> {
 public:
  explicit RetainedGrad(TensorImpl& tensor) : tensor_(&tensor) {}
  /// Adds to the tensor's gradient, which is returned; undefined where the tensor is no more.
  Tensor add(const Tensor& gradient);
  /// The tensor dies, or belongs to another node from now on.
  void forget();

 private:
  friend class Counted<RetainedGrad>;
  void destroy() const { delete this; }

  tandem::detail::SmallMutex mutex_;
  TensorImpl* tensor_;
};

/// What hangs on a node's outputs.
class NodeHooks {
 public:
  Hooks hooks;
  void retain(uint32_t output_nr, Ref<RetainedGrad> retained);
  [[nodiscard]] std::vector<Ref<RetainedGrad>> retained(uint32_t output_nr) const;

 private:
  mutable tandem::detail::SmallMutex mutex_;
  std::vector<std::pair<uint32_t, Ref<RetainedGrad>>> retained_;
};

}  // namespace tandem::autograd

namespace tandem {

/// What only some tensors have.
struct AutogradExtras {
  autograd::Hooks hooks;                               // of a leaf
  detail::Lazy<autograd::Hooks> after_accumulation;    // of a leaf; they get the leaf itself
  std::shared_ptr<autograd::DividedGradient> divided;  // of a leaf whose gradient is divided among ranks
  Ref<autograd::RetainedGrad> retained;                // of a result that keeps its gradient
  const runtime::StreamRecord* grad_stream = nullptr;  // that `grad` was last added to on; nullptr: the default one
  ~AutogradExtras() {
    if (retained) retained->forget();
  }
};

}  // namespace tandem
