"""Runs the expressions in a process of an interpreter, and starts another one after the expression that ended it or that does not end."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

EVALUATE = pathlib.Path(__file__).parent / "evaluate.py"
LONGEST_WAIT = 60.0  # seconds for one expression
LONGEST_START = 600.0  # for the interpreter to import its module, on a machine that is busy


def without_core_file():
    """In the worker, before it begins: one that crashes leaves no file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Worker:
    """A process that answers one expression after the other."""

    def __init__(self, python, module, expressions_file, results_file, first):
        self.messages = tempfile.TemporaryFile()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TANDEM_NUM_THREADS": "1"}
        command = [python, str(EVALUATE), module, expressions_file, results_file, str(first)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=self.messages, preexec_fn=without_core_file, env=environment
        )

    def last_words(self):
        self.messages.seek(0)
        lines = self.messages.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def how_it_ended(self):
        code, words = self.process.returncode, self.last_words()
        self.messages.close()
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}: {words}"


def run(python, module, expressions, told=None):
    """What each expression gives in `python`, with PyTorch or tandem imported: a list of descriptions. told(done, all) is called often."""
    with tempfile.TemporaryDirectory() as folder:
        expressions_file, results_file = os.path.join(folder, "expressions.json"), os.path.join(folder, "results")
        with open(expressions_file, "w") as file:
            json.dump(list(expressions), file)
        open(results_file, "wb").close()
        answers = Answers(results_file)
        while answers.count < len(expressions):
            before = answers.count
            ended = one_worker(Worker(python, module, expressions_file, results_file, before), answers, len(expressions), told)
            if answers.count == len(expressions):
                break
            if answers.count == before and ended.startswith("ended with"):
                raise SystemExit(f"the worker of {python} does not start: {ended}")
            answers.add({"crash": ended})
        return answers.all()


def one_worker(worker, answers, wanted, told):
    """Waits until the worker has ended, or ends it. How it ended."""
    last_growth, count, limit = time.monotonic(), answers.count, LONGEST_START
    while worker.process.poll() is None:
        time.sleep(0.1)
        answers.look()
        if answers.count != count:
            count, last_growth, limit = answers.count, time.monotonic(), LONGEST_WAIT
            if told:
                told(count, wanted)
        elif time.monotonic() - last_growth > limit:
            worker.process.kill()
            worker.process.wait()
            worker.messages.close()
            answers.look()
            return f"no answer in {limit:.0f} s"
    answers.look()
    return worker.how_it_ended()


class Answers:
    """The lines that workers have written, and those added for expressions that ended one."""

    def __init__(self, path):
        self.path, self.count, self.read_to = path, 0, 0

    def look(self):
        with open(self.path, "rb") as file:
            file.seek(self.read_to)
            new = file.read()
        self.count += new.count(b"\n")
        self.read_to += new.rfind(b"\n") + 1

    def add(self, answer):
        """After what was written whole."""
        with open(self.path, "r+b") as file:
            file.truncate(self.read_to)
            file.seek(self.read_to)
            file.write(json.dumps(answer).encode() + b"\n")
        self.look()

    def all(self):
        with open(self.path) as file:
            return [json.loads(line) for line in file]


def this_python():
    """The interpreter that tandem runs in: the one that runs this."""
    return sys.executable
