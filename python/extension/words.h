// The library's advice is written for C++; here it is said in Python's words.
#pragma once

#include <string>

namespace tandem::python {

/// The text of an error, with the names of C++ that its advice uses - kFloat32, NoGradGuard, {.strict = false} - as Python writes them.
std::string in_python(std::string text);

}  // namespace tandem::python
