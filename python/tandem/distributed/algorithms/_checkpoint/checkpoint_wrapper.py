"""Wrappers that make parts of a module compute again in backward instead of keeping their inner tensors."""

from enum import Enum, auto

from tandem.distributed.fsdp.wrap import parts_to_wrap, replace_part
from tandem.nn.modules.module import Module
from tandem.utils.checkpoint import checkpoint

_WRAPPED = "_checkpoint_wrapped_module"
_PREFIX = _WRAPPED + "."


class CheckpointImpl(Enum):
    """How checkpoint is called; both compute the same here."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class CheckpointWrapper(Module):
    """A module whose calls are checkpointed. Names of parameters and of the state are those of the module without it."""

    def __init__(self, mod, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self.checkpoint_impl = checkpoint_impl
        self._function, self._options = checkpoint_fn, checkpoint_fn_kwargs
        if checkpoint_fn is None:
            self._function = checkpoint
            self._options = {"use_reentrant": checkpoint_impl is CheckpointImpl.REENTRANT, **checkpoint_fn_kwargs}
        self._register_state_dict_hook(self._strip)
        self.register_load_state_dict_pre_hook(self._add)

    def forward(self, *args, **kwargs):
        return self._function(self._checkpoint_wrapped_module, *args, **self._options, **kwargs)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["_modules"][_WRAPPED], name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args, **kwargs):
        """As Module's, under the module's own names."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), parameter

    @staticmethod
    def _strip(module, state_dict, prefix, *args):
        for key in [key for key in state_dict if key.startswith(prefix + _PREFIX)]:
            state_dict[prefix + key[len(prefix + _PREFIX):]] = state_dict.pop(key)

    @staticmethod
    def _add(module, state_dict, prefix, *args):
        for key in [key for key in state_dict if key.startswith(prefix) and not key.startswith(prefix + _PREFIX)]:
            state_dict[prefix + _PREFIX + key[len(prefix):]] = state_dict.pop(key)


def checkpoint_wrapper(module, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
    """The module in a CheckpointWrapper; `checkpoint_fn` takes the place of torch.utils.checkpoint.checkpoint."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda _: True, auto_wrap_policy=None):
    """Wraps, in place, the parts of a module for which `check_fn(part)` is true, or which a policy of distributed.fsdp.wrap chooses."""
    if auto_wrap_policy is None:
        parts = [part for part in reversed(list(model.modules())) if part is not model and check_fn(part)]
    else:
        parts = [part for part, _ in parts_to_wrap(model, auto_wrap_policy, set(), set(), {})]
    for part in parts:
        replace_part(model, part, checkpoint_wrapper_fn(part))
