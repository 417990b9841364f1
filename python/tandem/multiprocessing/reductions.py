"""How a tensor is pickled for another process: a note of its layout, and the descriptors of its memory."""

import os
from multiprocessing import context, reduction
from multiprocessing.reduction import ForkingPickler

from tandem import _C
from tandem.multiprocessing.handover import Handle
from tandem.nn.parameter import is_lazy

Tensor = _C.Tensor


class _Kept:
    """A descriptor that stays open as long as this object."""

    def __init__(self, file):
        self.file = os.dup(file)

    def __del__(self):
        os.close(self.file)


def _for_receiver(file):
    """A handle of a descriptor that the receiver takes it by: `detach()` gives its number there."""
    popen = context.get_spawning_popen()
    if popen is None:
        return Handle(file)
    # A starting child gets the number itself. It needs one for each tensor, which is there until the child is.
    kept = _Kept(file)
    popen.__dict__.setdefault("_kept_for_child", []).append(kept)
    return reduction.DupFd(kept.file)


def reduce_tensor(tensor):
    """What pickle makes of a tensor that goes to another process."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
            "boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
            "(e.g., putting it on the queue)."
        )
    note, files, keeper = _C._pack_tensor(tensor)
    handles = [_for_receiver(file) for file in files]
    del keeper  # the handles have the descriptors
    return rebuild_tensor, (type(tensor), note, handles, tensor.requires_grad, dict(tensor.__dict__))


def rebuild_tensor(cls, note, handles, requires_grad, state):
    """The tensor over the same memory, a leaf of the same class."""
    try:
        files = [handle.detach() for handle in handles]
    except ConnectionError as error:
        raise RuntimeError(
            "the process that sent a tensor has ended before the tensor was received: it must live until then"
        ) from error
    tensor = _C._unpack_tensor(note, files)
    if cls is not Tensor:
        tensor = Tensor._make_subclass(cls, tensor, requires_grad)
    elif requires_grad:
        tensor.requires_grad_()
    if state:
        tensor.__dict__.update(state)
    return tensor


def _reducer_override(pickler, value):
    if isinstance(value, Tensor) and not is_lazy(value):
        return reduce_tensor(value)
    return NotImplemented


def init_reductions():
    """Makes Python's multiprocessing send tensors and their subclasses in this way."""
    ForkingPickler.reducer_override = _reducer_override
