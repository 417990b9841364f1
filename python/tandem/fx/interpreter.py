"""Runs a graph node by node, and makes a graph into another one in the same way."""

from tandem.fx._code import last_uses
from tandem.fx._symbolic_trace import Tracer
from tandem.fx.graph import Graph
from tandem.fx.graph_module import GraphModule
from tandem.fx.node import map_arg
from tandem.fx.proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a module's graph. Classes below it say what becomes of a node in run_node, or in the method of its kind."""

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env = {}
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self._last = last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """What the graph gives for these arguments. initial_env: values of nodes that are not to be run."""
        self.env = {} if initial_env is None else initial_env
        self._arguments = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback and not getattr(error, "_tells_node", False):
                    error._tells_node = True
                    error.add_note(f"While executing {node.format_node()}")
                raise
            if node.op == "output":
                return self.env[node]
            for done in self._last.get(node, ()):
                self.env.pop(done, None)
        return None

    def boxed_run(self, args_list):
        """As run, with the arguments in a list, which is emptied."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n):
        """What one node gives."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # --- One method for each kind of node
    def placeholder(self, target, args, kwargs):
        """The next argument, or its default; all that are left for *args."""
        if target.startswith("*"):
            return list(self._arguments)
        try:
            return next(self._arguments)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target, args, kwargs):
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """The function's result."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """The result of the first argument's method."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        """The result of a part of the module."""
        return self.submodules[target](*args, **kwargs)

    def output(self, target, args, kwargs):
        """What the graph gives."""
        return args[0]

    # --- Values
    def fetch_attr(self, target):
        """The module's attribute of this dotted name."""
        value = self.module
        for part in target.split("."):
            if not hasattr(value, part):
                raise RuntimeError(f"Node referenced nonexistent target {target}")
            value = getattr(value, part)
        return value

    def fetch_args_kwargs_from_env(self, n):
        """A node's arguments with values in the places of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """A value with what nodes gave in their places."""

        def value(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues")
            return self.env[node]

        return map_arg(args, value)


class _Appending(Tracer):
    """Records what the methods of a Transformer do."""

    def __init__(self, graph, module):
        super().__init__()
        self.graph = graph
        self.root = module

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    """Makes another graph: methods are called with proxies and give what stands in a node's place. transform() gives the new module."""

    def __init__(self, module):
        super().__init__(module, garbage_collect_values=False)
        self.new_graph = Graph()
        self.tracer = _Appending(self.new_graph, module)

    def placeholder(self, target, args, kwargs):
        """A parameter of the new graph."""
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target, args, kwargs):
        """An attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """A call of a part of the module in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        """A call of a function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        """The module with the new graph."""
        result = super().run()
        if result is not None:
            self.new_graph.output(self.tracer.create_arg(result))
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)
