"""How far the host may run ahead of a GPU, batch by batch."""

import collections
import time

import tandem

_AHEAD = 8
_SECONDS_AHEAD = 0.25


class Pace:
    """Keeps the host at most 8 batches ahead of a GPU, and no more of slow ones than take a quarter of a second together (but one).

    On the CPU a batch is done when it is queued."""

    def __init__(self, device):
        self._device = device
        self._queued = collections.deque()
        self._ahead = 1
        self._last_done = None

    def batch_queued(self):
        """All work of a batch has been queued: waits for older ones where there are too many."""
        if self._device.type != "cuda":
            return
        event = tandem.cuda.Event()
        event.record(tandem.cuda.current_stream(self._device))
        self._queued.append(event)
        with tandem.ledger.allow("the pace of batches"):
            while len(self._queued) > self._ahead:
                self._wait_for_one()

    def _wait_for_one(self):
        self._queued.popleft().synchronize()
        now = time.monotonic()
        if self._last_done is not None:
            self._ahead = min(max(int(_SECONDS_AHEAD / max(now - self._last_done, 1e-6)), 1), _AHEAD)
        self._last_done = now
