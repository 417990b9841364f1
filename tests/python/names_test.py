"""Names that are small parts of their own: streams and events of any accelerator, figures of GPUs, futures, torch.jit, torch.compiler."""

import gc
import os
import subprocess
import sys
import unittest

import tandem


class Accelerators(unittest.TestCase):
    def test_stream(self):
        stream = tandem.Stream("cuda:1")
        self.assertIsInstance(stream, tandem.cuda.Stream)
        self.assertIsInstance(stream, tandem.Stream)
        self.assertEqual(stream.device, tandem.device("cuda:1"))
        self.assertEqual(tandem.Stream(device="cuda", priority=-1).priority, -1)
        self.assertTrue(issubclass(tandem.cuda.Stream, tandem.Stream))
        self.assertNotIsInstance(3, tandem.Stream)
        with self.assertRaisesRegex(RuntimeError, "but got cpu"):
            tandem.Stream("cpu")

    def test_event(self):
        first, last = tandem.Event("cuda", enable_timing=True), tandem.Event(enable_timing=True)
        first.record()
        tandem.ones(8, device="cuda").sum()
        last.record()
        last.synchronize()
        self.assertIsInstance(first, tandem.Event)
        self.assertGreaterEqual(first.elapsed_time(last), 0)

    def test_default_generator(self):
        self.assertIs(tandem.default_generator, tandem.random.default_generator)
        tandem.default_generator.manual_seed(3)
        drawn = tandem.rand(4)
        tandem.manual_seed(3)
        self.assertTrue(tandem.equal(drawn, tandem.rand(4)))

    def test_capability(self):
        dtypes = tandem.accelerator.get_device_capability()["supported_dtypes"]
        self.assertIn(tandem.bfloat16, dtypes)
        activity = tandem.profiler.ProfilerActivity
        self.assertEqual(tandem.profiler.supported_activities(), {activity.CPU, activity.CUDA})
        self.assertTrue(issubclass(tandem.AcceleratorError, RuntimeError))


class Memory(unittest.TestCase):
    def test_nested(self):
        flat, nested = tandem.cuda.memory_stats(), tandem.cuda.memory_stats_as_nested_dict()
        self.assertEqual(nested["allocated_bytes"]["all"]["peak"], flat["allocated_bytes.all.peak"])
        self.assertEqual(nested["num_ooms"], flat["num_ooms"])
        self.assertEqual((tandem.cuda.host_memory_stats(), tandem.cuda.host_memory_stats_as_nested_dict()), ({}, {}))
        tandem.cuda.reset_peak_host_memory_stats()

    def test_blocks_by_address(self):
        before = tandem.cuda.memory_allocated(1)
        address = tandem.cuda.caching_allocator_alloc(1000, device=1)
        self.assertEqual(tandem.cuda.memory_allocated(1), before + 1024)
        tandem.cuda.caching_allocator_delete(address)
        self.assertEqual(tandem.cuda.memory_allocated(1), before)
        with self.assertRaisesRegex(RuntimeError, "invalid device pointer"):
            tandem.cuda.caching_allocator_delete(address)

    def test_gauges(self):
        x = tandem.ones(1000, device="cuda:0")
        free, total = tandem.cuda.mem_get_info(0)
        self.assertEqual(tandem.cuda.device_memory_used(0), total - free)
        self.assertRegex(tandem.cuda.list_gpu_processes(0), rf"GPU:0\nprocess +{os.getpid()} uses +2.000 MB GPU memory")
        gc.collect()
        tandem.cuda.empty_cache()
        self.assertEqual(tandem.cuda.list_gpu_processes("cuda:1"), "GPU:1\nno processes are running")
        self.assertEqual((tandem.cuda.utilization(), tandem.cuda.memory_usage(), x.numel()), (0, 0, 1000))
        self.assertEqual((tandem.cuda.get_allocator_backend(), tandem.cuda.is_tf32_supported()), ("native", False))
        self.assertIn("-gencode compute=compute_80,code=sm_80", tandem.cuda.get_gencode_flags())
        for name in ("temperature", "power_draw", "clock_rate"):
            with self.assertRaisesRegex(ModuleNotFoundError, "nvidia-ml-py does not seem to be installed"):
                getattr(tandem.cuda, name)()

    def test_snapshot(self):
        x = tandem.ones(1000, device="cuda:0")
        shot = tandem.cuda.memory._snapshot()
        self.assertIn("device_traces", shot)
        blocks = [block for segment in shot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated"]
        self.assertIn(x.data_ptr(), [block.get("address") for block in blocks])

    def test_profile_total(self):
        with tandem.profiler.profile() as profile:
            tandem.ones(3).sum()
        averages = profile.key_averages()
        self.assertEqual(averages.total_average().count, sum(event.count for event in averages))


class SyncDebug(unittest.TestCase):
    def tearDown(self):
        if tandem.cuda.get_sync_debug_mode():
            tandem.cuda.set_sync_debug_mode("default")

    def test_wrong_modes(self):
        self.assertEqual(tandem.cuda.get_sync_debug_mode(), 0)
        with self.assertRaisesRegex(RuntimeError, "expected one of `default`, `warn`, `error`"):
            tandem.cuda.set_sync_debug_mode("loud")
        with self.assertRaisesRegex(RuntimeError, "expected one of 0,1,2"):
            tandem.cuda.set_sync_debug_mode(3)

    @unittest.skipUnless(hasattr(tandem._C.seeing, "call_before_waits"), "the extension does not tell of waits")
    def test_warn_and_error(self):
        x = tandem.ones(2, device="cuda")
        tandem.cuda.set_sync_debug_mode("warn")
        with self.assertWarnsRegex(UserWarning, "called a synchronizing CUDA operation") as seen:
            x.sum().item()
        self.assertEqual(seen.filename, __file__)
        tandem.cuda.set_sync_debug_mode(2)
        self.assertEqual(tandem.cuda.get_sync_debug_mode(), 2)
        with self.assertRaisesRegex(RuntimeError, "^called a synchronizing CUDA operation"):
            x.cpu()
        tandem.cuda.synchronize()
        tandem.cuda.set_sync_debug_mode(0)
        self.assertEqual(x.sum().item(), 2)


class Futures(unittest.TestCase):
    def test_value(self):
        future = tandem.futures.Future()
        after = future.then(lambda done: done.value() + 1)
        seen = []
        future.add_done_callback(seen.append)
        self.assertFalse(future.done())
        with self.assertRaises(RuntimeError):
            future.value()
        future.set_result(3)
        self.assertEqual((future.wait(), after.wait(), seen), (3, 4, [future]))
        with self.assertRaisesRegex(RuntimeError, "Attempting to mark a completed Future as complete again"):
            future.set_result(3)

    def test_errors(self):
        failed = tandem.futures.Future()
        failed.set_exception(ValueError("no"))
        with self.assertRaisesRegex(ValueError, "no"):
            failed.wait()
        with self.assertRaisesRegex(AssertionError, "3 is of type <class 'int'>, not an Exception."):
            tandem.futures.Future().set_exception(3)
        good = tandem.fork(lambda: 0)
        with self.assertRaisesRegex(RuntimeError, "Got the following error when running the callback: ZeroDivisionError"):
            good.then(lambda done: 1 / done.value()).wait()
        with self.assertRaisesRegex(ValueError, "no"):
            tandem.futures.wait_all([good, failed])

    def test_several(self):
        first, second = tandem.futures.Future(), tandem.futures.Future()
        together = tandem.futures.collect_all([first, second])
        second.set_result(2)
        self.assertFalse(together.done())
        first.set_result(1)
        self.assertEqual([one.value() for one in together.wait()], [1, 2])
        self.assertEqual(tandem.futures.wait_all([first, second]), [1, 2])

    def test_another_thread(self):
        import threading

        future = tandem.futures.Future()
        thread = threading.Thread(target=future.set_result, args=(5,))
        thread.start()
        self.assertEqual(future.wait(), 5)
        thread.join()


class Parts(unittest.TestCase):
    def test_jit(self):
        layer = tandem.nn.Linear(1, 1)
        self.assertIs(tandem.jit.script(layer), layer)
        self.assertIs(tandem.jit.trace(layer, tandem.ones(1, 1)), layer)
        self.assertEqual(tandem.jit.wait(tandem.jit.fork(max, 2, 3)), 3)
        with self.assertRaisesRegex(NotImplementedError, "tandem has no TorchScript"):
            tandem.jit.save(layer, "file")
        with self.assertRaisesRegex(NotImplementedError, "onnx.export: give the file to write"):
            tandem.onnx.export(layer)

    def test_compiler(self):
        self.assertFalse(tandem.compiler.is_compiling())

        @tandem.compiler.disable
        def one():
            return 1

        self.assertEqual(one(), 1)
        self.assertIs(tandem.compiler.disable(recursive=False)(one), one)
        with tandem.compiler.set_stance("force_eager"):
            tandem.compiler.reset()

    def test_other_places(self):
        self.assertIs(tandem.functional.norm, tandem.norm)
        self.assertIs(tandem.autograd.grad_mode.no_grad, tandem.no_grad)
        self.assertIs(tandem.utils.dlpack.from_dlpack, tandem.from_dlpack)
        self.assertIs(tandem.utils.model_zoo.load_url, tandem.hub.load_state_dict_from_url)
        self.assertTrue(tandem.nn.attention.SDPBackend)
        self.assertEqual(tandem.version.__version__, tandem.__version__)

    def test_the_same_under_torch_compat(self):
        program = (
            "import tandem, tandem.torch_compat, torch\n"
            "assert torch.jit is tandem.jit and torch.hub is tandem.hub and torch.version.cuda"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class Gradient(unittest.TestCase):
    def test_edges_of_second_order(self):
        x = tandem.arange(5.0)
        self.assertEqual(tandem.gradient(x**2, edge_order=2)[0].tolist(), (2 * x).tolist())
        self.assertEqual(tandem.gradient(x**2, spacing=0.5, edge_order=2)[0].tolist(), (4 * x).tolist())

    def test_places(self):
        places = tandem.tensor([0.0, 1.0, 3.0, 4.0], dtype=tandem.float64)
        parabola = tandem.stack([places**2, 2 * places**2])
        found = tandem.gradient(parabola, spacing=(places,), dim=1, edge_order=2)[0]
        tandem.testing.assert_close(found, tandem.stack([2 * places, 4 * places]))
        first = tandem.gradient(places**2, spacing=[places])[0]
        tandem.testing.assert_close(first, tandem.tensor([1.0, 2.0, 6.0, 7.0], dtype=tandem.float64))

    def test_errors(self):
        square = tandem.ones(2, 2)
        with self.assertRaisesRegex(RuntimeError, "torch.gradient only supports edge_order=1 and edge_order=2."):
            tandem.gradient(square, edge_order=3)
        with self.assertRaisesRegex(RuntimeError, "expected each dimension size to be at least edge_order\\+1"):
            tandem.gradient(square, edge_order=2)
        with self.assertRaisesRegex(RuntimeError, "length equal to 'self.dim\\(\\) = 2'"):
            tandem.gradient(square, spacing=[1.0])
        with self.assertRaisesRegex(RuntimeError, "dim 0 appears multiple times in the list of dims"):
            tandem.gradient(square, dim=(0, -2))


if __name__ == "__main__":
    unittest.main()
