"""How long things live: objects and their tensors, cycles, memory that does not grow, exits with queued work, Ctrl-C, forks, threads."""

import gc
import os
import resource
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import weakref

import tandem
from tandem import nn, optim

GPUS = tandem.cuda.device_count()


def busy(seconds):
    """Code that keeps a GPU busy for about so long, at whatever speed it computes here."""
    return f"""
import time
x, began = tandem.ones(700, 700, device="cuda:0"), time.monotonic()
for _ in range(5):
    x = (x @ x).clamp(0, 1)
tandem.cuda.synchronize()
for _ in range(int({seconds} / (time.monotonic() - began) * 5) + 1):
    x = (x @ x).clamp(0, 1)
"""


def run(code, **options):
    """A program of its own: what it printed, and how it ended."""
    done = subprocess.run(
        [sys.executable, "-c", "import tandem\n" + textwrap.dedent(code)], capture_output=True, text=True, timeout=120, **options
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def megabytes():
    """What this process holds in memory now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def growth(work, count):
    """By how many megabytes the process grows in `count` calls, after as many again as it takes to be warm."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        raise unittest.SkipTest("the address sanitizer keeps what was freed")
    for _ in range(max(count // 4, 1)):
        work()
    gc.collect()
    before = megabytes()
    for _ in range(count):
        work()
    gc.collect()
    return megabytes() - before


class Identity(unittest.TestCase):
    def test_one_object_for_one_tensor(self):
        p = nn.Parameter(tandem.ones(2))
        (p * 2).sum().backward()
        self.assertIs(p.grad, p.grad)
        p.grad.note = "kept"
        self.assertEqual(p.grad.note, "kept")
        x = tandem.ones(2)
        self.assertIs(x.add_(1), x)
        self.assertIs(x.requires_grad_(False), x)
        self.assertIs(x.contiguous(), x)
        self.assertIs(x.to("cpu"), x)
        self.assertIsNot(x[0], x[0])
        self.assertEqual(hash(x), id(x))
        self.assertEqual(len({x, x, x[0]}), 2)
        seen = []
        p.register_hook(lambda grad: None)
        p.register_post_accumulate_grad_hook(seen.append)
        (p * 2).sum().backward()
        self.assertIs(seen[0], p)

    def test_a_parameter_that_only_the_library_holds(self):
        p = nn.Parameter(tandem.ones(2))
        p.note = ["mine"]
        first = id(p)
        sgd = tandem.optim.SGD([p], lr=0.1)
        held = (p * 2).sum()  # the graph holds the leaf
        sgd.param_groups[0]["params"].clear()
        ended = weakref.ref(p)
        del p, sgd
        gc.collect()
        self.assertIsNotNone(ended())
        back = held.grad_fn.next_functions[0][0].next_functions[0][0].variable
        self.assertEqual((type(back), back.note, id(back)), (nn.Parameter, ["mine"], first))
        del back, held
        gc.collect()
        self.assertIsNone(ended())

    def test_attributes_of_plain_tensors_that_the_graph_holds(self):
        for _ in range(100):
            x = tandem.ones(1, requires_grad=True)
            x.note = object()
            note = x.note
            y = x * 2
            del x
            gc.collect()
            node = y.grad_fn.next_functions[0][0]
            self.assertIs(node.variable.note, note)
            del node, y
            gc.collect()

    def test_weak_references(self):
        x = tandem.ones(2)
        calls = []
        ended = weakref.ref(x, lambda ref: calls.append("ended"))
        self.assertIs(ended(), x)
        values = weakref.WeakValueDictionary({"x": x})
        del x
        gc.collect()
        self.assertEqual((ended(), calls, len(values)), (None, ["ended"], 0))

    def test_cycles(self):
        x = tandem.ones(2)
        x.me = x
        p = nn.Parameter(tandem.ones(2))
        p.other, x.other = x, p
        ended = [weakref.ref(x), weakref.ref(p)]
        del x, p
        gc.collect()
        self.assertEqual([ref() for ref in ended], [None, None])

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 2)
                self.hook = self.layer.register_forward_hook(lambda *args: self)

        model = Model()
        ended = weakref.ref(model)
        model.layer(tandem.ones(1, 2))
        del model
        gc.collect()
        self.assertIsNone(ended())

    def test_finalizers(self):
        class Told(tandem.Tensor):
            def __del__(self):
                told.append(self.sum().item())

        told = []
        x = tandem.Tensor._make_subclass(Told, tandem.ones(3))
        del x
        gc.collect()
        self.assertEqual(told, [3.0])

    def test_an_object_that_comes_back_to_life(self):
        class Back(tandem.Tensor):
            def __del__(self):
                saved.append(self)

        saved = []
        x = tandem.Tensor._make_subclass(Back, tandem.ones(3))
        del x
        gc.collect()
        self.assertEqual(saved[0].tolist(), [1.0, 1.0, 1.0])
        saved.clear()
        gc.collect()

    def test_tensors_let_go_of_in_other_threads(self):
        def work():
            for _ in range(2000):
                p = nn.Parameter(tandem.ones(3))
                p.note = [p.shape]
                (p * 2).sum().backward()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


class Memory(unittest.TestCase):
    def test_steps(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
        adam = optim.Adam(model.parameters())
        x = tandem.ones(4, 8)

        def step():
            adam.zero_grad()
            model(x).square().mean().backward()
            adam.step()

        self.assertLess(growth(step, 20000), 6)

    def test_functions_of_ones_own(self):
        class Twice(tandem.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, a, b):
                return a * 2 + b * 3

        x = tandem.ones(1000, requires_grad=True)

        def step():
            first, second = Twice.apply(x)
            x.grad = None
            (first + second).sum().backward()
            Twice.apply(x)  # without a backward

        self.assertLess(growth(step, 3000), 6)

    def test_exceptions(self):
        x, y = tandem.ones(2000), tandem.ones(3)
        w = tandem.ones(1000, requires_grad=True)

        def hook(grad):
            raise KeyError("hook")

        def fail():
            for call in (
                lambda: x + y,
                lambda: x[5000],
                lambda: tandem.zeros("a"),
                lambda: x.sum(foo=1),
                lambda: tandem.tensor([[1], [2, 3]]),
            ):
                try:
                    call()
                except (RuntimeError, IndexError, TypeError, ValueError):
                    pass
            z = w * 2
            z.register_hook(hook)
            try:
                z.sum().backward()
            except KeyError:
                pass

        self.assertLess(growth(fail, 10000), 6)

    def test_exchange(self):
        x = tandem.ones(500)

        def trip():
            y = tandem.from_dlpack(x)
            tandem.from_dlpack(y.__dlpack__(max_version=(1, 0)))
            y.__dlpack__()
            memoryview(x).release()
            tandem.frombuffer(bytearray(2000), dtype=tandem.float32)
            try:
                tandem.from_dlpack(x[::2].__dlpack__(copy=True))
                memoryview(x[::2]).cast("B")
            except TypeError:
                pass

        self.assertLess(growth(trip, 10000), 6)

    def test_graphs_with_their_gradient(self):
        x = tandem.ones(1000, requires_grad=True)

        def second():
            (first,) = tandem.autograd.grad((x**3).sum(), x, create_graph=True)
            first.sum().backward()
            x.grad = None

        self.assertLess(growth(second, 3000), 6)

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_of_a_gpu(self):
        before = tandem.cuda.memory_allocated()

        def step():
            x = tandem.ones(1000, device="cuda:0", requires_grad=True)
            x.note = [1]
            (x * x).sum().backward()
            x.grad.sum().item()

        self.assertLess(growth(step, 3000), 8)
        tandem.cuda.synchronize()
        self.assertEqual(tandem.cuda.memory_allocated(), before)


class Programs(unittest.TestCase):
    def test_exit_with_queued_work(self):
        if not GPUS:
            self.skipTest("needs a GPU, a virtual one will do")
        for end in ("", "raise SystemExit(3)", "raise ValueError('text')", "import os; os._exit(0)", "import sys; sys.exit()"):
            code, out, err = run(busy(0.3) + "y = x * 2\n" + "print('here', flush=True)\n" + end)
            self.assertEqual(out, "here")
            self.assertEqual(code, 3 if "3" in end else 1 if "text" in end else 0, err)
            self.assertEqual("ValueError: text" in err, "text" in end)

    def test_exit_in_threads(self):
        self.assertEqual(
            run("""
            import threading
            def work():
                x = tandem.ones(100, 100, requires_grad=True)
                while True:
                    (x @ x).sum().backward()
                    x.grad = None
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            import time
            time.sleep(0.3)
            print("end")
        """)[:2],
            (0, "end"),
        )
        if GPUS:
            self.assertEqual(
                run("""
                import threading, time
                def work():
                    x = tandem.ones(200, 200, device="cuda:0")
                    while True:
                        x.sum().item()
                for _ in range(3):
                    threading.Thread(target=work, daemon=True).start()
                time.sleep(0.3)
                print("end")
            """)[:2],
                (0, "end"),
            )

    def test_exit_with_all_kinds_of_things_alive(self):
        code, out, err = run("""
            import weakref
            class Thing(tandem.Tensor):
                def __del__(self):
                    print("ended", flush=True)
            thing = tandem.Tensor._make_subclass(Thing, tandem.ones(2))
            p = tandem.nn.Parameter(tandem.ones(2))
            p.me, p.hook = p, p.register_hook(lambda grad: grad)
            y = (p * 2).sum()
            class F(tandem.autograd.Function):
                forward = staticmethod(lambda ctx, x: x * 1)
                backward = staticmethod(lambda ctx, g: g)
            z = F.apply(p)
            array = memoryview(tandem.ones(3))
            adam = tandem.optim.Adam([p])
            y.backward()
            adam.step()
            import atexit
            atexit.register(lambda: print((p * 2).sum().item() < 5, flush=True))
        """)
        self.assertEqual((code, out.split()[0], err), (0, "True", ""))

    def test_imported_twice_and_late(self):
        self.assertEqual(
            run("""
            import sys, threading, importlib
            done = []
            t = threading.Thread(target=lambda: done.append(importlib.import_module("tandem").ones(2).sum().item()))
            t.start(); t.join()
            print(done[0])
        """)[:2],
            (0, "2.0"),
        )

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_ctrl_c(self):
        for wait in ("tandem.cuda.synchronize()", "x.sum().item()", "x.cpu()", "print(x)", "tandem.cuda.current_stream().synchronize()"):
            code = f"""
import os, signal, threading, time
{busy(2)}
sent = []
def send():
    time.sleep(0.2)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    {wait}
    print("done too soon")
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
    print("interrupted", late < 1 or late)  # a check each 50 ms: the rest is for a busy machine
tandem.cuda.synchronize()
y = tandem.full((700, 700), 1.0, device="cuda:0")
print(x.sum().item() == y.sum().item())
"""
            self.assertEqual(run(code)[:2], (0, "interrupted True\nTrue"), wait)

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_handlers_of_signals(self):
        code = f"""
import signal, time
{busy(2)}
class Alarm(Exception): pass
def handler(number, frame):
    raise Alarm("from the handler")
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    tandem.cuda.synchronize()
    print("done too soon")
except Alarm as error:
    print(error)
"""
        self.assertEqual(run(code)[:2], (0, "from the handler"))

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_a_forked_child(self):
        code, out, err = run("""
            import os, sys
            x = tandem.ones(3, device="cuda:0")
            x.sum().item()
            child = os.fork()
            if child == 0:
                print((tandem.ones(3) * 2).tolist(), flush=True)
                for call in (lambda: tandem.ones(3, device="cuda:0"), lambda: x + 1, lambda: x.cpu(), lambda: tandem.cuda.synchronize()):
                    try:
                        call()
                        print("nothing", flush=True)
                    except RuntimeError as error:
                        print(type(error).__name__, "fork" in str(error), flush=True)
                os._exit(0)
            print(os.waitpid(child, 0)[1], x.sum().item())
        """)
        self.assertEqual((code, out.split("\n")), (0, ["[2.0, 2.0, 2.0]"] + ["RuntimeError True"] * 4 + ["0 3.0"]), err)

    def test_a_forked_child_on_the_cpu(self):
        code, out, err = run("""
            import os
            x = tandem.ones(300, 300, requires_grad=True)
            (x @ x).sum().backward()
            child = os.fork()
            if child == 0:
                x.grad = None
                (x @ x).sum().backward()
                print(x.grad[0, 0].item(), flush=True)
                os._exit(0)
            print(os.waitpid(child, 0)[1])
        """)
        self.assertEqual((code, out.split("\n")), (0, ["600.0", "0"]), err)

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_other_threads_run_while_one_waits(self):
        x = tandem.ones(700, 700, device="cuda:0")
        for _ in range(60):
            x = (x @ x).clamp(0, 1)
        counts = []
        stop = threading.Event()

        def count():
            n = 0
            while not stop.is_set():
                n += 1
                time.sleep(0)
            counts.append(n)

        thread = threading.Thread(target=count)
        thread.start()
        began = time.monotonic()
        tandem.cuda.synchronize()
        waited = time.monotonic() - began
        stop.set()
        thread.join()
        if waited > 0.05:
            self.assertGreater(counts[0], 20)

    def test_other_threads_run_during_backward(self):
        x = tandem.ones(600, 600, requires_grad=True)
        y = x
        for _ in range(12):
            y = y @ x * 1e-3
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        began = time.monotonic()
        y.sum().backward()
        ended = time.monotonic()
        stop.set()
        thread.join()
        if ended - began > 0.05:
            self.assertGreater(sum(began < t < ended for t in ticks), 3)

    def test_a_signal_in_a_hook(self):
        code, out, err = run("""
            import os, signal
            x = tandem.ones(1, requires_grad=True)
            def hook(grad):
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):
                    pass
            x.register_hook(hook)
            try:
                (x * 2).sum().backward()
                print("nothing")
            except KeyboardInterrupt:
                print("interrupted")
        """)
        self.assertEqual((code, out), (0, "interrupted"), err)


if __name__ == "__main__":
    unittest.main()
