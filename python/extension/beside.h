// Calls of the library that may take a while.
#pragma once

#include <type_traits>

#include "caller.h"
#include "errors.h"
#include "python.h"
#include "tensor.h"

namespace tandem::python {

/// Runs `body(site)` at the caller's line, without the interpreter's lock. Gives its Tensor, or None.
template <class Body>
PyObject* beside_others(Body body) {
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    const Site line = site;
    const auto call = [&] {
      const WithoutLock unlocked;
      return body(line);
    };
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      Py_RETURN_NONE;
    } else {
      return wrap(call());
    }
  });
}

}  // namespace tandem::python
