"""Datasets, samplers, batches and loaders: what they give, with and without workers, and how workers fail and end."""
import collections
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import unittest
import warnings

import tandem
from tandem.utils import data
from tandem.utils.data import DataLoader

def setUpModule():
    warnings.filterwarnings("ignore", "This DataLoader will create")  # more workers than CPUs
    warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # Python 3.12 and newer


Pair = collections.namedtuple("Pair", "x y")


def generator(seed):
    made = tandem.Generator()
    made.manual_seed(seed)
    return made


def values(loader):
    return [batch.tolist() for batch in loader]


class Squares(data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return index * index


class Counting(data.IterableDataset):
    """0 to count - 1, divided among workers."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = data.get_worker_info()
        return iter(range(self.count)) if info is None else iter(range(info.id, self.count, info.num_workers))


class FailsAt(Squares):
    def __init__(self, count, index, failure):
        super().__init__(count)
        self.index, self.failure = index, failure

    def __getitem__(self, index):
        if index == self.index:
            self.failure()
        return index


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def raise_key_error():
    raise KeyError("lost")


def raise_two_arguments():
    raise TwoArguments(1, 2)


def exit_three():
    os._exit(3)


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_long():
    time.sleep(60)


def fail_in_init(worker_id):
    raise ValueError(f"worker {worker_id}")


class Seeds(data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        info = data.get_worker_info()
        return info.id, info.num_workers, info.seed, random.random(), tandem.rand(1).item()


class Datasets(unittest.TestCase):
    def test_tensors(self):
        dataset = data.TensorDataset(tandem.arange(6).reshape(3, 2), tandem.tensor([7, 8, 9]))
        self.assertEqual(len(dataset), 3)
        row, label = dataset[1]
        self.assertEqual((row.tolist(), label.item()), ([2, 3], 8))
        with self.assertRaisesRegex(AssertionError, "Size mismatch between tensors"):
            data.TensorDataset(tandem.ones(2), tandem.ones(3))

    def test_combined(self):
        both = Squares(3) + Squares(2)
        self.assertEqual([both[index] for index in range(len(both))], [0, 1, 4, 0, 1])
        self.assertEqual((both[-1], both.cumulative_sizes), (1, [3, 5]))
        with self.assertRaisesRegex(ValueError, "absolute value of index should not exceed dataset length"):
            both[-6]
        self.assertEqual(list(Counting(2) + Counting(3)), [0, 1, 0, 1, 2])
        stacked = data.StackDataset(a=Squares(3), b=range(3))
        self.assertEqual(stacked[2], {"a": 4, "b": 2})
        self.assertEqual(data.StackDataset(Squares(3), range(3)).__getitems__([1, 2]), [(1, 1), (4, 2)])
        subset = data.Subset(Squares(5), [4, 2])
        self.assertEqual((list(subset), len(subset), subset.__getitems__([1])), ([16, 4], 2, [4]))

    def test_random_split(self):
        parts = data.random_split(range(10), [0.3, 0.3, 0.4], generator=generator(1))
        self.assertEqual([len(part) for part in parts], [3, 3, 4])
        self.assertEqual(sorted(index for part in parts for index in part.indices), list(range(10)))
        again = data.random_split(range(10), [3, 3, 4], generator=generator(1))
        self.assertEqual([part.indices for part in again], [part.indices for part in parts])
        self.assertEqual([len(part) for part in data.random_split(range(5), [0.5, 0.5])], [3, 2])
        with self.assertRaisesRegex(ValueError, "Sum of input lengths does not equal the length of the input dataset!"):
            data.random_split(range(3), [1, 1])


class Samplers(unittest.TestCase):
    def test_random(self):
        tandem.manual_seed(0)
        order = list(data.RandomSampler(range(5)))
        self.assertEqual(sorted(order), list(range(5)))
        # The seed is drawn of the default generator, as one number, and the order of one with that seed.
        tandem.manual_seed(0)
        seed = int(tandem.empty((), dtype=tandem.int64).random_().item())
        self.assertEqual(order, tandem.randperm(5, generator=generator(seed)).tolist())
        self.assertEqual(list(data.RandomSampler(range(9), generator=generator(3))), tandem.randperm(9, generator=generator(3)).tolist())
        more = list(data.RandomSampler(range(3), num_samples=7))
        self.assertEqual((len(more), sorted(more[:3]), sorted(more[3:6])), (7, [0, 1, 2], [0, 1, 2]))
        drawn = list(data.RandomSampler(range(3), replacement=True, num_samples=40))
        self.assertEqual((len(drawn), set(drawn)), (40, {0, 1, 2}))

    def test_weighted_and_subset(self):
        self.assertEqual(list(data.WeightedRandomSampler([0.0, 1.0, 0.0], 4)), [1, 1, 1, 1])
        self.assertEqual(sorted(data.WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)), [0, 1, 2])
        self.assertEqual(sorted(data.SubsetRandomSampler([5, 6, 9])), [5, 6, 9])

    def test_batches(self):
        self.assertEqual(list(data.BatchSampler(range(5), 2, False)), [[0, 1], [2, 3], [4]])
        self.assertEqual(list(data.BatchSampler(range(5), 2, True)), [[0, 1], [2, 3]])
        self.assertEqual([len(data.BatchSampler(range(5), 2, drop)) for drop in (False, True)], [3, 2])

    def test_distributed(self):
        ranks = [list(data.DistributedSampler(range(10), 4, rank, shuffle=False)) for rank in range(4)]
        self.assertEqual(ranks, [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]])
        ranks = [list(data.DistributedSampler(range(10), 4, rank, shuffle=False, drop_last=True)) for rank in range(4)]
        self.assertEqual(ranks, [[0, 4], [1, 5], [2, 6], [3, 7]])
        samplers = [data.DistributedSampler(range(10), 2, rank, seed=3) for rank in range(2)]
        first = [index for sampler in samplers for index in sampler]
        self.assertEqual(sorted(first), list(range(10)))
        for sampler in samplers:
            sampler.set_epoch(1)
        order = tandem.randperm(10, generator=generator(4)).tolist()
        self.assertEqual(list(samplers[1]), order[1::2])
        self.assertEqual(list(data.DistributedSampler(range(1), 4, 3)), [0])

    def test_refusals(self):
        cases = [
            (lambda: data.RandomSampler([]), ValueError, "num_samples should be a positive integer value, but got num_samples=0"),
            (lambda: data.RandomSampler([1], replacement=1), TypeError, "replacement should be a boolean value, but got replacement=1"),
            (lambda: data.BatchSampler([1], 0, False), ValueError, "batch_size should be a positive integer value, but got batch_size=0"),
            (lambda: data.WeightedRandomSampler([[1]], 1), ValueError, "weights should be a 1d sequence but given weights have shape"),
            (lambda: data.DistributedSampler([1], 3, 3), ValueError, "Invalid rank 3, rank should be in the interval [0, 2]"),
        ]
        for make, kind, text in cases:
            with self.assertRaises(kind) as caught:
                make()
            self.assertIn(text, str(caught.exception))


class Batches(unittest.TestCase):
    def test_collate(self):
        collate = data.default_collate
        self.assertEqual(collate([tandem.ones(2), tandem.zeros(2)]).tolist(), [[1.0, 1.0], [0.0, 0.0]])
        self.assertEqual(collate([1.5, 2.5]).dtype, tandem.float64)
        self.assertEqual(collate([1, 2]).dtype, tandem.int64)
        self.assertEqual(collate([True, False]).dtype, tandem.bool)
        self.assertEqual(collate(["a", "b"]), ["a", "b"])
        fields = collate([(1, "a", [2.0]), (3, "b", [4.0])])
        self.assertEqual(type(fields), list)
        self.assertEqual((fields[0].tolist(), fields[1], fields[2][0].tolist()), ([1, 3], ("a", "b"), [2.0, 4.0]))
        named = collate([Pair(1, 2), Pair(3, 4)])
        self.assertEqual((type(named), named.y.tolist()), (Pair, [2, 4]))
        nested = collate([{"a": {"b": 1}}, {"a": {"b": 2}}])
        self.assertEqual(nested["a"]["b"].tolist(), [1, 2])
        self.assertEqual(type(collate([collections.OrderedDict(a=1)])), collections.OrderedDict)

    def test_collate_refuses(self):
        with self.assertRaisesRegex(TypeError, "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found"):
            data.default_collate([object()])
        with self.assertRaisesRegex(RuntimeError, "each element in list of batch should be of equal size"):
            data.default_collate([[1], [1, 2]])
        with self.assertRaisesRegex(RuntimeError, "stack expects each tensor to be equal size"):
            data.default_collate([tandem.ones(2), tandem.ones(3)])
        with self.assertRaises(KeyError):
            data.default_collate([{"a": 1}, {"b": 1}])

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy")
        batch = data.default_collate([(numpy.ones(2), numpy.float32(3)), (numpy.zeros(2), numpy.float32(4))])
        self.assertEqual((batch[0].tolist(), batch[0].dtype), ([[1.0, 1.0], [0.0, 0.0]], tandem.float64))
        self.assertEqual((batch[1].tolist(), batch[1].dtype), ([3.0, 4.0], tandem.float32))
        converted = data.default_convert({"x": numpy.array([1, 2]), "text": "a", "pair": (numpy.float32(2), 3)})
        self.assertEqual((converted["x"].tolist(), converted["text"], converted["pair"][0].item()), ([1, 2], "a", 2.0))
        with self.assertRaises(TypeError):
            data.default_collate([numpy.array(["a"])])


class Loaders(unittest.TestCase):
    def test_orders(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                self.assertEqual(values(DataLoader(Squares(5), 2, num_workers=workers)), [[0, 1], [4, 9], [16]])
                self.assertEqual(values(DataLoader(Squares(5), 2, drop_last=True, num_workers=workers)), [[0, 1], [4, 9]])
                self.assertEqual(list(DataLoader(Squares(3), None, num_workers=workers)), [0, 1, 4])
                self.assertEqual(values(DataLoader(Squares(5), 2, sampler=[4, 0, 1], num_workers=workers)), [[16, 0], [1]])
                self.assertEqual(values(DataLoader(Squares(5), batch_sampler=[[3], [1, 2]], num_workers=workers)), [[9], [1, 4]])
                self.assertEqual(len(DataLoader(Squares(5), 2)), 3)

    def test_shuffles_are_the_same_with_and_without_workers(self):
        orders = []
        for options in ({}, {"num_workers": 2}, {"num_workers": 3, "prefetch_factor": 1}):
            tandem.manual_seed(7)
            loader = DataLoader(data.TensorDataset(tandem.arange(20)), 3, shuffle=True, **options)
            orders.append([[batch[0].tolist() for batch in loader] for _ in range(2)])
        self.assertEqual(orders[0], orders[1])
        self.assertEqual(orders[0], orders[2])
        self.assertNotEqual(orders[0][0], orders[0][1])
        # The loader draws a seed for its workers, then the sampler its own.
        tandem.manual_seed(7)
        tandem.empty((), dtype=tandem.int64).random_()
        seed = int(tandem.empty((), dtype=tandem.int64).random_().item())
        self.assertEqual(sum(orders[0][0], []), tandem.randperm(20, generator=generator(seed)).tolist())

    def test_a_generator_is_used(self):
        orders = [values(DataLoader(Squares(9), 4, shuffle=True, generator=generator(5))) for _ in range(2)]
        self.assertEqual(orders[0], orders[1])

    def test_tensors_are_gathered_as_samples_are_collated(self):
        dataset = data.TensorDataset(tandem.randn(7, 2, 3), tandem.arange(7))
        for source in (dataset, data.Subset(dataset, [6, 0, 3, 1])):
            fast = list(DataLoader(source, 3))
            slow = list(DataLoader(source, 3, collate_fn=lambda batch: data.default_collate(batch)))
            for one, other in zip(fast, slow):
                self.assertEqual(type(one), type(other))
                self.assertEqual([part.tolist() for part in one], [part.tolist() for part in other])

    def test_iterable(self):
        for workers in (0, 1, 3):
            loader = DataLoader(Counting(10), 3, num_workers=workers)
            for _ in range(2):
                batches = values(loader)
                self.assertEqual(sorted(sum(batches, [])), list(range(10)))
        self.assertEqual(values(DataLoader(Counting(5), 2, drop_last=True)), [[0, 1], [2, 3]])
        self.assertEqual(values(DataLoader(Counting(8), 2, num_workers=2)), [[0, 2], [1, 3], [4, 6], [5, 7]])
        self.assertEqual(list(DataLoader(Counting(3), None)), [0, 1, 2])

    def test_persistent_workers(self):
        loader = DataLoader(Squares(6), 2, num_workers=2, persistent_workers=True)
        expected = [[0, 1], [4, 9], [16, 25]]
        self.assertEqual(values(loader), expected)
        pids = {process.pid for process in multiprocessing.active_children()}
        next(iter(loader))  # an epoch that is broken off
        self.assertEqual(values(loader), expected)
        self.assertEqual({process.pid for process in multiprocessing.active_children()}, pids)
        loader = DataLoader(Counting(5), 2, num_workers=2, persistent_workers=True)
        self.assertEqual(values(loader), values(loader))

    def test_in_any_order(self):
        loader = DataLoader(Squares(9), 2, num_workers=3, in_order=False)
        self.assertEqual(sorted(sum(values(loader), [])), [index * index for index in range(9)])

    def test_seeds(self):
        loader = DataLoader(Seeds(), None, num_workers=2, generator=generator(3))
        base = tandem.empty((), dtype=tandem.int64).random_(generator=generator(3)).item()
        first, second = list(loader)
        for worker_id, (info_id, count, seed, drawn, of_tandem) in enumerate((first, second)):
            self.assertEqual((info_id, count, seed), (worker_id, 2, base + worker_id))
            self.assertEqual(drawn, random.Random(seed).random())
            self.assertEqual(of_tandem, tandem.rand(1, generator=generator(seed)).item())
        self.assertIsNone(data.get_worker_info())

    def test_other_start_methods(self):
        loader = DataLoader(Squares(4), 2, num_workers=1, multiprocessing_context="spawn")
        self.assertEqual(values(loader), [[0, 1], [4, 9]])

    def test_large_batches_come_through_pipes(self):
        dataset = data.TensorDataset(tandem.arange(8.0).reshape(8, 1) + tandem.zeros(100_000))
        total = [batch[0][:, 99_999].tolist() for batch in DataLoader(dataset, 2, num_workers=2)]
        self.assertEqual(total, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])

    def test_pinned_memory(self):
        batch = next(iter(DataLoader(data.TensorDataset(tandem.ones(2)), 2, pin_memory=tandem.cuda.is_available())))
        self.assertEqual(batch[0].is_pinned(), tandem.cuda.is_available())

    def test_refusals(self):
        small = range(3)
        cases = [
            (lambda: DataLoader(small, num_workers=-1), ValueError, "num_workers option should be non-negative"),
            (lambda: DataLoader(small, timeout=-1), ValueError, "timeout option should be non-negative"),
            (lambda: DataLoader(small, prefetch_factor=2), ValueError, "prefetch_factor option could only be specified in multiprocessing"),
            (lambda: DataLoader(small, persistent_workers=True), ValueError, "persistent_workers option needs num_workers > 0"),
            (lambda: DataLoader(small, sampler=small, shuffle=True), ValueError, "sampler option is mutually exclusive with shuffle"),
            (lambda: DataLoader(small, 2, batch_sampler=[[0]]), ValueError, "batch_sampler option is mutually exclusive with batch_size"),
            (lambda: DataLoader(small, None, drop_last=True), ValueError, "batch_size=None option disables auto-batching"),
            (lambda: DataLoader(small, multiprocessing_context="fork"), ValueError, "can only be used with multi-process loading"),
            (lambda: DataLoader(small, num_workers=1, multiprocessing_context="x"), ValueError, "should specify a valid start method"),
            (lambda: DataLoader(Counting(3), shuffle=True), ValueError, "expected unspecified shuffle option, but got shuffle=True"),
            (lambda: setattr(DataLoader(small), "batch_size", 2), ValueError, "batch_size attribute should not be set after DataLoader"),
            (lambda: len(DataLoader(Counting(3))), TypeError, "object of type 'Counting' has no len()"),
        ]
        for make, kind, text in cases:
            with self.subTest(text=text), self.assertRaises(kind) as caught:
                make()
            self.assertIn(text, str(caught.exception))


class Failures(unittest.TestCase):
    def check(self, loader, kind, text):
        with self.assertRaises(kind) as caught:
            list(loader)
        self.assertIn(text, str(caught.exception))
        return str(caught.exception)

    def tearDown(self):
        gc.collect()
        self.assertEqual(multiprocessing.active_children(), [])

    def test_errors_keep_their_class_and_traceback(self):
        loader = DataLoader(FailsAt(4, 2, raise_key_error), num_workers=1)
        text = self.check(loader, KeyError, "Caught KeyError in DataLoader worker process 0.\n")
        self.assertIn("Original Traceback (most recent call last):\n", text)
        self.assertIn("in raise_key_error\n", text)
        self.assertIn("KeyError: 'lost'", text)
        self.check(DataLoader(FailsAt(4, 0, raise_two_arguments), num_workers=1), RuntimeError, "Caught TwoArguments in DataLoader worker")
        self.check(DataLoader(Squares(4), num_workers=1, worker_init_fn=fail_in_init), ValueError, "ValueError: worker 0")

    def test_batches_before_an_error_come_first(self):
        loader = iter(DataLoader(FailsAt(4, 2, raise_key_error), num_workers=2))
        self.assertEqual([next(loader).item(), next(loader).item()], [0, 1])
        with self.assertRaises(KeyError):
            next(loader)
        self.assertEqual(next(loader).item(), 3)
        del loader

    def test_dead_workers(self):
        self.check(DataLoader(FailsAt(4, 1, exit_three), num_workers=2), RuntimeError, "exited unexpectedly with exit code 3")
        self.check(DataLoader(FailsAt(4, 1, kill), num_workers=2), RuntimeError, "is killed by signal: Killed")

    def test_timeout(self):
        loader = DataLoader(FailsAt(4, 0, sleep_long), num_workers=1, timeout=0.2)
        iterator = iter(loader)
        with self.assertRaisesRegex(RuntimeError, "DataLoader timed out after 0.2 seconds"):
            next(iterator)
        iterator._workers[0].process.kill()
        del iterator

    def test_an_iterator_that_is_forgotten_ends_its_workers(self):
        iterator = iter(DataLoader(Squares(100), num_workers=2))
        next(iterator)
        self.assertEqual(len(multiprocessing.active_children()), 2)
        del iterator

    def test_workers_end_with_their_loader(self):
        program = (
            "import os, time\n"
            "from tandem.utils.data import DataLoader\n"
            "loader = iter(DataLoader(range(100), num_workers=2))\n"
            "next(loader)\n"
            "print(*(worker.process.pid for worker in loader._workers), flush=True)\n"
            "{}\n"
        )
        for last, code in (("", 0), ("os._exit(7)", 7), ("time.sleep(60)", -signal.SIGINT)):
            with self.subTest(last=last):
                process = subprocess.Popen(
                    [sys.executable, "-c", program.format(last)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
                )
                pids = [int(pid) for pid in process.stdout.readline().split()]
                self.assertEqual(len(pids), 2)
                if "sleep" in last:
                    os.killpg(process.pid, signal.SIGINT)
                self.assertEqual(process.wait(30), code)
                process.stdout.close()
                deadline = time.monotonic() + 20
                while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertEqual([pid for pid in pids if os.path.exists(f"/proc/{pid}")], [])


if __name__ == "__main__":
    unittest.main()
