"""What runs in a worker process of a loader, and how its errors come back."""
import os
import queue
import random
import sys
import threading
import traceback
from multiprocessing.reduction import ForkingPickler

from tandem import _C
from tandem.utils.data.fetch import IterableFetcher, make_fetcher

_PARENT_CHECK_SECONDS = 5.0
_worker_info = None


class WorkerInfo:
    """What a dataset's copy in a worker may ask: `id`, `num_workers`, `seed` and `dataset`."""

    def __init__(self, **values):
        self.__dict__.update(values)
        self.__dict__["_names"] = tuple(values)

    def __setattr__(self, name, value):
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self._names)})"


def get_worker_info():
    """The WorkerInfo of this process; None outside of workers."""
    return _worker_info


class KeyErrorMessage(str):
    """A KeyError's text that is printed as it is, lines and all."""

    def __repr__(self):
        return str(self)


class WorkerError:
    """An exception that is raised again in the loader's process, as the same class and with its traceback as text."""

    def __init__(self, exception, where):
        self.kind = type(exception)
        self.text = "".join(traceback.format_exception(exception))
        self.where = where

    def reraise(self):
        text = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            text = KeyErrorMessage(text)
        try:
            exception = self.kind(text)
        except Exception:
            # Its class wants other arguments.
            raise RuntimeError(text) from None
        raise exception


class EndOfDataset:
    """A worker's iterable dataset has come to its end."""


class NewEpoch:
    """Asks a persistent worker to iterate over its dataset again, and answers that it does."""


class _Sender:
    """Writes results from a thread of its own, so that the next batch is computed while the last one waits to be read."""

    def __init__(self, connection):
        self._connection = connection
        self._messages = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def send(self, number, result, where):
        try:
            message = ForkingPickler.dumps((number, result))
        except Exception as error:
            message = ForkingPickler.dumps((number, WorkerError(error, where)))
        self._messages.put(message)

    def _run(self):
        try:
            while True:
                self._connection.send_bytes(self._messages.get())
        except OSError:
            # The loader reads no more.
            return


def _seed_everything(base_seed, worker_id):
    seed = base_seed + worker_id
    random.seed(seed)
    _C.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        numpy.random.seed(numpy.random.SeedSequence(entropy).generate_state(4))
    return seed


def _next_message(indices, parent):
    """What the loader sends next; None where it is gone."""
    try:
        while not indices.poll(_PARENT_CHECK_SECONDS):
            if os.getppid() != parent:
                return None
        return indices.recv()
    except (EOFError, OSError):
        return None


def worker_loop(
    parent, dataset, indices, results, stopped, auto_collation, collate_fn, drop_last, base_seed, init_fn, worker_id, num_workers
):
    """Answers each (number, indices) with (number, batch), until None comes, `stopped` is set or process `parent` is gone."""
    global _worker_info
    where = f"in DataLoader worker process {worker_id}"
    try:
        _C.set_num_threads(1)
        seed = _seed_everything(base_seed, worker_id)
        _worker_info = WorkerInfo(id=worker_id, num_workers=num_workers, seed=seed, dataset=dataset)
        sender = _Sender(results)
        fetcher = failed = None
        try:
            if init_fn is not None:
                init_fn(worker_id)
            fetcher = make_fetcher(dataset, auto_collation, collate_fn, drop_last)
        except Exception as error:
            failed = WorkerError(error, where)
        ended = False
        while (message := _next_message(indices, parent)) is not None:
            if isinstance(message, NewEpoch):
                ended = False
                sender.send(None, message, where)
                try:
                    fetcher = make_fetcher(dataset, auto_collation, collate_fn, drop_last)
                except Exception as error:
                    failed = WorkerError(error, where)
                continue
            number, batch_indices = message
            if stopped.value or ended:
                continue
            try:
                result = failed or fetcher.fetch(batch_indices)
            except StopIteration as error:
                ended = isinstance(fetcher, IterableFetcher)
                result = EndOfDataset() if ended else WorkerError(error, where)
            except Exception as error:
                result = WorkerError(error, where)
            sender.send(number, result, where)
            # The sender has what it needs; the batch is not kept while the next one is computed.
            del result
    except KeyboardInterrupt:
        # The loader's process gets it too, and says so.
        return
