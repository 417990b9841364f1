"""torchvision.models.feature_extraction: what a model computes on its way, by names of its parts."""

import re

from tandem.fx import GraphModule, Tracer

__all__ = ["create_feature_extractor", "get_graph_node_names"]


class NodePathTracer(Tracer):
    """Notes for each node the part of the model that it belongs to: layer1.0.conv1, layer1.0.add."""

    def __init__(self, *args, leaf_modules=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.leaf_modules = tuple(leaf_modules or ())
        self.node_to_qualname = {}
        self.current_module_qualname = ""

    def is_leaf_module(self, m, module_qualname):
        return isinstance(m, self.leaf_modules) or super().is_leaf_module(m, module_qualname)

    def call_module(self, m, forward, args, kwargs):
        before, self.current_module_qualname = self.current_module_qualname, self.path_of_module(m)
        try:
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.current_module_qualname = before

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *others):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr, *others)
        self.node_to_qualname[proxy.node] = self._free_name(proxy.node)
        return proxy

    def _free_name(self, node):
        own = re.sub(r"_\d+$", "", node.name)
        place = self.current_module_qualname
        wanted = place if node.op == "call_module" else f"{place}.{own}" if place else own
        taken = set(self.node_to_qualname.values())
        name, number = wanted, 0
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        return name


def _traced(model, train, tracer_kwargs, concrete_args=None):
    """The graph of the model in training or in evaluation, and the names of its nodes."""
    before = {module: module.training for module in model.modules()}
    tracer = NodePathTracer(**(tracer_kwargs or {}))
    try:
        graph = tracer.trace(model.train(train), concrete_args)
    finally:
        for module, mode in before.items():
            module.training = mode
    return graph, tracer.node_to_qualname


def get_graph_node_names(model, tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None):
    """The names of all that the model computes, in training and in evaluation."""
    train, evaluation = (list(_traced(model, mode, tracer_kwargs, concrete_args)[1].values()) for mode in (True, False))
    if train != evaluation and not suppress_diff_warning:
        import warnings

        warnings.warn("The nodes obtained by tracing the model in eval mode are different from those in train mode.", stacklevel=2)
    return train, evaluation


class DualGraphModule(GraphModule):
    """A module with one graph for training and one for evaluation."""

    def __init__(self, root, train_graph, eval_graph, class_name):
        self.__dict__["_graphs"] = ()
        training = root.training
        super().__init__(root, train_graph, class_name)
        other = GraphModule(root, eval_graph)
        for name, module in other.named_modules():
            if name and not any(name == had or name.startswith(f"{had}.") for had, _ in list(self.named_modules()) if had):
                self.add_submodule(name, module)
        self.__dict__["_graphs"] = (eval_graph, train_graph)
        self.graph = self._graphs[training]  # the model's own parts keep their modes

    def train(self, mode=True):
        if self.__dict__.get("_graphs"):
            self.graph = self._graphs[bool(mode)]
        return super().train(mode)


def _with_outputs(graph, names, wanted):
    """The graph with other results: a dict of what the last node of each wanted name gives."""
    found = {}
    for query, key in wanted.items():
        nodes = [node for node, name in names.items() if name == query or name.startswith(f"{query}.")]
        if not nodes:
            raise ValueError(
                f"node: '{query}' is not present in model. Hint: use `get_graph_node_names` to make sure the `return_nodes` you specified are present. It "
                "may even be that you need to specify `train_return_nodes` and `eval_return_nodes` separately."
            )
        found[key] = nodes[-1]
    graph.erase_node(graph.output_node())
    graph.output(found)
    graph.eliminate_dead_code()
    return graph


def _named(nodes):
    return {str(key): str(value) for key, value in nodes.items()} if isinstance(nodes, dict) else {str(one): str(one) for one in nodes}


def create_feature_extractor(
    model, return_nodes=None, train_return_nodes=None, eval_return_nodes=None, tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None
):  # fmt: skip
    """A module that gives a dict of what the model computes at these nodes: a list of names, or a dict of names and keys. A name such as layer1
    stands for the last node of that part."""
    if return_nodes is None and (train_return_nodes is None or eval_return_nodes is None):
        raise ValueError("Either `return_nodes` or `train_return_nodes` and `eval_return_nodes` together, should be specified")
    graphs = []
    for mode, wanted in ((True, train_return_nodes), (False, eval_return_nodes)):
        graph, names = _traced(model, mode, tracer_kwargs, concrete_args)
        graphs.append(_with_outputs(graph, names, _named(return_nodes if wanted is None else wanted)))
    return DualGraphModule(model, *graphs, type(model).__name__)
