"""Counts of floating-point operations by module and operation, as torch.utils.flop_counter.

with FlopCounterMode() as counter: model(x).sum().backward(); counter.get_total_flops()

Products of matrices, convolutions and attention count, two for a multiplication and its addition; what ran is counted, backward too. What
backward computes belongs to the module whose forward recorded it.
"""

import warnings
import weakref
from collections import defaultdict

from tandem import _C
from tandem.nn.hooks import register_module_forward_hook, register_module_forward_pre_hook

__all__ = ["FlopCounterMode"]

_MARK = "[flop_counter] "  # what the ranges of modules are called before their names
_SUFFIXES = ["", "K", "M", "B", "T"]
_PRODUCTS = {"addmm": "addmm", "baddbmm": "baddbmm", "addbmm": "bmm", "bmm": "bmm", "mm": "mm"}


def _attention(shapes, backward):
    """The operations of the products in attention: of query, key and value, and of the gradients."""
    query, key, value = shapes[:3]
    rows, depth, columns, width = query[-2], query[-1], key[-2], value[-1]
    count = 1
    for size in query[:-2]:
        count *= size
    products = (3 * depth + 2 * width) if backward else depth + width
    return 2 * count * rows * columns * products


def _counted(event, in_backward, on_gpu):
    """The operation's name as PyTorch's tables have it, and its count; None for what does not count."""
    name, shapes = event["name"], event["shapes"]
    if name.startswith("scaled_dot_product_attention"):
        backward = name.endswith("_backward")
        place = "" if on_gpu else "_for_cpu"
        if len(shapes) < 3 or (backward and len(shapes) < 4):
            return None
        text = f"_scaled_dot_product_flash_attention{place}{'_backward' if backward else ''}"
        return text, _attention(shapes[1:] if backward else shapes, backward)
    if not event["flops"]:
        return None
    if name.startswith("convolution"):
        return "convolution_backward" if in_backward else "convolution", event["flops"]
    if name in _PRODUCTS:
        return _PRODUCTS[name], event["flops"]
    if name == "linear":
        return "addmm" if len(shapes) > 2 else "mm", event["flops"]
    return ("mm" if len(shapes[1]) == 2 else "bmm", event["flops"]) if name == "matmul" else None


def _nearest(owners, number):
    """The modules of the step of forward that is closest to this one: steps are numbered as they are recorded, not all of them are known."""
    return owners[min(owners, key=lambda known: (abs(known - number), known))] if owners else ()


class FlopCounterMode:
    """Counts what runs in a block, and prints a table at its end unless `display` is False. `depth`: how far down modules are listed."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if custom_mapping:
            raise NotImplementedError("FlopCounterMode: custom_mapping; what counts are products of matrices, convolutions and attention")
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.depth = depth
        self.display = display
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self._profile = None
        self._names = weakref.WeakKeyDictionary()
        self._met = weakref.WeakSet()
        self._open = []  # the modules that are being called: a name and its range in the profile

    # --- The block
    def __enter__(self):
        self.flop_counts.clear()
        self._handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]
        self._start()
        return self

    def __exit__(self, *error):
        for handle in self._handles:
            handle.remove()
        self._collect()
        if self.display:
            print(self.get_table(self.depth))

    def _start(self):
        self._profile = _C.seeing.start_profile(0, 0, 0, 0, 0, True, False, True, None)
        self._open = [(name, _C.seeing.start_range(_MARK + name)) for name, _ in self._open]

    def _begin(self, module, args):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._met:
            self._met.add(module)
            for child_name, child in module.named_children():
                self._names[child] = f"{name}.{child_name}"
        self._open.append((name, _C.seeing.start_range(_MARK + name)))

    def _end(self, module, args, output):
        if self._open:
            self._open.pop()[1].end()

    def _collect(self):
        """Adds what was recorded by now to the counts."""
        if self._profile is None:
            return
        for _, opened in reversed(self._open):
            opened.end()
        self._profile.stop()
        events = self._profile.events()
        self._profile = None
        owners, backward, by_forward = [], [], {}
        for event in events:  # what holds another one stands before it
            parent = event["parent"]
            names = owners[parent] if parent >= 0 else ()
            if event["category"] == "range" and event["name"].startswith(_MARK):
                names = (*names, event["name"].removeprefix(_MARK))
            owners.append(names)
            backward.append(event["category"] == "backward" or (parent >= 0 and backward[parent]))
            if event["forward_id"] >= 0 and not backward[-1]:
                by_forward.setdefault(event["forward_id"], names)
        on_gpu = {event["launch"] for event in events}
        for event, names, in_backward in zip(events, owners, backward):
            counted = _counted(event, in_backward, event["id"] in on_gpu) if event["category"] == "operation" else None
            if counted is None:
                continue
            if in_backward:
                names = _nearest(by_forward, event["forward_id"]) if event["forward_id"] >= 0 else ()
            for name in dict.fromkeys(["Global", *names]):
                self.flop_counts[name][f"aten.{counted[0]}"] += counted[1]

    def _now(self):
        """The counts by now, also inside the block."""
        if self._profile is not None:
            self._collect()
            self._start()
        return self.flop_counts

    # --- The counts
    def get_total_flops(self):
        """The sum of all."""
        counts = self._now()
        return sum(counts["Global"].values()) if "Global" in counts else 0

    def get_flop_counts(self):
        """A dict for each module, by its name below the outermost one that was called; "Global" has all. Keys such as "aten.mm"."""
        return {name: dict(counts) for name, counts in self._now().items()}

    def get_table(self, depth=None):
        """The counts as a table."""
        depth = (999999 if self.depth is None else self.depth) if depth is None else depth
        total = self.get_total_flops()
        power = max(0, min(len(_SUFFIXES) - 1, (len(str(total)) - 2) // 3))

        def row(text, count):
            return [text, f"{count / 1000**power:.3f}{_SUFFIXES[power]}" if power else str(count), f"{count / total:.2%}" if total else "0%"]

        def rows(name, depth):
            counts = self.flop_counts[name]
            return [row(" " * depth + name, sum(counts.values())), *(row(f"{' ' * depth} - {op}", count) for op, count in counts.items())]

        names = [name for name in sorted(self.flop_counts) if name != "Global"]
        shown = [name for name in names if name.count(".") < depth]
        table = [one for name in shown for one in rows(name, name.count("."))]
        if "Global" in self.flop_counts and not any(sum(self.flop_counts[name].values()) >= total for name in shown):
            table = [*rows("Global", 0), *([" " + text, *rest] for text, *rest in table)]
        return _text(["Module", "FLOP", "% Total"], table or [["Global", "0", "0%"]])


def _text(head, rows):
    """A table: the first column from the left, the others to the right."""
    widths = [max(len(row[i]) + (2 if row is head else 0) for row in [head, *rows]) for i in range(3)]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]) for row in lines)
