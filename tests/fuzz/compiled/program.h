// A random program around one network: what is done to it between its calls, on the network itself and on a copy that is compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

/// One step of a program. What it does follows from its number alone, so that steps can be left out.
struct Step {
  enum class Kind : uint8_t {
    Call,           // forward, and backward where gradients are recorded
    CallQuietly,    // under NoGradGuard
    Forward,        // a forward whose backward comes later
    Backward,       // the gradients of the oldest of those
    ChangeInPlace,  // a parameter or buffer
    Assign,         // another tensor takes a parameter's place
    Prune,          // the same, and the one of before is kept
    PutBack,        // what was kept
    OtherElements,  // a parameter becomes a view: transposed, or a part of more
    Tie,            // two parameters become one tensor, or two of the same memory
    Load,           // a state's values, or its tensors
    Swap,           // values, or tensors, with averages of earlier ones
    Move,           // to a GPU, or back
    Convert,        // to another dtype
    Train,          // or evaluate, all or a part
    Freeze,         // or free, one parameter or all
    Hook,           // on a module or a parameter; or takes all away
    Replace,        // a part by another
    Optimize,       // a step
    ZeroGrad,
    Compute,      // a parameter becomes an operation's result
    NotFinite,    // a number of a parameter
    Churn,        // memory of the parameters' sizes is asked for and freed
    Share,        // with other processes
    Threads,      // another number of them
    CompileAnew,  // or forget, or go on with a copy
    Clone,        // the network
  };
  Kind kind;
  uint64_t seed;
};

struct Program {
  uint64_t seed = 0;
  std::vector<Step> steps;
};
/// All of it from the seed. `gpus`: whether it may move to virtual GPUs.
[[nodiscard]] Program make_program(uint64_t seed, int length, bool gpus);

/// "ChangeInPlace".
[[nodiscard]] const char* name_of(Step::Kind kind);

/// What a run of a program has shown.
struct Report {
  std::string wrong;             // in what the two differ; empty where they don't
  size_t at = 0;                 // the step after which they do
  std::vector<std::string> log;  // a line for each step
  int calls = 0, in_steps = 0;   // forwards, and those of them that took compiled steps
};
[[nodiscard]] Report run(const Program& program);
/// The network that the program of a seed begins with, as it is printed.
[[nodiscard]] std::string network_of(uint64_t seed);

}  // namespace fuzz
