"""Compares what a program printed on tandem and on PyTorch: words to the letter, numbers with a tolerance; not times and addresses."""

import math
import re

KINDS = ("same", "near", "close", "differs", "silent")
NEAR, CLOSE = 1e-5, 0.01  # relative
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)(?![\w])")
# What changes from one run to the next.
CHANGING = re.compile("|".join([
    r"0x[0-9a-f]+",
    r"\b1[34]\d{13}\b",  # an address as id() gives it
    r"\d\d:\d\d:\d\d",
    r"\d{4}-\d\d-\d\d[_ T][\d:.-]+",
    r"[-+]?\d[\d,.]*(?:e[-+]\d+)? ?(?:ms|seconds|sec|s|examples/sec|tokens/sec)\b(?:/\w+)?(?: on \S+)?",
    r"\bms/batch +[\d.]+",
    r"\b(?:Time|Data) +[\d.]+ *\( *[\d.]+\)",
    r"(?<=Time: )[\d.]+",
    r"\bmfu -?[\d.]+%",
    r"Gigaflops:.*"]))


def _parts(text):
    """The words without numbers, and the numbers as they are written."""
    text = CHANGING.sub(" ", text)
    return NUMBER.sub("#", text).split(), NUMBER.findall(text)


def _unit(number):
    """One in the last place that is written."""
    mantissa, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def compare(ours, theirs):
    """One of KINDS (silent: neither prints what can be compared), the largest relative difference, and how the worst kind shows first."""
    our_words, our_numbers = _parts(ours)
    their_words, their_numbers = _parts(theirs)
    if our_words != their_words:
        at = next((i for i, (a, b) in enumerate(zip(our_words, their_words)) if a != b), min(len(our_words), len(their_words)))
        first = f"prints '{' '.join(our_words[at:at + 8])}', PyTorch '{' '.join(their_words[at:at + 8])}'"
        return "differs", 0.0, first
    if not our_words:
        return "silent", 0.0, ""
    kind, largest, first = "same", 0.0, ""
    for a, b in zip(our_numbers, their_numbers):
        if a == b or float(a) == float(b):
            continue
        its_kind, difference = _numbers(a, b)
        largest = max(largest, difference)
        if KINDS.index(its_kind) > KINDS.index(kind):
            kind, first = its_kind, f"prints {a}, PyTorch {b}"
    return kind, largest, first


def _numbers(a, b):
    """How two numbers that are written differently differ: the kind, and the relative difference."""
    x, y = float(a), float(b)
    if not math.isfinite(x) or not math.isfinite(y):
        return "differs", 0.0
    off, scale = abs(x - y), max(abs(x), abs(y))
    if off <= max(NEAR * scale, 1e-6) or "." in a + b and off <= 1.01 * min(_unit(a), _unit(b)):
        return "near", off / scale if off > NEAR * scale else 0.0
    return "close" if off <= max(CLOSE * scale, 1e-4) else "differs", off / scale
