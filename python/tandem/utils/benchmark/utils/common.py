"""What a measurement is of (TaskSpec), what was measured (Measurement), and how times are written."""

import contextlib
import dataclasses
import math
import statistics
import textwrap

from tandem import _C

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique", "set_torch_threads"]

MOST_SIGNIFICANT_FIGURES = 4
LEAST_CONFIDENCE_INTERVAL = 25e-9  # seconds; clocks are not better
IQR_WARN = 0.1  # of the median
IQR_GROSS_WARN = 0.25
_OF_MEASUREMENT = ("stmt", "setup", "global_setup", "label", "sub_label", "description", "num_threads")
_UNITS = {-3: ("ns", 1e-9), -2: ("us", 1e-6), -1: ("ms", 1e-3)}  # by thousands
_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


def _titled(title, text):
    """A title and a text on one line; a text of several lines below it, moved in."""
    return f"{title}:\n{textwrap.indent(text, '  ')}" if "\n" in text else f"{title}: {text}"


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What is measured: code, the words it is named by in tables, and the number of threads."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self):
        """The label, else the statement, and the sub-label."""
        title = self.label
        if title is None:
            title = _titled("stmt", self.stmt) if "\n" in self.stmt else self.stmt
        return title + (f": {self.sub_label}" if self.sub_label else "")

    def setup_str(self):
        """The setup for print; empty where it does nothing."""
        return "" if self.setup in ("", "pass") else _titled("setup", self.setup)

    def summarize(self):
        """Title, description and setup, for print."""
        parts = [self.title, self.description, self.setup_str()]
        return "\n".join(part + "\n" if "\n" in part else part for part in parts if part)


def _quantile(ordered, q):
    """The q-th part of sorted numbers, between the two nearest ones."""
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """The seconds that runs of a statement took: each of `raw_times` is of `number_per_run` runs together.

    What the TaskSpec says - stmt, label, num_threads and so on - can be asked of the measurement too."""

    number_per_run: int
    raw_times: list
    task_spec: TaskSpec
    metadata: dict | None = None

    def __post_init__(self):
        self._facts = None

    def __getattr__(self, name):
        if name in _OF_MEASUREMENT:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self):
        """Seconds of one run, in each measurement."""
        return [time / self.number_per_run for time in self.raw_times]

    def _figures(self):
        """Sorted times, median, mean and the quartiles; worked out once."""
        if self._facts is None and self.raw_times:
            times = sorted(self.times)
            self._facts = times, statistics.median(times), statistics.fmean(times), _quantile(times, 0.25), _quantile(times, 0.75)
        return self._facts or ([], -1.0, -1.0, -1.0, -1.0)

    @property
    def median(self):
        """The median of the times, in seconds."""
        return self._figures()[1]

    @property
    def mean(self):
        """The mean of the times, in seconds."""
        return self._figures()[2]

    @property
    def iqr(self):
        """From the first to the third quartile, in seconds."""
        _, _, _, low, high = self._figures()
        return high - low

    @property
    def significant_figures(self):
        """How many digits of the median mean something: of the 90 % confidence interval of what lies between the quartiles."""
        times, median, *_ = self._figures()
        middle = times[len(times) // 4 : math.ceil(3 * len(times) / 4)]
        interval = max(1.645 * statistics.pstdev(middle) / math.sqrt(len(middle)), LEAST_CONFIDENCE_INTERVAL)
        return min(max(math.floor(math.log10(median / interval)), 1), MOST_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self):
        """Whether the times differ so much that the median says little."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold=IQR_WARN):
        """Whether the range between the quartiles is less than this part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self):
        """See TaskSpec.title."""
        return self.task_spec.title

    @property
    def env(self):
        """What it was measured in, by the caller's word."""
        return self.task_spec.env

    @property
    def as_row_name(self):
        """What names its row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self):
        times, median, _, low, high = self._figures()
        count = len(times)
        unit, scale = select_unit(median)
        lines = [object.__repr__(self), self.task_spec.summarize(), f"  {'Median: ' if count > 1 else ''}{median / scale:.2f} {unit}"]
        if count >= 4:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to {high / scale:.2f})")
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}"
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        lines.append(f"  {count} measurement{'s' if count > 1 else ''}, {runs}, {threads}")
        if self.has_warnings:
            spread = self.iqr / median
            cause = "suggests significant environmental influence" if spread > IQR_GROSS_WARN else "could indicate system fluctuation"
            lines.append(f"  WARNING: Interquartile range is {spread * 100:.1f}% of the median measurement.\n           This {cause}.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements):
        """Measurements of the same TaskSpec as one, whose runs are of one statement each."""
        grouped = {}
        for measurement in measurements:
            grouped.setdefault(measurement.task_spec, []).extend(measurement.times)
        return [Measurement(1, times, task_spec) for task_spec, times in grouped.items()]


def select_unit(t):
    """The unit to write a time of t seconds in, as name and seconds."""
    return _UNITS.get(math.floor(math.log10(t)) // 3, ("s", 1))


def unit_to_english(u):
    """The word for a unit, such as microsecond for us."""
    return _ENGLISH[u]


def trim_sigfig(x, n):
    """x rounded to n significant digits."""
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements):
    """Each element once, in the order of its first place."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n):
    """A block in which operations on the CPU use n threads."""
    before = _C.get_num_threads()
    try:
        _C.set_num_threads(n)
        yield
    finally:
        _C.set_num_threads(before)
