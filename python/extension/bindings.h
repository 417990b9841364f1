// What the generated functions are made of.
#pragma once

#include <initializer_list>
#include <vector>

#include "arguments.h"
#include "caller.h"
#include "errors.h"
#include "generator.h"
#include "python.h"
#include "results.h"
#include "tensor.h"
#include "values.h"

namespace tandem::python {

/// Where a generated function is to be found: in the module, in tandem.linalg, or as a method of Tensor.
enum class Place { Function, Linalg, Method };
/// Puts a function there. The package takes them all when the module is made.
void add_to(Place place, PyMethodDef function);
/// Those of a place so far.
std::vector<PyMethodDef>& functions_of(Place place);
/// Tells add_to of all generated functions; written by python/generate/bindings.py.
void register_operations();

/// The options of a function that creates a tensor: on the default device (set_default_device) where none is given, unless it is made
/// `like` another tensor.
Options creation_options(PyObject* dtype, PyObject* device, PyObject* requires_grad, PyObject* pin_memory, bool like);
/// The same of numbers that go into `out`, where that is given: its dtype and device are those.
Options of_out(PyObject* out, Options options);
/// "same" and "valid", or numbers.
ConvPadding to_padding(PyObject* object);
/// Sizes, None for the input's own.
OutputSize to_output_size(PyObject* object);
/// The output alone, or a tuple with what was asked for besides.
PyObject* wrap_unique(std::initializer_list<Tensor> parts);

/// The device of set_default_device and of `with device:`; empty where there is none. Of the calling thread.
std::optional<Device>& default_device();

}  // namespace tandem::python
