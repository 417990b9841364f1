#include "autograd.h"

#include <any>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "autograd/saved_hooks.h"
#include "bindings.h"

namespace tandem::python {
namespace {

// --- Nodes

/// A node, or what adds to a leaf's gradient.
struct PyNode {
  PyObject_HEAD Ref<autograd::Node> node;
  Tensor leaf;
};
PyTypeObject node_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
constexpr const char* kAccumulate = "AccumulateGrad";
PyNode& node_of(PyObject* object) { return *reinterpret_cast<PyNode*>(object); }

void node_deallocate(PyObject* object) {
  {
    const Ref<autograd::Node> node = std::move(node_of(object).node);
    const Tensor leaf = std::move(node_of(object).leaf);
  }
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_Free(object);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
}

/// The class of nodes of this name: type(y.grad_fn).__name__ is "MulBackward0".
PyTypeObject* type_of_nodes(const char* name) {
  static auto& types = *new std::map<std::string, PyTypeObject*>();  // by the full name, for good
  const auto [found, added] = types.try_emplace(str("tandem.autograd.graph.", name), nullptr);
  if (!found->second) {
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_deallocate)}, {0, nullptr}};
    PyType_Spec spec{found->first.c_str(), sizeof(PyNode), 0, Py_TPFLAGS_DEFAULT, slots};
    const Object bases = Object::take(checked(PyTuple_Pack(1, reinterpret_cast<PyObject*>(&node_type))));
    found->second = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, bases.get())));
  }
  return found->second;
}

PyObject* make_node(Ref<autograd::Node> node, Tensor leaf) {
  auto* object = PyObject_New(PyNode, type_of_nodes(node ? node->name() : kAccumulate));
  if (!object) throw ErrorIsSet();
  new (&object->node) Ref<autograd::Node>(std::move(node));
  new (&object->leaf) Tensor(std::move(leaf));
  return reinterpret_cast<PyObject*>(object);
}
const char* node_text(PyObject* object) { return node_of(object).node ? node_of(object).node->name() : kAccumulate; }
PyObject* node_name(PyObject* object, PyObject*) { return from_text(node_text(object)); }
PyObject* node_repr(PyObject* object) { return PyUnicode_FromFormat("<%s object at %p>", node_text(object), static_cast<void*>(object)); }
PyObject* node_next(PyObject* object, void*) {
  return guarded([&]() -> PyObject* {
    const Ref<autograd::Node>& node = node_of(object).node;
    const auto edges = node ? node->edges() : std::span<const autograd::Edge>();
    Object next = Object::take(checked(PyTuple_New(static_cast<Py_ssize_t>(edges.size()))));
    for (size_t i = 0; i < edges.size(); ++i) {
      const autograd::Edge& edge = edges[i];
      PyObject* const target = edge ? make_node(edge.node, edge.leaf ? Tensor(edge.leaf) : Tensor()) : Py_NewRef(Py_None);
      PyTuple_SET_ITEM(next.get(), static_cast<Py_ssize_t>(i), checked(Py_BuildValue("(NI)", target, edge ? edge.output_nr : 0U)));
    }
    return next.release();
  });
}
PyObject* node_variable(PyObject* object, void*) {
  if (node_of(object).leaf.defined()) return wrap(node_of(object).leaf);
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", node_text(object));
  return nullptr;
}
PyObject* node_compare(PyObject* a, PyObject* b, int op) {
  if (!PyObject_TypeCheck(a, &node_type) || !PyObject_TypeCheck(b, &node_type) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  const bool same = node_of(a).node.get() == node_of(b).node.get() && node_of(a).leaf.is_same(node_of(b).leaf);
  return PyBool_FromLong(same == (op == Py_EQ));
}
Py_hash_t node_hash(PyObject* object) {
  const void* identity = node_of(object).node ? static_cast<const void*>(node_of(object).node.get())
                                              : static_cast<const void*>(node_of(object).leaf.ref().get());
  return static_cast<Py_hash_t>(reinterpret_cast<size_t>(identity) >> 4);
}
PyMethodDef node_methods[] = {{"name", node_name, METH_NOARGS, "Its name: 'MulBackward0'."}, {nullptr, nullptr, 0, nullptr}};
PyGetSetDef node_attributes[] = {
    {"next_functions", node_next, nullptr, "The nodes that its gradients go to, each with the number of its result.", nullptr},
    {"variable", node_variable, nullptr, "The leaf, of an AccumulateGrad.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// --- backward and grad

Parameter backward_parameters[] = {{"self", Kind::Tensor, false},
                                   {"gradient", Kind::Tensor, true},
                                   {"retain_graph", Kind::Bool, true},
                                   {"create_graph", Kind::Bool, true},
                                   {"inputs", Kind::Any, true}};
Signature backward_signatures[] = {
    {backward_parameters, "Tensor gradient=None, bool retain_graph=None, bool create_graph=False, sequence of Tensors inputs=None"}};
const Callable backward_callable{"backward", backward_signatures};

PyObject* tensor_backward(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(backward_signatures[0], self, args, count, names)) return refuse(backward_callable, self, args, count, names);
    const AtCaller site;
    const bool create = given(a[3]) && to_bool(a[3]);
    const BackwardOptions options{.retain_graph = given(a[2]) ? to_bool(a[2]) : create, .create_graph = create};
    const Tensor &gradient = optional_tensor(a[1]), tensor = tensor_of(self);
    const std::vector<Tensor> inputs = given(a[4]) ? to_tensors(a[4]) : std::vector<Tensor>{};
    const WithoutLock unlocked;
    if (given(a[4])) tensor.backward(gradient, options, inputs, site);
    else tensor.backward(gradient, options, site);
    Py_RETURN_NONE;
  });
}

/// _backward(outputs, gradients, retain_graph, create_graph, inputs)
PyObject* module_backward(PyObject*, PyObject* args) {
  PyObject *outputs, *gradients, *inputs;
  int retain, create;
  if (!PyArg_ParseTuple(args, "OOppO", &outputs, &gradients, &retain, &create, &inputs)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const std::vector<Tensor> from = to_tensors(outputs), weights = to_tensors(gradients), to = to_tensors(inputs);
    const BackwardOptions options{.retain_graph = retain != 0, .create_graph = create != 0};
    {
      const WithoutLock unlocked;
      if (to.empty()) autograd::backward(from, weights, options, site);
      else autograd::backward(from, weights, options, to, site);
    }
    Py_RETURN_NONE;
  });
}

/// _grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)
PyObject* module_grad(PyObject*, PyObject* args) {
  PyObject *outputs, *inputs, *weights;
  int retain, create, unused;
  if (!PyArg_ParseTuple(args, "OOOppp", &outputs, &inputs, &weights, &retain, &create, &unused)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const std::vector<Tensor> from = to_tensors(outputs), to = to_tensors(inputs);
    const GradOptions options{
        .grad_outputs = to_tensors(weights), .retain_graph = retain != 0, .create_graph = create != 0, .allow_unused = unused != 0};
    std::vector<Tensor> found;
    {
      const WithoutLock unlocked;
      found = grad(from, to, options, site);
    }
    return wrap_tuple(std::move(found));
  });
}

// --- Hooks

/// What a hook of Python's gives for a gradient; undefined where it gives None.
Tensor call_hook(const Shared& hook, const Tensor& gradient) {
  const WithLock lock;
  const Object argument = Object::take(wrap(gradient));
  const Object result = Object::take(PyObject_CallOneArg(hook.get(), argument.get()));
  if (!result) throw_set();
  if (!given(result.get())) return {};
  if (!is_tensor(result.get())) fail<TypeError>("expected Variable, but hook returned '", Py_TYPE(result.get())->tp_name, "'");
  return tensor_of(result.get());
}

PyObject* tensor_register_hook(PyObject* self, PyObject* hook) {
  return guarded([&] {
    const Shared held(hook);
    return PyLong_FromLongLong(
        tensor_of(self).register_hook([held](const Tensor& gradient) { return call_hook(held, gradient); }, AtCaller()));
  });
}
PyObject* tensor_register_accumulated(PyObject* self, PyObject* hook) {
  return guarded([&] {
    const Shared held(hook);
    return PyLong_FromLongLong(tensor_of(self).register_post_accumulate_grad_hook(
        [held](const Tensor& leaf) {
          const WithLock lock;
          const Object argument = Object::take(wrap(leaf));
          const Object result = Object::take(PyObject_CallOneArg(held.get(), argument.get()));
          if (!result) throw_set();
        },
        AtCaller()));
  });
}
PyObject* tensor_remove_hook(PyObject* self, PyObject* number) {
  return guarded([&] {
    tensor_of(self).remove_hook(to_int(number));
    Py_RETURN_NONE;
  });
}
PyObject* module_backward_depth(PyObject*, PyObject*) { return PyLong_FromLong(autograd::backward_depth()); }
PyObject* module_queue_callback(PyObject*, PyObject* callback) {
  return guarded([&] {
    const Shared held(callback);
    autograd::queue_callback([held] {
      const WithLock lock;
      const Object result = Object::take(PyObject_CallNoArgs(held.get()));
      if (!result) throw_set();
    });
    Py_RETURN_NONE;
  });
}

// --- Functions of the user's own

/// What the ctx of a Function holds on to: the tensors that forward saved. The graph keeps the values; this keeps nothing of it alive.
struct PySaved {
  PyObject_HEAD std::weak_ptr<autograd::Context> context;
};
PyTypeObject saved_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

void saved_deallocate(PyObject* object) {
  reinterpret_cast<PySaved*>(object)->context.~weak_ptr();
  PyObject_Free(object);
}
PyObject* saved_tensors(PyObject* object, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    const std::shared_ptr<autograd::Context> context = reinterpret_cast<PySaved*>(object)->context.lock();
    if (!context)
      fail(
          "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved "
          "intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
          "to backward through the graph a second time or if you need to access saved tensors after calling backward.");
    return wrap_tuple(context->saved());
  });
}
PyMethodDef saved_methods[] = {{"tensors", saved_tensors, METH_NOARGS, "The saved tensors, checked for changes in place."},
                               {nullptr, nullptr, 0, nullptr}};

std::vector<Tensor> call_backward(autograd::Context& context, const std::vector<Tensor>& gradients) {
  const Shared function = context.value<Shared>("backward");
  const WithLock lock;
  const Object argument = Object::take(wrap_tuple(gradients));
  const Object result = Object::take(PyObject_Call(function.get(), argument.get(), nullptr));
  if (!result) throw_set();
  return to_tensors(result.get());
}

/// _record_function(name, inputs, outputs, saved, backward): the outputs with their history, and what gives the saved tensors.
PyObject* module_record(PyObject*, PyObject* args) {
  PyObject *name, *inputs, *outputs, *saved, *backward;
  if (!PyArg_ParseTuple(args, "UOOOO", &name, &inputs, &outputs, &saved, &backward)) return nullptr;
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    auto context = std::make_shared<autograd::Context>();
    const std::vector<Tensor> from = to_tensors(inputs);
    context->save_for_backward(to_tensors(saved));
    context->save_value("backward", Shared(backward));
    autograd::detail::set_needs(*context, from);
    static std::unordered_set<std::string> names;  // nodes keep their names for good
    const char* const kept = names.emplace(to_text(name)).first->c_str();
    std::vector<Tensor> results = autograd::detail::record_custom(kept, context, from, to_tensors(outputs), call_backward, site);
    auto* holder = PyObject_New(PySaved, &saved_type);
    if (!holder) throw ErrorIsSet();
    new (&holder->context) std::weak_ptr<autograd::Context>(context);
    return Py_BuildValue("NN", wrap_tuple(std::move(results)), reinterpret_cast<PyObject*>(holder));
  });
}

/// _change_history(changed, result): a tensor that forward changed in place gets the history of the result that stands for it.
PyObject* module_change_history(PyObject*, PyObject* args) {
  PyObject *changed, *result;
  if (!PyArg_ParseTuple(args, "OO", &changed, &result)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Tensor& tensor = checked_tensor(changed);
    const autograd::Edge edge = autograd::edge_of(checked_tensor(result));
    autograd::check_in_place(edge.node->name(), tensor, true);
    if (edge.output_nr == 0) autograd::set_history_in_place(tensor, edge.node);
    else autograd::set_history(tensor, edge.node, edge.output_nr);
    Py_RETURN_NONE;
  });
}

// --- Modes

PyObject* module_set_grad_enabled(PyObject*, PyObject* enabled) {
  return guarded([&] {
    bool& now = autograd::detail::grad_enabled;
    const bool before = std::exchange(now, to_bool(enabled));
    return PyBool_FromLong(before);
  });
}
/// _set_recording(enabled, inference): both switches; gives those before.
PyObject* module_set_recording(PyObject*, PyObject* args) {
  int enabled = 0, inference = 0;
  if (!PyArg_ParseTuple(args, "pp", &enabled, &inference)) return nullptr;
  const bool enabled_before = std::exchange(autograd::detail::grad_enabled, enabled != 0);
  const bool inference_before = std::exchange(autograd::detail::inference_mode, inference != 0);
  return Py_BuildValue("(NN)", PyBool_FromLong(enabled_before), PyBool_FromLong(inference_before));
}
PyObject* module_is_inference_mode_enabled(PyObject*, PyObject*) { return PyBool_FromLong(InferenceMode::is_enabled()); }
PyObject* module_is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(is_grad_enabled()); }

/// _set_anomaly(enabled, check_nan), and _anomaly(): both.
PyObject* module_set_anomaly(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    int enabled = 0, check_nan = 1;
    if (!PyArg_ParseTuple(args, "pp", &enabled, &check_nan)) return nullptr;
    autograd::set_detect_anomaly(enabled != 0, check_nan != 0);
    Py_RETURN_NONE;
  });
}
PyObject* module_anomaly(PyObject*, PyObject*) {
  return Py_BuildValue("(NN)", PyBool_FromLong(autograd::is_anomaly_enabled()), PyBool_FromLong(autograd::is_anomaly_check_nan_enabled()));
}

// --- Hooks for tensors that backward needs

constexpr const char* kSavedHooks = "tandem.saved_hooks";
PyObject* wrap_hooks(Ref<autograd::SavedHooks> hooks) {
  if (!hooks) Py_RETURN_NONE;
  PyObject* const capsule = PyCapsule_New(hooks.get(), kSavedHooks, [](PyObject* object) {
    static_cast<autograd::SavedHooks*>(PyCapsule_GetPointer(object, kSavedHooks))->release();
  });
  if (capsule) (void)hooks.detach();  // the capsule's count
  return checked(capsule);
}

/// _saved_hooks(pack, unpack): for _set_saved_hooks.
PyObject* module_saved_hooks(PyObject*, PyObject* args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
  return guarded([&] {
    const auto packed = [held = Shared(pack)](const Tensor& tensor) -> std::any {
      const WithLock lock;
      const Object argument = Object::take(wrap(tensor));
      const Object result = Object::take(PyObject_CallOneArg(held.get(), argument.get()));
      if (!result) throw_set();
      return Shared(result.get());
    };
    const auto unpacked = [held = Shared(unpack)](const std::any& kept) {
      const WithLock lock;
      const Object result = Object::take(PyObject_CallOneArg(held.get(), std::any_cast<const Shared&>(kept).get()));
      if (!result) throw_set();
      if (!is_tensor(result.get()))
        fail<TypeError>("Output of saved tensor unpack_hook expected to be a Tensor but got result of type ",
                        Py_TYPE(result.get())->tp_name);
      return tensor_of(result.get());
    };
    return wrap_hooks(Ref<autograd::SavedHooks>(new autograd::SavedHooks(packed, unpacked)));
  });
}
/// _hooks_to_host(pin_memory): those of save_on_cpu.
PyObject* module_hooks_to_host(PyObject*, PyObject* pin_memory) {
  return guarded([&] { return wrap_hooks(autograd::hooks_to_host(to_bool(pin_memory), AtCaller())); });
}
/// _set_saved_hooks(hooks or None): those of before.
PyObject* module_set_saved_hooks(PyObject*, PyObject* hooks) {
  return guarded([&] {
    Ref<autograd::SavedHooks> now;
    if (hooks != Py_None) {
      auto* const held = static_cast<autograd::SavedHooks*>(PyCapsule_GetPointer(hooks, kSavedHooks));
      if (!held) throw ErrorIsSet();
      now = Ref<autograd::SavedHooks>(held);
    }
    return wrap_hooks(autograd::set_saved_hooks(std::move(now)));
  });
}

PyMethodDef functions[] = {
    {"_backward", module_backward, METH_VARARGS, nullptr},
    {"_grad", module_grad, METH_VARARGS, nullptr},
    {"_queue_callback", module_queue_callback, METH_O, nullptr},
    {"_backward_depth", module_backward_depth, METH_NOARGS, nullptr},
    {"_record_function", module_record, METH_VARARGS, nullptr},
    {"_change_history", module_change_history, METH_VARARGS, nullptr},
    {"_saved_hooks", module_saved_hooks, METH_VARARGS, nullptr},
    {"_hooks_to_host", module_hooks_to_host, METH_O, nullptr},
    {"_set_saved_hooks", module_set_saved_hooks, METH_O, nullptr},
    {"_set_grad_enabled", module_set_grad_enabled, METH_O, nullptr},
    {"_set_recording", module_set_recording, METH_VARARGS, nullptr},
    {"is_inference_mode_enabled", module_is_inference_mode_enabled, METH_NOARGS, "Whether this thread is in a block of inference_mode."},
    {"_set_anomaly", module_set_anomaly, METH_VARARGS, nullptr},
    {"_anomaly", module_anomaly, METH_NOARGS, nullptr},
    {"is_grad_enabled", module_is_grad_enabled, METH_NOARGS, "Whether operations are recorded."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* wrap_node(const Ref<autograd::Node>& node) {
  if (!node) Py_RETURN_NONE;
  return make_node(node, Tensor());
}

void register_autograd_methods() {
  prepare(backward_callable);
  add_to(Place::Method, fast("backward", tensor_backward,
                             "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)\n\nAdds the gradients of this "
                             "tensor to the .grad of all leaves."));
  add_to(Place::Method, {"_register_hook", tensor_register_hook, METH_O, nullptr});
  add_to(Place::Method, {"_register_post_accumulate_grad_hook", tensor_register_accumulated, METH_O, nullptr});
  add_to(Place::Method, {"_remove_hook", tensor_remove_hook, METH_O, nullptr});
}

bool add_autograd(PyObject* module) {
  node_type.tp_name = "tandem.autograd.graph.Node";
  node_type.tp_doc = "A step of the graph of gradients.";
  node_type.tp_basicsize = sizeof(PyNode);
  node_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  node_type.tp_dealloc = node_deallocate;
  node_type.tp_repr = node_repr;
  node_type.tp_richcompare = node_compare;
  node_type.tp_hash = node_hash;
  node_type.tp_methods = node_methods;
  node_type.tp_getset = node_attributes;
  saved_type.tp_name = "tandem._C.Saved";
  saved_type.tp_basicsize = sizeof(PySaved);
  saved_type.tp_flags = Py_TPFLAGS_DEFAULT;
  saved_type.tp_dealloc = saved_deallocate;
  saved_type.tp_methods = saved_methods;
  return PyType_Ready(&node_type) == 0 && PyType_Ready(&saved_type) == 0 &&
         PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(&node_type)) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace tandem::python
