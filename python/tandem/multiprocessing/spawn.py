"""Starting several processes of one function, and waiting for all of them."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
import traceback
import warnings

from tandem import _C

_MOST_TEXT = 32 << 10  # of an error: what a pipe takes without a reader
_WAIT_AFTER_TERMINATE = 30.0
_INTERRUPT_SECONDS = 2.0


class ProcessException(Exception):
    """One of the processes failed: `error_index` is its number, `error_pid` its process."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = pid
        self.pid = pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """Its function raised an exception, whose traceback is in the text."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """It ended with an exit code other than 0, or by a signal."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _end_with_parent():
    """When the parent is gone this process is interrupted, and ended where that does not end it soon."""
    def watch(parent):
        parent.join()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_INTERRUPT_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, args=(multiprocessing.parent_process(),), daemon=True).start()


def _run(fn, index, args, errors, nprocs):
    """The body of a process; what it raises is sent to the parent."""
    _end_with_parent()
    if "TANDEM_NUM_THREADS" not in os.environ:
        _C.set_num_threads(max(1, _C.get_num_threads() // nprocs))
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has it too, and says so
    except Exception:
        errors.send_bytes(traceback.format_exc().encode()[-_MOST_TEXT:])
        sys.exit(1)


class ProcessContext:
    """The processes that start_processes has started."""

    def __init__(self, processes, error_files):
        self.processes = processes
        self._errors = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """Their process numbers."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until one of them ends, or for `timeout` seconds. Whether all have ended well.

        Where one has failed the others are ended, after `grace_period` seconds in which they may end by themselves, and the error is
        raised."""
        if not self.sentinels:
            return True
        for sentinel in multiprocessing.connection.wait(self.sentinels.keys(), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end_others(grace_period)
                self._raise_failure(index)
        return not self.sentinels

    def _end_others(self, grace_period):
        if grace_period is not None:
            self._wait_for_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._wait_for_all(_WAIT_AFTER_TERMINATE)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _wait_for_all(self, seconds):
        deadline = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))

    def _raise_failure(self, index):
        process = self.processes[index]
        if self._errors[index].poll():
            try:
                text = self._errors[index].recv_bytes().decode(errors="replace")
            except EOFError:
                text = ""
            if text:
                raise ProcessRaisedException(f"\n\n-- Process {index:d} terminated with the following error:\n{text}", index, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            raise ProcessExitedException(f"process {index:d} terminated with signal {name}", index, process.pid, code, name)
        raise ProcessExitedException(f"process {index:d} terminated with exit code {code:d}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """The same, by its older name."""


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in `nprocs` processes, i from 0. Waits for all with `join`, else gives a ProcessContext.

    The first failure ends all, and is raised as ProcessRaisedException or ProcessExitedException."""
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, index, args, writer, nprocs), daemon=daemon)
        process.start()
        writer.close()
        processes.append(process)
        errors.append(reader)
    made = SpawnContext(processes, errors)
    if not join:
        return made
    while not made.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in `nprocs` new processes, i from 0, as start_processes does."""
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:\n\t\t "
            "torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
