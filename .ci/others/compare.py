"""Compares what a program printed on tandem and on PyTorch: words to the letter, numbers with a tolerance; not times and addresses."""

import re

EXACT, NEAR = 1e-5, 0.05
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)(?![\w])")
# What changes from one run to the next.
CHANGING = re.compile("|".join([
    r"0x[0-9a-f]+",
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
    """"same", "near", or a sentence about the first difference."""
    if ours == theirs:
        return "same"
    our_words, our_numbers = _parts(ours)
    their_words, their_numbers = _parts(theirs)
    if our_words != their_words:
        at = next((i for i, (a, b) in enumerate(zip(our_words, their_words)) if a != b), min(len(our_words), len(their_words)))
        return f"prints '{' '.join(our_words[at:at + 8])}', PyTorch '{' '.join(their_words[at:at + 8])}'"
    verdict = "same"
    for a, b in zip(our_numbers, their_numbers):
        x, y = float(a), float(b)
        if a == b or (x != x and y != y):
            continue
        written = 1.01 * max(_unit(a), _unit(b)) if "." in a + b else 0
        if abs(x - y) <= max(EXACT * max(abs(x), abs(y)), written, 1e-6):
            continue
        if not abs(x - y) <= max(NEAR * max(abs(x), abs(y)), 1e-4):
            return f"prints {a}, PyTorch {b}"
        verdict = "near"
    return verdict
