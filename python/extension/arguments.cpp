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
    case Kind::Double: return is_tensor(object) ? is_number_tensor(object) : is_real(object);
    case Kind::Scalar: return is_tensor(object) ? is_number_tensor(object) : is_real(object);
    case Kind::Bool: return PyBool_Check(object);
    case Kind::Shape: {
      if (!is_list(object)) return fits(Kind::Int, object);
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
    case Kind::None: return false;  // None itself is looked at before
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
    case Kind::DType: return "torch.dtype";
    case Kind::Device: return "torch.device";
    case Kind::Tensors: return "tuple of Tensors";
    case Kind::Doubles: return "tuple of floats";
    case Kind::Generator: return "Generator";
    case Kind::Any: return "object";
    case Kind::None: return "None";
  }
  return "";
}

const char* type_of(PyObject* object) { return Py_TYPE(object) == &tensor_type ? "Tensor" : Py_TYPE(object)->tp_name; }

/// Whether a parameter takes what it was given.
bool takes(const Parameter& parameter, PyObject* object) {
  return object == Py_None ? (parameter.optional && parameter.nullable) || parameter.kind == Kind::Any : fits(parameter.kind, object);
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
      const std::string_view function = callable.name;  // what is written is a tensor's or a number's
      if ((function == "scatter" || function == "scatter_") && std::strcmp(parameter.name, "src") == 0)
        parameter.other_key = PyUnicode_InternFromString("value");
    }
}

namespace {

/// A call that no signature fits.
struct Call {
  const Callable& callable;
  size_t first;  // 1 where the tensor of a method is the first parameter
  PyObject* const* args;
  Py_ssize_t count;
  PyObject* names;
  [[nodiscard]] Py_ssize_t keywords() const { return names ? PyTuple_GET_SIZE(names) : 0; }
};

/// Whether a signature has as many parameters as the call gives arguments.
bool plausible(const Call& call, const Signature& signature) {
  const std::span<Parameter> all = signature.parameters.subspan(call.first);
  const auto given_now = static_cast<size_t>(call.count + call.keywords());
  const auto needed = static_cast<size_t>(std::ranges::count_if(all, [](const Parameter& one) { return !one.optional; }));
  return signature.spread || (given_now >= needed && given_now <= all.size());
}

/// What is wrong with a call of one signature, as PyTorch says it: too many arguments; then, parameter by parameter, what is missing or of
/// another type; then names that it doesn't know. False where nothing of that is.
bool refuse_one(const Call& call, const Signature& signature) {
  const char* const name = call.callable.name;
  const std::span<Parameter> all = signature.parameters.subspan(call.first);
  const auto positional = static_cast<size_t>(std::ranges::count_if(all, [](const Parameter& one) { return !one.keyword_only; }));
  const auto needed =
      static_cast<size_t>(std::ranges::count_if(all, [](const Parameter& one) { return !one.keyword_only && !one.optional; }));
  const auto count = static_cast<size_t>(call.count);
  if (all.empty() && call.first) {
    if (call.keywords()) PyErr_Format(PyExc_TypeError, "TensorBase.%s() takes no keyword arguments", name);
    else PyErr_Format(PyExc_TypeError, "TensorBase.%s() takes no arguments (%zd given)", name, call.count);
    return true;
  }
  if (count > positional) {
    const std::string taken = needed < positional ? str("from ", needed, " to ", positional) : str(positional);
    PyErr_Format(PyExc_TypeError, "%s() takes %s positional argument%s but %zd %s given", name, taken.c_str(), positional == 1 ? "" : "s",
                 call.count, call.count == 1 ? "was" : "were");
    return true;
  }
  std::vector<PyObject*> by_name(all.size(), nullptr);
  for (Py_ssize_t i = 0; i < call.keywords(); ++i)
    if (const int found = parameter_of(signature, PyTuple_GET_ITEM(call.names, i), call.first); found >= 0)
      by_name[static_cast<size_t>(found) - call.first] = call.args[call.count + i];
  for (size_t i = 0; i < all.size(); ++i) {
    PyObject* const given_now = i < count ? call.args[i] : by_name[i];
    if (!given_now && !all[i].optional) {
      std::string missing;
      size_t lacking = 0;
      for (size_t k = i; k < all.size(); ++k)
        if (k >= count && !by_name[k] && !all[k].optional) missing += (lacking++ ? ", \"" : "\"") + std::string(all[k].name) + '"';
      PyErr_Format(PyExc_TypeError, "%s() missing %zu required positional argument%s: %s", name, lacking, lacking == 1 ? "s" : "",
                   missing.c_str());  // the plural as PyTorch has it
      return true;
    }
    if (!given_now || takes(all[i], given_now)) continue;
    if (i < count)
      PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %zu) must be %s, not %s", name, all[i].name, i + 1, wanted(all[i].kind),
                   type_of(given_now));
    else
      PyErr_Format(PyExc_TypeError, "%s(): argument '%s' must be %s, not %s", name, all[i].name, wanted(all[i].kind), type_of(given_now));
    return true;
  }
  for (Py_ssize_t i = 0; i < call.keywords(); ++i) {
    PyObject* const key = PyTuple_GET_ITEM(call.names, i);
    const int found = parameter_of(signature, key, call.first);
    if (found >= 0 && static_cast<size_t>(found) - call.first >= count) continue;
    PyErr_Format(PyExc_TypeError, found < 0 ? "%s() got an unexpected keyword argument '%U'" : "%s() got multiple values for argument '%U'",
                 name, key);
    return true;
  }
  return false;
}

/// Tells what is wrong where all signatures that the call may mean say the same. False where they don't.
bool refuse_alike(const Call& call) {
  Object told;
  for (const Signature& signature : call.callable.signatures) {
    if (call.callable.signatures.size() > 1 && !plausible(call, signature)) continue;
    if (!refuse_one(call, signature)) return false;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const Object held[] = {Object::take(type), Object::take(value), Object::take(traceback)};
    Object text = Object::take(checked(PyObject_Str(value)));
    if (told && PyUnicode_Compare(told.get(), text.get()) != 0) return false;
    told = std::move(text);
  }
  if (told) PyErr_SetObject(PyExc_TypeError, told.get());
  return static_cast<bool>(told);
}

/// The types of the arguments, keywords by their names in order.
std::string types_given(const Call& call) {
  std::string got;
  for (Py_ssize_t i = 0; i < call.count; ++i) got += str(i ? ", " : "", type_of(call.args[i]));
  std::vector<std::string> named;
  for (Py_ssize_t i = 0; i < call.keywords(); ++i)
    named.push_back(str(std::string(to_text(PyTuple_GET_ITEM(call.names, i))), '=', type_of(call.args[call.count + i])));
  std::ranges::sort(named);
  for (size_t i = 0; i < named.size(); ++i) got += (got.empty() ? "" : ", ") + named[i];
  return call.count == 0 ? got + ", " : got;
}

PyObject* old_forms = nullptr;  // for as long as the interpreter

/// What the function for old forms of calls gives: a result, nothing where the call is none of them, or an error that it set.
std::optional<PyObject*> by_an_old_form(const Call& call, PyObject* self) {
  if (!old_forms) return std::nullopt;
  const Py_ssize_t own = self ? 1 : 0;
  const Object positional = Object::take(checked(PyTuple_New(own + call.count))), keywords = Object::take(checked(PyDict_New()));
  if (self) PyTuple_SET_ITEM(positional.get(), 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < call.count; ++i) PyTuple_SET_ITEM(positional.get(), own + i, Py_NewRef(call.args[i]));
  for (Py_ssize_t i = 0; i < call.keywords(); ++i)
    if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(call.names, i), call.args[call.count + i]) != 0) return nullptr;
  Object result = Object::take(
      PyObject_CallFunction(old_forms, "sOOO", call.callable.name, self ? Py_True : Py_False, positional.get(), keywords.get()));
  if (result && result.get() == Py_NotImplemented) return std::nullopt;
  return result.release();
}

}  // namespace

void set_old_forms(PyObject* function) { Py_XSETREF(old_forms, Py_NewRef(function)); }

PyObject* refuse(const Callable& callable, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (PyErr_Occurred()) return nullptr;
  const Call call{callable, self ? size_t{1} : size_t{0}, args, count, names};
  if (const auto result = by_an_old_form(call, self)) return *result;
  if (refuse_alike(call)) return nullptr;
  std::string expected;
  for (const Signature& signature : callable.signatures) expected += str(" * (", signature.text, ")\n");
  return PyErr_Format(PyExc_TypeError, "%s() received an invalid combination of arguments - got (%s), but expected %s:\n%s", callable.name,
                      types_given(call).c_str(), callable.signatures.size() == 1 ? "" : "one of", expected.c_str());
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
