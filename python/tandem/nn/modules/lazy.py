"""What layers have in common that learn the size of their parameters from the first input."""

from tandem.nn.parameter import is_lazy


class LazyModuleMixin:
    """Before the first forward it calls `initialize_parameters(*args)`, and then the module takes the class `cls_to_become`."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._materialize_from_state)
        self._initialize_hook = self.register_forward_pre_hook(_infer_parameters, with_kwargs=True)

    def _materialize_from_state(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            value = state_dict.get(prefix + name)
            if is_lazy(tensor) and value is not None and not is_lazy(value):
                tensor.materialize(value.shape)

    def has_uninitialized_params(self):
        """Whether a parameter or buffer still has no size."""
        return any(is_lazy(t) for t in [*self._parameters.values(), *self._buffers.values()])

    def initialize_parameters(self, *args, **kwargs):
        """Gives the parameters their sizes and first values; a layer defines it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def __deepcopy__(self, memo):
        """A copy whose hooks are its own."""
        import copy

        hooks = self._initialize_hook, self._load_hook
        duplicate = self.__class__.__new__(self.__class__)
        memo[id(self)] = duplicate
        state = {k: v for k, v in self.__getstate__().items() if k not in ("_initialize_hook", "_load_hook")}
        for name, hook in zip(("_forward_pre_hooks", "_load_state_dict_pre_hooks"), hooks):
            state[name] = type(state[name])((k, h) for k, h in state[name].items() if k != hook.id)
        duplicate.__setstate__(copy.deepcopy(state, memo))
        duplicate._load_hook = duplicate._register_load_state_dict_pre_hook(duplicate._materialize_from_state)
        duplicate._initialize_hook = duplicate.register_forward_pre_hook(_infer_parameters, with_kwargs=True)
        return duplicate


def _infer_parameters(module, args, kwargs=None):
    module.initialize_parameters(*args, **(kwargs or {}))
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    module._forward_pre_hooks_with_kwargs.pop(module._initialize_hook.id, None)
    del module._initialize_hook
    del module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
