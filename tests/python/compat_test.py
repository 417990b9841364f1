"""torch_compat: `import torch` is tandem, programs and their processes find it so, what is missing says so; torchvision and pycuda."""

import importlib
import importlib.metadata
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest

os.environ.setdefault("TANDEM_QUIET", "1")
os.environ.setdefault("TANDEM_VIRTUAL_GPUS", "2x256MiB")

import tandem  # noqa: E402
import tandem.torch_compat  # noqa: E402

import torch  # noqa: E402
import torchvision  # noqa: E402


def python(*arguments, folder=None, **environment):
    """Runs Python, and gives what came of it."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=folder, env=os.environ | environment, timeout=120
    )


def program(text):
    return textwrap.dedent(text)


class Names(unittest.TestCase):
    def test_modules_are_tandems_own(self):
        cudnn, F = importlib.import_module("torch.backends.cudnn"), importlib.import_module("torch.nn.functional")
        from torch.nn.modules.linear import Linear
        from torch.optim.lr_scheduler import StepLR
        from torch.utils.data.dataloader import DataLoader

        self.assertIs(torch.nn, tandem.nn)
        self.assertIs(F, tandem.nn.functional)
        self.assertIs(Linear, tandem.nn.Linear)
        self.assertIs(StepLR, tandem.optim.lr_scheduler.StepLR)
        self.assertIs(DataLoader, tandem.utils.data.DataLoader)
        self.assertIs(cudnn, tandem.backends.cudnn)
        self.assertIs(torch.Tensor, tandem.Tensor)
        self.assertIs(importlib.import_module("torch.linalg"), tandem.linalg)

    def test_all_parts_are_importable(self):
        for name in (
            "nn.init",
            "nn.parameter",
            "nn.utils.rnn",
            "nn.modules",
            "optim",
            "utils.data.distributed",
            "utils.checkpoint",
            "autograd.function",
            "cuda.amp",
            "amp",
            "linalg",
            "multiprocessing",
            "profiler",
            "random",
            "serialization",
            "jit",
            "hub",
            "version",
            "types",
            "functional",
            "_C",
        ):
            with self.subTest(name):
                self.assertIs(importlib.import_module(f"torch.{name}"), sys.modules[f"torch.{name}"])
                self.assertTrue(sys.modules[f"torch.{name}"].__name__.startswith("tandem."))

    def test_texts_say_torch(self):
        self.assertEqual(repr(torch.int32), "torch.int32")
        self.assertEqual(repr(torch.zeros(2, 3).shape), "torch.Size([2, 3])")
        self.assertEqual(repr(torch.zeros(1, dtype=torch.float64)), "tensor([0.], dtype=torch.float64)")

    def test_versions(self):
        self.assertTrue(torch.__version__.startswith("2.15.0+tandem."))
        self.assertEqual(torch.version.__version__, torch.__version__)
        self.assertEqual(torch.version.cuda is not None, torch.cuda.is_available())

    def test_the_class_of_tensors(self):
        self.assertEqual(str(type(torch.ones(1))), "<class 'torch.Tensor'>")
        self.assertEqual((torch.Tensor.__module__, torch.Tensor.__qualname__), ("torch", "Tensor"))
        self.assertEqual(pickle.loads(pickle.dumps(torch.ones(2))).tolist(), [1, 1])
        self.assertIs(pickle.loads(pickle.dumps(torch.Tensor)), torch.Tensor)

    def test_what_other_libraries_ask_first(self):
        self.assertEqual(importlib.metadata.version("torch"), torch.__version__)
        self.assertEqual(importlib.metadata.metadata("torch")["Name"], "torch")
        self.assertEqual([d.version for d in importlib.metadata.distributions() if d.metadata["Name"] == "torch"], [torch.__version__])
        with self.assertRaises(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version("torch-of-nobody")
        self.assertIs(torch.torch, torch)
        self.assertEqual(torch._foreach_add([torch.ones(1)], 1)[0].item(), 2)
        self.assertIs(importlib.import_module("torch.distributed.constants").default_pg_timeout, torch.distributed.default_pg_timeout)
        self.assertEqual(importlib.import_module("torch.serialization").DEFAULT_PROTOCOL, 2)
        from torch.distributions.utils import _standard_normal, _sum_rightmost
        self.assertEqual(_sum_rightmost(torch.ones(2, 3), 1).tolist(), [3, 3])
        torch.manual_seed(0)
        drawn = _standard_normal(torch.Size([2, 3]), dtype=torch.float64, device=torch.device("cpu"))
        self.assertEqual((drawn.shape, drawn.dtype), ((2, 3), torch.float64))
        kind, other = type("Kind", (), {}), type("Other", (), {})  # no Distributions of torch's
        torch.distributions.register_kl(kind, other)(lambda p, q: 3)
        self.assertEqual(torch.distributions.kl_divergence(kind(), other()), 3)
        with self.assertRaisesRegex(TypeError, "^issubclass.. arg 1 must be a class"):
            torch.distributions.register_kl(3, kind)
        future = torch.Future()
        future.set_result(3)
        self.assertEqual(future.wait(), 3)
        self.assertIsInstance(torch.ones(1), torch.autograd.Variable)
        self.assertNotIsInstance(1, torch.autograd.Variable)
        self.assertTrue(torch.autograd.Variable(torch.ones(1), requires_grad=True).requires_grad)
        on_gpu = torch.ones(1, device="cuda:1") if torch.cuda.device_count() > 1 else None
        devices, states = torch.utils.checkpoint.get_device_states(torch.ones(1), 3, on_gpu, on_gpu)
        self.assertEqual((devices, len(states)), ([], 0) if on_gpu is None else ([1], 1))
        torch.utils.checkpoint.set_device_states(devices, states)
        with torch.backends.cuda.sdp_kernel(enable_math=False):
            self.assertTrue(torch.backends.cuda.math_sdp_enabled())

    def test_what_is_missing_says_so(self):
        with self.assertRaisesRegex(AttributeError, "module 'torch' has no attribute 'sparse': tandem does not have it"):
            torch.sparse.mm
        self.assertFalse(hasattr(torch, "sparse"))
        with self.assertRaisesRegex(NotImplementedError, "fft: transforms have complex results, and tandem has no complex dtypes"):
            torch.fft.fft(torch.ones(3))
        from torch.fft import ifft2, rfft  # noqa: F401  a module that names them can be imported
        with self.assertRaisesRegex(ModuleNotFoundError, "No module named 'torch.export': tandem does not have it"):
            importlib.import_module("torch.export")
        with self.assertRaisesRegex(AttributeError, "module 'torchvision' has no attribute 'prototype': tandem's stand-in has datasets"):
            torchvision.prototype
        with self.assertRaisesRegex(ModuleNotFoundError, "No module named 'torchvision.prototype': tandem does not have it"):
            importlib.import_module("torchvision.prototype")
        with self.assertRaisesRegex(AttributeError, "torchvision.datasets.*VOCDetection"):
            torchvision.datasets.VOCDetection

    def test_options_of_compilers_are_kept(self):
        import torch._dynamo
        import torch._inductor.config as inductor

        inductor.coordinate_descent_tuning = True
        torch._inductor.config.triton.unique_kernel_names = True
        torch._dynamo.config.suppress_errors = True
        torch._dynamo.reset()
        self.assertTrue(torch._inductor.config.coordinate_descent_tuning and torch._dynamo.config.suppress_errors)
        self.assertEqual(torch._dynamo.optimize("inductor")(len)([1, 2]), 2)

    def test_jit_gives_back_what_it_is_given(self):
        @torch.jit.script
        def double(x):
            return x * 2

        self.assertEqual(double(torch.ones(2)).tolist(), [2, 2])
        model = torch.nn.Linear(2, 1)
        self.assertIs(torch.jit.trace(model, torch.ones(1, 2)), model)
        with self.assertRaisesRegex(NotImplementedError, "torch.jit.save"):
            torch.jit.save(model, "model.pt")

    def test_hub_reads_a_local_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "hubconf.py"), "w") as file:
                file.write("import torch\ndef line(size):\n    return torch.nn.Linear(size, 1)\n")
            self.assertEqual(torch.hub.load(folder, "line", 3, source="local").in_features, 3)
            with self.assertRaisesRegex(RuntimeError, "Cannot find callable circle in hubconf"):
                torch.hub.load(folder, "circle", source="local")
            with self.assertRaisesRegex(NotImplementedError, "pytorch/vision"):
                torch.hub.load("pytorch/vision", "resnet18")

    def test_no_module_is_a_scripted_one(self):
        self.assertNotIsInstance(torch.nn.Linear(2, 1), torch.jit.ScriptModule)
        self.assertTrue(issubclass(torch.jit.ScriptModule, torch.nn.Module))
        self.assertFalse(torch.jit.is_scripting())
        self.assertTrue(torch.jit.isinstance([1], list))

    def test_accelerator(self):
        accelerator = torch.accelerator
        self.assertEqual(accelerator.device_count(), torch.cuda.device_count())
        self.assertEqual(accelerator.current_accelerator(), torch.device("cuda") if accelerator.is_available() else None)
        if accelerator.device_count() > 1:
            with accelerator.device_index(1):
                self.assertEqual(accelerator.current_device_index(), 1)
            accelerator.set_device_index(torch.device("cuda:1"))
            self.assertEqual(torch.cuda.current_device(), 1)
            accelerator.set_device_index(0)

    def test_trees(self):
        from torch.utils import _pytree as pytree

        tree = {"a": [1, (2, 3)], "b": 4}
        leaves, spec = pytree.tree_flatten(tree)
        self.assertEqual(leaves, [1, 2, 3, 4])
        self.assertEqual(pytree.tree_unflatten([5, 6, 7, 8], spec), {"a": [5, (6, 7)], "b": 8})
        self.assertEqual(pytree.tree_map(lambda a, b: a * b, tree, tree), {"a": [1, (4, 9)], "b": 16})
        self.assertEqual(pytree.tree_map_only(str, str.upper, ["x", 1]), ["X", 1])
        with self.assertRaisesRegex(ValueError, "`leaves` has length 1"):
            pytree.tree_unflatten([1], spec)

    def test_a_second_time_is_nothing(self):
        before = list(sys.meta_path)
        tandem.torch_compat.register()
        self.assertEqual(sys.meta_path, before)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(program(text))
        return path

    def test_a_script_runs_as_python_runs_it(self):
        self.write("beside.py", "value = 7\n")
        script = self.write(
            "train.py",
            """
            import sys, beside, torch
            if __name__ == "__main__":
                print(sys.argv[1:], beside.value, torch.arange(3), __file__ == sys.argv[0])
                sys.exit(3)
        """,
        )
        done = python("-m", "tandem.torch_compat", script, "--epochs", "3", TANDEM_QUIET="")
        self.assertEqual(done.stdout, "['--epochs', '3'] 7 tensor([0, 1, 2]) True\n")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, f"tandem.torch_compat: `import torch` is tandem {tandem.__version__} in this program\n")

    def test_an_error_names_the_scripts_line(self):
        script = self.write("train.py", "import torch\n\ntorch.ones(2) + torch.ones(3)\n")
        done = python("-m", "tandem.torch_compat", script)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'File "{script}", line 3, in <module>', done.stderr)

    def test_a_module_runs_too(self):
        self.write("train.py", "import sys, torch\nprint(sys.argv[1:], torch.ones(1))\n")
        done = python("-m", "tandem.torch_compat", "-m", "train", "-x", folder=self.folder)
        self.assertEqual(done.stdout, "['-x'] tensor([1.])\n", done.stderr)

    def test_without_a_file_it_says_how(self):
        done = python("-m", "tandem.torch_compat")
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: python -m tandem.torch_compat", done.stderr)
        done = python("-m", "tandem.torch_compat", os.path.join(self.folder, "nothing.py"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("no file", done.stderr)

    def test_spawned_processes_find_torch_so(self):
        script = self.write(
            "train.py",
            """
            import torch
            import torch.multiprocessing as mp

            def work(queue):
                queue.put(torch.__version__)

            if __name__ == "__main__":
                context = mp.get_context("spawn")
                queue = context.Queue()
                process = context.Process(target=work, args=(queue,))
                process.start()
                print(queue.get() == torch.__version__)
                process.join()
                print(process.exitcode)
        """,
        )
        done = python("-m", "tandem.torch_compat", script, TANDEM_QUIET="")
        self.assertEqual(done.stdout, "True\n0\n", done.stderr)
        self.assertEqual(done.stderr.count("tandem.torch_compat"), 1)

    def test_programs_that_a_program_starts_find_torch_so(self):
        self.write("worker.py", "import torch\nprint(torch.ones(2))\n")
        script = self.write("launch.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'worker.py'])\n")
        done = python("-m", "tandem.torch_compat", script, folder=self.folder, TANDEM_QUIET="")
        self.assertEqual(done.stdout, "tensor([1., 1.])\n", done.stderr)
        self.assertEqual(done.stderr.count("tandem.torch_compat"), 1)

    def test_whole_models_are_loaded_where_their_classes_are_allowed(self):
        script = self.write(
            "train.py",
            """
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.line = torch.nn.Linear(2, 1)

                def forward(self, x):
                    return self.line(x)

            net = Net()
            torch.save(net, "net.pt")
            try:
                torch.load("net.pt")
            except Exception as error:
                print(type(error).__name__, "Net" in str(error))
            with torch.serialization.safe_globals([Net, torch.nn.Linear]):
                again = torch.load("net.pt")
            print(torch.equal(again(torch.ones(1, 2)), net(torch.ones(1, 2))), torch.serialization.get_safe_globals())
        """,
        )
        done = python("-m", "tandem.torch_compat", script, folder=self.folder)
        self.assertEqual(done.stdout, "UnpicklingError True\nTrue []\n", done.stderr)

    def test_another_torch_that_is_loaded_is_refused(self):
        self.write("torch.py", "")
        done = python(
            "-c",
            "import torch\ntry:\n    import tandem.torch_compat\nexcept ImportError as error:\n    print(error)",
            PYTHONPATH=self.folder + os.pathsep + os.environ.get("PYTHONPATH", ""),
        )
        self.assertRegex(done.stdout, r"has loaded another torch already \(.*torch.py\)")

    def test_tandem_alone_leaves_torch_alone(self):
        done = python("-c", "import tandem\nprint(tandem.int32)\nimport torch", folder=self.folder)
        self.assertEqual(done.stdout, "tandem.int32\n")

    def test_nvidia_smi_of_a_notebook(self):
        code = program("""
            import subprocess
            import tandem.torch_compat
            tandem.torch_compat.load_ipython_extension(None)
            x = tandem.ones(4, device="cuda")
            subprocess.run("nvidia-smi", shell=True)
        """)
        done = python("-c", code)
        self.assertIn("Memory-Usage", done.stdout, done.stderr)


class Pycuda(unittest.TestCase):
    def test_facts_of_devices(self):
        import pycuda.autoinit
        import pycuda.driver as cuda

        cuda.init()
        self.assertEqual(cuda.Device.count(), torch.cuda.device_count())
        device = cuda.Device(0)
        self.assertEqual(device.name(), torch.cuda.get_device_name(0))
        self.assertEqual(device.total_memory(), torch.cuda.get_device_properties(0).total_memory)
        self.assertEqual(device.compute_capability(), torch.cuda.get_device_capability(0))
        self.assertEqual(device.get_attributes()[cuda.device_attribute.WARP_SIZE], 32)
        self.assertEqual(pycuda.autoinit.device, device)
        free, total = cuda.mem_get_info()
        self.assertTrue(0 < free <= total)
        with self.assertRaisesRegex(cuda.LogicError, "invalid device ordinal"):
            cuda.Device(99)
        with self.assertRaisesRegex(AttributeError, "mem_alloc"):
            cuda.mem_alloc(4)


if __name__ == "__main__":
    unittest.main()
