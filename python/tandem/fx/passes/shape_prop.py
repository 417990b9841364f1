"""Runs a graph with values, and notes in each node what tensors it gives."""

from collections import namedtuple

from tandem import _C
from tandem.fx.interpreter import Interpreter
from tandem.fx.node import map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]

TensorMetadata = namedtuple("TensorMetadata", ["shape", "dtype", "requires_grad", "stride", "memory_format", "is_quantized", "qparams"])
TensorMetadata.__doc__ = "What is known of a tensor: its sizes, dtype, strides, whether gradients are recorded."


def _facts(tensor):
    from tandem import channels_last, channels_last_3d, contiguous_format

    formats = [contiguous_format] + ([channels_last] if tensor.dim() == 4 else []) + ([channels_last_3d] if tensor.dim() == 5 else [])
    found = next((one for one in formats if tensor.is_contiguous(memory_format=one)), None)
    return TensorMetadata(tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), found, False, {})


class ShapeProp(Interpreter):
    """propagate(*args) runs the module; node.meta has "tensor_meta" and "type" then."""

    def run_node(self, n):
        """What the node gives, which is noted."""
        result = super().run_node(n)
        found = False

        def facts(value):
            nonlocal found
            if not isinstance(value, _C.Tensor):
                return value
            found = True
            return _facts(value)

        noted = map_aggregate(result, facts)
        if found:
            n.meta["tensor_meta"] = noted
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """What the module gives, with notes in its graph."""
        return super().run(*args)
