#include "caller.h"

#include <cstring>
#include <string>
#include <unordered_map>

namespace tandem::python {
namespace {

/// A place in a code object. The table holds a reference to the code, so that another one cannot come to lie at its address.
struct Place {
  PyCodeObject* code = nullptr;
  int instruction = 0;
  const char* file = nullptr;
  int line = 0;
  bool own = false;  // in the package
};

constexpr size_t kPlaces = 4096;
Place places[kPlaces];
std::string package_folder;
PyObject* cell_namer = nullptr;

/// A notebook keeps its cells under names that say nothing to their author: the namer's own, or nothing.
std::string cell_name(PyObject* file, const char* text) {
  if (!cell_namer || PyErr_Occurred() || !(std::strstr(text, "/ipykernel_") || std::strstr(text, "<ipython-input-"))) return {};
  const Object name = Object::take(PyObject_CallOneArg(cell_namer, file));
  const char* found = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  PyErr_Clear();
  return found ? found : "";
}

/// Files of code, by their names; kept for the life of the process, as Site wants it.
const char* file_of(PyCodeObject* code) {
  static auto& files = *new std::unordered_map<std::string, bool>;
  const char* name = PyUnicode_AsUTF8(code->co_filename);
  if (!name) {
    PyErr_Clear();
    return "";
  }
  const std::string cell = cell_name(code->co_filename, name);
  return files.try_emplace(cell.empty() ? name : cell).first->first.c_str();
}

const Place& place_of(PyCodeObject* code, int instruction) {
  const size_t hash = (reinterpret_cast<size_t>(code) >> 5) * 0x9E3779B97F4A7C15U + static_cast<size_t>(instruction) * 0x85EBCA6BU;
  Place& place = places[(hash >> 20) % kPlaces];
  if (place.code != code || place.instruction != instruction) [[unlikely]] {
    const char* const file = file_of(code);  // may run Python, which may come here, too
    PyCodeObject* const before = place.code;
    Py_INCREF(code);
    place = {code, instruction, file, PyCode_Addr2Line(code, instruction), false};
    place.own = !package_folder.empty() && std::strncmp(place.file, package_folder.c_str(), package_folder.size()) == 0;
    Py_XDECREF(before);
  }
  return place;
}

}  // namespace

void set_package_folder(const char* folder) { package_folder = folder; }

void set_cell_namer(PyObject* namer) { cell_namer = Py_NewRef(namer); }

Site caller() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return Site::none();
  Py_INCREF(frame);
  const Place* place;
  for (;;) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    place = &place_of(code, PyFrame_GetLasti(frame));
    Py_DECREF(code);
    if (!place->own) break;
    PyFrameObject* const outer = PyFrame_GetBack(frame);
    if (!outer) break;
    Py_DECREF(frame);
    frame = outer;
  }
  const Site site(place->file, place->line);
  Py_DECREF(frame);
  return site;
}

}  // namespace tandem::python
