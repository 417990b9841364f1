#include "onnx.h"

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "compile.h"
#include "onnx/save.h"
#include "runtime/tracer.h"

namespace tandem::python {
namespace {

std::vector<Tensor> tensors_of_list(PyObject* given, const char* what) {
  const Object list = Object::take(checked(PySequence_Fast(given, what)));
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    const Object item = item_of(list.get(), i);
    if (!is_tensor(item.get())) fail<TypeError>("onnx.export: ", what, ", but got ", Py_TYPE(item.get())->tp_name);
    tensors.push_back(tensor_of(item.get()));
  }
  return tensors;
}
std::vector<std::string> texts_of_list(PyObject* given) {
  const Object list = Object::take(checked(PySequence_Fast(given, "expected a list of names")));
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) texts.emplace_back(to_text(item_of(list.get(), i).get()));
  return texts;
}

/// A call of the function that Python gave. An error of Python's stays one, unless other sizes are to be tried after it.
std::vector<Tensor> call(PyObject* function, const std::vector<Tensor>& inputs, bool sizes_vary) {
  const Object arguments = Object::take(checked(PyTuple_New(static_cast<Py_ssize_t>(inputs.size()))));
  for (size_t i = 0; i < inputs.size(); ++i) PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), checked(wrap(inputs[i])));
  const Object result = Object::take(PyObject_CallObject(function, arguments.get()));
  if (result) return tensors_of_list(result.get(), "the model has to give tensors");
  if (untraceable_is_set()) {
    PyErr_Clear();
    throw runtime::Untraceable();
  }
  if (!sizes_vary || !PyErr_ExceptionMatches(PyExc_Exception)) throw_set();
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(traceback);
  const Object own_type = Object::take(type), own = Object::take(value);
  const Object text = Object::take(checked(PyObject_Str(own.get())));
  fail(reinterpret_cast<PyTypeObject*>(own_type.get())->tp_name, ": ", to_text(text.get()));
}

PyObject* onnx_export(PyObject*, PyObject* args) {
  PyObject *function, *names, *tensors, *inputs, *input_names, *output_names, *axes;
  const char* path;
  long long opset;
  int external_data, changes_are_let_be;
  if (!PyArg_ParseTuple(args, "OOOOsOOOLpp:_onnx_export", &function, &names, &tensors, &inputs, &path, &input_names, &output_names, &axes,
                        &opset, &external_data, &changes_are_let_be))
    return nullptr;
  return guarded([&] {
    onnx::SaveOptions options{.input_names = texts_of_list(input_names), .output_names = texts_of_list(output_names)};
    options.opset_version = opset;
    options.external_data = external_data != 0;
    const Object list = Object::take(checked(PySequence_Fast(axes, "expected a list of dimensions")));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
      const char *input, *name;
      long long dim, min, max;
      const Object item = item_of(list.get(), i);
      if (!PyArg_ParseTuple(item.get(), "sLsLL", &input, &dim, &name, &min, &max)) throw ErrorIsSet();
      options.dynamic_axes[input][dim] = onnx::Dim(name, min, max);
    }
    const bool sizes_vary = !options.dynamic_axes.empty();
    onnx::Savable savable{{}, [&](const std::vector<Tensor>& given) { return call(function, given, sizes_vary); }, changes_are_let_be != 0};
    const std::vector<std::string> own_names = texts_of_list(names);
    const std::vector<Tensor> own = tensors_of_list(tensors, "parameters and buffers are tensors");
    for (size_t i = 0; i < own.size(); ++i) savable.tensors.emplace_back(own_names.at(i), own[i]);
    onnx::save(savable, tensors_of_list(inputs, "the arguments have to be tensors"), path, options, caller());
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"_onnx_export", onnx_export, METH_VARARGS, "For tandem.onnx.export."}, {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_onnx(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace tandem::python
