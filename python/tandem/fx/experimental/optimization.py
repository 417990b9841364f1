"""Models made faster for evaluation: batch normalization computed within convolutions, dropout left out."""

import copy

from tandem import nn
from tandem.fx import GraphModule, Transformer, symbolic_trace
from tandem.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["fuse", "remove_dropout"]

_PAIRS = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn_eval, (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn_eval, (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn_eval,
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn_eval,
}  # fmt: skip


def fuse(model, inplace=False, no_trace=False):
    """The model with each convolution or linear layer and the batch normalization after it in one layer; in evaluation. A copy unless `inplace`.

    With no_trace the model is a GraphModule already.
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        before = node.args[0] if node.op == "call_module" and node.args else None
        if getattr(before, "op", None) != "call_module" or len(before.users) > 1:
            continue
        layer, norm = modules[before.target], modules[node.target]
        join = _PAIRS.get((type(layer), type(norm)))
        if join is None or not norm.track_running_stats or sum(other.target == before.target for other in traced.graph.nodes) > 1:
            continue
        fused = join(layer.eval(), norm.eval())
        modules[before.target] = fused
        traced.set_submodule(before.target, fused)
        node.replace_all_uses_with(before)
        traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph, type(model).__name__)


def remove_dropout(model):
    """The model without its dropout layers."""

    class Without(Transformer):
        def call_module(self, target, args, kwargs):
            dropout = isinstance(self.submodules[target], nn.Dropout)
            return args[0] if dropout else super().call_module(target, args, kwargs)

    return Without(symbolic_trace(model)).transform()
