"""An optimizer with other parameters and another state for a while."""

import contextlib

__all__ = ["swap_in_optimizer_params_and_state"]


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """In this block the optimizer works on other parameters, in the order of its own, with a state like that of state_dict()."""
    groups = optimizer.param_groups
    own = optimizer.state_dict()
    parameters = [group["params"] for group in groups]
    count = sum(len(some) for some in parameters)
    if len(swapin_parameters) != count:
        raise ValueError(f"swapin_parameters has {len(swapin_parameters)} tensors, but the optimizer has {count} parameters")
    replacing = iter(swapin_parameters.values())
    try:
        for group, some in zip(groups, parameters):
            group["params"] = [next(replacing) for _ in some]
        optimizer.load_state_dict(swapin_optim_state)
        yield
    finally:
        for group, some in zip(optimizer.param_groups, parameters):
            group["params"] = some
        optimizer.load_state_dict(own)
