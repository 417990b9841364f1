"""The five texts that tandem was made from: every cell of code runs as it stands, on two virtual GPUs, and prints what the text says."""

import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "seeds"))
TEXTS = os.path.join(HERE, "..", "..", "..", "shared", "seeds")

import cells  # noqa: E402
import run_together  # noqa: E402

# By number, the cells whose output only the author's own machine could print: its one GPU's number and name, old words of PyTorch's.
SECOND = {
    2: "2",  # it counts one GPU
    3: "(device(type='cuda', index=0),\n device(type='cpu'),\n [device(type='cuda', index=0), device(type='cuda', index=1)])",
    6: "tensor([[#, #, #],\n        [#, #, #]], device='cuda:1')",  # it prints cuda:0 for a tensor of try_gpu(1), and so on to cell 9
    7: "tensor([[1., 1., 1.],\n        [1., 1., 1.]], device='cuda:0')\ntensor([[1., 1., 1.],\n        [1., 1., 1.]], device='cuda:1')",
    8: "tensor([[#, #, #],\n        [#, #, #]], device='cuda:1')",
    9: "False",
}
LAST = {
    2: "2",
    4: "'tandem virtual GPU'",
    10: "RuntimeError: Expected all tensors to be on the same device",  # the words of 2019
    13: "tensor([[#],\n        [#]], device='cuda:0', grad_fn=<AddmmBackward0>)",
}


def text(name):
    with open(os.path.join(TEXTS, name), encoding="utf-8") as file:
        return file.read()


def play(codes):
    """What each code prints, run one after another in a process of their own."""
    environment = dict(os.environ, TANDEM_VIRTUAL_GPUS="2x256MiB", TANDEM_QUIET="1", PYTHONIOENCODING="utf-8")
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "seeds", "play.py")],
        input=json.dumps(codes),
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def alike(output, spaces):
    """Output without what differs from run to run: random numbers, addresses, the name that a class is under.

    spaces: whether the text has kept them.
    """
    output = re.sub(r"0x[0-9a-f]+", "0x", output.replace("tandem.cuda", "torch.cuda"))
    output = (
        re.sub(r"(\[ ?)?-?\d\.\d{4}(?:e[-+]\d\d)?", lambda found: "[#" if found.group(1) else "#", output)
        .replace(", -#", ", #")
        .replace(",  #", ", #")
        .strip()
    )
    return output if spaces else " ".join(output.split())


@unittest.skipUnless(os.path.isdir(TEXTS), "the texts are not beside this repository")
class Seeds(unittest.TestCase):
    def check(self, read, own=None, spaces=True):
        """Runs all cells; `own`: what cells print instead of what the text shows."""
        run = [cell for cell in read if not cell.code.startswith("!pip")]
        for number, (cell, printed) in enumerate(zip(run, play([cell.code for cell in run]))):
            with self.subTest(cell=number, code=cell.code):
                wanted = (own or {}).get(number, cell.output)
                if cell.code.startswith("!nvidia-smi"):
                    self.assertIn("Memory-Usage", printed)
                    self.assertRegex(printed, r"\|\s+0 ")
                elif wanted is not None and wanted.startswith("RuntimeError"):
                    self.assertTrue(printed.startswith(wanted), printed)
                else:
                    self.assertEqual(alike(printed, spaces), alike(wanted or "", spaces))
        return run

    def test_the_notebook(self):
        run = self.check(cells.notebook(text("000_550e329a550cc5fd.txt")), spaces=False)
        self.assertEqual(len(run), 13)

    def test_the_article_whose_lines_ran_together(self):
        source = "".join(text("001_d1eac2455791c0ec.txt").split())
        for code, _ in run_together.CELLS:
            if not code.startswith(run_together.GIVEN):
                self.assertIn("".join(code.split()), source)
        self.check([cells.Cell(code, output) for code, output in run_together.CELLS])

    def test_the_first_chapter(self):
        run = self.check(cells.numbered(text("002_a885fcfb18edf4af.txt")), SECOND)
        self.assertEqual(len(run), 12)

    def test_the_second_chapter(self):
        trainer = cells.Cell(
            "t = d2l.Trainer(3, num_gpus=2)\nt.max_epochs, t.gpus, t.prepare_batch([torch.ones(2)])",
            "(3,\n [device(type='cuda', index=0), device(type='cuda', index=1)],\n [tensor([1., 1.], device='cuda:0')])",
        )
        run = self.check(cells.numbered(text("003_68525b976147e5a2.txt")) + [trainer])
        self.assertEqual(len(run), 16)

    def test_the_last_article(self):
        run = self.check(cells.article(text("004_f05ccd64ae8abda7.txt")), LAST)
        self.assertEqual(len(run), 14)


if __name__ == "__main__":
    unittest.main()
