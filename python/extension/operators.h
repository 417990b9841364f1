// The parts of the type Tensor that stand in slots of Python's, each set up by the file that has its subject.
#pragma once

#include "python.h"

namespace tandem::python {

void add_operators(PyTypeObject& type);   // operators.cpp: + - * / and so on, comparisons, int(), bool()
void add_indexing(PyTypeObject& type);    // indexing.cpp: x[...], x[...] = y, len
void add_buffer(PyTypeObject& type);      // exchange.cpp: memoryview(x)
void add_attributes(PyTypeObject& type);  // attributes.cpp: x.shape and so on, repr

}  // namespace tandem::python
