"""The checker of races: two streams that use one memory with nothing to order them."""

from . import _C

__all__ = ["Checker", "Race"]


class Race:
    """One race: text (all of it, for people), first and second (the operations), device, bytes, sizes, dtype, missing, count."""

    def __init__(self, facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        from html import escape
        uses = "".join(_use_as_row(use) for use in (self.first, self.second))
        times = f", seen {self.count} times" if self.count > 1 else ""
        head = f"<p><b>Race</b> on a tensor of {escape(str(self.dtype))} {list(self.sizes)} on {self.device}{times}</p>"
        columns = "".join(f'<th style="text-align:left">{name}</th>' for name in ("operation", "does", "on", "line"))
        return f"{head}<table><tr>{columns}</tr>{uses}</table><p>Missing: {escape(self.missing)}</p>"


def _use_as_row(use):
    """One of a race's two operations as a row of a table."""
    from html import escape
    does = "writes" if use["writes"] else "reads"
    cells = (use["name"], does, f"stream {use['stream']} of {use['device']}", f"{use['file']}:{use['line']}")
    return "<tr>" + "".join(f'<td style="text-align:left">{escape(str(cell))}</td>' for cell in cells) + "</tr>"


class Checker:
    """with Checker() as checker: looks for races of all threads. `reports` tells; also after the block."""

    def __init__(self):
        self._checker = _C.seeing.start_checker()
        self._last = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def stop(self):
        """Looks no more; what was found is kept."""
        if self._last is None:
            self._last = self.reports
            self._checker.end()

    @property
    def reports(self):
        """What was found: one report for each pair of lines."""
        return self._last if self._last is not None else [Race(facts) for facts in self._checker.reports()]

    def clear(self):
        """Forgets the reports."""
        if self._last is None:
            self._checker.clear()
        else:
            self._last = []

    def __repr__(self):
        return "\n".join(race.text for race in self.reports) or "no races"

    def _repr_html_(self):
        return "".join(race._repr_html_() for race in self.reports) or "<p>no races</p>"
