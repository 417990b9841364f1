"""Storages: the memory under tensors, as bytes and as elements of one dtype."""

from . import _C

__all__ = ["TypedStorage", "UntypedStorage"]


def _lines(values, name, facts, count):
    """How a storage prints: an element a line, then what it is."""
    shown = [str(value) for value in values] if count <= 1000 else [*map(str, values[:1000]), "..."]
    return "".join(f" {text}\n" for text in shown) + f"[torch.storage.{name}({facts}) of size {count}]"


class _Storage:
    """What storages of bytes and of elements have alike: each has size(), untyped() and _whole(), a flat tensor over the memory."""

    def data_ptr(self):
        """The address of its first byte."""
        return self.untyped()._tensor._storage_address()

    def nbytes(self):
        """How many bytes it has."""
        return self.untyped()._tensor._storage_bytes()

    @property
    def device(self):
        """Where it lies."""
        return self.untyped()._tensor.device

    @property
    def is_cuda(self):
        """Whether that is a GPU."""
        return self.untyped()._tensor.is_cuda

    def get_device(self):
        """The GPU's number; -1 on the CPU."""
        return self.untyped()._tensor.get_device()

    def is_pinned(self, device="cuda"):
        """Whether the memory is page-locked."""
        return self.untyped()._tensor.is_pinned()

    def is_shared(self):
        """Whether other processes see the memory."""
        return self.untyped()._tensor.is_shared()

    def share_memory_(self):
        """Moves it to memory that other processes see."""
        self.untyped()._tensor.share_memory_()
        return self

    def __len__(self):
        return self.size()

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """The elements as numbers; bytes as ints."""
        return self._whole().tolist()

    def fill_(self, value):
        """Writes one number everywhere."""
        self._whole().fill_(value)
        return self

    def __setitem__(self, index, value):
        self._whole()[index if isinstance(index, slice) else self._place(index)] = value

    def _place(self, index):
        count = self.size()
        if not -count <= index < count:
            raise IndexError(f"index {index} out of range for storage of size {count}")
        return index % count

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.data_ptr() == other.data_ptr()

    def __hash__(self):
        return hash(self.data_ptr())


class UntypedStorage(_Storage):
    """The bytes of a tensor's memory, shared with it: UntypedStorage(8) makes 8 new ones, x.untyped_storage() gives those of x."""

    def __init__(self, size_or_bytes=0, *, device=None):
        if isinstance(size_or_bytes, int):
            self._tensor = _C.empty(size_or_bytes, dtype=_C.uint8, device=device)
        else:
            self._tensor = _C.tensor(list(size_or_bytes), dtype=_C.uint8, device=device)

    @classmethod
    def _of(cls, tensor):
        """The storage under a tensor."""
        made = cls.__new__(cls)
        made._tensor = tensor.detach()
        return made

    def _whole(self, dtype=_C.uint8):
        """All of the memory as a tensor without dimensions but one."""
        tensor = self._tensor
        count = self.nbytes() // tensor.element_size()
        flat = _C.as_strided(tensor, [count], [1], 0) if count else _C.empty(0, dtype=tensor.dtype, device=tensor.device)
        return flat.view(_C.uint8)[: self.nbytes() // dtype.itemsize * dtype.itemsize].view(dtype)

    def size(self):
        """How many bytes it has."""
        return self.nbytes()

    def element_size(self):
        """1: its elements are bytes."""
        return 1

    def resizable(self):
        """False: memory of tandem's keeps its size."""
        return False

    def untyped(self):
        """Itself."""
        return self

    def __getitem__(self, index):
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            return UntypedStorage._of(self._whole()[index].clone())
        return self._whole()[self._place(index)].item()

    def copy_(self, source, non_blocking=None):
        """Takes the bytes of a storage of the same size."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError(f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes")
        self._whole().copy_(source.untyped()._whole(), bool(non_blocking))
        return self

    def clone(self):
        """The bytes once more."""
        return UntypedStorage._of(self._whole().clone())

    def to(self, *, device, non_blocking=False):
        """Itself where it lies there, else a copy."""
        device = _C.device(device)
        here = self.device.type == device.type and device.index in (None, self.device.index)
        return self if here else UntypedStorage._of(self._whole().to(device, non_blocking=non_blocking))

    def cpu(self):
        """Itself or a copy on the CPU."""
        return self.to(device="cpu")

    def cuda(self, device=None, non_blocking=False):
        """Itself or a copy on a GPU."""
        return self.to(device="cuda" if device is None else device, non_blocking=non_blocking)

    def __repr__(self):
        return _lines(self._whole()[:1001].tolist(), "UntypedStorage", f"device={self.device}", self.nbytes())


class TypedStorage(_Storage):
    """The memory of a tensor as elements of its dtype, in the order in which they lie there: what Tensor.storage() gives."""

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None):
        self.dtype = _C.get_default_dtype() if dtype is None else dtype
        if wrap_storage is not None:
            self._storage = wrap_storage
        elif args and not isinstance(args[0], int):
            self._storage = UntypedStorage._of(_C.tensor(list(args[0]), dtype=self.dtype, device=device))
        else:
            self._storage = UntypedStorage._of(_C.empty(args[0] if args else 0, dtype=self.dtype, device=device))

    def _whole(self):
        return self._storage._whole(self.dtype)

    def untyped(self):
        """The same memory as bytes."""
        return self._storage

    def size(self):
        """How many elements there are."""
        return self._storage.nbytes() // self.dtype.itemsize

    def element_size(self):
        """The bytes of one."""
        return self.dtype.itemsize

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return self._whole()[self._place(index)].item()

    def __setitem__(self, index, value):
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        super().__setitem__(index, value)

    def copy_(self, source, non_blocking=None):
        """Takes the elements of a storage with as many."""
        self._whole().copy_(source._whole(), bool(non_blocking))
        return self

    def clone(self):
        """The elements once more."""
        return TypedStorage(wrap_storage=self._storage.clone(), dtype=self.dtype)

    def cpu(self):
        """Itself or a copy on the CPU."""
        return TypedStorage(wrap_storage=self._storage.cpu(), dtype=self.dtype)

    def cuda(self, device=None, non_blocking=False):
        """Itself or a copy on a GPU."""
        return TypedStorage(wrap_storage=self._storage.cuda(device, non_blocking), dtype=self.dtype)

    def __repr__(self):
        return _lines(self._whole()[:1001].tolist(), "TypedStorage", f"dtype={self.dtype!r}, device={self.device}", self.size())
