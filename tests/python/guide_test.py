"""The Python of docs/python.md, docs/python-training.md and README.md runs, each piece as a program of its own, from an empty folder."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pieces(page):
    """The page's pieces of Python."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)


class Guide(unittest.TestCase):
    def run_page(self, page, at_least):
        found = pieces(page)
        self.assertGreaterEqual(len(found), at_least)
        for number, text in enumerate(found):
            with self.subTest(page=page, piece=number), tempfile.TemporaryDirectory() as folder:
                environment = dict(os.environ)
                if "virtual_gpus(" in text:
                    environment.pop("TANDEM_VIRTUAL_GPUS", None)
                done = subprocess.run([sys.executable, "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.strip(), "a piece of the guide prints something")

    def test_python(self):
        self.run_page("docs/python.md", 3)

    def test_training(self):
        self.run_page("docs/python-training.md", 1)

    def test_readme(self):
        self.run_page("README.md", 1)


if __name__ == "__main__":
    unittest.main()
