"""Every screen that tandem draws, at four widths, light and dark, as pictures, and what is wrong with them.

screens.py TANDEM [--examples FOLDER] [--site FOLDER] [--out FOLDER] [--quick] [--only PART]: the board of 1, 6 and 500 runs in each of its tabs, a run's report, the page of the memory (of
the example seeing2_waits, in FOLDER), flame graphs, and pages of the site. Looks at each: Chromium's accessibility tree (names, headings, the main part),
contrasts, the way of the Tab key, and whether the page is wider than the screen. Exits with 1 where anything is found. With --out, the pictures and an index.html that shows them all lie there.
"""

import argparse
import base64
import contextlib
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium
import look
import material

SIZES = {390: 844, 768: 1024, 1280: 900, 1920: 1080}
TABS = ("curves", "table", "images", "histograms", "texts", "devices", "waits")
TALLEST = 4000  # pixels of a picture
READY = """document.body?.dataset.ready === 'yes' && document.getElementById('status').textContent.includes('run')"""
# Nothing is on its way any more.
SHOWN = """![...document.querySelectorAll('.note')].some(e => e.checkVisibility() && /^(Loading|Still reading)/.test(e.textContent)) &&
    [...document.querySelectorAll('#curves canvas')].filter(e => e.checkVisibility() && e.getBoundingClientRect().top < innerHeight).every(e => e.dataset.empty !== 'loading…')"""


@contextlib.contextmanager
def board(tandem, folder):
    process = subprocess.Popen([tandem, "board", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        yield next(filter(None, (re.search(r"http://\S+", line) for line in process.stdout)))[0]
    finally:
        process.kill()
        process.wait()


class Screens:
    def __init__(self, out, quick):
        self.out, self.quick, self.faults, self.pictures = out, quick, [], []

    def sizes(self):
        for width, height in SIZES.items():
            for theme in ("light", "dark"):
                if not self.quick or (width, theme) in ((390, "dark"), (1280, "light")):
                    yield width, height, theme

    @contextlib.contextmanager
    def page(self, width, height, theme):
        with chromium.Page((width, height)) as page:
            page.call("Page.enable")
            page.call("Accessibility.enable")
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            yield page

    def look(self, page, name, width, height, theme, keys=True):
        found = look.findings(page, keys and theme == "light" or self.quick and keys)
        self.faults += [f"{name}, {width} pixels, {theme}: {fault}" for fault in found]
        if self.out:
            page.value("document.activeElement?.blur(); scrollTo(0, 0)")
            tall = min(TALLEST, max(height, page.value("document.documentElement.scrollHeight")))
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=tall, deviceScaleFactor=1, mobile=False)
            page.value("new Promise(done => setTimeout(done, 250))")
            file = f"{name.replace(' ', '-').replace(',', '')}-{width}-{theme}.png"
            (self.out / file).write_bytes(base64.b64decode(page.picture()))
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
            self.pictures.append((name, width, theme, file))
        print(f"{name}, {width}, {theme}: {len(found) or 'no'} finding{'' if len(found) == 1 else 's'}", flush=True)

    def board(self, tandem, folder, runs):
        with board(tandem, folder) as address:
            for width, height, theme in self.sizes():
                with self.page(width, height, theme) as page:
                    page.open(address)
                    page.wait_for(READY)
                    page.value("document.getElementById('choose-all').click()")
                    for tab in TABS:
                        page.value(f"document.getElementById('tab-{tab}').click()")
                        page.wait_for(f"getComputedStyle(document.getElementById('panel-{tab}')).display !== 'none'")
                        page.wait_for(SHOWN)
                        self.look(page, f"board {runs} {tab}", width, height, theme, keys=runs < 500 or tab == "curves")

    def file(self, path, name):
        with chromium.served(path.parent) as address:
            for width, height, theme in self.sizes():
                with self.page(width, height, theme) as page:
                    page.open(f"{address}/{path.name}")
                    page.wait_for("document.readyState === 'complete'")
                    page.value("document.querySelectorAll('details').forEach(e => e.open = true)")
                    self.look(page, name, width, height, theme)

    def write_index(self):
        rows = {}
        for name, width, theme, file in self.pictures:
            rows.setdefault(name, []).append(f'<a href="{file}"><img loading="lazy" src="{file}" alt="{html.escape(name)}, {width} pixels, {theme}"></a>')
        body = "".join(f"<h2>{html.escape(name)}</h2><div>{''.join(pictures)}</div>" for name, pictures in rows.items())
        faults = "".join(f"<li>{html.escape(fault)}</li>" for fault in self.faults) or "<li>none</li>"
        (self.out / "index.html").write_text(f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Screens</title>
<style>body{{font:15px system-ui;margin:20px}}div{{display:flex;gap:8px;align-items:flex-start;overflow-x:auto}}img{{height:300px;border:1px solid #999}}</style>
<h1>Screens</h1><h2>Findings</h2><ul>{faults}</ul>{body}""")
        (self.out / "findings.json").write_text(json.dumps(self.faults, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tandem", type=pathlib.Path, help="the program")
    parser.add_argument("--examples", type=pathlib.Path, help="where the built examples are; without it there is no page of memory")
    parser.add_argument("--site", type=pathlib.Path, help="the built site; without it there is none")
    parser.add_argument("--out", type=pathlib.Path, help="where the pictures go")
    parser.add_argument("--quick", action="store_true", help="two sizes, no 500 runs")
    parser.add_argument("--only", action="append", help="a part: board1, board6, board500, report, flames, memory, site; may be given several times")
    options = parser.parse_args()
    if not chromium.program():
        sys.exit("screens: Chromium is missing: apt-get install chromium")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    tandem = options.tandem.resolve()
    screens = Screens(options.out and options.out.resolve(), options.quick)
    wanted = lambda part: not options.only or part in options.only
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        if wanted("board1") or wanted("report"):
            one = material.one_run(tandem, work / "one")
            if wanted("board1"):
                screens.board(tandem, one, 1)
            if wanted("report"):
                screens.file(one / "digits/report.html", "report")
        if wanted("board6"):
            screens.board(tandem, material.six_runs(tandem, work / "six"), 6)
        if wanted("board500") and not options.quick:
            screens.board(tandem, material.many_runs(work / "many"), 500)
        if wanted("flames"):
            screens.file(material.flames(tandem, work / "flames"), "flame graphs")
        if options.examples and wanted("memory"):
            screens.file(material.memory(options.examples.resolve() / "seeing2_waits", work / "memory"), "memory")
        if options.site and wanted("site"):
            for name in ("index.html", "guide_getting_started.html", "classtandem_1_1Tensor.html"):
                if (options.site / name).exists():
                    screens.file((options.site / name).resolve(), f"site {name.removesuffix('.html')}")
    if screens.out:
        screens.write_index()
    print("\n".join(screens.faults) or "nothing found")
    return 1 if screens.faults else 0


if __name__ == "__main__":
    sys.exit(main())
