#include "bindings.h"

namespace tandem::python {

std::vector<PyMethodDef>& functions_of(Place place) {
  static std::vector<PyMethodDef> all[3];
  return all[static_cast<int>(place)];
}
void add_to(Place place, PyMethodDef function) { functions_of(place).push_back(function); }

std::optional<Device>& default_device() {
  static thread_local std::optional<Device> device;
  return device;
}

Options creation_options(PyObject* dtype, PyObject* device, PyObject* requires_grad, PyObject* pin_memory, bool like) {
  Options options;
  if (given(dtype)) options.dtype = to_dtype(dtype);
  if (given(device)) options.device = to_device(device);
  else if (!like) options.device = default_device();
  options.requires_grad = given(requires_grad) && to_bool(requires_grad);
  options.pin_memory = given(pin_memory) && to_bool(pin_memory);
  return options;
}

Options of_out(PyObject* out, Options options) {
  if (!given(out)) return options;
  const Tensor& target = checked_tensor(out);
  if (options.dtype && *options.dtype != target.dtype())
    fail("dtype ", scalar_name(*options.dtype), " does not match dtype of out parameter (", scalar_name(target.dtype()), ")");
  options.dtype = target.dtype();
  options.device = target.device();
  return options;
}

ConvPadding to_padding(PyObject* object) {
  if (!PyUnicode_Check(object)) {
    const Shape numbers = to_shape(object);
    return ConvPadding(numbers);
  }
  const std::string_view name = to_text(object);
  if (name == "same") return "same";
  if (name == "valid") return "valid";
  fail("Invalid padding string: '", name, "'; it takes 'same' or 'valid'");
}

OutputSize to_output_size(PyObject* object) {
  Shape sizes;
  const auto add = [&](PyObject* item) { sizes.push_back(given(item) ? to_int(item) : OutputSize::kSame); };
  if (PyTuple_Check(object) || PyList_Check(object))
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) add(item_of(object, i).get());
  else add(object);
  return sizes;
}

PyObject* wrap_unique(std::initializer_list<Tensor> parts) {
  size_t there = 0;
  for (const Tensor& part : parts) there += part.defined();
  return there == 1 ? wrap(*parts.begin()) : wrap_defined(parts);
}

}  // namespace tandem::python
