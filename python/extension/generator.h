// Random numbers: Generator objects, and drawing from one of them.
#pragma once

#include <memory>

#include "python.h"

namespace tandem::python {

bool is_generator(PyObject* object);

/// Until the end of the scope random numbers are drawn from a Generator, where one was given, in place of the device's own.
class DrawFrom {
 public:
  explicit DrawFrom(PyObject* generator);
  ~DrawFrom();
  DrawFrom(const DrawFrom&) = delete;
  DrawFrom& operator=(const DrawFrom&) = delete;

 private:
  struct Before;
  PyObject* generator_;
  std::unique_ptr<Before> before_;
};

bool add_generator(PyObject* module);

}  // namespace tandem::python
