"""torch.func: gradients of functions, products with Jacobians, mapping over a dimension, calls of modules with other parameters."""

from tandem.func.derivatives import debug_unwrap, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from tandem.func.map import vmap
from tandem.func.modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from tandem.func.rearrange import rearrange

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]
