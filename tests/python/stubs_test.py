"""The type stubs and the page of coverage: fresh, complete, without names that are not there, and understood by mypy."""

import ast
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import tandem

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE, GENERATE, TYPING = ROOT / "python" / "tandem", ROOT / "python" / "generate", ROOT / "tests" / "python" / "typing"


def names_of(body):
    """The names that the statements of a stub define."""
    names = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets)
        elif isinstance(node, ast.ImportFrom):
            names.update(
                alias.asname for alias in node.names if alias.asname == alias.name or alias.asname and not alias.asname.startswith("_")
            )
    return names


def stub(name):
    return ast.parse((PACKAGE / f"{name}.pyi").read_text()).body


def public(names):
    return {name for name in names if not name.startswith("_")}


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **more})


class Stubs(unittest.TestCase):
    def test_fresh(self):
        done = run(sys.executable, str(GENERATE / "stubs.py"), "--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_extension(self):
        stubbed = public(names_of(stub("_C")))
        self.assertEqual(public(dir(tandem._C)) - stubbed, set(), "not in _C.pyi")
        self.assertEqual(stubbed - set(dir(tandem._C)), set(), "only in _C.pyi")

    def test_package(self):
        stubbed = public(names_of(stub("__init__")))
        self.assertEqual(public(dir(tandem)) - stubbed, set(), "not in __init__.pyi")
        there = {
            name for name in stubbed if name in dir(tandem) or importlib.util.find_spec(f"tandem.{name}")
        }  # parts are imported when they are asked for
        self.assertEqual(stubbed - there, set(), "only in __init__.pyi")

    def test_tensor(self):
        body = next(node.body for node in stub("_C") if isinstance(node, ast.ClassDef) and node.name == "Tensor")
        inherited = set(dir(object)) | {"__delitem__", "__delattr__", "__weakref__", "__module__"}
        inherited |= {"__buffer__", "__release_buffer__"}  # of classes with a buffer, from Python 3.12 on
        stubbed = names_of(body)
        self.assertEqual(set(dir(tandem.Tensor)) - stubbed - inherited, set(), "not in Tensor of _C.pyi")
        self.assertEqual(stubbed - set(dir(tandem.Tensor)), set(), "only in Tensor of _C.pyi")

    def test_linear_algebra(self):
        stubbed = public(names_of(stub("linalg")))
        own = {name for name in public(dir(tandem.linalg)) if callable(getattr(tandem.linalg, name))}
        self.assertEqual(own, stubbed)

    def test_a_missing_name_is_seen(self):
        self.assertIn("zeros", names_of(stub("__init__")))
        self.assertNotIn("no_such_function", names_of(stub("__init__")))

    def test_samples_run(self):
        for sample in sorted(TYPING.glob("*.py")):
            with self.subTest(sample.name):
                done = run(sys.executable, str(sample), TANDEM_VIRTUAL_GPUS="1x256MiB")
                self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy(self):
        done = run(
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            # What is written in Python has no types of its own: calls of it give Any, and a module's class is one of them.
            "--allow-untyped-calls",
            "--no-warn-return-any",
            "--allow-subclassing-any",
            "--follow-imports=silent",
            "--cache-dir",
            os.devnull,
            *map(str, sorted(TYPING.glob("*.py"))),
            MYPYPATH=str(PACKAGE.parent),
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("pyright"), "pyright is not installed")
    def test_pyright(self):
        with tempfile.TemporaryDirectory() as folder:
            for sample in TYPING.glob("*.py"):
                shutil.copy(sample, folder)
            pathlib.Path(folder, "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
            # On its path the package is an installed one, of which only what a stub exports may be used.
            done = run(sys.executable, "-m", "pyright", "-p", folder, "--pythonpath", sys.executable, PYTHONPATH=str(PACKAGE.parent))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_packages_that_gather(self):
        for package in ("nn", "nn.functional", "nn.utils", "nn.parallel", "distributed.optim"):
            module = importlib.import_module(f"tandem.{package}")
            for name in names_of(stub(f"{package.replace('.', '/')}/__init__")):
                self.assertTrue(hasattr(module, name), f"only in the stub of {package}: {name}")


class Coverage(unittest.TestCase):
    def test_fresh(self):
        done = run(sys.executable, str(GENERATE / "coverage.py"), "--check")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
