"""Nested dictionaries as flat ones, and the settings of saving and loading that PyTorch keeps in planners."""

from collections.abc import Mapping

from tandem import _C


class DefaultSavePlanner:
    """The settings of save. What several ranks hold under one name is written once, by the first of them; the settings are accepted."""

    def __init__(
        self,
        flatten_state_dict=True,
        flatten_sharded_tensors=True,
        dedup_replicated_tensors=None,
        dedup_save_to_lowest_rank=False,
        enable_plan_caching=False,
    ):
        self.flatten_state_dict = flatten_state_dict


class DefaultLoadPlanner:
    """The settings of load. allow_partial_load: names that the checkpoint does not have keep what they are."""

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True, allow_partial_load=False):
        self.flatten_state_dict, self.allow_partial_load = flatten_state_dict, allow_partial_load


def check_planner(given, kind):
    """The planner; NotImplementedError for one of another kind, whose methods nothing would call."""
    if given is not None and type(given) is not kind:
        raise NotImplementedError(f"tandem.distributed.checkpoint takes a {kind.__name__} as planner, not a {type(given).__name__}")
    return kind() if given is None else given


def is_stateful(value):
    """Whether a value gives and takes its state itself, as modules and optimizers do."""
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict")


def state_of(state_dict):
    """The dictionary with the states of values that give them in their places."""
    return {key: value.state_dict() if is_stateful(value) else value for key, value in state_dict.items()}


class Entry:
    """One value in a nested dictionary: its name and path, and the container that it is in."""

    def __init__(self, path, container, key):
        self.path = tuple(part if isinstance(part, int) else str(part) for part in path)
        self.name = ".".join(map(str, path))
        self._container, self._key = container, key

    @property
    def value(self):
        """What it is now."""
        return self._container[self._key]

    @value.setter
    def value(self, value):
        self._container[self._key] = value


def _is_leaf(value):
    """Whether a value is stored as one: a list is taken apart only where there are tensors or dictionaries in it."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return not any(isinstance(one, _C.Tensor) or (isinstance(one, (Mapping, list)) and not _is_leaf(one)) for one in value)


def entries_of(state_dict, flatten=True):
    """The values of a nested dictionary, in order. Two of one name are an error. Keys that are no text are written as text."""
    found = {}

    def visit(container, path):
        for key in range(len(container)) if isinstance(container, list) else container:
            value, place = container[key], (*path, key if isinstance(container, list) else str(key))
            if flatten and not _is_leaf(value):
                visit(value, place)
                continue
            entry = Entry(place, container, key)
            if entry.name in found:
                raise ValueError(f"duplicated flatten key {entry.name}")
            found[entry.name] = entry

    visit(state_dict, ())
    return list(found.values())
