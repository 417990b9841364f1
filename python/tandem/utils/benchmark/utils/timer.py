"""The timer: runs a statement as often as it takes to know how long one run is, and waits for GPUs before it reads the clock."""

import enum
import statistics
import textwrap
import timeit

from tandem import cuda
from tandem.utils.benchmark.utils import common

__all__ = ["Timer", "timer", "Language"]

_MOST_RUNS = 2_147_483_647


def timer():
    """Seconds of a clock that only differences mean something of, after all work of the GPU is done."""
    if cuda.is_available() and cuda.is_initialized():
        cuda.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


_LANGUAGES = {Language.PYTHON: Language.PYTHON, "py": Language.PYTHON, "python": Language.PYTHON}
_CPP = (Language.CPP, "cpp", "c++")


def _code(text):
    """Code as it was meant: not moved in, without an empty line before it and space after it."""
    return textwrap.dedent(text).lstrip("\n").rstrip()


class Timer:
    """Measures a statement of Python, in the names of `globals` and what `setup` makes; `torch` and `tandem` are there.

    Runs are of `num_threads` threads, and a few of them before the measured ones warm up. label, sub_label, description and env
    name the measurement in tables (see Compare)."""

    _timer_cls = timeit.Timer

    def __init__(
        self,
        stmt="pass",
        setup="pass",
        global_setup="",
        timer=timer,
        globals=None,
        label=None,
        sub_label=None,
        description=None,
        env=None,
        num_threads=1,
        language=Language.PYTHON,
    ):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in _CPP:
            raise NotImplementedError("Timer: statements of C++ are not compiled; `./dev bench` measures the C++ interface")
        if language not in _LANGUAGES:
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        import tandem

        self._language = _LANGUAGES[language]
        self._globals = {"torch": tandem, "tandem": tandem, **(globals or {})}
        stmt, setup = _code(stmt), _code(setup)
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = common.TaskSpec(
            stmt=stmt,
            setup=setup,
            global_setup="",
            label=label,
            sub_label=sub_label,
            description=description,
            env=env,
            num_threads=num_threads,
        )

    def _timeit(self, number):
        """Seconds of that many runs; never 0, which no division would survive."""
        return max(self._timer.timeit(number), 1e-9)

    def _measurement(self, number, times):
        return common.Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def timeit(self, number=1000000):
        """One measurement of that many runs."""
        with common.set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measurement(number, [self._timeit(number)])

    def repeat(self, repeat=-1, number=-1):
        """NotImplementedError: see blocked_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None):
        """NotImplementedError: see blocked_autorange."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _runs_per_block(self, min_run_time):
        """A power of 10: so many runs that the timer itself costs nothing beside them, or that they take min_run_time."""
        with common.set_torch_threads(self._task_spec.num_threads):
            overhead = statistics.median(self._timeit(0) for _ in range(5))
            number = 1
            while True:
                taken = self._timeit(number)
                if overhead / taken <= 1e-4 and taken >= min_run_time / 1000 or taken > min_run_time or number * 10 > _MOST_RUNS:
                    return number
                number *= 10

    def _blocks(self, number, is_enough, callback):
        """Measures blocks of `number` runs until is_enough(times of blocks, their sum)."""
        times, total = [], 0.0
        with common.set_torch_threads(self._task_spec.num_threads):
            while not is_enough(times, total):
                taken = self._timeit(number)
                times.append(taken)
                total += taken
                if callback is not None:
                    callback(number, taken)
        return self._measurement(number, times)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Measures blocks of runs for at least min_run_time seconds; callback(runs, seconds) hears of each."""
        return self._blocks(self._runs_per_block(min_run_time), lambda times, total: total >= min_run_time, callback)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Measures blocks of runs until the range between the quartiles is less than `threshold` of the median.

        It takes more than three blocks and min_run_time seconds for that, and ends after max_run_time seconds in any case."""
        number = self._runs_per_block(min_run_time=0.05)

        def is_enough(times, total):
            settled = len(times) > 3 and self._measurement(number, times).meets_confidence(threshold)
            return total >= min_run_time and settled or total > max_run_time

        return self._blocks(number, is_enough, callback)

    def collect_callgrind(self, number=100, *, repeats=None, collect_baseline=True, retain_out_file=False):
        """NotImplementedError: instructions are not counted."""
        raise NotImplementedError("collect_callgrind: tandem does not count instructions; run the program by `valgrind --tool=callgrind`")
