#include "arguments.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "errors.h"
#include "generator.h"

namespace tandem::python {
namespace {

bool is_real(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object)) return true;
  return PyNumber_Check(object) && !PyComplex_Check(object) &&
         !PySequence_Check(object);  // NumPy's arrays are sequences, its numbers are not
}
bool is_number_tensor(PyObject* object) { return is_tensor(object) && tensor_of(object).defined() && tensor_of(object).numel() == 1; }
bool is_list(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

bool fits(Kind kind, PyObject* object) {
  switch (kind) {
    case Kind::Tensor: return is_tensor(object);
    case Kind::Operand: return is_tensor(object) || is_real(object);
    case Kind::Int: return is_integer(object) || (is_number_tensor(object) && !tensor_of(object).is_floating_point());
    case Kind::Double: return is_tensor(object) ? is_number_tensor(object) : !PyBool_Check(object) && is_real(object);
    case Kind::Scalar: return is_tensor(object) ? is_number_tensor(object) : is_real(object);
    case Kind::Bool: return PyBool_Check(object);
    case Kind::Shape: {
      if (!is_list(object)) return is_integer(object);
      const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
      for (Py_ssize_t i = 0; i < count; ++i)
        if (!fits(Kind::Int, PySequence_Fast_GET_ITEM(object, i))) return false;
      return true;
    }
    case Kind::Padding: return PyUnicode_Check(object) || fits(Kind::Shape, object);
    case Kind::Sizes: {  // sizes, or None for the input's own
      if (!is_list(object)) return is_integer(object);
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
        if (PyObject* const item = PySequence_Fast_GET_ITEM(object, i); item != Py_None && !fits(Kind::Int, item)) return false;
      return true;
    }
    case Kind::Text:
    case Kind::Reduction: return PyUnicode_Check(object);
    case Kind::DType:
      return is_dtype(object) || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
             object == reinterpret_cast<PyObject*>(&PyLong_Type) || object == reinterpret_cast<PyObject*>(&PyBool_Type);
    case Kind::Device: return is_device(object) || PyUnicode_Check(object) || is_integer(object);
    case Kind::Tensors: return is_list(object) && (PySequence_Fast_GET_SIZE(object) == 0 || is_tensor(PySequence_Fast_GET_ITEM(object, 0)));
    case Kind::Doubles: return is_list(object) || is_real(object);
    case Kind::Generator: return is_generator(object);
    case Kind::Any: return true;
  }
  return false;
}

const char* wanted(Kind kind) {
  switch (kind) {
    case Kind::Tensor:
    case Kind::Operand: return "Tensor";
    case Kind::Int: return "int";
    case Kind::Double: return "float";
    case Kind::Scalar: return "Number";
    case Kind::Bool: return "bool";
    case Kind::Shape:
    case Kind::Padding:
    case Kind::Sizes: return "tuple of ints";
    case Kind::Text:
    case Kind::Reduction: return "str";
    case Kind::DType: return "dtype";
    case Kind::Device: return "device";
    case Kind::Tensors: return "tuple of Tensors";
    case Kind::Doubles: return "tuple of floats";
    case Kind::Generator: return "Generator";
    case Kind::Any: return "object";
  }
  return "";
}

const char* type_of(PyObject* object) { return Py_TYPE(object) == &tensor_type ? "Tensor" : Py_TYPE(object)->tp_name; }

/// Whether a parameter takes what it was given.
bool takes(const Parameter& parameter, PyObject* object) {
  return object == Py_None ? parameter.optional || parameter.kind == Kind::Any : fits(parameter.kind, object);
}

/// The position of the first argument that no signature takes, where all signatures want the same there; -1 where there is none.
Py_ssize_t wrong_for_all(const Callable& callable, size_t first, PyObject* const* args, Py_ssize_t count) {
  Py_ssize_t wrong = -1;
  for (const Signature& signature : callable.signatures) {
    const std::span<Parameter> all = signature.parameters.subspan(first);
    size_t here = 0;
    while (here < static_cast<size_t>(count) && here < all.size() && !all[here].keyword_only && takes(all[here], args[here])) ++here;
    if (here == static_cast<size_t>(count) || here >= all.size() || all[here].keyword_only) return -1;
    const Parameter& before = callable.signatures[0].parameters[first + here];
    if (wrong >= 0 &&
        (static_cast<size_t>(wrong) != here || std::strcmp(before.name, all[here].name) != 0 || before.kind != all[here].kind))
      return -1;
    wrong = static_cast<Py_ssize_t>(here);
  }
  return wrong;
}

/// The parameter that a keyword names, or -1.
int parameter_of(const Signature& signature, PyObject* key, size_t from) {
  const std::span<Parameter> all = signature.parameters;
  for (size_t i = from; i < all.size(); ++i)
    if (all[i].key == key || all[i].other_key == key) return static_cast<int>(i);
  for (size_t i = from; i < all.size(); ++i)  // a name that was put together while the program runs
    if (PyUnicode_Compare(all[i].key, key) == 0 || (all[i].other_key && PyUnicode_Compare(all[i].other_key, key) == 0))
      return static_cast<int>(i);
  return -1;
}

}  // namespace

bool Arguments::fit(const Signature& signature, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const std::span<Parameter> all = signature.parameters;
  const size_t first = self ? 1 : 0;
  if (self) slots_[0] = self;
  for (size_t i = first; i < all.size(); ++i) slots_[i] = nullptr;
  size_t at = first;
  for (Py_ssize_t i = 0; i < count; ++i, ++at) {
    if (at >= all.size() || all[at].keyword_only) return false;
    PyObject* const given_now = args[i];
    const Parameter& parameter = all[at];
    if (signature.spread && parameter.kind == Kind::Shape && (count - i > 1 || given_now != Py_None) && fits(Kind::Int, given_now)) {
      bool numbers = true;
      for (Py_ssize_t k = i; k < count; ++k) numbers = numbers && fits(Kind::Int, args[k]);
      if (numbers) {
        packed_ = Object::take(checked(PyTuple_New(count - i)));
        for (Py_ssize_t k = i; k < count; ++k) PyTuple_SET_ITEM(packed_.get(), k - i, Py_NewRef(args[k]));
        slots_[at] = packed_.get();
        break;
      }
    }
    if (!takes(parameter, given_now)) return false;
    slots_[at] = given_now;
  }
  if (names) {
    const Py_ssize_t keywords = PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < keywords; ++i) {
      const int found = parameter_of(signature, PyTuple_GET_ITEM(names, i), first);
      PyObject* const value = args[count + i];
      if (found < 0 || slots_[found]) return false;
      if (!takes(all[static_cast<size_t>(found)], value)) return false;
      slots_[found] = value;
    }
  }
  for (size_t i = first; i < all.size(); ++i)
    if (!slots_[i] && !all[i].optional) return false;
  return true;
}

void prepare(const Callable& callable) {
  for (const Signature& signature : callable.signatures)
    for (Parameter& parameter : signature.parameters) {
      parameter.key = PyUnicode_InternFromString(parameter.name);
      static constexpr const char* others[][2] = {{"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x"}, {"other", "x2"}};
      for (const auto& [name, other] : others)
        if (std::strcmp(parameter.name, name) == 0) parameter.other_key = PyUnicode_InternFromString(other);
    }
}

PyObject* refuse(const Callable& callable, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (PyErr_Occurred()) return nullptr;
  const Py_ssize_t keywords = names ? PyTuple_GET_SIZE(names) : 0;
  const size_t first = self ? 1 : 0;
  if (callable.signatures.size() == 1) {
    const std::span<Parameter> all = callable.signatures[0].parameters;
    std::vector<bool> seen(all.size(), false);
    size_t positional = 0, needed = 0;
    for (size_t i = first; i < all.size(); ++i) {
      positional += !all[i].keyword_only;
      needed += !all[i].keyword_only && !all[i].optional;
    }
    if (static_cast<size_t>(count) > positional) {
      const std::string taken = needed < positional ? str("from ", needed, " to ", positional) : str(positional);
      return PyErr_Format(PyExc_TypeError, "%s() takes %s positional argument%s but %zd %s given", callable.name, taken.c_str(),
                          positional == 1 ? "" : "s", count, count == 1 ? "was" : "were");
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Parameter& parameter = all[first + static_cast<size_t>(i)];
      seen[first + static_cast<size_t>(i)] = true;
      if (!takes(parameter, args[i]))
        return PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %zd) must be %s, not %s", callable.name, parameter.name, i + 1,
                            wanted(parameter.kind), type_of(args[i]));
    }
    for (Py_ssize_t i = 0; i < keywords; ++i) {
      PyObject* const key = PyTuple_GET_ITEM(names, i);
      const int found = parameter_of(callable.signatures[0], key, first);
      if (found < 0) return PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", callable.name, key);
      if (seen[static_cast<size_t>(found)])
        return PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", callable.name, key);
      seen[static_cast<size_t>(found)] = true;
      const Parameter& parameter = all[static_cast<size_t>(found)];
      if (!takes(parameter, args[count + i]))
        return PyErr_Format(PyExc_TypeError, "%s(): argument '%U' must be %s, not %s", callable.name, key, wanted(parameter.kind),
                            type_of(args[count + i]));
    }
    std::string missing;
    size_t lacking = 0;
    for (size_t i = first; i < all.size(); ++i)
      if (!seen[i] && !all[i].optional) {
        missing += (lacking ? ", \"" : "\"") + std::string(all[i].name) + '"';
        ++lacking;
      }
    if (lacking)
      return PyErr_Format(PyExc_TypeError, "%s() missing %zu required positional arguments: %s", callable.name, lacking, missing.c_str());
  } else if (const Py_ssize_t wrong = wrong_for_all(callable, first, args, count); wrong >= 0) {
    const Parameter& parameter = callable.signatures[0].parameters[first + static_cast<size_t>(wrong)];
    return PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %zd) must be %s, not %s", callable.name, parameter.name, wrong + 1,
                        wanted(parameter.kind), type_of(args[wrong]));
  }
  std::string got, expected;
  for (Py_ssize_t i = 0; i < count + keywords; ++i) {
    if (i) got += ", ";
    if (i >= count) got += std::string(to_text(PyTuple_GET_ITEM(names, i - count))) + '=';
    got += type_of(args[i]);
  }
  for (const Signature& signature : callable.signatures) expected += str(" * (", signature.text, ")\n");
  return PyErr_Format(PyExc_TypeError, "%s() received an invalid combination of arguments - got (%s), but expected %s:\n%s", callable.name,
                      got.c_str(), callable.signatures.size() == 1 ? "" : "one of", expected.c_str());
}

PyObject* into(PyObject* out, Tensor result, Site site) {
  if (!given(out)) return wrap(std::move(result));
  const Tensor& target = tensor_of(out);
  if ((target.requires_grad() || result.requires_grad()) && is_grad_enabled())
    fail("functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  const NoGradGuard no_grad;
  if (!can_cast(result.dtype(), target.dtype()))
    fail("result type ", scalar_name(result.dtype()), " can't be cast to the desired output type ", scalar_name(target.dtype()));
  if (target.device() != result.device())
    fail("Expected out tensor to have device ", result.device(), ", but got ", target.device(), " instead");
  if (target.sizes() == result.sizes()) target.copy_(result, false, site);
  else target.impl().replace_storage(result.detach().to(target.dtype(), {}, site).impl());
  return Py_NewRef(out);
}

}  // namespace tandem::python
