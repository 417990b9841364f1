"""Gradients against finite differences."""

from .. import _C


class GradcheckError(RuntimeError):
    """The gradients of a function differ from finite differences."""


def _tensors(value):
    return (value,) if isinstance(value, _C.Tensor) else tuple(value)


def _differentiable(outputs):
    return [out for out in _tensors(outputs) if isinstance(out, _C.Tensor) and out.requires_grad]


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
              check_batched_grad=False, fast_mode=False, check_forward_ad=False, check_backward_ad=True, masked=None):
    """Whether the gradients of func agree with finite differences at float64 inputs; with check_forward_ad also those of forward mode."""
    import tandem
    if not (check_backward_ad or check_forward_ad):
        raise ValueError("Expected at least one of check_forward_ad and check_backward_ad to be True")
    inputs = _tensors(inputs)
    checked = [i for i, x in enumerate(inputs) if isinstance(x, _C.Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
    try:
        for i in checked:
            _check(tandem, func, inputs, i, eps, atol, rtol, check_backward_ad, check_forward_ad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(tandem, func, inputs, i, eps, atol, rtol, backward, forward):
    """The Jacobians of all outputs by one input, by finite differences and by each way that is checked."""
    x = inputs[i]
    if not x.is_contiguous():
        raise ValueError("gradcheck expects inputs that are contiguous: call contiguous() first")
    ways = [[_analytical(tandem, output, x) for output in _differentiable(func(*inputs))]] if backward else []
    if forward:
        ways.append(_by_forward_mode(tandem, func, inputs, i))
    columns = []
    flat = x.data.view(-1)
    for place in flat:
        before = place.item()
        place.fill_(before + eps)
        above = _values(func, inputs)
        place.fill_(before - eps)
        below = _values(func, inputs)
        place.fill_(before)
        columns.append([(a - b) / (2 * eps) for a, b in zip(above, below)])
    for number, found in [pair for analytical in ways for pair in enumerate(analytical)]:
        numerical = _C.stack([column[number] for column in columns]).to(found.dtype) if columns else found
        if not tandem.allclose(found, numerical, rtol=rtol, atol=atol):
            raise GradcheckError(f"Jacobian mismatch for output {number} with respect to input {i},\nnumerical:{numerical}\nanalytical:{found}\n")


def _values(func, inputs):
    return [output.detach().clone().reshape(-1).cpu() for output in _differentiable(func(*inputs))]


def _analytical(tandem, output, x):
    """A row for each element of x, a column for each of the output."""
    jacobian = _C.zeros(x.numel(), output.numel(), dtype=x.dtype)
    for k in range(output.numel()):
        weight = _C.zeros(output.numel(), dtype=output.dtype, device=output.device)
        weight[k] = 1
        found = tandem.autograd.grad(output, x, weight.reshape(output.shape), retain_graph=True, allow_unused=True)[0]
        if found is not None:
            jacobian[:, k] = found.detach().reshape(-1).cpu()
    return jacobian


def _by_forward_mode(tandem, func, inputs, i):
    """The Jacobian of each output by one input: a row for each element of it, along which forward mode goes."""
    forward_ad = tandem.autograd.forward_ad
    rows = []
    for k in range(inputs[i].numel()):
        direction = _C.zeros_like(inputs[i]).detach()
        direction.view(-1)[k] = 1
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(inputs[i].detach(), direction)
            outputs = _differentiable(func(*inputs[:i], dual, *inputs[i + 1:]))
            tangents = [forward_ad.unpack_dual(output).tangent for output in outputs]
        rows.append([_C.zeros(output.numel(), dtype=output.dtype) if tangent is None else tangent.detach().reshape(-1).cpu()
                     for output, tangent in zip(outputs, tangents)])
    return [_C.stack(of_output) for of_output in zip(*rows)]


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False,
                  masked=None):
    """Whether the gradients of func's gradients agree with finite differences."""
    import tandem
    inputs = _tensors(inputs)
    outputs = [out for out in _tensors(func(*inputs)) if out.requires_grad]
    if grad_outputs is None:
        weights = [_C.rand(out.shape, dtype=out.dtype, device=out.device).requires_grad_() for out in outputs]
    else:
        weights = list(_tensors(grad_outputs))

    def first(*args):
        args, given = args[:len(inputs)], args[len(inputs):]
        outs = [out for out in _tensors(func(*args)) if out.requires_grad]
        by = [x for x in args if isinstance(x, _C.Tensor) and x.requires_grad]
        found = tandem.autograd.grad(outs, by, given, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)
    return gradcheck(first, (*inputs, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
