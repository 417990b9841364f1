"""The ledger: every copy and wait, with the line of the program that caused it."""

from . import _C
from ._C import ForbiddenError

__all__ = ["Entry", "ForbiddenError", "Guard", "Recorder", "allow", "forbid", "log_report", "waits"]


class Entry:
    """One copy or wait: kind, op, from_device, to_device, bytes, waited (seconds), file, line and more."""

    def __init__(self, facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return f"Entry(kind='{self.kind}', op='{self.op}', bytes={self.bytes}, line='{self.file}:{self.line}')"


class Recorder:
    """with Recorder() as recorder: records copies and waits of all threads. `entries` and `report()` tell; also after the block."""

    def __init__(self):
        self._recorder = _C.seeing.start_recorder()
        self._last = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def stop(self):
        """Records no more; what was recorded is kept."""
        if self._last is None:
            self._last = (self.entries, self.report())
            self._recorder.end()

    @property
    def entries(self):
        """The entries, in the order in which they ended."""
        return self._last[0] if self._last else [Entry(facts) for facts in self._recorder.entries()]

    def report(self):
        """The entries as a table."""
        return self._last[1] if self._last else self._recorder.report()

    def clear(self):
        """Forgets the entries."""
        if self._last is None:
            self._recorder.clear()

    def __repr__(self):
        return self.report()

    def _repr_html_(self):
        from tandem._html import preformatted
        return preformatted(repr(self))


class Guard:
    """with Guard('forbid'): a wait in this block is a ForbiddenError; 'log' writes it into the program's log, 'allow' lets it be."""

    def __init__(self, mode, reason=""):
        if mode not in ("allow", "log", "forbid"):
            raise ValueError(f"mode takes 'allow', 'log' or 'forbid', not {mode!r}")
        self.mode, self.reason = mode, reason

    def __enter__(self):
        self._guard = _C.seeing.start_guard(self.mode, self.reason)
        return self

    def __exit__(self, *error):
        self._guard.end()


def forbid(reason=""):
    """A block in which no wait happens."""
    return Guard("forbid", reason)


def allow(reason=""):
    """A block in which waits are right, within one that forbids them."""
    return Guard("allow", reason)


def log_report():
    """The waits of 'log' so far, as a table."""
    return _C.seeing.log_report()


def waits(work):
    """Calls work() and tells what it waited for, as a table."""
    with Recorder() as recorder:
        work()
    return recorder.report()
