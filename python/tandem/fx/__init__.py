"""Programs as graphs, as torch.fx: symbolic_trace records what a module does; the graph can be looked at, changed, run and written as code."""

from tandem.fx import passes
from tandem.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from tandem.fx.graph import Graph, PythonCode
from tandem.fx.graph_module import GraphModule
from tandem.fx.interpreter import Interpreter, Transformer
from tandem.fx.node import Node, has_side_effect, map_arg
from tandem.fx.proxy import Proxy
from tandem.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "ProxyableClassMeta", "PythonCode", "Tracer", "Transformer", "has_side_effect",
    "map_arg", "passes", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip
