#include "errors.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "compile.h"
#include "runtime/tracer.h"
#include "words.h"

namespace tandem::python {

PyObject* out_of_memory_error = nullptr;
PyObject* forbidden_error = nullptr;
PyObject* linalg_error = nullptr;

namespace {

constexpr std::string_view kVerbs[] = {"is ", "cannot ", "expects ", "needs ", "takes ", "has ", "with ", "not "};

/// What a message of the library's begins with, and what PyTorch's does.
constexpr std::pair<std::string_view, std::string_view> kWordings[] = {
    {"[cat] expected a non-empty", "torch.cat(): expected a non-empty"},
    {"[clamp] At least", "torch.clamp: At least"},
    {"[clip] At least", "torch.clamp: At least"},
    {"[einsum] subscript", "einsum(): subscript"},
    {"[linalg.cholesky] The", "linalg.cholesky: The"},
    {"[linalg.inv] The", "linalg.inv: The"},
    {"[linear] expected both tensors to have", "mat1 and mat2 must have"},
    {"[masked_select] expected", "masked_select: expected"},
    {"[matmul] expected both tensors to have", "expected m1 and m2 to have"},
    {"[mm] expected both tensors to have", "expected m1 and m2 to have"},
    {"[mm] mat", "mm: mat"},
    {"[permute] duplicate", "permute(): duplicate"},
    {"[tril] input", "tril: input"},
    {"[triu] input", "triu: input"},
    {"[where] expected", "where expected"},
};

/// A Python exception on its way through C++.
class PythonException : public std::exception {
 public:
  /// Takes the three references over.
  PythonException(PyObject* type, PyObject* value, PyObject* traceback) : held_(std::make_shared<Held>()) {
    held_->type = type;
    held_->value = value;
    held_->traceback = traceback;
  }
  [[nodiscard]] const char* what() const noexcept override { return "a Python exception"; }
  void restore() const { PyErr_Restore(Py_XNewRef(held_->type), Py_XNewRef(held_->value), Py_XNewRef(held_->traceback)); }

 private:
  struct Held {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    Held() = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      if (!may_lock()) return;
      const WithLock lock;
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(traceback);
    }
  };
  std::shared_ptr<Held> held_;
};

/// Without the "[operation] " that C++'s messages begin with: PyTorch's text comes first. A message that goes on with a verb needs the
/// name:
/// "[bernoulli] expects ..." becomes "bernoulli expects ...".
std::string python_text(const Error& error) {
  std::string text = error.message(Language::Python);
  for (const auto& [from, to] : kWordings)
    if (text.starts_with(from)) {
      text.replace(0, from.size(), to);
      break;
    }
  if (text.starts_with('[')) {
    const size_t end = text.find("] ");
    if (end != std::string::npos && text.find('\n') > end) {
      const bool verb =
          std::ranges::any_of(kVerbs, [&](std::string_view word) { return std::string_view(text).substr(end + 2).starts_with(word); });
      if (verb) text.erase(end, 1).erase(0, 1);
      else text.erase(0, end + 2);
    }
  }
  text = in_python(std::move(text));
  if (!error.layer().empty()) text += str(" [", error.layer(), ']');
  return text;
}

void set(PyObject* type, const Error& error) { PyErr_SetString(type, python_text(error).c_str()); }

}  // namespace

void throw_set() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  throw PythonException(type, value, traceback);
}

PyObject* raise_current() {
  try {
    throw;
  } catch (const ErrorIsSet&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "tandem: an error without an exception");
  } catch (const PythonException& error) {
    error.restore();
  } catch (const runtime::Untraceable&) {
    set_untraceable();
  } catch (const LinAlgError& error) {
    set(linalg_error, error);
  } catch (const IndexError& error) {
    set(PyExc_IndexError, error);
  } catch (const ValueError& error) {
    set(PyExc_ValueError, error);
  } catch (const TypeError& error) {
    set(PyExc_TypeError, error);
  } catch (const NotImplementedError& error) {
    set(PyExc_NotImplementedError, error);
  } catch (const OutOfMemoryError& error) {
    set(out_of_memory_error, error);
  } catch (const ledger::ForbiddenError& error) {
    set(forbidden_error, error);
  } catch (const Error& error) {
    set(PyExc_RuntimeError, error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "tandem: something was thrown that is no std::exception");
  }
  return nullptr;
}

bool add_errors(PyObject* module) {
  out_of_memory_error = PyErr_NewExceptionWithDoc("tandem.OutOfMemoryError", "A device's memory is used up.", PyExc_RuntimeError, nullptr);
  forbidden_error =
      PyErr_NewExceptionWithDoc("tandem.ledger.ForbiddenError", "A wait that a ledger.Guard forbids.", PyExc_RuntimeError, nullptr);
  linalg_error = PyErr_NewExceptionWithDoc("tandem.linalg.LinAlgError", "A matrix that an algorithm cannot do, such as a singular one.",
                                           PyExc_RuntimeError, nullptr);
  return out_of_memory_error && forbidden_error && linalg_error && PyModule_AddObjectRef(module, "LinAlgError", linalg_error) == 0 &&
         PyModule_AddObjectRef(module, "OutOfMemoryError", out_of_memory_error) == 0 &&
         PyModule_AddObjectRef(module, "ForbiddenError", forbidden_error) == 0;
}

}  // namespace tandem::python
