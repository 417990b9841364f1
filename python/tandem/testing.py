"""What tests use: assert_close, which compares results and tells where they differ, and make_tensor."""

import collections.abc
import math
import warnings

from . import _C

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# Relative and absolute tolerance of each dtype; the others are compared for equality.
_TOLERANCES = {_C.float16: (1e-3, 1e-5), _C.bfloat16: (1.6e-2, 1e-5), _C.float32: (1.3e-6, 1e-5), _C.float64: (1e-7, 1e-7)}
_PYTHON_DTYPES = {bool: _C.bool, int: _C.int64, float: _C.float64}


def _both_or_none(rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}.")


def _tolerances(rtol, atol, *dtypes):
    """Those that were given, or the larger ones of the dtypes."""
    if rtol is not None:
        return rtol, atol
    pairs = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


class _Comparison:
    """The settings of one call of assert_close, and how each kind of pair is compared."""

    def __init__(self, allow_subclasses, rtol, atol, equal_nan, checks, msg):
        self.allow_subclasses, self.rtol, self.atol, self.equal_nan, self.checks, self.msg = (
            allow_subclasses,
            rtol,
            atol,
            equal_nan,
            checks,
            msg,
        )

    def fail(self, path, text, error=AssertionError):
        if path:
            text += f"\n\nThe failure occurred for item {path}"
        if error is AssertionError and self.msg is not None:
            text = self.msg(text) if callable(self.msg) else self.msg
        raise error(text)

    def pairs(self, actual, expected, path=""):
        """The pairs of leaves in two nested collections, with their places; an error where the collections differ."""
        if _is_sequence(actual) and _is_sequence(expected):
            if len(actual) != len(expected):
                self.fail(path, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
            for i in range(len(actual)):
                yield from self.pairs(actual[i], expected[i], f"{path}[{i}]")
        elif isinstance(actual, collections.abc.Mapping) and isinstance(expected, collections.abc.Mapping):
            missing, additional = set(expected) - set(actual), set(actual) - set(expected)
            if missing or additional:
                self.fail(
                    path,
                    "The keys of the mappings do not match:\n"
                    f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                    f"Additional keys in the actual mapping: {sorted(additional, key=str)}",
                )
            for key in sorted(actual, key=str):
                yield from self.pairs(actual[key], expected[key], f"{path}[{key!r}]")
        else:
            yield actual, expected, path

    def compare(self, actual, expected, path):
        """Compares two leaves."""
        if actual is None or expected is None:
            if actual is not expected:
                self.fail(path, f"None mismatch: {actual} is not {expected}")
        elif _is_bool(actual) and _is_bool(expected):
            if bool(actual) is not bool(expected):
                self.fail(path, f"Booleans mismatch: {bool(actual)} is not {bool(expected)}")
        elif _is_number(actual) and _is_number(expected):
            self.compare_numbers(_python_number(actual), _python_number(expected), path)
        else:
            self.compare_tensors(*self.tensors(actual, expected, path), path)

    def tensors(self, actual, expected, path):
        """Both as tensors; an error where they are of unrelated types or nothing to make tensors of."""
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if related and (self.allow_subclasses or type(actual) is type(expected)) and not isinstance(actual, (str, bytes, set)):
            try:
                return [value.detach() if isinstance(value, _C.Tensor) else _C.as_tensor(value) for value in (actual, expected)]
            except (TypeError, ValueError, RuntimeError):
                pass
        self.fail(path, f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", TypeError)

    def compare_numbers(self, actual, expected, path):
        if self.checks["dtype"] and type(actual) is not type(expected):
            self.fail(path, f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        rtol, atol = _tolerances(self.rtol, self.atol, _PYTHON_DTYPES[type(actual)], _PYTHON_DTYPES[type(expected)])
        if actual == expected or (self.equal_nan and actual != actual and expected != expected):
            return
        difference = abs(actual - expected)
        if not (math.isfinite(difference) and difference <= atol + rtol * abs(expected)):
            self.fail(path, _scalars(actual, expected, rtol, atol))

    def compare_tensors(self, actual, expected, path):
        self.compare_attributes(actual, expected, path)
        rtol, atol = _tolerances(self.rtol, self.atol, actual.dtype, expected.dtype)
        a, b = actual, expected
        if a.device != b.device:
            a, b = a.cpu(), b.cpu()
        if a.dtype is not b.dtype:
            dtype = _C.promote_types(a.dtype, b.dtype)
            a, b = a.to(dtype), b.to(dtype)
        matches = _C.isclose(a, b, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if bool(matches.all()):
            return
        if a.numel() == 1 and a.dim() == 0:
            self.fail(path, _scalars(a.item(), b.item(), rtol, atol))
        self.fail(path, _elements(a, b, matches, rtol, atol))

    def compare_attributes(self, actual, expected, path):
        def same(name, a, b):
            if a != b:
                self.fail(path, f"The values for attribute '{name}' do not match: {a} != {b}.")

        same("shape", actual.shape, expected.shape)
        if self.checks["layout"]:
            same("layout", actual.layout, expected.layout)
        if self.checks["stride"]:
            same("stride()", actual.stride(), expected.stride())
        if self.checks["device"]:
            same("device", actual.device, expected.device)
        if self.checks["dtype"]:
            same("dtype", actual.dtype, expected.dtype)


def _is_sequence(value):
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, str)


def _is_bool(value):
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and type(value).__module__ == "numpy"


def _is_number(value):
    return isinstance(value, (int, float)) or (
        type(value).__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "__len__") and not _is_bool(value)
    )


def _python_number(value):
    return value.item() if hasattr(value, "item") else value


def _title(kind, rtol, atol):
    return f"{kind} are not {'equal' if rtol == 0 and atol == 0 else 'close'}!\n\n"


def _allowed(rtol, atol, tolerance):
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def _scalars(actual, expected, rtol, atol):
    """What is said of two numbers that differ."""
    if isinstance(actual, bool):
        actual, expected = int(actual), int(expected)
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else math.inf
    return (
        _title("Scalars", rtol, atol)
        + f"Expected {expected} but got {actual}.\nAbsolute difference: {difference}{_allowed(rtol, atol, atol)}\n"
        f"Relative difference: {relative}{_allowed(rtol, atol, rtol)}"
    )


def _elements(actual, expected, matches, rtol, atol):
    """What is said of tensors that differ: how many elements, and the largest differences with their places."""
    if not actual.dtype.is_floating_point:
        actual, expected = actual.to(_C.int64), expected.to(_C.int64)
    count, wrong = actual.numel(), int((~matches).sum())
    difference = (actual - expected).abs()
    relative = difference / expected.abs()
    lines = [f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})"]
    for name, values, tolerance in (("absolute", difference, atol), ("relative", relative, rtol)):
        values = _C.where(matches, _C.zeros_like(values), values)
        at = int(values.argmax())
        place = tuple(int(n) for n in _places(at, actual.shape))
        lines.append(f"Greatest {name} difference: {values.reshape(-1)[at].item()} at index {place}{_allowed(rtol, atol, tolerance)}")
    return _title("Tensor-likes", rtol, atol) + "\n".join(lines)


def _places(at, shape):
    """The index in each dimension of the element with this number."""
    place = []
    for size in reversed(shape):
        place.insert(0, at % size)
        at //= size
    return place


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """AssertionError where |actual - expected| > atol + rtol * |expected| somewhere.

    For tensors, numbers, arrays, and sequences and mappings of them. Without rtol and atol they are those of the dtype. msg: the text of
    the error, or a function that makes it of the text.
    """
    __tracebackhide__ = True
    _both_or_none(rtol, atol)
    comparison = _Comparison(
        allow_subclasses,
        rtol,
        atol,
        equal_nan,
        {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride},
        msg,
    )
    for pair in list(comparison.pairs(actual, expected)):
        comparison.compare(*pair)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old form of assert_close."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    tensors = [value if isinstance(value, _C.Tensor) else _C.tensor(value) for value in (actual, expected)]
    if rtol is None and atol is None:
        rtol, atol = _tolerances(None, None, *(tensor.dtype for tensor in tensors))
    assert_close(
        *tensors, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False, msg=msg or None
    )


def make_tensor(
    *shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None
):
    """Random values from low up to high: without them -9 to 9, of bytes 0 to 9, of bool both."""
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    first, last = (0, 2) if dtype is _C.bool else (0, 10) if dtype is _C.uint8 else (-9, 9) if dtype.is_floating_point else (-9, 10)
    low, high = first if low is None else low, last if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low > high or (low == high and not dtype.is_floating_point):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if requires_grad and not dtype.is_floating_point:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}")
    size = (*shape[:-1], 2 * shape[-1]) if noncontiguous and shape else shape
    if dtype.is_floating_point:
        made = _C.empty(size, dtype=dtype, device=device).uniform_(low, high)
    else:
        made = _C.randint(math.floor(low), math.ceil(high), size, dtype=_C.int64, device=device).to(dtype)
    if noncontiguous and shape:
        made = made[..., ::2]
    if exclude_zero:
        made[made == 0] = 1
    return made.requires_grad_(requires_grad) if dtype.is_floating_point else made
