#pragma once

#include <iosfwd>

#include "program.h"

namespace fuzz {

/// The program as C++ that compiles against an installed tandem, for so many virtual GPUs; `what` says which tensors it shows at its end.
void print(std::ostream& out, const Program& program, int gpus, const std::string& what);

}  // namespace fuzz
