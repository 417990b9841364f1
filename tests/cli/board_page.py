"""Opens boards of 1, 50 and 500 runs in Chromium, and looks at what is drawn: board_page.py TANDEM."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys

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
def opened(folder, size=(1280, 900), dark=False):
    board = subprocess.Popen([tandem, "board", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = next(filter(None, (re.search(r"http://\S+", line) for line in board.stdout)))[0]
        with chromium.Page(size) as page:
            page.call("Page.enable")
            page.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE_ERRORS)
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
            page.open(address)
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
        page.wait_for("document.querySelectorAll('#devices tbody tr').length >= 1")
        choose(page, "waits")
        page.wait_for("document.querySelector('#waits pre')?.textContent.includes('time lost')")
        wait_for_ink(page, "#waits canvas")
        # The row of tabs is one stop of the Tab key, and arrows go along it.
        assert page.value("document.querySelectorAll('#tabs [tabindex=\"0\"]').length") == 1
        page.value("document.getElementById('tab-waits').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
        page.wait_for("document.activeElement.id === 'tab-curves'")
        unnamed = page.value("""[...document.querySelectorAll('input, select, button, canvas, meter')].filter(e => !e.closest('label') && !e.textContent.trim()
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
print("looked at")
