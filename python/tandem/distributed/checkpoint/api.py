"""The error of a checkpoint that some ranks could not write or read, and what the ranks tell each other of errors."""

import traceback

from tandem.distributed.groups import get_rank, get_world_size, is_initialized
from tandem.distributed.objects import all_gather_object

WRAPPED_EXCEPTION = tuple[BaseException, traceback.StackSummary]


class CheckpointException(BaseException):
    """Says of each rank that failed why. As in PyTorch it is no Exception."""

    def __init__(self, msg, failures):
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self):
        """Pairs of exception and stack by rank."""
        return self._failures

    def __str__(self):
        text = f"CheckpointException ranks:{self._failures.keys()}\n"
        for rank, (error, stack) in self._failures.items():
            text += f"Traceback (most recent call last): (RANK {rank})\n"
            if stack is not None:
                text += "".join(traceback.format_list(stack))
            text += "".join(traceback.format_exception_only(type(error), error))
        return text


class Ranks:
    """The ranks that work on a checkpoint: those of a group, or this process alone."""

    def __init__(self, process_group, no_dist):
        self.group = process_group
        self.alone = no_dist or not is_initialized()
        self.rank = 0 if self.alone else get_rank(process_group)
        self.size = 1 if self.alone else get_world_size(process_group)

    def gather(self, value):
        """Every rank's value, on every rank."""
        if self.size == 1:
            return [value]
        values = [None] * self.size
        all_gather_object(values, value, self.group)
        return values

    def together(self, step, what):
        """Every rank's result of step(); a CheckpointException on all of them where one fails."""
        result = failure = None
        try:
            result = step()
        except Exception as error:
            failure = (error, traceback.extract_tb(error.__traceback__))
        results = self.gather((result, None if failure is None else _sendable(failure, self.size)))
        failures = {rank: failed for rank, (_, failed) in enumerate(results) if failed is not None}
        if failures:
            if self.rank in failures:
                failures[self.rank] = failure
            raise CheckpointException(what, failures) from (failure and failure[0])
        return [result for result, _ in results]


def _sendable(failure, size):
    """The failure as other ranks can unpickle it: an error of a class that they know."""
    error, stack = failure
    stack = traceback.StackSummary.from_list([(frame.filename, frame.lineno, frame.name, frame.line) for frame in stack])  # without code objects
    if size == 1 or type(error).__module__ == "builtins":
        return error, stack
    return RuntimeError(f"{type(error).__name__}: {error}"), stack
