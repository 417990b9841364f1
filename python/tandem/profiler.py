"""The profiler, by PyTorch's names: where the time of the host and of the GPUs goes."""

import enum
import functools

from . import _C

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What is looked at. tandem looks at host and GPUs always."""

    CPU = 0
    CUDA = 1
    XPU = 2


class DeviceType(enum.Enum):
    """Whose time an event is of."""

    CPU = 0
    CUDA = 1


def kineto_available():
    """True: traces of GPUs can be had. tandem takes them itself."""
    return True


def supported_activities():
    """What can be looked at here: the CPU, and GPUs where there are any."""
    return {ProfilerActivity.CPU} | ({ProfilerActivity.CUDA} if _C.cuda.device_count() else set())


class ProfilerAction(enum.Enum):
    """What the profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class schedule:
    """wait, warmup and active steps in turn, `repeat` times (0: always), after skip_first."""

    def __init__(self, *, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
        if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
            raise AssertionError("Invalid profiler schedule arguments")
        self.parts = (wait, warmup, active, repeat, skip_first)

    def __call__(self, step):
        wait, warmup, active, repeat, skip = self.parts
        if step < skip:
            return ProfilerAction.NONE
        step -= skip
        cycle = wait + warmup + active
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD


class Event:
    """What took place: name, category, device, start and duration in seconds, file, line."""

    def __init__(self, facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return f"<Event {self.name} {self.duration * 1e6:.1f}us {self.file}:{self.line}>"


class KeyAverages(list):
    """Events summed up by name; times in microseconds."""

    def __init__(self, profile, by_shape):
        super().__init__(Event(row | {"duration": 0, "name": row["key"], "file": "", "line": 0}) for row in profile.averages(by_shape))
        self._profile, self._by_shape = profile, by_shape

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80, header=None, top_level_events_only=False,
              time_unit=None):
        """A table as PyTorch prints it."""
        return self._profile.table(sort_by or "self_cpu_time_total", row_limit, self._by_shape)

    def total_average(self):
        """One event with the sums of all: its key is 'Total'."""
        total = {}
        for event in self:
            for name, value in vars(event).items():
                if isinstance(value, (int, float)) and not isinstance(value, bool) and name not in ("line", "duration"):
                    total[name] = total.get(name, 0) + value
        return Event(total | {"key": "Total", "name": "Total", "duration": 0, "file": "", "line": 0})

    def __str__(self):
        return self.table()

    def _repr_html_(self):
        from tandem._html import preformatted
        return preformatted(self.table())


class profile:
    """with profile() as prof: records what runs; prof.key_averages().table(), prof.export_chrome_trace(path)."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None, enabled=True, custom_trace_id_callback=None):
        if schedule is not None and not hasattr(schedule, "parts"):
            raise NotImplementedError("profile: schedule takes what tandem.profiler.schedule() gives")
        self._parts = schedule.parts if schedule is not None else (0, 0, 0, 0, 0)
        self._options = (bool(record_shapes), bool(profile_memory), bool(with_flops))
        self.on_trace_ready = on_trace_ready
        self._profile = None
        self.step_num = 0

    def start(self):
        """Begins to record."""
        ready = (lambda: self.on_trace_ready(self)) if self.on_trace_ready is not None else None
        self._profile = _C.seeing.start_profile(*self._parts, *self._options, ready)

    def stop(self):
        """Ends it. What was recorded is kept."""
        if self._profile is not None:
            self._profile.stop()

    def step(self):
        """A step of the program has ended."""
        self.step_num += 1
        self._profile.step()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def _recorded(self):
        if self._profile is None:
            raise AssertionError("Profiler must be initialized before this: call start(), or use it as a block")
        return self._profile

    def events(self):
        """All events by their start."""
        return [Event(facts) for facts in self._recorded().events()]

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """The events summed up by name."""
        return KeyAverages(self._recorded(), bool(group_by_input_shape))

    def _repr_html_(self):
        return self.key_averages()._repr_html_() if self._profile is not None else None

    def export_chrome_trace(self, path):
        """Writes a file for ui.perfetto.dev or chrome://tracing."""
        self._recorded().export_chrome_trace(str(path))

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes what flame graph tools read."""
        self._recorded().export_stacks(str(path), metric)

    def export_flame_graph(self, path):
        """Writes a page of HTML with flame graphs of the host's and the GPUs' time."""
        self._recorded().export_flame_graph(str(path))


class record_function:
    """with record_function('name'): a range in profiles. Also a decorator."""

    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        self._range = _C.seeing.start_range(self.name)
        return self

    def __exit__(self, *error):
        self._range.end()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)
        return wrapped


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """For on_trace_ready: writes each trace into a folder."""
    import os
    import socket
    import time

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))
    return handler
