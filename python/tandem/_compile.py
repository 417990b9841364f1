"""tandem.compile: the forward of a module from tensor to tensor, learned once for each size of its input."""


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """A module that gives what `model` does, in fewer steps and without Python where its forward could be learned; as a decorator too.

    That is so on the CPU, for modules that are called with one tensor and give one: the result's `why` tells what stood in the way of
    the last call, which was the module's own then. A function is given back as it is. The other arguments are accepted and change nothing.
    """
    from tandem.nn import Module
    from tandem.nn.modules.compiled import OptimizedModule

    if model is None:
        return lambda wrapped: compile(wrapped, disable=disable)
    if not callable(model):
        raise TypeError(f"compile: expected a module or a function, but got {type(model).__name__}")
    if disable or not isinstance(model, Module):
        return model
    return OptimizedModule(model)
