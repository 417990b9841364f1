"""from_file: tensors over the bytes of a file."""

import os

from . import _C


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False):
    """A tensor of `size` elements over a file's bytes, on the CPU. What is written to it goes to the file with `shared`, else to nobody.

    With `shared` the file is made, or made longer, where it is too short; without, that is a RuntimeError.
    """
    import mmap  # seldom needed

    dtype = _C.get_default_dtype() if dtype is None else dtype
    if device is not None and _C.device(device).type != "cpu":
        raise RuntimeError(f"from_file: a file is mapped into the CPU's memory, but the device is {device}")
    if pin_memory:
        raise RuntimeError("from_file: tensors constructed from a file cannot be pinned; call pin_memory() on the result, which copies it")
    count = size * dtype.itemsize
    if count == 0:
        return _C.empty(0, dtype=dtype)
    with open(filename, "rb+" if shared and os.path.exists(filename) else "wb+" if shared else "rb") as file:
        length = os.fstat(file.fileno()).st_size
        if length < count:
            if not shared:
                raise RuntimeError(f"from_file: {filename} has {length} bytes, too few for {size} elements of {dtype!r}")
            file.truncate(count)
        mapped = mmap.mmap(file.fileno(), count, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    return _C.frombuffer(mapped, dtype=dtype)
