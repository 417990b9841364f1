// A forward as a list of steps over memory that is planned once: constants are computed ahead, convolutions take in what follows them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/fuse.h"

namespace tandem::compiling {

/// One thing that a plan does.
class Step {
 public:
  Step(const char* name, Site where) : op(name), site(where) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual void run(const Queue& queue) = 0;

  const char* const op;
  const Site site;
  std::string also;  // what it does besides, for people
};

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
  /// What a block needs of the plan's memory.
  struct Room {
    size_t bytes = 0;
    int first = -1, last = -1;  // the steps that use it
    size_t offset = 0;
    bool blocked = false;
  };

  void fuse();
  void choose_layouts();
  bool make_fused();
  void make_steps();
  void plan_memory();
  void use(int block, int step, size_t bytes);
  void patch(void** at, const Use& use);

  Flow flow_;
  const Range traced_;
  std::vector<int> plain_;  // nodes that no fused step is to begin with
  std::vector<FusedConvolution> convolutions_;
  std::vector<FusedPool> pools_;
  std::vector<std::unique_ptr<kernels::cpu::BlockedConvolution>> kernels_;  // of convolutions_
  std::vector<std::unique_ptr<kernels::cpu::BlockedPool>> pool_kernels_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<Room> rooms_;            // of blocks, then of scratch
  std::vector<Patch> patches_;         // into the plan's memory
  std::vector<Patch> input_, result_;  // into what each call brings
  std::vector<int> same_;              // another block whose memory a block shares, or itself
  std::unique_ptr<Block> memory_;
  size_t result_bytes_;
  Shape sizes_, strides_;
  int64_t offset_ = 0;
  DType dtype_ = DType::Float32;
};

}  // namespace tandem::compiling
