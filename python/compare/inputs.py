"""The tensors that expressions name: a letter for the dtype, a digit for each size, and letters for what is special about it.

f23 is float32 of sizes 2 and 3, f_ has no dimensions, f0 is empty. d float64, h float16, w bfloat16, i int64, j int32, s int16,
c int8, u uint8, b bool. Then: x other values, p values above 0 and below 1 (integers: 1 and 2), z indices 0 and 1, n with nan and
infinities, s symmetric and positive definite (one dimension: sorted), o offsets from 0 on, r small counts, k every second element,
t transposed in memory, e expanded, g requires a gradient.
"""

import re

DTYPES = {
    "f": "float32",
    "d": "float64",
    "h": "float16",
    "w": "bfloat16",
    "i": "int64",
    "j": "int32",
    "s": "int16",
    "c": "int8",
    "u": "uint8",
    "b": "bool",
}
FORM = re.compile(r"([fdhwijscub])(_|\d+)([xpznsorkteg]*)")


def is_input(name):
    """Whether it is the name of an input."""
    return FORM.fullmatch(name) is not None


def element(kind, suffix, at):
    """The element at a place in row-major order."""
    if "z" in suffix:
        return at % 2
    if "o" in suffix or ("s" in suffix and kind not in "fdhw"):
        return 2 * at
    if "r" in suffix:
        return (at * at) % 5
    if "p" in suffix:
        return ((at * 5 + 2) % 9 + 1) / 10 if kind in "fdhw" else at % 2 + 1
    turn = (at * 7 + 3) % 13 if "x" not in suffix else (at * 5 + 8) % 11
    if kind == "b":
        return turn % 2 == 0
    if kind == "u":
        return turn + 1
    if kind in "ijsc":
        return turn - 5 if "x" not in suffix else turn % 4 + 1
    return turn * 0.4375 - 2.25 if "x" not in suffix else turn * 0.3125 - 1.25


def values_of(kind, suffix, sizes):
    """All elements in row-major order."""
    count = 1
    for size in sizes:
        count *= size
    values = [element(kind, suffix, at) for at in range(count)]
    if "n" in suffix:
        values[:4] = [float("nan"), float("inf"), float("-inf"), 1.5][:count]
    if "s" in suffix and len(sizes) == 1:
        values = sorted(values)
    elif "s" in suffix and len(sizes) >= 2:
        rows = sizes[-1]
        places = [(at // rows % rows, at % rows) for at in range(count)]
        values = [4.0 + row % 2 if row == column else 0.5 + 0.25 * (row + column) for row, column in places]
    return values


def make(torch, name):
    """The tensor of this name, new."""
    kind, digits, suffix = FORM.fullmatch(name).groups()
    dtype = getattr(torch, DTYPES[kind])
    sizes = [] if digits == "_" else [int(digit) for digit in digits]
    if "e" in suffix and sizes:
        made = torch.tensor(values_of(kind, suffix, sizes[1:]), dtype=dtype).reshape([1, *sizes[1:]]).expand(sizes)
    elif "t" in suffix and len(sizes) > 1:
        swapped = [*sizes[:-2], sizes[-1], sizes[-2]]
        made = torch.tensor(values_of(kind, suffix, sizes), dtype=dtype).reshape(swapped).transpose(-1, -2)
    elif "k" in suffix and sizes:
        wide = [*sizes[:-1], 2 * sizes[-1]]
        made = torch.tensor(values_of(kind, suffix, wide), dtype=dtype).reshape(wide)[..., ::2]
    else:
        made = torch.tensor(values_of(kind, suffix, sizes), dtype=dtype).reshape(sizes)
    return made.requires_grad_() if "g" in suffix else made
