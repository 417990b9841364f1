#include "results.h"

#include <structmember.h>

#include <string>
#include <vector>

#include "arguments.h"
#include "tensor.h"
#include "values.h"

namespace tandem::python {
namespace {

/// As PyTorch writes such a result: each part on a line of its own.
PyObject* repr(PyObject* object) {
  const std::string type = Py_TYPE(object)->tp_name;
  std::string text = module_prefix() + type.substr(type.find('.') + 1) + "(\n";
  const Object fields = Object::take(PyObject_GetAttrString(object, "__match_args__"));
  if (!fields) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
    const Object part = Object::take(PyObject_Repr(PyTuple_GET_ITEM(object, i)));
    if (!part) return nullptr;
    if (i) text += ",\n";
    text += std::string(to_text(PyTuple_GET_ITEM(fields.get(), i))) + '=' + std::string(to_text(part.get()));
  }
  return from_text(text + ')');
}

void make_type(NamedResult& kind) {
  std::vector<PyStructSequence_Field> fields;
  for (const char* field : kind.fields) fields.push_back({field, nullptr});
  fields.push_back({nullptr, nullptr});
  auto* const name = new std::string(std::string("tandem.return_types.") + kind.name);  // for as long as the type
  PyStructSequence_Desc description{name->c_str(), nullptr, fields.data(), static_cast<int>(kind.fields.size())};
  kind.type = PyStructSequence_NewType(&description);
  if (!kind.type) throw ErrorIsSet();
  kind.type->tp_repr = repr;
}

}  // namespace

PyObject* wrap_named(NamedResult& kind, std::initializer_list<Tensor> parts) {
  if (!kind.type) make_type(kind);
  Object result = Object::take(checked(PyStructSequence_New(kind.type)));
  Py_ssize_t i = 0;
  for (const Tensor& part : parts) PyStructSequence_SetItem(result.get(), i++, wrap(part));
  return result.release();
}

PyObject* into_named(const char* op, PyObject* out, NamedResult& kind, std::initializer_list<Tensor> parts, Site site) {
  if (!given(out)) return wrap_named(kind, parts);
  if (!PyTuple_Check(out) && !PyList_Check(out))
    fail<TypeError>(op, "(): argument 'out' must be tuple of Tensors, not ", Py_TYPE(out)->tp_name);
  if (PySequence_Fast_GET_SIZE(out) != static_cast<Py_ssize_t>(parts.size()))
    fail<TypeError>(op, "(): argument 'out' must be a tuple of ", parts.size(), " tensors, not of ", PySequence_Fast_GET_SIZE(out));
  if (!kind.type) make_type(kind);
  const Object result = Object::take(checked(PyStructSequence_New(kind.type)));
  Py_ssize_t i = 0;
  for (const Tensor& part : parts) {
    const Object target = item_of(out, i);
    checked_tensor(target.get());
    PyStructSequence_SetItem(result.get(), i++, into(target.get(), part, site));
  }
  return Object(result).release();
}

PyObject* wrap_defined(std::initializer_list<Tensor> parts) {
  std::vector<Tensor> there;
  for (const Tensor& part : parts)
    if (part.defined()) there.push_back(part);
  return wrap_tuple(std::move(there));
}

}  // namespace tandem::python
