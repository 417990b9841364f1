"""Measurements side by side in tables: a table for each label, a row for each sub-label, a column for each description."""

import enum
import math

from tandem.utils.benchmark.utils import common

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD, _BOLD, _PLAIN = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m", "\033[1m", "\033[0m"


class Colorize(enum.Enum):
    """What colours of a table compare with: nothing, a column's best, a row's best."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _coloured(text, value, best):
    """The text of a cell, coloured by how its time compares with the best one."""
    if value <= best * 1.01 or value <= best + 100e-9:
        colour = _BEST + _BOLD
    elif value <= best * 1.1:
        colour = _GOOD + _BOLD
    elif value >= best * 5:
        colour = _VERY_BAD + _BOLD
    elif value >= best * 2:
        colour = _BAD
    else:
        return text
    return colour + text + _PLAIN * 2


class _Column:
    """How the times of one description are written: digits before and after the point, the same in all rows."""

    def __init__(self, description, measurements, scale, trim, warn):
        self.description, self._scale, self._trim = description, scale, trim
        before = [math.ceil(math.log10(m.median / scale)) for m in measurements]
        if trim:
            decimals = min(max(m.significant_figures - digits, 0) for digits, m in zip(before, measurements))
        else:
            decimals = 1
        self._warns = warn and any(m.has_warnings for m in measurements)
        self._length = max(before) + decimals + (1 if decimals else 0)
        self._decimals = decimals

    def text(self, measurement):
        """A cell; of spaces where there is no measurement."""
        if measurement is None:
            return " " * len(self._written(1.0, ""))
        value = measurement.median / self._scale
        if self._trim:
            value = common.trim_sigfig(value, measurement.significant_figures)
        spread = measurement.iqr / measurement.median
        return self._written(value, f" (! {spread * 100:.0f}%)" if spread > common.IQR_WARN else "")

    def _written(self, value, warning):
        return f"{value:>{self._length}.{self._decimals}f}{warning if self._warns else '':>{7 if self._warns else 0}}"


class _Table:
    """The table of the measurements that have one label."""

    def __init__(self, measurements, colorize, trim, warn):
        self._label, self._colorize = measurements[0].label or "", colorize
        self._unit, scale = common.select_unit(min(m.median for m in measurements))
        self._warns = warn and any(m.has_warnings for m in measurements)
        self._cells = {}
        for m in measurements:
            self._cells[self._row_of(m), m.description] = m
        rows = common.ordered_unique(self._row_of(m) for m in measurements)
        self._rows = sorted(rows, key=lambda row: (row[0], row[1]))
        self._columns = [
            _Column(description, [m for m in measurements if m.description == description], scale, trim, warn)
            for description in common.ordered_unique(m.description for m in measurements)
        ]

    @staticmethod
    def _row_of(measurement):
        return measurement.num_threads, measurement.env or "", measurement.as_row_name

    def _row_names(self):
        """What stands before each row: its environment, where there are several and it is not the one above, and its name."""
        environments = common.ordered_unique(env for _, env, _ in self._rows)
        shown = len(environments) > 1
        length = max(map(len, environments)) if shown else 0
        names, above = [], None
        for threads, env, name in self._rows:
            place = f"({env})" if shown and (threads, env) != above else ""
            names.append("  " + place.ljust(length + 4) + name)
            above = threads, env
        return names

    def _best(self, row, column):
        """The time that a cell is coloured by."""
        if self._colorize is Colorize.ROWWISE:
            times = [self._cells.get((row, other.description)) for other in self._columns]
        else:
            times = [self._cells.get((other, column.description)) for other in self._rows if other[0] == row[0]]
        return min(m.median for m in times if m is not None)

    def render(self):
        """The lines of the table, as one text."""
        names = self._row_names()
        lines = [["", *(column.description or "" for column in self._columns)]]
        lines += [[name, *(c.text(self._cells.get((row, c.description))) for c in self._columns)] for name, row in zip(names, self._rows)]
        widths = [max(map(len, texts)) for texts in zip(*lines)]
        rendered = []
        for row, (name, *texts) in zip([None, *self._rows], lines):
            cells = [text.center(width) for text, width in zip(texts, widths[1:])]
            if row is not None and self._colorize is not Colorize.NONE:
                for i, column in enumerate(self._columns):
                    if (row, column.description) in self._cells:
                        cells[i] = _coloured(cells[i], self._cells[row, column.description].median, self._best(row, column))
            rendered.append("  |  ".join([name.ljust(widths[0]), *cells]))
        width = len(rendered[0])
        title = f" {self._label} " if self._label else "  "
        out = [f"[{title.center(width - 2, '-')}]", rendered[0]]
        threads = None
        for row, line in zip(self._rows, rendered[1:]):
            if row[0] != threads:
                threads = row[0]
                out.append(f"{threads} threads: ".ljust(width, "-"))
            out.append(line)
        out += ["", f"Times are in {common.unit_to_english(self._unit)}s ({self._unit})."]
        if self._warns:
            out.append("(! XX%) Measurement has high variance, where XX is the IQR / median * 100.")
        return "\n".join(out) + "\n"


class Compare:
    """Measurements to be printed as tables. Those of the same code, words and number of threads are taken together."""

    def __init__(self, results):
        self._results = []
        self.extend_results(results)
        self._trim_significant_figures = self._highlight_warnings = False
        self._colorize = Colorize.NONE

    def __str__(self):
        by_label = {}
        for measurement in common.Measurement.merge(self._results):
            by_label.setdefault(measurement.label, []).append(measurement)
        settings = self._colorize, self._trim_significant_figures, self._highlight_warnings
        return "\n".join(_Table(measurements, *settings).render() for measurements in by_label.values())

    def extend_results(self, results):
        """Adds measurements."""
        for result in results:
            if not isinstance(result, common.Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Writes the digits that mean something only."""
        self._trim_significant_figures = True

    def colorize(self, rowwise=False):
        """Colours each time by the best one of its column, or of its row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        """Marks the times that vary much."""
        self._highlight_warnings = True

    def print(self):
        """Prints the tables."""
        print(str(self))
