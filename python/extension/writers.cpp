#include "writers.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "data/image.h"
#include "io/png.h"
#include "train/summary_writer.h"

namespace tandem::python {
namespace {

struct PyWriter {
  PyObject_HEAD train::SummaryWriter* writer;
};
PyTypeObject writer_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
train::SummaryWriter& writer_of(PyObject* object) { return *reinterpret_cast<PyWriter*>(object)->writer; }

PyObject* writer_new(PyTypeObject* type, PyObject* args, PyObject*) {
  const char* folder;
  if (!PyArg_ParseTuple(args, "s:SummaryWriter", &folder)) return nullptr;
  return guarded([&] {
    auto writer = std::make_unique<train::SummaryWriter>(folder, caller());
    PyObject* const object = checked(type->tp_alloc(type, 0));
    reinterpret_cast<PyWriter*>(object)->writer = writer.release();
    return object;
  });
}
void writer_dealloc(PyObject* object) {
  delete reinterpret_cast<PyWriter*>(object)->writer;
  Py_TYPE(object)->tp_free(object);
}

/// Calls `add` with each name and value of a dictionary.
template <class Add>
void each_of(PyObject* dict, Add add) {
  if (!PyDict_Check(dict)) fail<TypeError>("expected a dict of names and values, but got ", Py_TYPE(dict)->tp_name);
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    if (!PyUnicode_Check(key)) fail<TypeError>("expected names as keys, but got ", Py_TYPE(key)->tp_name);
    add(std::string(to_text(key)), value);
  }
}
std::map<std::string, double> numbers_of(PyObject* dict) {
  std::map<std::string, double> numbers;
  each_of(dict, [&](std::string name, PyObject* value) { numbers.emplace(std::move(name), to_double(value)); });
  return numbers;
}

PyObject* add_scalar(PyObject* self, PyObject* args) {
  const char* tag;
  double value;
  long long step;
  if (!PyArg_ParseTuple(args, "sdL", &tag, &value, &step)) return nullptr;
  return guarded([&] {
    writer_of(self).add_scalar(tag, value, step);
    Py_RETURN_NONE;
  });
}
PyObject* add_scalars(PyObject* self, PyObject* args) {
  const char* tag;
  PyObject* values;
  long long step;
  if (!PyArg_ParseTuple(args, "sOL", &tag, &values, &step)) return nullptr;
  return guarded([&] {
    writer_of(self).add_scalars(tag, numbers_of(values), step);
    Py_RETURN_NONE;
  });
}
PyObject* add_histogram(PyObject* self, PyObject* args) {
  const char* tag;
  PyObject* values;
  long long step;
  if (!PyArg_ParseTuple(args, "sOL", &tag, &values, &step)) return nullptr;
  return guarded([&] {
    writer_of(self).add_histogram(tag, checked_tensor(values), step, caller());
    Py_RETURN_NONE;
  });
}
PyObject* add_image(PyObject* self, PyObject* args) {
  const char* tag;
  PyObject* image;
  long long step;
  if (!PyArg_ParseTuple(args, "sOL", &tag, &image, &step)) return nullptr;
  return guarded([&] {
    writer_of(self).add_image(tag, checked_tensor(image), step, caller());
    Py_RETURN_NONE;
  });
}
PyObject* add_text(PyObject* self, PyObject* args) {
  const char *tag, *text;
  long long step;
  if (!PyArg_ParseTuple(args, "ssL", &tag, &text, &step)) return nullptr;
  return guarded([&] {
    writer_of(self).add_text(tag, text, step);
    Py_RETURN_NONE;
  });
}
PyObject* add_hparams(PyObject* self, PyObject* args) {
  PyObject *given, *metrics;
  if (!PyArg_ParseTuple(args, "OO", &given, &metrics)) return nullptr;
  return guarded([&] {
    std::map<std::string, train::HParam> parameters;
    each_of(given, [&](std::string name, PyObject* value) {
      if (PyBool_Check(value)) parameters.emplace(std::move(name), value == Py_True);
      else if (PyUnicode_Check(value)) parameters.emplace(std::move(name), std::string(to_text(value)));
      else parameters.emplace(std::move(name), to_double(value));
    });
    writer_of(self).add_hparams(parameters, numbers_of(metrics));
    Py_RETURN_NONE;
  });
}
PyObject* flush(PyObject* self, PyObject*) {
  return guarded([&] {
    writer_of(self).flush();
    Py_RETURN_NONE;
  });
}
PyObject* path(PyObject* self, void*) {
  return guarded([&] { return from_text(writer_of(self).path()); });
}

PyMethodDef methods[] = {{"add_scalar", add_scalar, METH_VARARGS, "add_scalar(tag, value, step)"},
                         {"add_scalars", add_scalars, METH_VARARGS, "add_scalars(tag, values, step)"},
                         {"add_histogram", add_histogram, METH_VARARGS, "add_histogram(tag, tensor, step)"},
                         {"add_image", add_image, METH_VARARGS, "add_image(tag, tensor, step)"},
                         {"add_text", add_text, METH_VARARGS, "add_text(tag, text, step)"},
                         {"add_hparams", add_hparams, METH_VARARGS, "add_hparams(parameters, metrics)"},
                         {"flush", flush, METH_NOARGS, "Brings what was written to the disk."},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"path", path, nullptr, "The event file.", nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};

/// By torchvision's names.
data::ImageMode mode_of(const char* name) {
  constexpr std::pair<std::string_view, data::ImageMode> kModes[] = {{"UNCHANGED", data::ImageMode::Unchanged},
                                                                     {"GRAY", data::ImageMode::Gray},
                                                                     {"GRAY_ALPHA", data::ImageMode::GrayAlpha},
                                                                     {"RGB", data::ImageMode::RGB},
                                                                     {"RGB_ALPHA", data::ImageMode::RGBA}};
  if (!name) return data::ImageMode::Unchanged;
  for (const auto& [known, mode] : kModes)
    if (known == name) return mode;
  fail<ValueError>("mode is one of UNCHANGED, GRAY, GRAY_ALPHA, RGB and RGB_ALPHA, not ", name);
}
PyObject* read_image(PyObject*, PyObject* args) {
  PyObject* path;
  const char* mode = nullptr;
  if (!PyArg_ParseTuple(args, "O&|s:read_image", PyUnicode_FSConverter, &path, &mode)) return nullptr;
  const Object held = Object::take(path);
  return guarded([&] { return wrap(data::read_image(PyBytes_AS_STRING(path), mode_of(mode), caller())); });
}
PyObject* decode_image(PyObject*, PyObject* args) {
  Py_buffer bytes;
  const char* mode = nullptr;
  if (!PyArg_ParseTuple(args, "y*|s:decode_image", &bytes, &mode)) return nullptr;
  PyObject* const image = guarded([&] {
    return wrap(data::decode_image({static_cast<const char*>(bytes.buf), static_cast<size_t>(bytes.len)}, mode_of(mode), caller()));
  });
  PyBuffer_Release(&bytes);
  return image;
}
PyObject* encode_png(PyObject*, PyObject* image) {
  return guarded([&] {
    const std::string bytes = io::encode_png(checked_tensor(image), caller());
    return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  });
}
PyMethodDef functions[] = {
    {"read_image", read_image, METH_VARARGS,
     "read_image(path, mode='UNCHANGED')\n\nA PNG or JPEG as a uint8 tensor (channels, height, width). Modes by torchvision's names."},
    {"decode_image", decode_image, METH_VARARGS, "decode_image(bytes, mode='UNCHANGED')\n\nread_image of a file's bytes."},
    {"encode_png", encode_png, METH_O,
     "encode_png(image)\n\nThe bytes of a PNG file of a picture (channels, height, width), uint8 or floating from 0 to 1."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_writers(PyObject* module) {
  writer_type.tp_name = "tandem._C.SummaryWriter";
  writer_type.tp_doc = "SummaryWriter(log_dir): writes an event file.";
  writer_type.tp_basicsize = sizeof(PyWriter);
  writer_type.tp_flags = Py_TPFLAGS_DEFAULT;
  writer_type.tp_new = writer_new;
  writer_type.tp_dealloc = writer_dealloc;
  writer_type.tp_methods = methods;
  writer_type.tp_getset = attributes;
  return PyType_Ready(&writer_type) == 0 &&
         PyModule_AddObjectRef(module, "SummaryWriter", reinterpret_cast<PyObject*>(&writer_type)) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace tandem::python
