// Calls of the library that may take a while.
#pragma once

#include "caller.h"
#include "errors.h"
#include "python.h"

namespace tandem::python {

/// Runs `body(site)` at the caller's line, without the interpreter's lock.
template <class Body>
PyObject* beside_others(Body body) {
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    {
      const WithoutLock unlocked;
      body(line);
    }
    Py_RETURN_NONE;
  });
}

}  // namespace tandem::python
