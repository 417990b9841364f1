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

# Events are found among all by words, action and size.
with chromium.Page((1280, 1000)) as page:
    page.open(f"file://{os.getcwd()}/events.html")
    page.wait_for("document.readyState === 'complete' && document.querySelector('.events .find') && !document.querySelector('.events .find').hidden")
    page.value("document.querySelector('.events').open = true")

    def found(words, action="", least="0"):
        return page.value(f"""(() => {{ const panel = document.querySelector('.events'), [a, b, c] = panel.querySelectorAll('input, select');
            a.value = {words!r}; b.value = {action!r}; c.value = {least!r}; a.dispatchEvent(new Event('input'));
            return [panel.querySelector('[role=status]').textContent, panel.querySelectorAll('tbody tr').length]; }})()""")

    # 401 blocks, each asked for, let go of and free again, and the segments that they lie in.
    told = {what: found(*what) for what in (("often.cpp:8",), ("OFTEN", "alloc"), ("b>.cpp:7", "alloc"), ("", "alloc", "10485760"), ("alloc often nowhere",))}
    for what, begin, rows in ((("often.cpp:8",), "1,20", 300), (("OFTEN", "alloc"), "400 of ", 300), (("b>.cpp:7", "alloc"), "1 of ", 1),
                              (("", "alloc", "10485760"), "1 of ", 1), (("alloc often nowhere",), "0 of ", 0)):
        if not told[what][0].startswith(begin) or told[what][1] != rows:
            faults.append(f"events by {what}: {told[what]}")

print("\n".join(faults) or "the page fits four widths, light and dark")
sys.exit(1 if faults else 0)
