"""How soon `tandem board` shows something: with 1, 50 and 500 runs, and with one curve of a million points, in Chromium on this machine.

bench/board.py [--build DIR] [--keep FOLDER]. The board is started for each, so that it has read nothing when the page asks. Prints the time of the
first paint, of the first curve that is drawn, and of the last that is in sight, from the start of the page's loading.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/support")]
import chromium
import events

CASES = [("1 run", 1, 200), ("50 runs", 50, 200), ("500 runs", 500, 200), ("a million points", 1, 1000000)]
WATCH = """new Promise(done => {
  const drawn = () => [...document.querySelectorAll("canvas")].filter(canvas => Number(canvas.dataset.drawn) > 0);
  const inSight = () => [...document.querySelectorAll("#curves canvas")].filter(canvas => canvas.checkVisibility() && canvas.getBoundingClientRect().top < innerHeight);
  let first = null;
  const look = () => {
    if (first === null && drawn().length) first = performance.now();
    const wanted = inSight();
    if (first !== null && wanted.length && wanted.every(canvas => Number(canvas.dataset.drawn) > 0) && document.getElementById("status").textContent.includes("run"))
      return done([performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null, first, performance.now()]);
    requestAnimationFrame(look);
  };
  look();
})"""


def main():
    parser = argparse.ArgumentParser(prog="bench/run board", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", metavar="DIR", help="tandem's build folder (default build/release)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="make the runs there, or use those that are there")
    options = parser.parse_args()
    if not chromium.program():
        sys.exit("bench board: Chromium is missing: apt-get install chromium")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        print(f"{'':18}{'first paint':>12}{'first curve':>13}{'all in sight':>14}   ms")
        for name, runs, points in CASES:
            place = folder / name.replace(" ", "_")
            if not place.exists():
                for i in range(runs):
                    events.write_run(place / f"run{i:03}", points, ["train/loss"] if points > 10000 else ["train/loss", "train/accuracy", "val/loss", "lr"])
            board = subprocess.Popen([options.build / "bin/tandem", "board", place, "--port", "0"], stdout=subprocess.PIPE, text=True)
            try:
                address = next(filter(None, (re.search(r"http://\S+", line) for line in board.stdout)))[0]
                with chromium.Page((1280, 900)) as page:
                    page.open(address)
                    paint, first, last = page.value(WATCH)
                print(f"{name:18}{paint:12.0f}{first:13.0f}{last:14.0f}", flush=True)
            finally:
                board.terminate()
                board.wait(10)


if __name__ == "__main__":
    main()
