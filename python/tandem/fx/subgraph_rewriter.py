"""Puts one pattern of calls in the place of another."""

from collections import namedtuple

from tandem.fx._symbolic_trace import symbolic_trace
from tandem.fx.graph import Graph
from tandem.fx.graph_module import GraphModule, _assign
from tandem.fx.node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Match = namedtuple("Match", ["anchor", "nodes_map"])
Match.__doc__ = "Where a pattern was found: its last node there, and the nodes by those of the pattern."
ReplacedPatterns = namedtuple("ReplacedPatterns", ["anchor", "nodes_map", "replacements"])
ReplacedPatterns.__doc__ = "As Match, with the nodes that were put in its place."


def _traced(pattern):
    """The graph of a function, module or GraphModule, and the module that it names attributes of."""
    if isinstance(pattern, Graph):
        return pattern, None
    module = pattern if isinstance(pattern, GraphModule) else symbolic_trace(pattern)
    return module.graph, module


class _Finding:
    """One try to find a pattern that ends with a certain node."""

    def __init__(self):
        self.nodes = {}

    def value(self, wanted, found):
        """Whether the value of a call is that of the pattern."""
        if isinstance(wanted, Node):
            return isinstance(found, Node) and self.node(wanted, found) if wanted.op != "placeholder" else self.free(wanted, found)
        if isinstance(wanted, (tuple, list)):
            return isinstance(found, (tuple, list)) and len(wanted) == len(found) and all(map(self.value, wanted, found))
        if isinstance(wanted, dict):
            return isinstance(found, dict) and wanted.keys() == found.keys() and all(self.value(wanted[key], found[key]) for key in wanted)
        return type(wanted) is type(found) and wanted == found

    def free(self, wanted, found):
        """A parameter of the pattern stands for anything, and for the same wherever it is."""
        return found is self.nodes[wanted] if wanted in self.nodes else self.nodes.setdefault(wanted, found) is found

    def node(self, wanted, found):
        """Whether a node does what one of the pattern does."""
        if wanted in self.nodes:
            return self.nodes[wanted] is found
        if wanted.op != found.op:
            return False
        if wanted.op in ("call_function", "call_method") and wanted.target != found.target:
            return False
        if wanted.op in ("call_module", "get_attr") and wanted.target.rpartition(".")[2] != found.target.rpartition(".")[2]:
            return False
        self.nodes[wanted] = found
        return self.value(wanted.args, found.args) and self.value(wanted.kwargs, found.kwargs)


def _matches(pattern, graph):
    """Where the graph does what the pattern does, each node in one match at most; inner results are used nowhere else."""
    end = pattern.output_node().args[0]
    ends = list(end) if isinstance(end, (tuple, list)) else [end]
    inner = [node for node in pattern.nodes if node.op not in ("placeholder", "output") and node not in ends]
    taken, found = set(), []
    for node in graph.nodes:
        finding = _Finding()
        if len(ends) != 1 or not finding.node(ends[0], node):
            continue
        own = [one for wanted, one in finding.nodes.items() if wanted.op != "placeholder"]
        if taken.intersection(own) or any(set(finding.nodes[one].users) - set(own) for one in inner if one in finding.nodes):
            continue
        taken.update(own)
        found.append(Match(node, finding.nodes))
    return found


def replace_pattern(gm, pattern, replacement):
    """Puts `replacement` in the place of each `pattern` in the module's graph, and gives the matches.

    Both are functions or modules with the same parameters, which stand for any value; the pattern has one result.
    """
    return [Match(one.anchor, one.nodes_map) for one in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement, match_filters=None, ignore_literals=False, replacement_callback=None):
    """As replace_pattern, where each of match_filters(match, graph, pattern's graph) says so."""
    if ignore_literals or replacement_callback is not None:
        raise NotImplementedError("replace_pattern_with_filters: ignore_literals and replacement_callback")
    wanted, _ = _traced(pattern)
    new, module = _traced(replacement)
    parameters = [node for node in wanted.nodes if node.op == "placeholder"]
    given = [node for node in new.nodes if node.op == "placeholder"]
    if len(parameters) != len(given):
        raise AssertionError(f"the pattern has {len(parameters)} parameters, and the replacement {len(given)}")
    done, replaced = [], {}
    for match in _matches(wanted, gm.graph):
        if not all(accepts(match, gm.graph, wanted) for accepts in match_filters or ()):
            continue
        values = {new_one: replaced.get(match.nodes_map.get(old), match.nodes_map.get(old)) for new_one, old in zip(given, parameters)}
        before = set(gm.graph.nodes)
        with gm.graph.inserting_before(match.anchor):
            result = gm.graph.graph_copy(new, values)
        replaced[match.anchor] = result
        match.anchor.replace_all_uses_with(result)
        own = [one for old, one in match.nodes_map.items() if old.op != "placeholder"]
        for node in reversed([node for node in gm.graph.nodes if node in own]):
            gm.graph.erase_node(node)
        done.append(ReplacedPatterns(match.anchor, match.nodes_map, [node for node in gm.graph.nodes if node not in before]))
    if module is not None and done:
        _bring(gm, module, new)
    gm.recompile()
    return done


def _bring(gm, module, graph):
    """Puts what the replacement names and the module lacks into the module."""
    for node in graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        value = module
        for part in node.target.split("."):
            value = getattr(value, part)
        try:
            present = gm
            for part in node.target.split("."):
                present = getattr(present, part)
        except AttributeError:
            _assign(gm, node.target, value)
