// Gradients for users: switching recording off and on, `grad`, checking gradients by finite differences.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// Whether the calling thread records operations.
[[nodiscard]] bool is_grad_enabled();

/// Switches recording on or off for the calling thread until the end of the scope.
class SetGradGuard {
 public:
  explicit SetGradGuard(bool enabled);
  ~SetGradGuard();
  SetGradGuard(const SetGradGuard&) = delete;
  SetGradGuard& operator=(const SetGradGuard&) = delete;

 private:
  bool before_;
};
/// No recording in this scope. As torch.no_grad.
class NoGradGuard : SetGradGuard {
 public:
  NoGradGuard() : SetGradGuard(false) {}
};
/// Recording in this scope. As torch.enable_grad.
class EnableGradGuard : SetGradGuard {
 public:
  EnableGradGuard() : SetGradGuard(true) {}
};

/// No recording in this scope, and what is made in it is never recorded later: is_inference() is true of it. Views of tensors from outside
/// are views as in no_grad. With false, recording in a scope within. As torch.inference_mode.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  /// Whether the calling thread is in one.
  [[nodiscard]] static bool is_enabled();

 private:
  bool recording_before_, before_;
};

/// Options of grad(), in this order.
struct GradOptions {
  std::vector<Tensor> grad_outputs = {};
  std::optional<bool> retain_graph = {};  // as create_graph unless given
  bool create_graph = false;
  bool allow_unused = false;
};

/// Gradients of `outputs`, each weighted with its grad_output, with respect to `inputs`. Adds to no `.grad`. As torch.autograd.grad.
[[nodiscard]] std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                       const GradOptions& options = {}, Site site = Site::here());

namespace autograd {

/// Adds the gradients of `outputs` to the `.grad` of all leaves. As torch.autograd.backward.
void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients = {}, BackwardOptions options = {},
              Site site = Site::here());
/// The same of `inputs` alone, leaves or results. Error for none, and for those that require no gradient.
void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients, BackwardOptions options,
              const std::vector<Tensor>& inputs, Site site = Site::here());

/// Calls `callback` when the backward that is running on this thread has come to its end, on the thread and the current streams that
/// started it, in the order in which they were queued. Call it from a hook, or from the backward of a function of your own: error where no
/// backward is running. Not called where backward throws. As Engine::queue_callback of libtorch.
void queue_callback(std::function<void()> callback);

/// Options of gradcheck(): the step of the differences, and how far values may differ.
struct GradcheckOptions {
  double eps = 1e-6, atol = 1e-5, rtol = 1e-3;
};
/// Whether the gradients of f agree with finite differences at float64 inputs; an Error with the place and both values where not. As
/// torch.autograd.gradcheck.
bool gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs, GradcheckOptions options = {},
               Site = Site::here());
/// The same for the gradient's gradient.
bool gradgradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                   GradcheckOptions options = {}, Site = Site::here());

}  // namespace autograd
}  // namespace tandem
