"""tandem.multiprocessing: tensors, parameters and modules in several processes, by each way to start them."""

import gc
import os
import signal
import time
import unittest
import warnings
from multiprocessing.reduction import ForkingPickler

import tandem
import tandem.multiprocessing as mp
from tandem import nn

_GPUS = tandem.cuda.device_count()
_METHODS = ("fork", "spawn", "forkserver")


def setUpModule():
    warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # Python 3.12 and newer


class Marked(tandem.Tensor):
    """A subclass of the user's own."""


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 1)
        self.tied = self.linear.weight
        self.register_buffer("calls", tandem.zeros(1))

    def forward(self, x):
        return self.linear(x)


# --- What the processes do

def add_from_queue(queue, answers):
    for _ in range(3):
        tensor = queue.get()
        tensor.detach().add_(1)
        answers.put((type(tensor).__name__, tensor.requires_grad, tensor.is_leaf, tensor.is_shared(), tensor.is_contiguous()))
        del tensor


def set_own(index, shared, copied):
    shared[index] = index + 1
    copied.fill_(index)


def train(index, model, steps):
    # As PyTorch's example mnist_hogwild: each process has an optimizer and a loader of its own, and all one model, without locks.
    tandem.manual_seed(100 + index)
    optimizer = tandem.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        x = tandem.randn(16, 2)
        y = x @ tandem.tensor([[2.0], [-3.4]]) + 4.2
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    model.calls += 1


def send_and_stay(queue, done):
    queue.put(tandem.arange(4.0))
    done.wait(30)


def send_and_go(queue):
    queue.put(tandem.arange(4.0))


def send_and_sleep(queue):
    queue.put(tandem.arange(4.0))
    time.sleep(60)


def double_on_gpu(queue, answers):
    tensor = queue.get()
    tensor *= 2
    answers.put((str(tensor.device), tensor.sum().item()))


def use_gpu(answers):
    try:
        tandem.ones(1, device="cuda")
    except RuntimeError as error:
        answers.put(str(error))


def fail(index):
    if index == 1:
        raise ValueError("the number one")
    time.sleep(60)


def exit_by(index, how):
    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(5)


def double(tensor):
    return tensor * 2


# --- Tests

class Sending(unittest.TestCase):
    def test_the_same_memory(self):
        for method in _METHODS:
            with self.subTest(method):
                context = mp.get_context(method)
                queue, answers = context.Queue(), context.SimpleQueue()
                process = context.Process(target=add_from_queue, args=(queue, answers))
                process.start()
                plain = tandem.zeros(2, 3)
                parameter = nn.Parameter(tandem.ones(2))
                view = tandem.zeros(6).share_memory_()
                for tensor in (plain, parameter, view[::2]):
                    queue.put(tensor)
                self.assertEqual(answers.get(), ("Tensor", False, True, True, True))
                self.assertEqual(answers.get(), ("Parameter", True, True, True, True))
                self.assertEqual(answers.get(), ("Tensor", False, True, True, False))
                process.join()
                self.assertEqual(process.exitcode, 0)
                self.assertTrue(plain.is_shared())
                self.assertEqual(plain.sum().item(), 6)
                self.assertEqual(parameter.tolist(), [2, 2])
                self.assertEqual(view.tolist(), [1, 0, 1, 0, 1, 0])

    def test_from_a_child(self):
        context = mp.get_context("spawn")
        queue, done = context.Queue(), context.Event()
        process = context.Process(target=send_and_stay, args=(queue, done))
        process.start()
        self.assertEqual(queue.get(timeout=30).tolist(), [0, 1, 2, 3])
        done.set()
        process.join()

    def test_a_child_that_ends_waits_until_its_tensors_have_arrived(self):
        for method in _METHODS:
            for kind in ("Queue", "SimpleQueue"):
                with self.subTest(method=method, kind=kind):
                    context = mp.get_context(method)
                    queue = getattr(context, kind)()
                    process = context.Process(target=send_and_go, args=(queue,))
                    process.start()
                    process.join(0.5)
                    self.assertEqual(queue.get().tolist(), [0, 1, 2, 3])
                    process.join()
                    self.assertEqual(process.exitcode, 0)

    def test_a_sender_that_was_killed_is_told_of(self):
        context = mp.get_context("fork")
        queue = context.SimpleQueue()
        process = context.Process(target=send_and_sleep, args=(queue,))
        process.start()
        while queue.empty():
            time.sleep(0.01)
        process.kill()
        process.join()
        with self.assertRaisesRegex(RuntimeError, "the process that sent a tensor has ended"):
            queue.get()

    def test_pipes_carry_every_dtype(self):
        for dtype in (tandem.bool, tandem.uint8, tandem.int64, tandem.float16, tandem.bfloat16, tandem.float64):
            sent = tandem.arange(4).to(dtype)
            reader, writer = mp.Pipe()
            writer.send({"tensor": sent})
            got = reader.recv()["tensor"]
            self.assertEqual((got.dtype, got.tolist()), (dtype, sent.tolist()))

    def test_subclasses_and_attributes(self):
        marked = tandem.Tensor._make_subclass(Marked, tandem.ones(2), True)
        marked.note = "mine"
        got = ForkingPickler.loads(ForkingPickler.dumps(marked))
        self.assertEqual((type(got), got.requires_grad, got.note, got.tolist()), (Marked, True, "mine", [1, 1]))

    def test_no_elements_and_no_dimensions(self):
        self.assertEqual(tuple(ForkingPickler.loads(ForkingPickler.dumps(tandem.zeros(0, 3))).shape), (0, 3))
        self.assertEqual(ForkingPickler.loads(ForkingPickler.dumps(tandem.tensor(2.5))).item(), 2.5)

    def test_what_others_see_is_sent_as_a_copy(self):
        whole = tandem.arange(6.0)
        part = whole[2:4]
        got = ForkingPickler.loads(ForkingPickler.dumps(part))
        got.zero_()
        self.assertEqual(whole.tolist(), [0, 1, 2, 3, 4, 5])

    def test_results_with_a_history_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "Cowardly refusing to serialize non-leaf tensor which requires_grad"):
            ForkingPickler.dumps(tandem.ones(1, requires_grad=True) * 2)

    def test_descriptors_are_given_back(self):
        def count():
            gc.collect()
            return len(os.listdir("/proc/self/fd"))

        ForkingPickler.loads(ForkingPickler.dumps(tandem.zeros(3)))  # starts what hands descriptors over
        before = count()
        for _ in range(20):
            tensor = tandem.zeros(3)
            ForkingPickler.loads(ForkingPickler.dumps(tensor))
            del tensor
        self.assertLessEqual(count(), before + 2)

    def test_connections_to_processes_that_ended_are_closed(self):
        def count():
            gc.collect()
            return len(os.listdir("/proc/self/fd"))

        context = mp.get_context("fork")
        counts = []
        for _ in range(4):
            queue = context.SimpleQueue()
            process = context.Process(target=send_and_go, args=(queue,))
            process.start()
            self.assertEqual(queue.get().tolist(), [0, 1, 2, 3])
            process.join()
            process.close()
            counts.append(count())
        self.assertLessEqual(counts[-1], counts[1])

    @unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
    def test_memory_of_a_gpu(self):
        context = mp.get_context("spawn")
        queue, answers = context.Queue(), context.SimpleQueue()
        process = context.Process(target=double_on_gpu, args=(queue, answers))
        process.start()
        tensor = tandem.ones(3, device="cuda:1")
        queue.put(tensor)
        self.assertEqual(answers.get(), ("cuda:1", 6))
        process.join()
        self.assertEqual(tensor.tolist(), [2, 2, 2])

    @unittest.skipIf(_GPUS < 1, "needs a GPU, such as TANDEM_VIRTUAL_GPUS=1")
    def test_a_gpu_in_a_forked_child_is_refused(self):
        tandem.ones(1, device="cuda")
        context = mp.get_context("fork")
        answers = context.SimpleQueue()
        process = context.Process(target=use_gpu, args=(answers,))
        process.start()
        self.assertIn("cannot be used in a process that was forked", answers.get())
        process.join()


class Spawn(unittest.TestCase):
    def test_ranks_share_what_they_are_given(self):
        shared, copied = tandem.zeros(3), tandem.zeros(2)
        self.assertIsNone(mp.spawn(set_own, args=(shared, copied), nprocs=3))
        self.assertEqual(shared.tolist(), [1, 2, 3])
        self.assertIn(copied[0].item(), (0, 1, 2))

    def test_an_error_ends_all(self):
        start = time.monotonic()
        with self.assertRaises(mp.ProcessRaisedException) as raised:
            mp.spawn(fail, nprocs=2)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(raised.exception.error_index, 1)
        self.assertIn("-- Process 1 terminated with the following error:", str(raised.exception))
        self.assertIn("ValueError: the number one", str(raised.exception))

    def test_exit_codes_and_signals(self):
        with self.assertRaisesRegex(mp.ProcessExitedException, "process 0 terminated with exit code 5") as raised:
            mp.spawn(exit_by, args=("code",))
        self.assertEqual(raised.exception.exit_code, 5)
        with self.assertRaisesRegex(mp.ProcessExitedException, "process 0 terminated with signal SIGKILL") as raised:
            mp.spawn(exit_by, args=("signal",))
        self.assertEqual(raised.exception.signal_name, "SIGKILL")

    def test_without_join(self):
        context = mp.start_processes(set_own, (tandem.zeros(2), tandem.zeros(1)), nprocs=2, join=False, start_method="fork")
        self.assertEqual(len(context.pids()), 2)
        while not context.join():
            pass


class Hogwild(unittest.TestCase):
    def check(self, method):
        tandem.manual_seed(0)
        model = Net()
        model.share_memory()
        context = mp.get_context(method)
        processes = [context.Process(target=train, args=(index, model, 200)) for index in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            self.assertEqual(process.exitcode, 0)
        self.assertTrue(tandem.allclose(model.linear.weight, tandem.tensor([[2.0, -3.4]]), atol=0.05), model.linear.weight)
        self.assertTrue(tandem.allclose(model.linear.bias, tandem.tensor([4.2]), atol=0.05))
        self.assertGreaterEqual(model.calls.item(), 1)

    def test_forked(self):
        self.check("fork")

    def test_spawned(self):
        self.check("spawn")

    def test_a_module_keeps_its_ties(self):
        got = ForkingPickler.loads(ForkingPickler.dumps(Net()))
        self.assertIs(got.tied, got.linear.weight)


class Module(unittest.TestCase):
    def test_pool(self):
        with mp.Pool(2) as pool:
            self.assertEqual([t.tolist() for t in pool.map(double, [tandem.ones(1), tandem.ones(2)])], [[2], [2, 2]])

    def test_names(self):
        for name in "Process Queue SimpleQueue Pipe Pool Array Value Lock Event Manager set_start_method get_context".split():
            self.assertTrue(callable(getattr(mp, name)), name)
        self.assertEqual(mp.get_all_sharing_strategies(), {"file_descriptor", "file_system"})
        before = mp.get_sharing_strategy()
        mp.set_sharing_strategy("file_system")
        self.assertEqual(mp.get_sharing_strategy(), "file_system")
        mp.set_sharing_strategy(before)
        with self.assertRaises(AssertionError):
            mp.set_sharing_strategy("pigeon")


if __name__ == "__main__":
    unittest.main()
