#pragma once

#include <cstdint>

#include "machine.h"

namespace fuzz {

struct Generated {
  Program program;
  Outcome expected;  // of running it plainly
};

struct GeneratorOptions {
  int operations = 60;
  uint64_t features = ~uint64_t{0};  // see kinds_of
  std::string folder = ".";
};

/// The program of a seed: always the same.
Generated generate(uint64_t seed, const GeneratorOptions& options);

/// What is left of a program that parts were taken from: the operations that still mean something, and what they compute. `text` gets it
/// in C++, as for so many GPUs; at its end it shows the tensors that `ends` names, or all.
Generated resolve(const Program& program, int gpus, const std::string& folder, std::ostream* text = nullptr, const std::string& ends = {});

}  // namespace fuzz
