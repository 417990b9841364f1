// What all of the extension stands on: Python's C API, tandem, and the few helpers that keep references and the interpreter's lock right.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if defined(Py_GIL_DISABLED)
#error "tandem for Python counts on the interpreter's lock: build it for a Python that has one"
#endif

#include <cxxabi.h>
#include <tandem.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace tandem::python {

/// A reference that this object owns. Made by `take` of a new reference, or by `share` of a borrowed one.
class Object {
 public:
  Object() = default;
  static Object take(PyObject* owned) { return Object(owned); }
  static Object share(PyObject* borrowed) { return Object(Py_XNewRef(borrowed)); }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object(const Object& other) : object_(Py_XNewRef(other.object_)) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  [[nodiscard]] PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Object(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// A Python exception is set already; what C++ throws to carry it to the next call from Python.
class ErrorIsSet : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "a Python exception"; }
};

/// A new reference, or ErrorIsSet.
inline PyObject* checked(PyObject* owned) {
  if (!owned) throw ErrorIsSet();
  return owned;
}

/// Whether this thread can get the interpreter's lock: not where the interpreter is ending, unless it has it.
inline bool may_lock() {
#if PY_VERSION_HEX >= 0x030D0000
  const bool ending = Py_IsFinalizing();
#else
  const bool ending = _Py_IsFinalizing();
#endif
  return Py_IsInitialized() && (!ending || PyGILState_Check());
}

/// Calls what takes the interpreter's lock. Where the interpreter is ending, Python ends other threads in there by unwinding them, which
/// C++ destructors do not survive: such a thread sleeps for good, the program goes on to its end without it.
template <class Take>
auto locked_by(Take take) {
  try {
    return take();
  } catch (...) {
    for (;;) pause();
  }
}

/// The interpreter's lock until the end of the scope, for code that may be called without it.
class WithLock {
 public:
  WithLock() : state_(locked_by(PyGILState_Ensure)) {}
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  PyGILState_STATE state_;
};

/// The interpreter's lock is free until the end of the scope, where `wanted`.
class WithoutLock {
 public:
  explicit WithoutLock(bool wanted = true) : state_(wanted ? PyEval_SaveThread() : nullptr) {}
  ~WithoutLock() {
    if (state_) locked_by([this] { PyEval_RestoreThread(state_); });
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

/// A reference that C++ may copy and drop on any thread, as hooks and functions of the library do.
class Shared {
 public:
  explicit Shared(PyObject* borrowed) : object_(Py_NewRef(borrowed)) {}
  Shared(const Shared& other) : object_(other.object_) {
    const WithLock lock;
    Py_INCREF(object_);
  }
  Shared(Shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (!object_ || !may_lock()) return;
    const WithLock lock;
    Py_DECREF(object_);
  }
  [[nodiscard]] PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

/// An item of a list or tuple. Held, for the methods of an item may change the list.
inline Object item_of(PyObject* list, Py_ssize_t i) { return Object::share(PySequence_Fast_GET_ITEM(list, i)); }

inline bool given(PyObject* object) { return object && object != Py_None; }

/// The one argument that a fast function takes, by position or by name; nullptr where none was given.
inline PyObject* only_argument(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return count > 0 || (names && PyTuple_GET_SIZE(names) > 0) ? args[0] : nullptr;
}

/// A text as an argument of a template.
template <size_t size>
struct Text {
  char text[size];
  constexpr Text(const char (&of)[size]) { std::copy_n(of, size, text); }  // NOLINT: a literal stands for it
};
/// A function of one argument as a fast one that takes it by position or by `name`.
template <PyCFunction function, Text name>
PyObject* with_name(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t keywords = names ? PyTuple_GET_SIZE(names) : 0;
  if (count + keywords != 1)
    return PyErr_Format(PyExc_TypeError, "takes exactly one argument, '%s' (%zd given)", name.text, count + keywords);
  if (keywords && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), name.text) != 0)
    return PyErr_Format(PyExc_TypeError, "got an unexpected keyword argument '%U'", PyTuple_GET_ITEM(names, 0));
  return function(self, args[0]);
}

using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
/// A row of a method table for a function that takes positional and keyword arguments without a tuple and a dictionary.
inline PyMethodDef fast(const char* name, FastFunction function, const char* doc = nullptr) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function)), METH_FASTCALL | METH_KEYWORDS, doc};
}

}  // namespace tandem::python
