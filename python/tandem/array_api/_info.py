"""What the array API standard lets a program ask: capabilities, devices and dtypes."""

from tandem import _C, cuda
from tandem.array_api._dtypes import KINDS


class Info:
    """What __array_namespace_info__ gives."""

    def capabilities(self):
        """What an array may depend on, and the most dimensions; None where there is no limit."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The device of arrays that are made without one of their own."""
        return _C.get_default_device()

    def devices(self):
        """The CPU and all GPUs."""
        return (_C.device("cpu"), *(_C.device("cuda", number) for number in range(cuda.device_count())))

    def default_dtypes(self, *, device=None):
        """The dtypes of numbers without one of their own; the same on all devices."""
        return {"real floating": _C.get_default_dtype(), "integral": _C.int64, "indexing": _C.int64}

    def dtypes(self, *, device=None, kind=None):
        """The dtypes by name, of these kinds only where `kind` is given; the same on all devices."""
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        for one in kinds:
            if one not in KINDS:
                raise ValueError(f"unknown kind of dtype: '{one}'; there are {', '.join(KINDS)}")
        return {repr(dtype).rsplit(".", 1)[-1]: dtype for one in kinds for dtype in KINDS[one]}


def __array_namespace_info__():
    """What there is: devices, dtypes and capabilities."""
    return Info()
