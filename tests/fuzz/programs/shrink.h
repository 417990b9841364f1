#pragma once

#include "child.h"
#include "program.h"

namespace fuzz {

/// A program that fails, and how it is run to see it.
struct Failure {
  Program program;
  int gpus = 1;
  std::string what;
};

/// Takes away what the failure does not need, as long as time is left: whole operations first, then what is special about the rest.
Failure shrink(Children& children, Failure failure, double seconds);

/// Runs it in a child, again and again up to `repeat` times: what happened, empty where all was well.
std::string replay(Children& children, const Program& program, int gpus, int repeat);

}  // namespace fuzz
