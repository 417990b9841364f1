// Gradients in Python: nodes of the graph, hooks, and functions of the user's own.
#pragma once

#include "python.h"

namespace tandem::python {

/// The object of a node, which lives as long as Python or the graph holds it; None for none.
PyObject* wrap_node(const Ref<autograd::Node>& node);

bool add_autograd(PyObject* module);
/// Methods of Tensor: backward, hooks and others.
void register_autograd_methods();

}  // namespace tandem::python
