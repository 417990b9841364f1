"""NativeOptimizer, the base of the optimizers that step in one call of C++: their groups are Python's dicts, their state is C++'s."""
from collections.abc import MutableMapping
from operator import is_, itemgetter

from tandem import _C
from tandem.optim.optimizer import Optimizer


def _check_flags(differentiable=False, foreach=None, fused=None):
    """The kernels are fused and read no gradients through themselves, whatever these say; only what cannot be is refused."""
    if differentiable:
        raise NotImplementedError("optimizers with differentiable=True are not supported: write the step with tensors' operations")
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _number(value):
    """An option as C++ takes it: tensors are read."""
    if isinstance(value, _C.Tensor):
        return value.item()
    if isinstance(value, (tuple, list)):
        return tuple(_number(one) for one in value)
    return value


class NativeOptimizer(Optimizer):
    """An optimizer of the library. Subclasses name what it is in C++."""

    _native_name = None  # the class in C++
    _options = ()  # keys of a group that the C++ optimizer has by the same names
    _state_names = ()  # entries of a parameter's state that it has
    _counts = {"step": 0}  # and those that are numbers in C++ and tensors for users, with what they start as

    def __init__(self, params, defaults):
        self._forget_native()
        super().__init__(params, defaults)

    def _forget_native(self):
        self._native = None
        self._read_options = itemgetter(*self._options)
        self._seen = []  # for each group: the dict, its parameters and its options when they were last told to C++
        self._places = {}  # parameter -> group and index in C++
        self._extras = {}  # parameter -> entries of its state that C++ does not know

    def step(self, closure=None):
        """One step for all parameters that have gradients; gives the loss that `closure` returns."""
        loss = None
        if closure is not None:
            before = _C._set_grad_enabled(True)
            try:
                loss = closure()
            finally:
                _C._set_grad_enabled(before)
        self._refresh()
        if self._native is not None:  # without parameters there is none
            self._native.step()
        return loss

    def _refresh(self):
        """Tells C++ what was changed in the groups since the last call."""
        groups = self.param_groups
        if len(groups) != len(self._seen):
            self._rebuild()
            return
        for group, seen in zip(groups, self._seen):
            params = group["params"]
            if group is not seen[0] or len(params) != len(seen[1]) or not all(map(is_, params, seen[1])):
                self._rebuild()
                return
            options = self._read_options(group)
            if options != seen[2]:
                seen[2] = self._tell(seen[3], options)

    def _tell(self, native_group, options):
        """Gives C++ the options; returns them where the next step may compare with them, which tensors do not allow."""
        if native_group is not None:
            self._native.set_options(native_group, self._native_options(options))
        return None if any(isinstance(option, _C.Tensor) for option in options) else options

    def _native_options(self, options):
        return {name: _number(value) for name, value in zip(self._options, options)}

    def _rebuild(self):
        """Makes the C++ optimizer anew for the groups of now. Parameters that stay keep their state."""
        kept = {parameter: self._native.state(*place) for parameter, place in self._places.items()}
        self._native = None
        self._seen = []
        self._places = {}
        count = 0
        for group in self.param_groups:
            params = list(group["params"])
            options = self._read_options(group)
            native_group = None
            if params:
                native_group = count
                count += 1
                if self._native is None:
                    self._native = _C.optim_create(self._native_name, params, self._native_options(options))
                else:
                    self._native.add_group(params, self._native_options(options))
                self._places.update((parameter, (native_group, index)) for index, parameter in enumerate(params))
            has_tensors = any(isinstance(option, _C.Tensor) for option in options)
            self._seen.append([group, params, None if has_tensors else options, native_group])
        for parameter, state in kept.items():
            if state and parameter in self._places:
                self._native.set_state(*self._places[parameter], state)

    @property
    def state(self):
        """The state of each parameter, by parameter. It is read from C++, and what is set in it is written there."""
        return NativeState(self)

    @state.setter
    def state(self, state):
        self._extras = {}
        if self.__dict__.get("param_groups"):
            self._refresh()
            for parameter, (group, index) in self._places.items():
                if parameter not in state:
                    self._native.set_state(group, index, self._to_native(parameter, {}))
        for parameter, values in state.items():
            self._write_state(parameter, values)

    def _plain_state(self):
        return {key: dict(value) if isinstance(value, dict) else value for key, value in self.state.items()}

    def __setstate__(self, state):
        # The groups first: the state is kept by their parameters.
        if "_seen" not in self.__dict__:
            self._forget_native()
        state = dict(state)
        values = state.pop("state", None)
        super().__setstate__(state)
        for group in self.param_groups:  # what older versions did not save
            for name, default in self.defaults.items():
                group.setdefault(name, default)
        if values is not None:
            self.state = values

    def _read_state(self, parameter):
        values = {}
        if parameter in self._places:
            values = self._from_native(self._native.state(*self._places[parameter]))
        values.update(self._extras.get(parameter, {}))
        return values

    def _write_state(self, parameter, values):
        if parameter not in self._places:
            self._extras[parameter] = values
            return
        native, extras = {}, {}
        for name, value in values.items():
            if value is not None:
                (native if name in self._state_names else extras)[name] = value
        self._native.set_state(*self._places[parameter], self._to_native(parameter, native))
        if extras:
            self._extras[parameter] = extras
        else:
            self._extras.pop(parameter, None)

    def _from_native(self, values):
        """What users see of the state in C++."""
        dtype = _C.float64 if _C.get_default_dtype() == _C.float64 else _C.float32
        return {name: _C.tensor(float(value), dtype=dtype) if name in self._counts else value for name, value in values.items()}

    def _to_native(self, parameter, values):
        """What C++ is given for it: all numbers, and dense tensors of the parameter's size."""
        native = dict(self._counts)
        for name, value in values.items():
            if name in self._counts:
                native[name] = type(self._counts[name])(_number(value))
            else:
                native[name] = _state_tensor(name, value, parameter.shape)
        return native


def _state_tensor(name, value, shape):
    if value.shape != shape:
        raise RuntimeError(f"the optimizer's state '{name}' has size {list(value.shape)}, but for its parameter it needs {list(shape)}")
    return value.detach().contiguous()


class NativeState(MutableMapping):
    """The state of an optimizer's parameters, as a defaultdict(dict) would show it. Parameters without state are not iterated over."""

    def __init__(self, optimizer):
        optimizer._refresh()
        self._optimizer = optimizer

    def __getitem__(self, parameter):
        optimizer = self._optimizer
        if parameter not in optimizer._places:
            return optimizer._extras.setdefault(parameter, {})
        return ParameterState(optimizer, parameter)

    def __setitem__(self, parameter, values):
        self._optimizer._write_state(parameter, values)

    def __delitem__(self, parameter):
        if parameter not in self:
            raise KeyError(parameter)
        self._optimizer._extras.pop(parameter, None)
        if parameter in self._optimizer._places:
            self._optimizer._write_state(parameter, {})

    def __contains__(self, parameter):
        if parameter in self._optimizer._places:
            return bool(self._optimizer._read_state(parameter))
        return parameter in self._optimizer._extras

    def __iter__(self):
        optimizer = self._optimizer
        places = [parameter for parameter in optimizer._places if parameter in self]
        return iter(places + [key for key in optimizer._extras if key not in optimizer._places])

    def __len__(self):
        return len(list(iter(self)))

    def __repr__(self):
        return f"defaultdict({dict}, {dict(self)})"


class ParameterState(dict):
    """The state of one parameter as it was when it was asked for. Tensors share memory with C++; entries that are set go there."""

    def __init__(self, optimizer, parameter):
        super().__init__(optimizer._read_state(parameter))
        self._optimizer = optimizer
        self._parameter = parameter

    def _write(self):
        self._optimizer._write_state(self._parameter, self)

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        self._write()

    def __delitem__(self, name):
        super().__delitem__(name)
        self._write()

    def update(self, *args, **kwargs):
        super().update(*args, **kwargs)
        self._write()

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, *args):
        value = super().pop(*args)
        self._write()
        return value

    def clear(self):
        super().clear()
        self._write()

    def __reduce__(self):
        return dict, (dict(self),)
