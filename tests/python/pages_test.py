"""The reference of the Python package that the site shows: its pages, their links, and the words that it takes from the C++ interface."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATE = ROOT / "python" / "generate"
sys.path.insert(0, str(GENERATE))

import signatures  # noqa: E402
import words  # noqa: E402


class Form:
    """What words.docs() asks of a form."""

    def __init__(self, name, parameters, method=False):
        self.function = {"name": name, "parameters": [{"name": old} for old in parameters]}
        self.method, self.slots, self.python_name = method, [], lambda old: parameters[old]


class Words(unittest.TestCase):
    def test_cpp(self):
        for cpp, python in [
            ("`{.lr = 1e-3, .amsgrad = true}`", "`lr=1e-3, amsgrad=True`"),
            ("gives std::vector<Tensor>, or std::nullopt", "gives list of Tensor, or None"),
            ("{free, total} bytes", "(free, total) bytes"),
            ("of kFloat32 and kBool; `false`", "of float32 and bool; `False`"),
            ("td::cuda::memory::Scope", "cuda.memory.Scope"),
            ("where mask is true, else false", "where mask is true, else false"),
        ]:
            self.assertEqual(words.docs(cpp), python)

    def test_names_of_parameters(self):
        form = Form("some", {"x": "input", "dims": "dim"})
        self.assertEqual(words.docs("exp(x), x's sum along `dims`; 8x8", [form]), "exp(input), input's sum along `dim`; 8x8")
        form = Form("some", {"a": "input", "b": "other"})
        self.assertEqual(words.docs("a raised to b; |a - b| of a tensor", [form]), "input raised to other; |input - other| of a tensor")
        self.assertEqual(words.docs("(b, n, k)", [form]), "(b, n, k)")
        self.assertEqual(words.docs("1 / x", [Form("some", {}, method=True)]), "1 / self")

    def test_nothing_of_cpp_is_left(self):
        for name in ("_C", "linalg"):
            stub = (ROOT / "python" / "tandem" / f"{name}.pyi").read_text()
            for doc in re.findall(r'"""(.*?)"""', stub, re.S):
                self.assertNotRegex(doc, r"std::|\w::\w|nullptr|\{\.|\bkInt64\b")


class Signatures(unittest.TestCase):
    @staticmethod
    def text(heads):
        return [re.sub(r"<[^>]*>", "", head).replace("&#x27;", "'") for head in heads]

    def test_of_python(self):
        def function(a, b=1, /, c="x", *, d=None, **e):
            pass

        self.assertEqual(self.text(signatures.of_object("f", function)), ["f(a, b=1, /, c='x', *, d=None, **e)"])
        self.assertEqual(self.text(signatures.of_object("f", function, bound=True)), ["f(b=1, /, c='x', *, d=None, **e)"])

    def test_of_stubs(self):
        stub = signatures.STUBS.names["tandem._C"]
        self.assertEqual(self.text(signatures.of_stub("allclose", stub["allclose"]))[0].split("(")[0], "allclose")
        self.assertIn("input: Tensor, other: Tensor, rtol: float = 1e-05", self.text(signatures.of_stub("allclose", stub["allclose"]))[0])
        self.assertIn("→ (min, max)", self.text(signatures.of_stub("aminmax", stub["aminmax"]))[0])


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        shutil.copy(ROOT / "docs" / "site" / "python-reference.md", cls.folder.name)
        command = [sys.executable, str(GENERATE / "pages.py"), cls.folder.name]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TANDEM_QUIET": "1"}, timeout=120)
        cls.trouble = done.stderr if done.returncode else ""
        cls.pages = {page.stem: page.read_text() for page in pathlib.Path(cls.folder.name).rglob("*.md")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_written(self):
        self.assertEqual(self.trouble, "")
        self.assertGreater(len(self.pages), 30)
        start = self.pages["python-reference"]
        for name in set(self.pages) - {"python-reference"}:
            self.assertIn(f"@subpage {name}", start)

    def test_what_stands_there(self):
        entry = re.search(r'<div class="py" id="tandem.nn.Linear">(.*?)</div>', self.pages["python_tandem_nn"], re.S)[1]
        self.assertIn("Linear(in_features, out_features, bias=True, device=None, dtype=None)", re.sub(r"<[^>]*>", "", entry))
        for page, name in [
            ("nn_functional", "relu"),
            ("optim", "Adam"),
            ("cuda", "Stream"),
            ("linalg", "svd"),
            ("utils_data", "DataLoader"),
            ("Tensor", "sum"),
        ]:
            self.assertIn(f'.{name}">', self.pages[f"python_tandem_{page}"])
        self.assertIn('id="tandem.virtual_gpus"', self.pages["python_tandem"])
        self.assertNotIn('id="tandem.optim.swa_utils.Module"', self.pages["python_tandem_optim_swa_utils"])

    def test_links_lead_somewhere(self):
        anchors = {name: set(re.findall(r'id="([^"]+)"', text)) for name, text in self.pages.items()}
        for name, text in self.pages.items():
            for file, anchor in re.findall(r'href="([^"#]*)(?:#([^"]+))?"', text):
                self.assertIn(anchor or "", anchors[file.removesuffix(".html") or name] | {""}, f"{name}: {file}#{anchor}")

    def test_anchors_are_unique(self):
        for name, text in self.pages.items():
            found = re.findall(r'id="([^"]+)"', text)
            self.assertEqual(len(found), len(set(found)), name)


if __name__ == "__main__":
    unittest.main()
