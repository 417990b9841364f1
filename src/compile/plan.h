// A forward as a list of steps over memory that is planned once: constants are computed ahead, convolutions take in what follows them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/fuse.h"
#include "compile/memory.h"
#include "compile/step.h"

namespace tandem::compiling {

/// A module's forward for inputs of one size. One thread at a time uses it.
class Plan {
 public:
  /// Of what `flow` says; `input` is where the trace's input lies, `result` what the trace gave.
  Plan(Flow flow, const Range& input, const Tensor& result);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Takes the values of parameters and buffers over into what was made of them. Why the steps would not give what the module gives; an
  /// empty text where they do.
  [[nodiscard]] const char* refresh();
  /// The result for `x`, a contiguous tensor of the size that the plan is for; its values must be finite.
  [[nodiscard]] Tensor run(const Tensor& x, Site site);
  /// Whether NaN and infinite numbers in the input lead to other results than the module's.
  [[nodiscard]] bool needs_finite_input() const { return !convolutions_.empty() || !pools_.empty(); }
  /// The steps, one a line.
  [[nodiscard]] std::string text() const;

 private:
  /// Where an address of a step is kept, and what it has to be.
  struct Patch {
    void** at;
    size_t offset;  // in the block
    int block;      // or Use::kInput
  };
  void fuse();
  void choose_layouts();
  bool make_fused();
  void make_steps();
  void make_convolution(const FusedConvolution& c, kernels::cpu::BlockedConvolution& kernel);
  void make_pool(const FusedPool& pool, kernels::cpu::BlockedPool& kernel);
  void make_call(const Node& node);
  void make_chain(const std::vector<int>& nodes);
  void plan_memory();
  void use(int block, size_t bytes);
  void patch(void** at, const Use& use);
  void patch_and_use(const Use& use);
  void reads(void** at, const Use& use);
  void writes(void** at, int block, size_t bytes);
  void scratch(void** at, size_t bytes);
  [[nodiscard]] size_t bytes_of(int block, int64_t n, int64_t channels, int64_t places) const;

  Flow flow_;
  const Range traced_;
  std::vector<int> plain_;  // nodes that no fused step is to begin with
  std::vector<FusedConvolution> convolutions_;
  std::vector<FusedPool> pools_;
  std::vector<std::unique_ptr<kernels::cpu::BlockedConvolution>> kernels_;  // of convolutions_
  std::vector<std::unique_ptr<kernels::cpu::BlockedPool>> pool_kernels_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<bool> blocked_;          // by block: its channels lie in blocks
  std::vector<Room> rooms_;            // of blocks, then of scratch
  std::vector<Patch> patches_;         // into the plan's memory
  std::vector<Patch> input_, result_;  // into what each call brings
  std::vector<int> same_;              // another block whose memory a block shares, or itself
  std::unique_ptr<Block> memory_;
  const ResultForm form_;
};

}  // namespace tandem::compiling
