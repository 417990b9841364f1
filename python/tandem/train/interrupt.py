"""Ctrl-C while a model trains: noted, so that the run can end after the batch under way and save itself."""

import os
import signal
import sys
import threading


class Interrupt:
    """While a `with` block of it runs, the first SIGINT or SIGTERM is noted; the second does what it did before.

    `answer` is written to standard error as soon as the signal comes. Signals come to the main thread: in another one nothing is noted."""

    def __init__(self, answer=""):
        self.requested = False
        self._answer, self._process = answer, os.getpid()
        self._before = {}

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread():
            return self
        # A program that ignores a signal, or has an answer of its own to SIGTERM, keeps it.
        if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
            self._listen(signal.SIGINT)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._listen(signal.SIGTERM)
        return self

    def __exit__(self, *error):
        for number in list(self._before):
            self._leave(number)

    def _listen(self, number):
        self._before[number] = signal.signal(number, self._note)

    def _leave(self, number):
        signal.signal(number, self._before.pop(number))

    def _note(self, number, frame):
        self.requested = True
        self._leave(number)
        if self._answer and os.getpid() == self._process:  # a loader's workers, which are forked from it, are silent
            sys.stderr.write(self._answer)
            sys.stderr.flush()
