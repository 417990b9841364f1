"""Opens boards in Chromium, of up to 500 runs, and looks at what is drawn of the event files written here: board_page.py TANDEM."""

import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import chromium
import events

tandem = sys.argv[1]
HOSTILE = '"><img src=x onerror="document.body.dataset.harmed=1">'
# What the page complains of, from its first line on.
NOTE_ERRORS = """window.complaints = [];
addEventListener("error", event => complaints.push(String(event.message || event.target?.src || event.type)), true);
addEventListener("unhandledrejection", event => complaints.push(String(event.reason)));
addEventListener("securitypolicyviolation", event => complaints.push("policy: " + event.violatedDirective + " " + event.blockedURI));
console.error = (...what) => complaints.push(what.join(" "));"""


@contextlib.contextmanager
def opened(folder, size=(1280, 900), dark=False, hash="", script=""):
    board = subprocess.Popen([tandem, "board", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = next(filter(None, (re.search(r"http://\S+", line) for line in board.stdout)))[0]
        with chromium.Page(size) as page:
            page.call("Page.enable")
            page.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE_ERRORS + script)
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
            page.open(address + hash)
            page.wait_for("document.body?.dataset.ready === 'yes'")
            page.wait_for("document.getElementById('status').textContent.includes('run')")
            yield page
            assert page.value("document.body.dataset.harmed") is None, "a name became a part of the page"
            assert page.value("complaints") == [], page.value("complaints")
            assert page.value("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen"
            loaded = page.value("performance.getEntriesByType('resource').map(entry => entry.name)")
            assert loaded and all(name.startswith(address) or name.startswith("data:") for name in loaded), loaded
    finally:
        board.kill()
        board.wait()


def drawn(page, tag):
    """How many curves the chart of a tag has."""
    return page.value(f"""Number([...document.querySelectorAll("#curves figure")].find(f => f.querySelector("h3").textContent === {tag!r})
        ?.querySelector("canvas").dataset.drawn ?? 0)""")


def wait_for_ink(page, selector):
    """Until something has been painted on a canvas: it is in the page before that."""
    page.wait_for(f"""(() => {{ const canvas = document.querySelector({selector!r});
        return canvas !== null && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(byte => byte > 0); }})()""")


def choose(page, tab):
    page.value(f"document.getElementById('tab-{tab}').click()")
    page.wait_for(f"getComputedStyle(document.getElementById('panel-{tab}')).display !== 'none'")


one = pathlib.Path("one")
events.write_run(one / HOSTILE.replace("/", "_"), 20, [HOSTILE, "train_loss"])
for size, dark in (((1280, 900), False), ((390, 844), True)):
    with opened(one, size, dark) as page:
        page.wait_for("document.querySelectorAll('#curves canvas').length >= 4")
        page.wait_for("[...document.querySelectorAll('#curves canvas')].some(canvas => canvas.dataset.drawn > 0)")
        page.value("document.querySelectorAll('#curves canvas').forEach(canvas => canvas.scrollIntoView())")
        page.value("[...document.querySelectorAll('#curves figure')].find(f => f.querySelector('h3').textContent === 'train_loss').scrollIntoView()")
        page.wait_for("[...document.querySelectorAll('#curves figure')].find(f => f.querySelector('h3').textContent === 'train_loss').querySelector('canvas').dataset.drawn == 2")
        wait_for_ink(page, "#curves canvas[data-drawn]")

        # A key reads values; the figures are there as a table, too.
        page.value("""(() => { const figure = [...document.querySelectorAll('#curves figure')].find(f => f.querySelector('h3').textContent === 'train_loss');
            figure.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
            figure.querySelector('details').open = true; window.figure = figure; })()""")
        page.wait_for("!figure.querySelector('.tip').hidden && figure.querySelectorAll('.tip div').length === 2")
        page.wait_for("figure.querySelectorAll('tbody tr').length === 2")
        page.wait_for("figure.querySelector('canvas').getAttribute('aria-label').startsWith('train_loss: ')")

        # Choices: no run, all, smoothing, a logarithmic axis.
        page.value("document.getElementById('choose-none').click()")
        page.wait_for("document.querySelectorAll('#curves canvas').length === 0")
        page.value("document.getElementById('choose-all').click()")
        page.wait_for("[...document.querySelectorAll('#curves canvas')].some(canvas => canvas.dataset.drawn > 0)")
        page.value("(() => { const s = document.getElementById('smoothing'); s.value = 0.9; s.dispatchEvent(new Event('input')); document.getElementById('log').click(); })()")
        page.value("(() => { const a = document.getElementById('axis'); a.value = 'relative'; a.dispatchEvent(new Event('change')); })()")

        choose(page, "table")
        page.wait_for("document.querySelectorAll('#table tbody th').length === 2")
        page.value("[...document.querySelectorAll('#table th button')].find(b => b.textContent.startsWith('train_loss')).click()")
        page.wait_for("document.querySelectorAll('#table th[aria-sort=ascending]').length === 1")
        choose(page, "images")
        page.wait_for("[...document.querySelectorAll('#images img')].some(img => img.complete && img.naturalWidth > 0)")
        choose(page, "histograms")
        page.wait_for("document.querySelectorAll('#histograms canvas').length === 4")
        wait_for_ink(page, "#histograms canvas")
        choose(page, "texts")
        page.wait_for("document.getElementById('texts').textContent.includes('Linear')")
        choose(page, "devices")
        page.wait_for("document.querySelector('#devices').textContent.includes('cuda:0') || document.querySelector('#devices').textContent.includes('No GPU')")
        choose(page, "waits")
        page.wait_for("document.querySelector('#waits table.ledger')?.textContent.includes('time lost')")
        wait_for_ink(page, "#waits canvas")
        # The row of tabs is one stop of the Tab key, and arrows go along it.
        assert page.value("document.querySelectorAll('#tabs [tabindex=\"0\"]').length") == 1
        page.value("document.getElementById('tab-waits').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
        page.wait_for("document.activeElement.id === 'tab-curves'")
        unnamed = page.value("""[...document.querySelectorAll('input, select, button, canvas, [role=meter]')].filter(e => !e.closest('label') && !e.textContent.trim()
            && !e.getAttribute('aria-label')).map(e => e.outerHTML)""")
        assert unnamed == [], unnamed

for runs in (50, 500):
    folder = pathlib.Path(f"runs{runs}")
    for i in range(runs):
        events.write_run(folder / f"group{i % 7}/run{i:03}", 40, ["train/loss", "val/loss"], seed=i)
    with opened(folder) as page:
        page.wait_for(f"document.getElementById('status').textContent === '{runs} runs'")
        page.wait_for(f"document.querySelectorAll('#runs li').length === {runs}")
        page.wait_for("document.querySelectorAll('#curves canvas').length === 2")
        page.wait_for("[...document.querySelectorAll('#curves canvas')].every(canvas => canvas.dataset.drawn == 10)")
        page.value("document.getElementById('choose-all').click()")
        page.wait_for(f"[...document.querySelectorAll('#curves canvas')].every(canvas => canvas.dataset.drawn == {runs})")
        page.value("(() => { const f = document.getElementById('run-filter'); f.value = 'group3/'; f.dispatchEvent(new Event('input')); })()")
        page.wait_for(f"document.querySelectorAll('#runs li').length === {len(range(3, runs, 7))}")
        choose(page, "table")
        page.wait_for(f"document.querySelectorAll('#table tbody tr').length === {runs}")

# A curve that grows is seen to grow.
growing = pathlib.Path("growing")
events.write_run(growing / "run", 5, ["x"])
with opened(growing) as page:
    page.wait_for("document.querySelector('#curves canvas')?.dataset.drawn == 1")
    with open(growing / "run/events.out.tfevents.1700000000.host.1.0", "ab") as file:
        file.write(events.scalar("x", 42.0, 5))
    page.wait_for("document.querySelector('#curves canvas').getAttribute('aria-label').includes('ends at 42')")


# --- Curves

def run_of(folder, curves, start=1.7e9, **facts):
    """A run with curves {tag: {step: value}}, a point each tenth of a second, and with a summary."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "events.out.tfevents.1700000000.host.1.0", "wb") as file:
        for tag, points in curves.items():
            for step, value in points.items():
                file.write(events.scalar(tag, value, step, start + step / 10))
    if facts:
        (folder / "summary.json").write_text(json.dumps(facts))


def append(folder, *records):
    with open(folder / "events.out.tfevents.1700000000.host.1.0", "ab") as file:
        for record in records:
            file.write(record)


def mouse(page, kind, x, y, **more):
    page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def rect(page, expression):
    return page.value(f"(() => {{ const r = ({expression}).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }})()")


def point_at(page, tag, x):
    """Moves the mouse over a chart to a value of its x axis."""
    left, top, _, bottom = rect(page, f"figures.get('{tag}').canvas")
    mouse(page, "mouseMoved", left + page.value(f"figures.get('{tag}').scale.X({x})"), (top + bottom) / 2)


def tip(page, tag):
    """The tooltip's first line, and its rows: name, value, the point's own place."""
    return page.value(f"""(() => {{ const t = figures.get('{tag}').tip; return t.hidden ? null : [t.querySelector('b').textContent,
        [...t.querySelectorAll('div')].map(row => [...row.children].slice(1).map(part => part.textContent))]; }})()""")


def setting(page, id, value, event="change"):
    page.value(f"(() => {{ const s = document.getElementById('{id}'); s.value = '{value}'; s.dispatchEvent(new Event('{event}')); }})()")


compared = pathlib.Path("compared")
run_of(compared / "long", {"loss": {s: 1 + s / 100 for s in range(100)}, "acc": {s: s / 100 for s in range(100)}, "lr": {s: 0.1 for s in range(100)},
                           "hparam/acc": {0: 0.99}, "val/loss": {s: 10.0 ** (s / 25 - 3) for s in range(100)}})
run_of(compared / "short", {"loss": {s: 2 + s / 100 for s in range(50)}})
run_of(compared / "sparse", {"loss": {s: 3 + s / 100 for s in (0, 50, 100)}})
run_of(compared / "twin_a", {"twins": {s: float(s) for s in range(60)}})
run_of(compared / "twin_b", {"twins": {s: float(s) for s in range(60)}})

# The tooltip: each row has its own step; a run that has ended before is left out; what is read is seen.
with opened(compared) as page:
    page.wait_for("figures.get('loss')?.canvas.dataset.drawn == 3")
    point_at(page, "loss", 80)
    page.wait_for("!figures.get('loss').tip.hidden")
    assert tip(page, "loss") == ["step 80", [["sparse", "4", "100"], ["long", "1.8", "80"]]], tip(page, "loss")
    assert page.value("[...figures.get('loss').tip.querySelectorAll('div .swatch')].map(s => s.style.color)") == \
        page.value("['sparse', 'long'].map(name => `var(--c${place(state.runs.find(run => run.name === name).id) % 6})`)")
    assert page.value("figures.get('loss').marks.children.length") == 2 and not page.value("figures.get('loss').guide.hidden")
    chart, told = rect(page, "figures.get('loss').canvas"), rect(page, "figures.get('loss').tip")
    assert told[1] >= chart[3] or told[3] <= chart[1], (chart, told)
    guide = rect(page, "figures.get('loss').guide")
    assert abs(guide[0] - chart[0] - page.value("figures.get('loss').scale.X(80)")) < 1.5, (guide, chart)
    marked = "[...figures.get('loss').marks.children].map(mark => mark.style.top).join()"
    before = page.value(marked)
    page.value("figures.get('loss').log.click()")
    assert page.value(marked) != before, "the points stay where they were on the other scale"
    setting(page, "smoothing", 0.9, "input")
    assert tip(page, "loss")[1][1][1:] != ["1.8", "80"], "the tooltip does not follow the smoothing"
    setting(page, "smoothing", 0, "input")
    setting(page, "axis", "relative")
    assert tip(page, "loss")[0].endswith(" s") and all(row[2].endswith(" s") for row in tip(page, "loss")[1]), tip(page, "loss")

# While values are on their way the chart says so, and not that there are none.
SLOW = """const quick = fetch; window.fetch = async (...what) => { if (String(what[0]).startsWith("curves")) await new Promise(done => setTimeout(done, 1000));
    return quick(...what); };"""
with opened(compared, script=SLOW) as page:
    page.wait_for("figures.get('loss')?.canvas.dataset.empty !== undefined")
    assert page.value("figures.get('loss').canvas.dataset.empty") == "loading…"
    page.wait_for("figures.get('loss').canvas.dataset.drawn == 3 && figures.get('loss').canvas.dataset.empty === ''")

# A run under way: its first point is to be seen, and each one soon after it is written.
under_way = pathlib.Path("under_way")
under_way.mkdir()
COLOURED = """(() => { const canvas = figures.get('x')?.canvas; if (!(canvas?.dataset.drawn > 0)) return 0;
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; let count = 0;
    for (let i = 0; i < data.length; i += 4) count += data[i] === 0 && data[i + 1] === 103 && data[i + 2] === 168; return count; })()"""
with opened(under_way) as page:
    run_of(under_way / "run", {"x": {0: 1.0}})
    page.wait_for("figures.get('x')?.canvas.dataset.drawn == 1")
    assert page.value(COLOURED) >= 20, "a single point is hardly seen"
    waits = []
    for step in range(1, 6):
        append(under_way / "run", events.scalar("x", float(step), step))
        begin = time.monotonic()
        page.wait_for(f"figures.get('x').canvas.getAttribute('aria-label').includes('ends at {step}')")
        waits.append(time.monotonic() - begin)
        time.sleep(0.3)
    assert statistics.median(waits) < 2, waits

# Order, what is missing, curves that are the same, the scale of a chart, zoom, width.
with opened(compared) as page:
    page.wait_for("figures.get('twins')?.canvas.dataset.drawn == 2")
    assert page.value("document.querySelector('#curves h3').textContent") == "loss"
    assert page.value("[...document.querySelectorAll('#curves > details.settings h3')].map(h => h.textContent)") == ["lr"]
    assert not page.value("document.querySelector('#curves > details.settings').open") and not page.value("figures.has('hparam/acc')")
    assert "2 of 5 runs have none of it" in page.value("figures.get('loss').told.textContent")
    assert "twin_a = twin_b" in page.value("figures.get('twins').told.textContent")
    both = page.value("""(() => { const canvas = figures.get('twins').canvas, seen = new Set(), c = document.createElement('canvas').getContext('2d');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(`#${[0, 1, 2].map(j => data[i + j].toString(16).padStart(2, '0')).join('')}`);
        return state.runs.filter(run => run.name.startsWith('twin')).map(run => seen.has(colour(place(run.id)))); })()""")
    assert both == [True, True], "of two curves that are the same only one is seen"
    page.value("figures.get('val/loss').canvas.scrollIntoView({block: 'center'})")
    page.wait_for("figures.get('val/loss').canvas.dataset.drawn == 1")
    page.value("figures.get('val/loss').log.click()")
    ys = [float(text) for text in json.loads(page.value("figures.get('val/loss').canvas.dataset.ticks"))[1]]
    assert len(ys) >= 3 and all(f"{y:e}"[0] in "125" and f"{y:e}"[1:5] == ".000" for y in ys), ys
    assert page.value("figures.get('val/loss').log.getAttribute('aria-pressed')") == "true"
    assert page.value("figures.get('loss').log.getAttribute('aria-pressed')") == "false"

    page.value("scrollTo(0, 0)")
    left, top, _, bottom = rect(page, "figures.get('loss').canvas")
    at = [left + page.value(f"figures.get('loss').scale.X({step})") for step in (20, 40)]
    mouse(page, "mousePressed", at[0], (top + bottom) / 2, button="left", clickCount=1)
    mouse(page, "mouseMoved", at[1], (top + bottom) / 2, button="left", buttons=1)
    assert not page.value("figures.get('loss').brush.hidden")
    mouse(page, "mouseReleased", at[1], (top + bottom) / 2, button="left", clickCount=1)
    x0, x1 = page.value("figures.get('loss').range")
    assert 18 <= x0 <= 20 and 40 <= x1 <= 42 and not page.value("figures.get('loss').fit.hidden"), (x0, x1)
    page.value("figures.get('loss').fit.click()")
    assert page.value("figures.get('loss').range") is None
    page.value("figures.get('loss').wide.click()")
    assert page.value("figures.get('loss').figure.clientWidth / document.getElementById('panel-curves').clientWidth") > 0.95
    page.value("figures.get('loss').wide.click()")

# Of a long curve a zoomed chart asks for what it shows.
run_of(pathlib.Path("lengthy") / "run", {"loss": {s: float(s % 7) for s in range(20000)}})
with opened(pathlib.Path("lengthy")) as page:
    page.wait_for("figures.get('loss')?.canvas.dataset.drawn == 1")
    page.value("figures.get('loss').zoom([5000, 5100])")
    page.wait_for("figures.get('loss').curves[0].steps.filter(step => step >= 5000 && step <= 5100).length === 101")
    page.value("figures.get('loss').zoom(null)")
    page.wait_for("figures.get('loss').curves[0].steps.at(-1) === 19999")

# At any width each axis has three labels, and the first and the last point are inside.
for size in ((390, 844), (768, 1024), (1280, 900), (1920, 1080)):
    with opened(compared, size) as page:
        page.wait_for("figures.get('loss')?.canvas.dataset.drawn == 3")
        for axis in ("step", "relative", "wall"):
            setting(page, "axis", axis)
            for _ in range(2):
                page.value("document.getElementById('log').click()")
                labels = json.loads(page.value("figures.get('loss').canvas.dataset.ticks"))
                assert all(len(each) >= 3 and len(set(each)) == len(each) for each in labels), (size, axis, labels)
            inside = page.value("(({X, x0, x1, left, right}) => [X(x0) - left, right - X(x1)])(figures.get('loss').scale)")
            assert min(inside) >= 4, inside
        if size[0] == 390:
            assert rect(page, "document.querySelector('#curves canvas')")[1] <= 160, rect(page, "document.querySelector('#curves canvas')")

# A link restores runs, tab and settings.
with opened(compared) as page:
    page.wait_for("figures.get('loss')?.canvas.dataset.drawn == 3")
    page.value("[...document.querySelectorAll('#runs label')].find(l => l.textContent.includes('sparse')).querySelector('input').click()")
    setting(page, "axis", "relative")
    setting(page, "smoothing", 0.5, "input")
    page.value("figures.get('acc').log.click()")
    kept = page.value("location.hash")
    page.value("document.getElementById('tab-table').click()")
    table = page.value("location.hash")
with opened(compared, hash=kept) as page:
    page.wait_for("figures.get('loss')?.canvas.dataset.drawn == 2")
    assert page.value("[view.axis, view.smoothing, [...view.logs], document.getElementById('axis').value, chosen.size]") == ["relative", 0.5, ["acc"], "relative", 4]
with opened(compared, hash=table) as page:
    page.wait_for("document.querySelectorAll('#table tbody tr').length === 4")

# --- Runs and results

sweep = pathlib.Path("sweep")
ACCURACIES = {"low": 0.81234567, "middle": 0.9, "high": 0.95}
for i, (name, accuracy) in enumerate(ACCURACIES.items()):
    run_of(sweep / name, {"val_acc": {0: 0.1, 9: accuracy}, "val_loss": {9: 1 - accuracy}, "hparam/val_acc": {0: accuracy}}, optimizer="sgd", lr=10.0 ** -i, steps_of_warmup=100 * i, sampling_seed=i, accuracy=accuracy,
           note='=1+1,"x"', **{"limit-batches": -1})
with opened(sweep) as page:
    choose(page, "table")
    page.wait_for("document.querySelectorAll('#table tbody tr').length === 3")
    heads = page.value("[...document.querySelectorAll('#table thead button')].map(b => b.textContent)")
    assert heads == ["run", "lr", "steps_of_warmup", "sampling_seed", "val_acc", "val_loss"], heads
    constants = page.value("document.querySelector('#constants summary').textContent")
    assert "optimizer sgd" in constants and "limit-batches all" in constants, constants
    best = page.value("[...document.querySelectorAll('#table td.best')].map(cell => cell.parentNode.querySelector('th').textContent.trim() + ': ' + cell.textContent)")
    assert best == ["high: 0.95 ★", "high: 0.05 ★"], best
    assert page.value("document.querySelector('#scatter-canvas').dataset.drawn") == "3"
    assert page.value("[document.getElementById('scatter-x').value, document.getElementById('scatter-y').value]") == ["lr", "val_acc"]
    page.value("document.querySelector('#scatter-canvas').scrollIntoView({block: 'center'})")
    left, top, _, _ = rect(page, "document.querySelector('#scatter-canvas')")
    x, y = page.value("(({x, y}) => [x, y])(document.querySelector('#scatter-canvas').points.find(point => point.text.startsWith('middle')))")
    mouse(page, "mouseMoved", left + x, top + y)
    page.wait_for("document.getElementById('scatter-told').textContent === 'middle: lr 0.1, val_acc 0.9'")
    setting(page, "compare-a", page.value("state.runs.find(run => run.name === 'low').id"))
    setting(page, "compare-b", page.value("state.runs.find(run => run.name === 'high').id"))
    rows = page.value("[...document.querySelectorAll('#compared tbody tr')].map(row => [...row.children].map(cell => cell.textContent))")
    assert rows[0] == ["lr", "1", "0.01", "−0.99"] and [row[0] for row in rows] == ["lr", "steps_of_warmup", "sampling_seed", "val_acc", "val_loss"], rows
    page.value("document.getElementById('compare-only').click()")
    assert page.value("document.querySelectorAll('#compared tbody tr').length") == 8
    lines = page.value("csvOf(chosenRuns())").split("\r\n")
    assert lines[0].startswith("run,lr,") and lines[0].endswith(",val_acc,val_loss") and len(lines) == 5, lines
    assert all(f"""{name},{10.0 ** -i:g},""" in lines[[line.split(",")[0] for line in lines].index(name)] for i, name in enumerate(ACCURACIES)), lines
    assert """"'=1+1,""x""\"""" in lines[1], "a text is a formula in the file"
    page.value("(() => { window.saved = []; HTMLAnchorElement.prototype.click = function() { saved.push([this.download, this.href]); }; document.getElementById('csv').click(); })()")
    assert page.value("saved[0][0]") == "runs.csv" and page.value("saved[0][1]").startswith("blob:")
with opened(sweep, (390, 844)) as page:
    choose(page, "table")
    page.wait_for("document.querySelectorAll('#table tbody tr').length === 3")
    before = rect(page, "document.querySelector('#table tbody th')")
    page.value("document.querySelector('#table').parentNode.scrollLeft = 60")
    assert page.value("document.querySelector('#table').parentNode.scrollLeft") > 0
    assert abs(rect(page, "document.querySelector('#table tbody th')")[0] - before[0]) < 1, "the names scroll away"

# --- Images, histograms, texts

media = pathlib.Path("media")
for name, shift in (("first", 0.0), ("second", 5.0)):
    run_of(media / name, {"x": {0: 1.0}})
    picture = events.grey_png([bytes(range(0, 250, 50))] * 5)
    append(media / name, *(events.image(tag, picture, step) for tag in ("cats/1", "cats/2", "dogs/1") for step in (0, 5)),
           *(events.histogram("weight", [shift, shift + 1, shift + 3, shift + 4], [0, 10, 10, 20], step) for step in range(12 if shift else 3)),
           events.note("network/text_summary", "```\nLinear(1, 2)\n```", 0), events.note("notes/text_summary", name, 0))
with opened(media) as page:
    choose(page, "images")
    page.wait_for("document.querySelectorAll('#images section').length === 2 && document.querySelectorAll('#images img').length === 6")
    assert page.value("[...document.querySelectorAll('#images h2')].map(h => h.textContent.trim())") == ["first", "second"]
    tops = page.value("[...document.querySelectorAll('#images section:first-child figure')].map(f => f.getBoundingClientRect().top)")
    assert len(set(tops)) == 1, tops
    setting(page, "image-filter", "dogs", "input")
    page.wait_for("document.querySelectorAll('#images img').length === 2")
    choose(page, "histograms")
    page.wait_for("document.querySelectorAll('#histograms canvas').length === 1 && document.querySelector('#histograms canvas').of.ridges?.length === 15")
    found = page.value("(({low, high, ridges}) => [low, high, ridges[0].shares, ridges[3].shares])(document.querySelector('#histograms canvas').of)")
    assert found[:2] == [0, 9] and all(len(shares) == 60 and abs(sum(shares) - 1) < 1e-9 for shares in found[2:]), found
    # Nine are sixty bins wide: half of the first run's values are below 3, the twentieth bin's end, the others below 4.
    assert abs(sum(found[2][:20]) - 0.5) < 1e-6 and abs(sum(found[2][:27]) - 1) < 1e-6, found[2]
    height = page.value("document.querySelector('#histograms canvas').clientHeight")
    page.value("[...document.querySelectorAll('#runs label')].find(l => l.textContent.includes('second')).querySelector('input').click()")
    page.wait_for("document.querySelector('#histograms canvas').of.ridges?.length === 3")
    assert page.value("document.querySelector('#histograms canvas').clientHeight") < height / 2
    page.value("document.getElementById('choose-all').click()")
    choose(page, "texts")
    page.wait_for("document.querySelectorAll('#texts figure').length === 3")
    assert page.value("[...document.querySelectorAll('#texts figure')].map(f => f.querySelector('pre').textContent)") == ["Linear(1, 2)", "first", "second"]
    assert page.value("document.querySelector('#texts figure .note').textContent.replace(/\\s+/g, ' ').trim()") == "first, second"

# --- GPUs: of a program that trains on virtual ones

for size, dark in (((1280, 900), False), ((390, 844), True)):
    program = subprocess.Popen([tandem, "train", "digits", "--gpus", "2", "--epochs", "100000", "--net", "mlp", "--quiet", "--out", "training"],
                               env={**os.environ, "TANDEM_VIRTUAL_GPUS": "2x64MiB"})
    try:
        with opened(media, size, dark) as page:
            choose(page, "devices")
            # Other programs of this machine may have GPUs, too.
            own = f"[...document.querySelectorAll('#devices figure')].filter(f => f.querySelector('h3').textContent.endsWith('of program {program.pid}'))"
            page.wait_for(f"{own}.length === 2 && {own}[0].querySelector('canvas').dataset.samples >= 3")
            assert page.value(f"{own}[0].querySelectorAll('[role=meter]').length") == 2
            assert page.value(f"{own}[0].querySelector('[role=meter]').getAttribute('aria-valuetext')").endswith("of 64.0 MiB")
            fill, ground = page.value("[document.querySelector('.bar span'), document.querySelector('.bar')].map(e => getComputedStyle(e).backgroundColor)")
            light = [sum(int(part) for part in re.findall(r"\d+", each)[:3]) for each in (fill, ground)]
            assert abs(light[0] - light[1]) > 150, (fill, ground)
            count = page.value(f"Number({own}[0].querySelector('canvas').dataset.samples)")
            choose(page, "curves")
            page.wait_for(f"{own}[0].querySelector('canvas').dataset.samples > {count}")  # also while another tab is open
    finally:
        program.kill()
        program.wait()

# --- The ledger and the timeline

waiting = pathlib.Path("waiting")
run_of(waiting / "run", {"x": {0: 1.0}})
(waiting / "run/ledger.txt").write_text("""ledger of process 7:
time lost  count       bytes  line               what
 78.77 ms      8    64 bytes  train.cpp:170      item, cuda:0 to cpu (the reading of figures, ordered by that line)
246.90 us      4   14.06 KiB  some dir/a.cpp:65  download by cpu, cuda:0 to cpu
                              -> gather results on the device: docs/ledger.md#download
   1.20 s    180           -  b.cpp:28           synchronize, cuda:0
                              -> order the streams by events: docs/ledger.md#wait
""")
entries = [{"ph": "M", "name": "process_name", "pid": 1000000000, "tid": 0, "args": {"name": "cuda:0"}},
           {"ph": "M", "name": "thread_name", "pid": 1000000000, "tid": 3, "args": {"name": "stream 3"}}]
for step in range(3):
    for number, (name, category, pid, begin, length, more) in enumerate((
            ("addmm", "operation", 7, 0, 50, {}), ("AddmmBackward0", "backward", 7, 60, 20, {}), ("SGD", "operation", 7, 90, 20, {"file": "loop.py", "line": 9}),
            ("addmm", "kernel", 1000000000, 100, 300, {"launch": 10 * step, "bytes": 4096, "file": HOSTILE, "line": 3}),
            ("SGD", "kernel", 1000000000, 500, 100, {"launch": 10 * step + 2}))):
        entries.append({"ph": "X", "name": name, "cat": category, "pid": pid, "tid": 3, "ts": 1000 * step + begin, "dur": length, "args": {"id": 10 * step + number, **more}})
(waiting / "run/trace.json").write_text(json.dumps({"traceEvents": entries}))
with opened(waiting) as page:
    choose(page, "waits")
    page.wait_for("document.querySelector('#waits canvas')?.dataset.view")
    rows = "[...document.querySelectorAll('#waits .ledger')[0].querySelectorAll('tbody tr')].map(row => row.textContent)"
    first = page.value(rows)
    assert len(first) == 4 and first[0].startswith("1.2 s") and "order the streams" in first[1] and "a.cpp:65" in first[2] and "gather" in first[3], first
    page.value("document.querySelector('#waits .ledger [data-column=bytes]').click()")
    second = page.value(rows)
    assert [second[2], second[3]] == [first[0], first[1]], second
    folded = page.value("(({open, textContent}) => [open, textContent])(document.querySelector('#waits figure details'))")
    assert not folded[0] and "library's own" in folded[1] and "train.cpp:170" in folded[1] and "ordered by that line" not in folded[1], folded
    assert page.value("document.querySelector('#waits figure .scroll').scrollWidth <= document.querySelector('#waits figure .scroll').clientWidth")

    # The last training step is from the end of the optimizer's work before it to the end of its own: 400 of 1000 microseconds busy.
    assert "the last training step, number 3" in page.value("document.getElementById('waits').textContent")
    assert page.value("document.querySelector('.idle').textContent") == "cuda:0: 60.0 % idle"
    # Idle for its first half, in which two operations of the host and a node lie: 50, 20 and 20 long.
    assert page.value("document.querySelector('.look').textContent") == "Look first at cuda:0: it idles most, 500 µs at a stretch, while the host spends 50 µs in addmm.", \
        page.value("document.querySelector('.look').textContent")
    canvas = "document.querySelector('#waits canvas')"
    page.value(canvas + ".scrollIntoView({block: 'center'})")
    box = page.value(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({canvas}.of.boxes.find(box => box.event.category === 'kernel' && box.event.name === 'addmm'))")
    left, top, right, bottom = rect(page, canvas)
    mouse(page, "mouseMoved", left + box[0], top + box[1])
    told = page.value("document.querySelector('#waits canvas + .told').textContent")
    assert told == f"addmm · kernel · 300 µs · 4.00 KiB · {HOSTILE}:3 · cuda:0 · stream 3", told
    # An arrow joins it to the call that queued it; a lane above the streams shows where the GPU is idle; the title says how many events there are.
    assert page.value(f"{canvas}.dataset.arrows") == "1"
    assert page.value(f"{canvas}.of.rows.filter(row => row.gaps).map(row => [row.device, row.stream, row.gaps])") == [["cuda:0", "idle 60.0 %", [[0, 500], [800, 900]]]]
    assert "5 of 15 events" in page.value("document.querySelector('#waits figure:has(canvas) h3').textContent")
    assert page.value(f"JSON.parse({canvas}.dataset.view)") == [0, 1000]
    # Two fingers that move apart: what is under them stays there.
    middle, wide = (left + right) / 2, right - left
    fingers = lambda apart: [{"x": middle - apart, "y": top + box[1], "id": 0}, {"x": middle + apart, "y": top + box[1], "id": 1}]
    page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=fingers(wide / 10))
    for apart in (wide / 8, wide / 6, wide / 5):
        page.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=fingers(apart))
    page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    pinched = page.value(f"JSON.parse({canvas}.dataset.view)")
    assert abs(pinched[0] - 250) < 15 and abs(pinched[1] - 750) < 15, pinched
    page.value(f"{canvas}.dispatchEvent(new KeyboardEvent('keydown', {{key: '0', bubbles: true}}))")
    mouse(page, "mouseWheel", left + box[0], top + box[1], deltaX=0, deltaY=-300)
    page.wait_for(f"(([from, to]) => to - from < 600 && from > 100)(JSON.parse({canvas}.dataset.view))")
    view = page.value(f"JSON.parse({canvas}.dataset.view)")
    mouse(page, "mousePressed", left + box[0], top + box[1], button="left", clickCount=1)
    mouse(page, "mouseMoved", left + box[0] + 50, top + box[1], button="left", buttons=1)
    mouse(page, "mouseReleased", left + box[0] + 50, top + box[1], button="left", clickCount=1)
    assert page.value(f"JSON.parse({canvas}.dataset.view)[0]") < view[0]
    for key, holds in (("0", "to - from === 1000"), ("+", "to - from < 800"), ("ArrowRight", "from > 150 && to - from < 800"), ("-", "to - from === 1000")):
        page.value(f"{canvas}.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")
        assert page.value(f"(([from, to]) => {holds})(JSON.parse({canvas}.dataset.view))"), (key, page.value(f"{canvas}.dataset.view"))
    got = page.value("fetch(document.querySelector('#waits a.button').href).then(async answer => [answer.headers.get('Content-Disposition'), (await answer.json()).traceEvents.length])")
    assert got == ['attachment; filename="trace.json"', len(entries)], got

# GPUs that are busy, and a step without length.
for folder, length, words in (("busy", 990, "The GPUs are busy. Look first at addmm (b.py:3): 990 µs of the work of cuda:0."), ("empty", 0, "")):
    place = pathlib.Path(folder) / "run"
    run_of(place, {"x": {0: 1.0}})
    (place / "trace.json").write_text(json.dumps({"traceEvents": [
        entries[0], {"ph": "X", "name": "ProfilerStep#1", "cat": "range", "pid": 7, "tid": 1, "ts": 0, "dur": 1000 if length else 0},
        {"ph": "M", "name": "thread_name", "pid": 1000000000, "tid": 65, "args": {"name": "stream 65"}},
        {"ph": "X", "name": "to", "cat": "copy", "pid": 1000000000, "tid": 65, "ts": 7, "dur": 1 if length else 0},
        {"ph": "X", "name": "addmm", "cat": "kernel", "pid": 1000000000, "tid": 3, "ts": 5 if length else 0, "dur": length, "args": {"file": "/a/b.py", "line": 3}}]}))
    with opened(place.parent) as page:
        choose(page, "waits")
        page.wait_for("document.querySelector('#waits .look') !== null || document.getElementById('waits').textContent.includes('no events')")
        told = page.value("document.querySelector('#waits .look')?.textContent ?? ''")
        assert told == words, (folder, told)
        if length:  # a stream is called by what it does
            assert "copies (stream 65): 1 events" in page.value("document.querySelector('#waits canvas').getAttribute('aria-label')")

# --- Nothing to press is small, in any tab, on any screen

for size, dark in (((390, 844), True), ((768, 1024), False), ((1920, 1080), True)):
    with opened(sweep, size, dark) as page:
        page.value("document.querySelectorAll('aside details').forEach(details => details.open = true)")
        for tab in ("curves", "table", "images", "histograms", "texts", "devices", "waits"):
            choose(page, tab)
            small = page.value("""[...document.querySelectorAll('a, button, input, select, summary')].filter(e => e.checkVisibility() && e.className !== 'skip')
                .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()]).filter(([, r]) => r.width < 24 || r.height < 24).map(([text, r]) => [text, r.width, r.height])""")
            assert small == [], (size, tab, small)
            assert page.value("document.documentElement.scrollWidth <= innerWidth"), (size, tab)
print("looked at")
