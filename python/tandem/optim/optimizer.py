"""Optimizer, the base of all optimizers: groups of parameters with their options, state, hooks and dictionaries of them."""
import copy
import functools
import warnings
from collections import OrderedDict, defaultdict

from tandem import _C
from tandem.nn.hooks import add_hook


class _RequiredParameter:
    """What stands in `defaults` for an option that each group has to give."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()
_SETS = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. "
    "Please use a list instead."
)

_global_pre_hooks = OrderedDict()
_global_post_hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Calls `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return add_hook(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Calls `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return add_hook(_global_post_hooks, hook)


def _with_hooks(step):
    """`step` with the hooks of the optimizer and of all optimizers around it."""

    @functools.wraps(step)
    def hooked(self, *args, **kwargs):
        self._opt_called = True
        if not (_global_pre_hooks or _global_post_hooks or self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks):
            return step(self, *args, **kwargs)
        args = (self, *args)
        for hook in (*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    return hooked


def _check_lr(lr):
    """Error unless `lr` is a number from 0 on, or a tensor of one element."""
    if isinstance(lr, _C.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    _check_not_negative("learning rate", lr)


def _check_not_negative(what, value):
    if not 0.0 <= value:
        raise ValueError(f"Invalid {what}: {value}")


def _check_betas(betas):
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


class Optimizer:
    """Changes parameters after their gradients.

    `params` are tensors, pairs of names and tensors, or dicts with 'params' and options of that group; `defaults` are the options of groups
    that give none. Subclasses implement `step`, and keep what they need for a parameter in `self.state[parameter]`.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, _C.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + params.type()
            )
        if isinstance(params, set):
            warnings.warn(_SETS + " This will be an error in a future release.", FutureWarning, stacklevel=3)
        self.state = defaultdict(dict)
        self.param_groups = []
        param_groups = list(params)
        if len(param_groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(param_groups[0], dict):
            param_groups = [{"params": param_groups}]
        for group in param_groups:
            self.add_param_group(group)

    def _make_hooks(self):
        self._optimizer_step_pre_hooks = OrderedDict()
        self._optimizer_step_post_hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks = OrderedDict()

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self._plain_state(), "param_groups": self.param_groups}

    def _plain_state(self):
        """The state as what can be kept: plain dicts by parameter."""
        return self.state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        text = type(self).__name__ + " ("
        for index, group in enumerate(self.param_groups):
            options = "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            text += f"\nParameter Group {index}\n{options}"
        return text + ")"

    def register_step_pre_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` before each step; it may return new args and kwargs."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` before state_dict."""
        return add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` after state_dict; it may return another dict."""
        return add_hook(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` before load_state_dict; it may return another dict."""
        return add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` after load_state_dict."""
        return add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients of all parameters; fills them with zeros where `set_to_none` is False."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    if parameter.grad.grad_fn is not None:
                        parameter.grad.detach_()
                    else:
                        parameter.grad.requires_grad_(False)
                    parameter.grad.zero_()

    def step(self, closure=None):
        """One step for all parameters; `closure` computes the loss again, which is returned."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        """Another group: a dict with 'params' and the options in which it differs from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, _C.Tensor):
            param_group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError(_SETS)
        else:
            param_group["params"] = list(params)
        self._take_names(param_group)
        self._check_params(param_group["params"])
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = {parameter for group in self.param_groups for parameter in group["params"]}
        if not known.isdisjoint(param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _take_names(self, param_group):
        """Takes (name, parameter) pairs apart: names go to group['param_names']. All groups have names, or none."""
        params = param_group["params"]
        named = [isinstance(one, tuple) for one in params]
        if any(named):
            if not all(named):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [name for name, _ in params]
            param_group["params"] = [parameter for _, parameter in params]
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            state = "with" if "param_names" in param_group else "without"
            raise ValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {state} names to the optimizer"
            )

    def _check_params(self, params):
        for parameter in params:
            if not isinstance(parameter, _C.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(parameter).__name__)
            if not (self.defaults.get("differentiable") or parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )

    def state_dict(self):
        """{'state': {0: {...}}, 'param_groups': [{..., 'params': [0, 1]}]}: parameters by their numbers. Tensors share memory."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        packed_groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers.setdefault(parameter, len(numbers)) for parameter in group["params"]]
            packed_groups.append(packed)
        packed_state = {}
        for key, value in self._plain_state().items():
            packed_state[numbers.get(key, key) if isinstance(key, _C.Tensor) else key] = value
        result = {"state": packed_state, "param_groups": packed_groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict):
        """Takes over what state_dict gave, tensors on their parameter's device and dtype. ValueError where groups do not fit."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved_groups = copy.deepcopy(state_dict["param_groups"])
        if len(saved_groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(mine["params"]) != len(saved["params"]) for mine, saved in zip(self.param_groups, saved_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        parameters = {}
        for mine, saved in zip(self.param_groups, saved_groups):
            parameters.update(zip(saved["params"], mine["params"]))
            saved["params"] = mine["params"]
            if "param_names" in mine and "param_names" not in saved:
                saved["param_names"] = mine["param_names"]
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in parameters:
                state[parameters[key]] = _moved(value, parameters[key])
            else:
                state[key] = value
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


def _moved(value, parameter, key=None):
    """A copy of saved state on the parameter's device and, but for the count of steps, of its dtype."""
    if isinstance(value, _C.Tensor):
        if key == "step":
            return value
        if parameter.is_floating_point():
            return value.to(device=parameter.device, dtype=parameter.dtype)
        return value.to(device=parameter.device)
    if isinstance(value, dict):
        return {key: _moved(one, parameter, key) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(one, parameter) for one in value)
    return value
