// A forward and its backward as steps over memory that is planned once, and the node of the graph that stands for both.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "autograd/node.h"
#include "compile/flow.h"
#include "compile/memory.h"
#include "compile/step.h"

namespace tandem::compiling {

/// What a forward leaves for its backward.
struct ForBackward {
  Tensor input, result;  // undefined where backward does not read them
  Tensor memory;         // undefined where it reads nothing else
};

/// A module's forward and backward for inputs of one size. Several threads may use it: one at a time is in the steps. What a forward leaves
/// lies in memory of its own, so several may go before a backward.
class GradientPlan {
 public:
  /// Of what `flow` says of `trace`; `input` is where the trace's input lies, `tensors` are all of the module's.
  GradientPlan(Flow flow, const Trace& trace, const Range& input, const std::vector<Tensor>& tensors);
  GradientPlan(const GradientPlan&) = delete;
  GradientPlan& operator=(const GradientPlan&) = delete;

  /// The result for `x`, contiguous and of the size that the plan is for, without a history; undefined where another thread is in the
  /// steps.
  [[nodiscard]] Tensor forward(const Tensor& x, ForBackward& kept, Site site);
  /// The gradients of the trace's `wanted` from that of the result; undefined where there are none.
  [[nodiscard]] std::vector<Tensor> backward(const ForBackward& kept, const Tensor& gradient, Site site);

  /// The buffers that forward changes.
  [[nodiscard]] const std::vector<Tensor>& changed() const { return changed_; }
  /// The parameters and buffers that backward reads.
  [[nodiscard]] const std::vector<Tensor>& read() const { return read_; }
  /// Error where one of those lies elsewhere now. That its values are those of forward is to be known by its version.
  void check_places() const;
  [[nodiscard]] bool reads_input() const { return reads_input_; }
  [[nodiscard]] bool reads_result() const { return reads_result_; }
  /// The steps, one a line.
  [[nodiscard]] std::string text() const;

 private:
  /// What addresses of steps count from: one of these, or gradient i as kGradients + i.
  enum Base : int { kMemory, kInput, kResult, kOutputGradient, kKept, kGradients };
  struct Patch {
    void** at;
    size_t offset;
    int base;
  };
  /// A gradient that backward gives.
  struct Gradient {
    bool defined;
    Shape sizes;
    DType dtype;
  };
  class CopyStep;

  void find_kept();
  void make_steps();
  void make_copies();
  void patch_and_use(const Use& use);
  void plan_memory();
  void run(size_t first, size_t last, const std::vector<Patch>& patches, std::span<void* const> bases);
  [[nodiscard]] bool in_backward() const { return forward_steps_ != kOpen; }

  static constexpr size_t kOpen = static_cast<size_t>(-1);
  Flow flow_;
  const Range traced_;
  const ResultForm form_;
  std::vector<Gradient> gradients_;
  std::vector<Tensor> changed_, read_;
  std::vector<const void*> places_;  // of read_
  bool reads_input_ = false, reads_result_ = false;

  std::vector<int> base_of_;          // by block
  std::vector<size_t> kept_offsets_;  // by block
  std::vector<bool> copied_;          // by block: backward changes what forward has left, in a copy
  size_t kept_bytes_ = 0;
  std::vector<Room> rooms_;  // of blocks, then of scratch
  std::vector<std::unique_ptr<Step>> steps_;
  size_t forward_steps_ = kOpen;  // how many are forward's
  struct InMemory {
    void** at;
    size_t offset;
    size_t room;
  };
  std::vector<InMemory> in_memory_;
  std::vector<Patch> forward_patches_, backward_patches_;
  std::unique_ptr<Block> memory_;
  std::mutex mutex_;
};

/// Makes the plan's backward the history of `y`, which the plan has given for `x`. `wanted`: as for the trace.
void record(const std::shared_ptr<GradientPlan>& plan, const Tensor& y, const std::vector<Tensor>& wanted, ForBackward kept, Site site);

}  // namespace tandem::compiling
