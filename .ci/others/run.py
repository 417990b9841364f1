"""Runs one program or page, in processes of its own, on tandem or on PyTorch, and says how it went."""

import dataclasses
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import files
from pages import cells_of

HERE = Path(__file__).resolve().parent


@dataclasses.dataclass
class Side:
    """What runs the programs: Python's path and how it is told to run a file."""
    name: str
    python: str
    path: list  # folders of packages
    work: Path

    @property
    def starts(self):
        return [self.python, "-m", "tandem.torch_compat"] if self.name == "tandem" else [self.python]

    def environment(self, folder, gpus):
        """One thread, no windows, no leftovers in the user's folders, and the packages of this side."""
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, self.path)), "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "TANDEM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
            "TANDEM_QUIET": "1", "TANDEM_VIRTUAL_GPUS": f"{gpus}x512MiB" if gpus else "0", "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": str(self.work / ".matplotlib"), "IPYTHONDIR": str(folder / ".ipython"),
            "TORCHINDUCTOR_CACHE_DIR": str(self.work / ".inductor")}


@dataclasses.dataclass
class Outcome:
    """How one cell or one program went."""
    what: str
    error: str = None  # None: it ran to its end
    output: str = ""
    where: str = None  # the end of what it wrote on its error stream
    comparable: bool = True  # False: PyTorch, without a GPU, has to print something else


def _run(command, folder, environment, seconds, lines=0):
    """Exit status - None: stopped after its lines; "late": after its seconds -, output, error stream."""
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    errors, output, late = [], [], []

    def stop():
        late.append(True)
        os.killpg(process.pid, signal.SIGKILL)
    timer = threading.Timer(seconds, stop)
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    timer.start()
    reader.start()
    try:
        for line in process.stdout:
            output.append(line)
            if lines and len(output) >= lines:
                os.killpg(process.pid, signal.SIGKILL)
                break
        process.wait()
    finally:
        timer.cancel()
        _end_group(process.pid)
    reader.join()
    process.stdout.close()
    process.stderr.close()
    status = "late" if late else None if lines and len(output) >= lines else process.returncode
    return status, "".join(output), errors[0]


def _end_group(group):
    """Ends what a program has left running."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _last_lines(text, count=25):
    return "\n".join(text.strip().splitlines()[-count:])


def _error_of(text):
    """The line that names the exception, of what a program wrote."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    named = [line for line in lines if line[:1].isalpha() and ("Error" in line.split(":")[0] or "Exception" in line.split(":")[0])]
    return (named or lines or ["no message"])[-1].strip()


def run_program(side, folder_of_checkouts, program):
    """One program: its commands in a fresh copy of its folder, until one fails."""
    home = side.work / program.name.replace(" ", "_").replace("/", "_")
    shutil.rmtree(home, ignore_errors=True)
    copy = home / Path(program.folder).name
    shutil.copytree(folder_of_checkouts / program.folder, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    for make, place in program.files:
        make((copy / place).resolve())
    environment = side.environment(copy, program.gpus) | program.variables
    environment["PYTHONPATH"] += os.pathsep + str(copy)
    outputs = []
    for command in program.commands:
        words = [word for word in shlex.split(command) if word != "-u"]
        status, output, errors = _run(side.starts + words, copy, environment, program.seconds, program.lines)
        outputs.append(output)
        if status == "late":
            return [Outcome(program.name, f"{words[0]} ran for more than {program.seconds} s", "".join(outputs), _last_lines(errors))]
        if status not in (0, None):
            return [Outcome(program.name, _error_of(errors or output), "".join(outputs), _last_lines(errors or output))]
    return [Outcome(program.name, None, "".join(outputs))]


def run_page(side, chapter, page, epochs):
    """One page of d2l: an outcome for each of its cells."""
    folder = side.work / "d2l" / page.stem
    folder.mkdir(parents=True, exist_ok=True)
    data = side.work / "d2l" / "data"
    if not data.exists():
        data.mkdir()
        files.d2l(data)
    results = folder / "results"
    results.unlink(missing_ok=True)
    cells = len(cells_of(page.read_text(encoding="utf-8")))
    if not cells:
        return []
    gpus = 2 if page.stem in chapter.gpu_pages else 0
    command = side.starts + [str(HERE / "pages.py"), str(page), str(results), str(epochs)]
    status, _, errors = _run(command, folder, side.environment(folder, gpus), chapter.seconds)
    outcomes = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    found = [Outcome(f"{chapter.name}/{page.stem}[{o['cell']}]", o["error"], o["output"], o["where"], not gpus) for o in outcomes]
    for number in range(len(found) + 1, cells + 1):
        error = f"the page ran for more than {chapter.seconds} s" if status == "late" else _error_of(errors)
        found.append(Outcome(f"{chapter.name}/{page.stem}[{number}]", error, "", _last_lines(errors)))
    return found


def kept(side, key, run, fresh):
    """The outcomes of `run`, or those of an earlier time with this `key` - commit, row of the table, Python - and these files and cells."""
    made_by = b"".join((HERE / name).read_bytes() for name in ("files.py", "pages.py"))
    name = side.work / "kept" / (hashlib.sha256(repr(key).encode() + made_by).hexdigest()[:24] + ".json")
    if name.exists() and not fresh:
        return [Outcome(**o) for o in json.loads(name.read_text())]
    outcomes = run()
    name.parent.mkdir(parents=True, exist_ok=True)
    name.write_text(json.dumps([dataclasses.asdict(o) for o in outcomes]))
    return outcomes


def timed(run):
    """What `run` gives, and its seconds."""
    started = time.monotonic()
    return run(), time.monotonic() - started
