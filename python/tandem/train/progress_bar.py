"""The line that a training run draws: epoch, bar, rate, time left, figures. Over itself on a terminal, a plain line an epoch elsewhere."""

import math
import os
import time
from dataclasses import dataclass

_SECONDS_BETWEEN_DRAWS = 0.1
_WIDEST_BAR, _NARROWEST_BAR = 30, 6


@dataclass
class Terminal:
    """What a stream can show."""

    interactive: bool = False  # a terminal that can draw over its line
    width: int = 80  # columns
    unicode: bool = False


def terminal_of(stream):
    """The terminal that a text stream leads to. One that calls itself "dumb" counts as none."""
    interactive = bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM", "dumb") != "dumb"
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (AttributeError, OSError, ValueError):
        width = 0
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
    return Terminal(interactive, width or 80, encoding == "utf8")


def clock_text(seconds):
    """83 -> "1:23", 3723 -> "1:02:03". Rounded up to whole seconds."""
    whole = math.ceil(min(max(seconds, 0.0), 1e9))
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}"


def seconds_text(seconds):
    """0.123 -> "0.12 s", 12.34 -> "12.3 s"."""
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"


def rate_text(rate):
    """1234.5 -> "1,234"; below 100 with one decimal."""
    return f"{rate:.1f}" if rate < 99.95 else f"{rate:,.0f}"


def number_text(value):
    """A figure with four decimals."""
    text = f"{float(value):.4f}"
    return "0.0000" if text == "-0.0000" else text


def figures_text(figures, between):
    """{"loss": 0.5} -> "loss 0.5000"."""
    return between.join(f"{name} {number_text(value)}" for name, value in figures.items())


def _bar_text(share, width, unicode):
    halves = round(min(max(share, 0.0), 1.0) * 2 * width)
    full, half, rest = ("━", "╸", "·") if unicode else ("=", ">", ".")
    return (full * (halves // 2) + half * (halves % 2)).ljust(width, rest)


class ProgressBar:
    """Draws into `out`, at most ten times a second. `now` is the clock; tests bring their own."""

    def __init__(self, out, terminal=None, now=time.monotonic):
        self._out, self._now = out, now
        self._terminal = terminal_of(out) if terminal is None else terminal
        self._epochs = self._run_began = None
        self._line_open = False
        self._drawn = -math.inf

    def begin_epoch(self, epoch, epochs, batches, done=0):
        """Epoch `epoch` of `epochs`, counted from 1, of `batches` batches, `done` of which are done. None: it is not known how many."""
        self._epoch_began = self._now()
        if self._run_began is None:
            self._run_began, self._first_epoch = self._epoch_began, epoch
        self._epoch, self._epochs, self._batches = epoch, epochs, batches
        self._first_batch = self._batch = done
        self._samples = 0
        self._trained = None

    def advance(self, samples):
        """A batch of so many samples has been trained on."""
        self._batch += 1
        self._samples += samples

    def end_training(self):
        """All batches of the epoch are done: what comes until its end, validation, is no part of the rate."""
        self._trained = self._now() - self._epoch_began

    def due(self):
        """Whether it is time to draw: only then figures need to be found out."""
        return self._terminal.interactive and self._now() - self._drawn >= _SECONDS_BETWEEN_DRAWS

    def draw(self, figures):
        """Draws the line where there is a terminal."""
        if self._terminal.interactive:
            self._put_line(self._time_left(), figures)

    def end_epoch(self, figures):
        """The epoch's last line, which stays."""
        seconds = self._now() - self._epoch_began
        if self._terminal.interactive:
            self._put_line(seconds_text(seconds), figures)
            self._write("\n")
            self._line_open = False
            return
        parts = [figures_text(figures, ", "), self._rate(), seconds_text(seconds)]
        self._write(f"epoch {self._count()}: {', '.join(part for part in parts if part)}\n")

    def say(self, text):
        """A line of its own."""
        self.close()
        self._write(text + "\n")

    def close(self):
        """Leaves a half-drawn line standing and goes to the next one."""
        if self._line_open:
            self._write("\n")
        self._line_open = False

    def _write(self, text):
        self._out.write(text)
        self._out.flush()

    def _count(self):
        return str(self._epoch) if self._epochs is None else f"{self._epoch}/{self._epochs}"

    def _rate(self):
        seconds = self._now() - self._epoch_began if self._trained is None else self._trained
        trained = self._batch - self._first_batch
        if trained == 0 or seconds <= 0:
            return ""
        return f"{rate_text(trained / seconds)} batches/s ({rate_text(self._samples / seconds)} samples/s)"

    def _share(self):
        return self._batch / self._batches if self._batches else 1.0

    def _time_left(self):
        if self._epochs is None or self._batches is None:
            return ""
        done = self._epoch - self._first_epoch + self._share()
        left = self._epochs - self._epoch + 1 - self._share()
        return f"ETA {clock_text((self._now() - self._run_began) * left / done)}" if done > 0 else ""

    def _put_line(self, time_text, figures):
        # What the width has no room for is left out: the rate, the time, the bar, then figures from the first on.
        width = self._terminal.width - 1
        epoch, speed, names = f"Epoch {self._count()}", self._rate(), list(figures)
        most_left_out = 3 + len(names)
        for left_out in range(most_left_out + 1):
            shown = figures_text({name: figures[name] for name in names[max(0, left_out - 3) :]}, "  ")
            tail = f"  {speed}" if left_out < 1 and speed else ""
            tail += f"  {time_text}" if left_out < 2 and time_text else ""
            tail += f"  {shown}" if shown else ""
            with_bar = left_out < 3 and self._batches is not None
            room = width - len(epoch) - len(tail) - 1  # for the bar and the space before it
            fits = room >= (_NARROWEST_BAR if with_bar else -1)
            if not fits and left_out < most_left_out:
                continue
            bar = f" {_bar_text(self._share(), min(room, _WIDEST_BAR), self._terminal.unicode)}" if with_bar and fits else ""
            # Over the old line, then whatever of it is left is wiped out.
            self._write(f"\r{epoch}{bar}{tail}\x1b[K")
            break
        self._line_open = True
        self._drawn = self._now()
