"""What optimizers' helpers ask of gradients in shards: one norm, and one answer whether any is infinite, on all ranks."""

import math

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.work import ReduceOp

_c = _C._distributed


def handle_of_shards(parameters):
    """The ranks among which the first of the parameters that is in shards is divided; None where none is."""
    units = (parameter.__dict__["_unit"] for parameter in parameters if "_unit" in parameter.__dict__)
    return next((unit.handle for unit in units if unit.divided), None)


@no_grad()
def total_norm(parameters, norm_type):
    """The norm of the gradients of all parameters, whole ones and those in shards. Every rank calls it."""
    parameters = list(parameters)
    norm = _C._linalg["vector_norm"]
    device = parameters[0].device if parameters else _C.device("cpu")

    dtype = _C.float64 if any(parameter.dtype == _C.float64 for parameter in parameters) else _C.float32

    def norm_of(gradients):
        norms = [norm(gradient.to(dtype), norm_type).to(device) for gradient in gradients]
        return norm(_C.stack(norms), norm_type) if norms else _C.zeros((), dtype=dtype, device=device)

    found = {True: [], False: []}
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.numel() > 0:
            unit = parameter.__dict__.get("_unit")
            found[unit is not None and unit.divided].append(parameter.grad)
    total, handle = norm_of(found[True]), handle_of_shards(parameters)
    if handle is not None:
        if math.isinf(norm_type):
            _c.all_reduce(handle, total, ReduceOp.MAX, False, "norm of gradients")
        else:
            total = total ** norm_type
            _c.all_reduce(handle, total, ReduceOp.SUM, False, "norm of gradients")
            total = total ** (1.0 / norm_type)
    return norm(_C.stack([total, norm_of(found[False])]), norm_type)


@no_grad()
def found_anywhere(handle, device, found):
    """Whether one of these tensors is true on any rank, as a tensor. Every rank calls it."""
    here = _C.stack([_C.zeros((), device=device), *(one.to(device, _C.float32) for one in found)]).max()
    _c.all_reduce(handle, here, ReduceOp.MAX, False, "infinite gradients")
    return here > 0
