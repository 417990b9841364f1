// Errors in both directions: C++'s become PyTorch's classes in Python, and a Python exception keeps its class and traceback through C++.
#pragma once

#include "python.h"

namespace tandem::python {

/// tandem.OutOfMemoryError, a RuntimeError.
extern PyObject* out_of_memory_error;
/// tandem.ledger.ForbiddenError, a RuntimeError.
extern PyObject* forbidden_error;

/// tandem.linalg.LinAlgError, a RuntimeError.
extern PyObject* linalg_error;

/// Inside a handler: sets the Python exception that stands for the C++ one, and gives nullptr.
PyObject* raise_current();

/// The Python exception that is set, as a C++ exception that carries it across threads and the library's own code.
[[noreturn]] void throw_set();

/// Runs `body`, which gives a new reference; what it throws becomes a Python exception.
template <class Body>
PyObject* guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return raise_current();
  }
}
/// The same of what gives 0, or -1 after an error.
template <class Body>
int guarded_int(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    raise_current();
    return -1;
  }
}

/// Makes the exceptions, and adds them to the module. False after an error.
bool add_errors(PyObject* module);

}  // namespace tandem::python
