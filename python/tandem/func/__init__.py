"""torch.func: gradients of functions, products with Jacobians, mapping over a dimension, calls of modules with other parameters."""

from tandem.func.derivatives import functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from tandem.func.map import vmap
from tandem.func.modules import functional_call, replace_all_batch_norm_modules_, stack_module_state

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]
