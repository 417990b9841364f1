"""The page of GPUs' memory as readers have it: from a phone's width to a large screen's, light and dark. The current folder has peak.html and net.html."""

import base64
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium  # noqa: E402

faults = []

# What is wrong with the layout, as texts.
LAYOUT = """(() => {
  const wrong = [], all = (selector, within = document) => [...within.querySelectorAll(selector)];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
  for (const row of all('dl')) {
    const box = row.getBoundingClientRect(), ends = {};
    for (const e of row.children) { const b = e.getBoundingClientRect(); ends[b.top] = Math.max(ends[b.top] || 0, b.right); }
    for (const end of Object.values(ends)) if (end < box.right - 2) wrong.push('half a row of figures is empty');
  }
  for (const chart of all('.chart')) {
    const panel = chart.closest('figure').getBoundingClientRect();
    for (const axis of ['.ys', '.xs']) {
      const labels = all(axis + ' span', chart);
      if (labels.length < 3) wrong.push(`${labels.length} labels at ${axis}`);
      const boxes = labels.map(label => label.getBoundingClientRect());
      boxes.forEach((b, i) => {
        if (b.height < 12) wrong.push('letters of ' + b.height + ' px');
        if (b.left < panel.left || b.right > panel.right) wrong.push('stands outside its chart: ' + labels[i].textContent);
        for (const other of boxes.slice(i + 1))
          if (b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom) wrong.push('labels overlap: ' + labels[i].textContent);
      });
    }
    if (all('.area', chart).length < 3) wrong.push('fewer than three areas');
  }
  // What the key shows is drawn alike: free is hatched, what is held is not.
  for (const e of all('.free, .held')) {
    const hatched = getComputedStyle(e).backgroundImage.startsWith('repeating-linear-gradient');
    if (hatched !== e.classList.contains('free')) wrong.push(e.className + (hatched ? ' is hatched' : ' is not hatched'));
  }
  if (!all('.bar .free').some(e => e.getBoundingClientRect().width > 20)) wrong.push('nothing free is seen');
  // A swatch of each line that has an area, in its colour.
  const colours = new Set(all('table .swatch').map(e => getComputedStyle(e).backgroundColor));
  for (const area of all('.area:not(.rest)')) if (!colours.has(getComputedStyle(area).fill)) wrong.push('an area whose line is not in the table');
  return wrong;
})()"""

for width in (390, 768, 1280, 1920):
    with chromium.Page((width, 1000)) as page:
        for scheme in ("light", "dark"):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for name in ("peak", "net"):
                page.open(f"file://{os.getcwd()}/{name}.html")
                page.wait_for(f"location.pathname.endsWith('{name}.html') && document.readyState === 'complete'")
                faults += [f"{name}, {width} pixels, {scheme}: {fault}" for fault in page.value(LAYOUT)]
                dark = page.value("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 128")
                if dark != (scheme == "dark"):
                    faults.append(f"{name}, {width} pixels, {scheme}: the page is {'dark' if dark else 'light'}")
                if os.environ.get("PICTURES"):
                    height = page.value("document.documentElement.scrollHeight")
                    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
                    pathlib.Path(f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(page.picture()))
                    page.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)

print("\n".join(faults) or "the page fits four widths, light and dark")
sys.exit(1 if faults else 0)
