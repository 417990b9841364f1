"""Sorts two answers to one expression: where they agree, and what differs where they do not."""

import functools
import math
import pathlib
import re
import tomllib

KNOWN = pathlib.Path(__file__).parent / "known.toml"
SAME = ("same", "values within tolerance")
KINDS = SAME + (
    "known",
    "same class other text",
    "other class",
    "only tandem raises",
    "only PyTorch raises",
    "missing",
    "other values",
    "other dtype",
    "other shape",
    "other stride",
    "other grad_fn",
    "other memory",
    "other kind",
    "crash",
    "peer crash",
)
TOLERANCE = {"torch.float64": 1e-9, "torch.float32": 2e-5, "torch.float16": 4e-3, "torch.bfloat16": 3e-2, "float": 2e-5}
TEXT_LENGTH = 80
MISSING = re.compile(r"has no attribute|NotImplementedError|no complex dtypes|tandem has no", re.I)


@functools.cache
def rules():
    """The known differences: (compiled pattern of the expression, of PyTorch's answer, of tandem's, reason)."""
    read = tomllib.loads(KNOWN.read_text())["known"]
    return [(*(re.compile(rule.get(of, "")) for of in ("expression", "peer", "tandem")), rule["reason"]) for rule in read]


def short(answer):
    """An answer as one line."""
    if "crash" in answer:
        return f"CRASH {answer['crash']}"
    if "raises" in answer:
        return f"{answer['raises']}: {answer['text'].splitlines()[0][:160] if answer['text'] else ''}"
    if answer["is"] == "tensor":
        more = [
            answer["class"] if answer["class"] != "Tensor" else "",
            answer["grad_fn"] or "",
            "requires_grad" if answer["requires_grad"] else "",
            f"memory of {answer['memory']}" if answer.get("memory", "own") not in ("own", None) else "",
        ]
        values = ", ".join(answer.get("values", ["?"])[:8])
        return " ".join(
            filter(None, [f"{answer['dtype'].removeprefix('torch.')}{answer['shape']} stride {answer['stride']}", *more, f"[{values}]"])
        )
    if "items" in answer:
        return f"{answer['is']}({', '.join(short(i[1] if isinstance(i, list) else i) for i in answer['items'][:4])})"
    return f"{answer['is']} {answer['value']}"


def sort(expression, peer, ours):
    """(kind, detail) of two answers: detail is the reason of a known difference, or ''."""
    kind = compare(peer, ours)
    if kind not in SAME:
        for of_expression, of_peer, of_ours, reason in rules():
            if of_expression.search(expression) and of_peer.search(short(peer)) and of_ours.search(short(ours)):
                return "known", reason
    return kind, ""


def compare(peer, ours):
    if "crash" in ours:
        return "crash"
    if "crash" in peer:
        return "peer crash"
    if "raises" in ours or "raises" in peer:
        return compare_errors(peer, ours)
    return compare_values(peer, ours)


def first_line(answer):
    return (answer["text"].splitlines() or [""])[0].strip()


def compare_errors(peer, ours):
    if "raises" not in peer:
        return "missing" if MISSING.search(f"{ours['raises']}: {ours['text']}") else "only tandem raises"
    if "raises" not in ours:
        return "only PyTorch raises"
    if peer["raises"] != ours["raises"]:
        return "other class"
    wanted, found = first_line(peer)[:TEXT_LENGTH], first_line(ours)
    return "same" if found.startswith(wanted.rstrip(".")) and (wanted or not found) else "same class other text"


def compare_values(peer, ours):
    """Of two answers that are no errors."""
    if peer["is"] != ours["is"]:
        return "other kind"
    if "items" in peer:
        return compare_items(peer["items"], ours["items"])
    if peer["is"] == "float":
        return compare_numbers([peer["value"]], [ours["value"]], TOLERANCE["float"])
    if peer["is"] != "tensor":
        return "same" if peer["value"] == ours["value"] else "other values"
    return compare_tensors(peer, ours)


def compare_items(peer, ours):
    if len(peer) != len(ours):
        return "other shape"
    worst = "same"
    for a, b in zip(peer, ours):
        if isinstance(a, list):
            if a[0] != b[0]:
                return "other values"
            a, b = a[1], b[1]
        kind = compare_values(a, b)
        if kind not in SAME:
            return kind
        worst = kind if kind != "same" else worst
    return worst


def compare_tensors(peer, ours):
    if peer["class"] != ours["class"]:
        return "other kind"
    for key in ("dtype", "shape"):
        if peer[key] != ours[key]:
            return f"other {key}"
    values = compare_numbers(peer.get("values", []), ours.get("values", []), TOLERANCE.get(peer["dtype"], 0))
    if values not in SAME:
        return values
    if strides_that_matter(peer) != strides_that_matter(ours):
        return "other stride"
    if peer["requires_grad"] != ours["requires_grad"] or peer["grad_fn"] != ours["grad_fn"]:
        return "other grad_fn"
    if memory_that_matters(peer) != memory_that_matters(ours):
        return "other memory"
    return values


def strides_that_matter(answer):
    """The strides of dimensions with more than one element: the others reach nothing."""
    if 0 in answer["shape"] or not isinstance(answer["stride"], list):
        return None
    return [stride for stride, size in zip(answer["stride"], answer["shape"]) if size > 1]


def memory_that_matters(answer):
    """Whose memory a tensor has that has elements, as evaluate.py tells it."""
    return None if 0 in answer["shape"] else answer.get("memory")


def compare_numbers(peer, ours, tolerance):
    if peer == ours:
        return "same"
    if len(peer) != len(ours):
        return "other values"
    for a, b in zip(peer, ours):
        if a != b and not near(a, b, tolerance):
            return "other values"
    return "values within tolerance"


def near(a, b, tolerance):
    try:
        a, b = float(a), float(b)
    except ValueError:
        return False
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
