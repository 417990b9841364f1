"""The iterator of a DataLoader with workers: processes that fetch batches ahead. Indices and batches go through pipes, two a worker.

No lock is shared with a worker, so one that is killed at any moment stops nobody else.
"""
import os
import select
import signal
import weakref
from multiprocessing import connection
from multiprocessing.reduction import ForkingPickler

from tandem import multiprocessing
from tandem.utils.data.collate import pin_memory
from tandem.utils.data.single_process import _BaseDataLoaderIter
from tandem.utils.data.worker import EndOfDataset, NewEpoch, WorkerError, worker_loop

_JOIN_SECONDS = 5.0


class _Worker:
    """A worker process, and the loader's ends of its pipes."""

    def __init__(self, context, worker_id, stopped, seed, loader):
        indices, self.indices = context.Pipe(duplex=False)
        self.results, results = context.Pipe(duplex=False)
        self.process = context.Process(
            target=worker_loop,
            args=(
                os.getpid(), loader.dataset, indices, results, stopped, loader._auto_collation, loader.collate_fn, loader.drop_last, seed,
                loader.worker_init_fn, worker_id, loader.num_workers,
            ),
            daemon=True,
        )
        self.process.start()
        # Closed here, the pipe ends where the worker does.
        indices.close()
        results.close()
        self.outstanding = 0  # tasks without an answer
        self.active = True  # its part of an iterable dataset has not ended


def _stop(workers, stopped, owner):
    """Ends the workers: at once where they are idle, after the batch they are at for some seconds, and by force then."""
    if os.getpid() != owner:
        return
    stopped.value = 1
    for worker in workers:
        try:
            if select.select([], [worker.indices], [], 0)[1]:
                worker.indices.send(None)
            else:
                worker.process.terminate()
        except OSError:
            pass
    for worker in workers:
        worker.process.join(_JOIN_SECONDS)
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join()
        worker.indices.close()
        worker.results.close()
    workers.clear()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Keeps `prefetch_factor` tasks a worker under way, and gives their results in the order of the sampler, or as they come."""

    def __init__(self, loader):
        super().__init__(loader)
        self._timeout = loader.timeout or None
        self._in_order = loader.in_order
        self._persistent_workers = loader.persistent_workers
        self._prefetch_factor = loader.prefetch_factor
        context = loader.multiprocessing_context or multiprocessing.get_context()
        stopped = context.RawValue("b", 0)
        self._workers = []
        # Also where the iterator is forgotten in the middle, or the program ends.
        self._shutdown_workers = weakref.finalize(self, _stop, self._workers, stopped, os.getpid())
        try:
            for worker_id in range(loader.num_workers):
                self._workers.append(_Worker(context, worker_id, stopped, self._base_seed, loader))
        except BaseException:
            self._shutdown_workers()
            raise
        self._start_epoch()

    def _start_epoch(self):
        self._sent = 0  # number of the next task
        self._given = 0  # number of the next result to give
        self._tasks = {}  # number -> worker
        self._ready = {}  # number -> result that came before its turn
        self._next_worker = 0
        for worker in self._workers:
            worker.active = True
        for _ in range(self._prefetch_factor * len(self._workers)):
            self._send_task()

    def _reset(self, loader):
        super()._reset(loader)
        for worker in self._workers:
            self._send(worker, NewEpoch())
        waiting = set(self._workers)
        while waiting:
            # Results of an epoch that was broken off come first.
            worker, _, result = self._receive()
            if isinstance(result, NewEpoch):
                worker.outstanding = 0
                waiting.discard(worker)
        self._start_epoch()

    def _send(self, worker, message):
        try:
            worker.indices.send(message)
        except OSError:
            self._fail_of_death(worker)

    def _choose_worker(self):
        """The next one in turn; where the order of results does not matter, the one that has least to do."""
        active = [worker for worker in self._workers if worker.active]
        if not active:
            return None
        if not self._in_order:
            return min(active, key=lambda worker: worker.outstanding)
        while True:
            worker = self._workers[self._next_worker % len(self._workers)]
            self._next_worker += 1
            if worker.active:
                return worker

    def _send_task(self):
        worker = self._choose_worker()
        if worker is None:
            return
        try:
            indices = next(self._sampler_iter)
        except StopIteration:
            return
        self._send(worker, (self._sent, indices))
        self._tasks[self._sent] = worker
        worker.outstanding += 1
        self._sent += 1

    def _receive(self):
        """The next message of any worker: the worker, the number of its task, and the result."""
        while True:
            sources = {worker.results: worker for worker in self._workers}
            try:
                ready = connection.wait([*sources, *(worker.process.sentinel for worker in self._workers)], self._timeout)
            except KeyboardInterrupt:
                self._shutdown_workers()
                raise
            if not ready:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            for one in ready:
                if one in sources:
                    worker = sources[one]
                    try:
                        message = worker.results.recv_bytes()
                    except (EOFError, OSError):
                        self._fail_of_death(worker)
                    return (worker, *ForkingPickler.loads(message))
            for worker in self._workers:
                if worker.process.sentinel in ready:
                    self._fail_of_death(worker)

    def _fail_of_death(self, worker):
        pid = worker.process.pid
        worker.process.join(_JOIN_SECONDS)
        code = worker.process.exitcode
        self._shutdown_workers()
        if code is not None and code < 0:
            raise RuntimeError(
                f"DataLoader worker (pid {pid}) is killed by signal: {signal.strsignal(-code)}. Where memory is short, use fewer workers"
            )
        raise RuntimeError(f"DataLoader worker (pid(s) {pid}) exited unexpectedly with exit code {code}")

    def _next_data(self):
        while True:
            # Tasks of a worker whose dataset has ended get no answer.
            while self._given < self._sent and self._given not in self._ready and not self._is_expected(self._given):
                self._tasks.pop(self._given, None)
                self._given += 1
            if self._given in self._ready:
                return self._give(self._given, self._ready.pop(self._given))
            if self._given >= self._sent:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            worker, number, result = self._receive()
            worker.outstanding -= 1
            if isinstance(result, EndOfDataset):
                worker.active = False
                self._send_task()
            elif number == self._given or not self._in_order:
                return self._give(number, result)
            else:
                self._ready[number] = result

    def _is_expected(self, number):
        worker = self._tasks.get(number)
        return worker is not None and worker.active

    def _give(self, number, result):
        del self._tasks[number]
        if number == self._given:
            self._given += 1
        self._send_task()
        if isinstance(result, WorkerError):
            result.reraise()
        return pin_memory(result) if self._pin_memory else result
