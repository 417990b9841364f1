#include "generator.h"

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "caller.h"
#include "errors.h"
#include "ops/mersenne_twister.h"
#include "tensor.h"
#include "values.h"

namespace tandem::python {
namespace {

/// Where random numbers stand: tandem's own, and PyTorch's of the CPU.
struct State {
  GeneratorState own;
  MersenneTwister twister;

  explicit State(uint64_t seed) : own{seed, 0}, twister(seed) {}
  /// That of a device.
  explicit State(Device device) : own(get_rng_state(device)), twister(get_mersenne_twister()) {}
  void put_back(Device device) const {
    set_rng_state(own, device);
    if (device.is_cpu()) set_mersenne_twister(twister);
  }
};
static_assert(std::is_trivially_copyable_v<State>);

struct PyGenerator {
  PyObject_HEAD State state;
  Device device;
  bool is_default;  // stands for the device's own, which has the state
};

PyTypeObject generator_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyGenerator& self_of(PyObject* object) { return *reinterpret_cast<PyGenerator*>(object); }

State state_of(const PyGenerator& self) { return self.is_default ? State(self.device) : self.state; }
void set_state(PyGenerator& self, const State& state) {
  if (self.is_default) state.put_back(self.device);
  else self.state = state;
}

/// The state as PyTorch hands it out: a uint8 tensor, to be given back as it is.
Tensor as_tensor(const State& state) {
  Tensor bytes = empty({sizeof(State)}, {.dtype = kUInt8, .device = Device()}, Site::none());
  std::memcpy(bytes.data_ptr(Site::none()), &state, sizeof(State));
  return bytes;
}
State from_tensor(PyObject* object) {
  if (!is_tensor(object)) fail<TypeError>("expected a torch.ByteTensor, but got ", Py_TYPE(object)->tp_name);
  const Tensor& bytes = tensor_of(object);
  if (bytes.dtype() != kUInt8 || !bytes.is_cpu()) fail<TypeError>("RNG state must be a torch.ByteTensor");
  if (bytes.numel() != sizeof(State)) fail("RNG state is wrong size: it has ", sizeof(State), " bytes, not ", bytes.numel());
  State state(0);
  const Tensor dense = bytes.contiguous(Site::none());
  std::memcpy(static_cast<void*>(&state), dense.data_ptr(Site::none()), sizeof(State));
  return state;
}

uint64_t to_seed(PyObject* object) {
  const Object index = Object::take(checked(PyNumber_Index(object)));
  const long long signed_seed = PyLong_AsLongLong(index.get());
  if (signed_seed != -1 || !PyErr_Occurred()) return static_cast<uint64_t>(signed_seed);
  PyErr_Clear();
  const unsigned long long seed = PyLong_AsUnsignedLongLong(index.get());
  if (seed == static_cast<unsigned long long>(-1) && PyErr_Occurred()) {
    PyErr_Clear();
    fail("Overflow when unpacking long long");
  }
  return seed;
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Generator", const_cast<char**>(names), &device)) return nullptr;
  return guarded([&]() -> PyObject* {
    const Device where = given(device) ? tandem::detail::resolve(to_device(device)) : Device();
    PyObject* const object = checked(type->tp_alloc(type, 0));
    new (&self_of(object).state) State(MersenneTwister::kDefaultSeed);
    self_of(object).device = where;
    return object;
  });
}
PyObject* generator_manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&] {
    set_state(self_of(self), State(to_seed(seed)));
    return Py_NewRef(self);
  });
}
PyObject* generator_initial_seed(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(state_of(self_of(self)).own.seed); }
PyObject* generator_seed(PyObject* self, PyObject*) {
  return guarded([&] {
    std::random_device source;
    set_state(self_of(self), State((static_cast<uint64_t>(source()) << 32 | source()) & 0x1FFFFFFFFFFFFF));
    return PyLong_FromUnsignedLongLong(state_of(self_of(self)).own.seed);
  });
}
PyObject* generator_get_state(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(as_tensor(state_of(self_of(self)))); });
}
PyObject* generator_set_state(PyObject* self, PyObject* state) {
  return guarded([&] {
    set_state(self_of(self), from_tensor(state));
    return Py_NewRef(self);
  });
}
PyObject* generator_device(PyObject* self, void*) {
  return guarded([&] { return from_device(self_of(self).device); });
}
PyMethodDef methods[] = {fast("manual_seed", with_name<generator_manual_seed, "seed">, "Starts the numbers of this seed."),
                         {"initial_seed", generator_initial_seed, METH_NOARGS, "The seed."},
                         {"seed", generator_seed, METH_NOARGS, "Takes a seed from the system and gives it."},
                         {"get_state", generator_get_state, METH_NOARGS, "Where it stands, as a uint8 tensor."},
                         fast("set_state", with_name<generator_set_state, "new_state">, "Goes on from what get_state gave."),
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"device", generator_device, nullptr, "The device that it draws for.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* default_generator = nullptr;

PyObject* module_manual_seed(PyObject*, PyObject* seed) {
  return guarded([&] {
    const Object whole = Object::take(PyIndex_Check(seed) ? Py_NewRef(seed) : checked(PyNumber_Long(seed)));  // 1.5 and '7', as in PyTorch
    manual_seed(to_seed(whole.get()));
    return Py_NewRef(default_generator);
  });
}
PyObject* module_initial_seed(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(initial_seed()); }
PyObject* module_get_state(PyObject*, PyObject* device) {
  return guarded([&] { return wrap(as_tensor(State(given(device) ? tandem::detail::resolve(to_device(device)) : Device()))); });
}
PyObject* module_set_state(PyObject*, PyObject* args) {
  PyObject *state, *device;
  if (!PyArg_ParseTuple(args, "OO", &state, &device)) return nullptr;
  return guarded([&] {
    from_tensor(state).put_back(given(device) ? tandem::detail::resolve(to_device(device)) : Device());
    Py_RETURN_NONE;
  });
}
/// set_cpu_random('tandem') or set_cpu_random('torch')
PyObject* module_set_cpu_random(PyObject*, PyObject* name) {
  return guarded([&] {
    if (!PyUnicode_Check(name) || (to_text(name) != "tandem" && to_text(name) != "torch"))
      fail<ValueError>("set_cpu_random takes 'tandem' or 'torch'");
    set_cpu_random(to_text(name) == "torch" ? CpuRandom::MersenneTwister : CpuRandom::Tandem);
    Py_RETURN_NONE;
  });
}
PyObject* module_get_cpu_random(PyObject*, PyObject*) {
  return PyUnicode_FromString(get_cpu_random() == CpuRandom::MersenneTwister ? "torch" : "tandem");
}
PyMethodDef functions[] = {
    fast("manual_seed", with_name<module_manual_seed, "seed">, "Seeds the random numbers of all devices, and gives the CPU's generator."),
    {"initial_seed", module_initial_seed, METH_NOARGS, "The seed of manual_seed."},
    {"set_cpu_random", module_set_cpu_random, METH_O,
     "set_cpu_random(kind)\n\nWhose random numbers the CPU draws: 'tandem', the same as on GPUs, or 'torch', PyTorch's to the bit."},
    {"get_cpu_random", module_get_cpu_random, METH_NOARGS, "Whose random numbers the CPU draws: 'tandem' or 'torch'."},
    {"_get_rng_state", module_get_state, METH_O, nullptr},
    {"_set_rng_state", module_set_state, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool is_generator(PyObject* object) { return PyObject_TypeCheck(object, &generator_type); }

struct DrawFrom::Before {
  State state;
};

DrawFrom::DrawFrom(PyObject* generator) : generator_(given(generator) && !self_of(generator).is_default ? generator : nullptr) {
  if (!generator_) return;
  const PyGenerator& self = self_of(generator_);
  before_ = std::make_unique<Before>(Before{State(self.device)});
  self.state.put_back(self.device);
}
DrawFrom::~DrawFrom() {
  if (!generator_) return;
  PyGenerator& self = self_of(generator_);
  self.state = State(self.device);
  before_->state.put_back(self.device);
}

bool add_generator(PyObject* module) {
  generator_type.tp_name = "tandem.Generator";
  generator_type.tp_doc = "Generator(device='cpu'): random numbers of its own.";
  generator_type.tp_basicsize = sizeof(PyGenerator);
  generator_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  generator_type.tp_new = generator_new;
  generator_type.tp_methods = methods;
  generator_type.tp_getset = attributes;
  if (PyType_Ready(&generator_type) != 0) return false;
  default_generator = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&generator_type));
  if (!default_generator) return false;
  self_of(default_generator).is_default = true;
  return PyModule_AddObjectRef(module, "default_generator", default_generator) == 0 &&
         PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(&generator_type)) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace tandem::python
