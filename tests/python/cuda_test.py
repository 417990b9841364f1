"""GPUs from Python: devices and the current one, streams and events, memory and its end, graphs, peers."""

import threading
import time
import unittest

import tandem
from tandem import cuda

GPUS = cuda.device_count()
VIRTUAL = GPUS > 0 and cuda.is_virtual(0)
MIB = 2**20


@unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
class Case(unittest.TestCase):
    def refuses(self, error, text, call, *args, **kwargs):
        with self.assertRaises(error) as raised:
            call(*args, **kwargs)
        self.assertTrue(str(raised.exception).startswith(text), f"{str(raised.exception)!r} does not begin with {text!r}")


class Devices(Case):
    def test_facts(self):
        self.assertTrue(cuda.is_available())
        self.assertEqual(cuda.current_device(), 0)
        facts = cuda.get_device_properties(0)
        self.assertEqual(
            (facts.name, facts.total_memory > 0, (facts.major, facts.minor)), (cuda.get_device_name(0), True, cuda.get_device_capability(0))
        )
        self.assertTrue(repr(facts).startswith("_CudaDeviceProperties(name='"))
        self.assertEqual(cuda.get_device_name(tandem.device("cuda:0")), cuda.get_device_name("cuda"))
        for wrong in (GPUS, 99, "cuda:99"):
            with self.assertRaises(RuntimeError):
                cuda.get_device_properties(wrong)
        with self.assertRaises((RuntimeError, ValueError)):
            cuda.get_device_name("cpu")

    def test_placing(self):
        x = tandem.ones(2, device="cuda")
        self.assertEqual((x.device, x.is_cuda, x.is_cpu, x.get_device()), (tandem.device("cuda:0"), True, False, 0))
        for there in (
            tandem.ones(2).cuda(),
            tandem.ones(2).cuda(0),
            tandem.ones(2).to(0),
            tandem.ones(2).to("cuda"),
            tandem.ones(2).to(device="cuda:0"),
            tandem.ones(2, device=0),
        ):
            self.assertEqual((there.device, there.tolist()), (x.device, [1.0, 1.0]))
        self.assertEqual(tandem.ones(2).get_device(), -1)
        self.assertEqual((x + 1).device, x.device)
        self.assertEqual((x * tandem.tensor(3.0)).tolist(), [3.0, 3.0])
        self.refuses(
            RuntimeError,
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
            lambda: x + tandem.ones(2),
        )
        self.refuses(RuntimeError, "Expected all tensors to be on the same device", lambda: tandem.ones(2) + x)
        for wrong in ("cuda:99", 99, 2**32, -2):
            with self.assertRaises(RuntimeError):
                tandem.ones(1, device=wrong)
            with self.assertRaises(RuntimeError):
                tandem.ones(1).to(wrong)
        with self.assertRaises(RuntimeError):
            tandem.ones(1).cuda("cpu")

    @unittest.skipIf(GPUS < 2, "needs two GPUs, virtual ones will do")
    def test_the_current_one(self):
        with cuda.device(1):
            self.assertEqual(cuda.current_device(), 1)
            self.assertEqual(tandem.ones(1, device="cuda").device.index, 1)
            with cuda.device("cuda:0"), cuda.device(-1):
                self.assertEqual(cuda.current_device(), 0)
            self.assertEqual(cuda.current_device(), 1)
            with self.assertRaises(KeyError), cuda.device(tandem.device("cuda:0")):
                raise KeyError
            self.assertEqual(cuda.current_device(), 1)
            seen = []
            thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
            thread.start()
            thread.join()
            self.assertEqual(seen, [0])
        self.assertEqual(cuda.current_device(), 0)
        with cuda.device_of(tandem.ones(1, device="cuda:1")):
            self.assertEqual(cuda.current_device(), 1)
        with cuda.device_of(tandem.ones(1)):
            self.assertEqual(cuda.current_device(), 0)
        try:
            cuda.set_device(1)
            self.assertEqual(tandem.zeros(1).cuda().device.index, 1)
            cuda.set_device(-1)
            self.assertEqual(cuda.current_device(), 1)
        finally:
            cuda.set_device("cuda:0")
        self.refuses(ValueError, "Expected a cuda device, but got: cpu", cuda.device, "cpu")

    @unittest.skipIf(GPUS < 2, "needs two GPUs, virtual ones will do")
    def test_two(self):
        x = tandem.arange(6, device="cuda:0").reshape(2, 3)
        y = x.t().to("cuda:1")
        self.assertEqual((y.device.index, y.tolist()), (1, [[0, 3], [1, 4], [2, 5]]))
        y[0] = x[0, :2].to("cuda:1")
        x.copy_(y.t())
        self.assertEqual(x.tolist(), [[0, 1, 2], [1, 4, 5]])
        self.refuses(
            RuntimeError,
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!",
            lambda: x + y.t(),
        )
        self.assertIsInstance(cuda.can_device_access_peer(0, 1), bool)
        w = tandem.ones(3, device="cuda:0", requires_grad=True)
        (w.to("cuda:1") * 2).cpu().sum().backward()
        self.assertEqual((w.grad.tolist(), w.grad.device.index), ([2.0] * 3, 0))

    def test_default_device(self):
        try:
            tandem.set_default_device("cuda")
            self.assertEqual(
                (tandem.ones(1).device, tandem.tensor([1.0]).device, tandem.get_default_device().type),
                (tandem.device("cuda:0"), tandem.device("cuda:0"), "cuda"),
            )
            self.assertTrue(tandem.ones(1, device="cpu").is_cpu)
        finally:
            tandem.set_default_device(None)
        self.assertTrue(tandem.ones(1).is_cpu)
        with tandem.device("cuda:0"):
            self.assertTrue(tandem.zeros(2).is_cuda and tandem.rand(2).is_cuda and tandem.arange(2).is_cuda)
            with tandem.device("cpu"):
                self.assertTrue(tandem.zeros(2).is_cpu)
            self.assertTrue(tandem.nn.Linear(2, 2).weight.is_cuda)
        self.assertTrue(tandem.zeros(2).is_cpu)
        with self.assertRaises(KeyError), tandem.device("cuda:0"):
            raise KeyError
        self.assertTrue(tandem.zeros(2).is_cpu)


class Streams(Case):
    def test_blocks(self):
        first, second = cuda.Stream(), cuda.Stream()
        self.assertNotEqual(first, second)
        self.assertEqual(cuda.current_stream(), cuda.default_stream())
        with first as entered, second, first:
            self.assertIs(entered, first)
            self.assertEqual((cuda.current_stream(), first.device_index), (first, 0))
        self.assertEqual(cuda.current_stream(), cuda.default_stream())
        with cuda.stream(first):
            self.assertEqual(cuda.current_stream(), first)
            with cuda.stream(second), cuda.stream(None):
                self.assertEqual(cuda.current_stream(), second)
            with self.assertRaises(KeyError), cuda.stream(second):
                raise KeyError
            self.assertEqual(cuda.current_stream(), first)
        self.assertEqual(cuda.current_stream(), cuda.default_stream())
        self.assertEqual((first.device, hash(first) == hash(first), len({first, second, first})), (tandem.device("cuda:0"), True, 2))
        if GPUS > 1:
            other = cuda.Stream(device=1)
            with cuda.stream(other):
                self.assertEqual((cuda.current_device(), cuda.current_stream()), (1, other))
            self.assertEqual(cuda.current_device(), 0)

    def test_order(self):
        side = cuda.Stream()
        x = tandem.ones(300, 300, device="cuda")
        with cuda.stream(side):
            side.wait_stream(cuda.default_stream())
            y = x @ x
            x.record_stream(side)
            ready = side.record_event()
        cuda.current_stream().wait_event(ready)
        self.assertEqual((y[0, 0] + 1).item(), 301.0)
        side.synchronize()
        self.assertTrue(side.query() and ready.query())

    def test_events(self):
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self.assertTrue(begin.query())
        x = tandem.ones(400, 400, device="cuda")
        cuda.synchronize()
        began = time.perf_counter()
        begin.record()
        for _ in range(5):
            x = (x @ x).clamp(0, 1)
        end.record()
        end.synchronize()
        took = (time.perf_counter() - began) * 1000
        self.assertTrue(0 < begin.elapsed_time(end) <= took + 1)
        with self.assertRaises((RuntimeError, ValueError)):
            cuda.Event().elapsed_time(cuda.Event())
        with self.assertRaises(RuntimeError):
            begin.elapsed_time(cuda.Event(enable_timing=True))


class Memory(Case):
    def setUp(self):
        cuda.synchronize()
        cuda.empty_cache()

    def test_figures(self):
        before = cuda.memory_allocated()
        x = tandem.empty(MIB // 4, device="cuda")
        self.assertEqual(cuda.memory_allocated() - before, MIB)
        small = tandem.empty(1, device="cuda")
        self.assertEqual(cuda.memory_allocated() - before, MIB + 512)
        self.assertGreaterEqual(cuda.memory_reserved(), cuda.memory_allocated())
        cuda.reset_peak_memory_stats()
        y = tandem.empty(4 * MIB, dtype=tandem.uint8, device="cuda")
        del x, y, small
        self.assertEqual((cuda.memory_allocated(), cuda.max_memory_allocated()), (before, before + 5 * MIB + 512))
        cuda.empty_cache()
        stats = cuda.memory_stats()
        self.assertEqual((stats["allocated_bytes.all.current"], stats["allocated_bytes.all.peak"]), (before, before + 5 * MIB + 512))
        free, total = cuda.mem_get_info()
        self.assertTrue(0 < free <= total == cuda.get_device_properties(0).total_memory)
        self.assertIn("Allocated memory", cuda.memory_summary())

    def test_views_hold_memory_and_objects_do_not(self):
        before = cuda.memory_allocated()
        x = tandem.empty(MIB, device="cuda")
        row = x[:10]
        del x
        self.assertEqual(cuda.memory_allocated() - before, 4 * MIB)
        del row
        self.assertEqual(cuda.memory_allocated(), before)

    @unittest.skipIf(not VIRTUAL, "needs a virtual GPU")
    def test_out_of_memory(self):
        total = cuda.get_device_properties(0).total_memory
        before = cuda.memory_allocated()
        for call in (
            lambda: tandem.empty(total + 1, dtype=tandem.uint8, device="cuda"),
            lambda: tandem.ones(total // 4 + 1).cuda(),
            lambda: tandem.zeros(2**40, device="cuda"),
        ):
            with self.assertRaises(tandem.OutOfMemoryError) as raised:
                call()
            self.assertTrue(str(raised.exception).startswith("CUDA out of memory. Tried to allocate "), raised.exception)
        self.assertIs(cuda.OutOfMemoryError, tandem.OutOfMemoryError)
        self.assertTrue(issubclass(tandem.OutOfMemoryError, RuntimeError))
        self.assertEqual(cuda.memory_allocated(), before)
        self.assertEqual(tandem.ones(10, device="cuda").sum().item(), 10.0)  # it goes on

    def test_the_host_too(self):
        with self.assertRaises(tandem.OutOfMemoryError):
            tandem.empty(2**50, dtype=tandem.uint8)

    def test_pinned(self):
        x = tandem.arange(4.0).pin_memory()
        self.assertTrue(x.is_pinned() and not tandem.ones(1).is_pinned())
        there = x.to("cuda", non_blocking=True)
        self.assertEqual((there * 2).tolist(), [0.0, 2.0, 4.0, 6.0])
        self.assertTrue(tandem.empty(2, pin_memory=True).is_pinned())


class Graphs(Case):
    def test_capture_and_replay(self):
        x, y = tandem.ones(4, device="cuda"), tandem.zeros(4, device="cuda")
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            y.copy_(x * 2 + 1)
        cuda.current_stream().wait_stream(side)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            self.assertTrue(cuda.is_current_stream_capturing())
            y.copy_(x * 2 + 1)
        self.assertFalse(cuda.is_current_stream_capturing())
        x.fill_(10)
        graph.replay()
        self.assertEqual(y.tolist(), [21.0] * 4)
        x.fill_(-1)
        graph.replay()
        self.assertEqual(y.tolist(), [-1.0] * 4)
        graph.reset()

    def test_what_is_not_captured(self):
        x = tandem.ones(4, device="cuda")
        with self.assertRaises(RuntimeError):
            with cuda.graph(cuda.CUDAGraph()):
                x.sum().item()
        self.assertFalse(cuda.is_current_stream_capturing())
        self.assertEqual(x.sum().item(), 4.0)


class Numbers(Case):
    def test_seeds(self):
        tandem.manual_seed(5)
        x = tandem.rand(4, device="cuda")
        cuda.manual_seed(5)
        self.assertTrue(tandem.equal(tandem.rand(4, device="cuda"), x))
        state = cuda.get_rng_state()
        y = tandem.rand(4, device="cuda")
        cuda.set_rng_state(state)
        self.assertTrue(tandem.equal(tandem.rand(4, device="cuda"), y))
        generator = tandem.Generator("cuda").manual_seed(7)
        z = tandem.rand(4, device="cuda", generator=generator)
        self.assertTrue(tandem.equal(z, tandem.rand(4, device="cuda", generator=generator.manual_seed(7))))
        self.assertFalse(tandem.equal(z, x))


if __name__ == "__main__":
    unittest.main()
