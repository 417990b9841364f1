"""Reports as readers have them: at the width of a phone, a tablet and a laptop, light and dark. In the current folder lie report1.html, …"""

import base64
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium  # noqa: E402

faults = []

# What is wrong with the layout, as texts.
LAYOUT = """(() => {
  const wrong = [], text = e => e.tagName + ' ' + e.textContent.slice(0, 30);
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
  for (const row of document.querySelectorAll('.tiles, .charts')) {
    // Each row of tiles and of charts is full.
    const box = row.getBoundingClientRect(), ends = {};
    for (const e of row.children) { const b = e.getBoundingClientRect(); ends[b.top] = Math.max(ends[b.top] || 0, b.right); }
    for (const end of Object.values(ends)) if (end < box.right - 2) wrong.push('half a row is empty: ' + row.className + ' ' + (box.right - end));
  }
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.closest('figure').getBoundingClientRect(), size = parseFloat(getComputedStyle(svg.querySelector('text')).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    if (size < 8.5 || size > 17) wrong.push('letters of ' + size + ' px in a chart');
    for (const t of svg.querySelectorAll('text')) { const b = t.getBoundingClientRect(); if (b.left < frame.left || b.right > frame.right) wrong.push('stands outside its chart: ' + text(t)); }
  }
  for (const box of document.querySelectorAll('.card')) {
    const wide = box.scrollWidth > box.clientWidth + 1;
    if (wide !== box.classList.contains('scrolls')) wrong.push('a hint is missing or wrong: ' + text(box));
    if (wide && getComputedStyle(box, '::before').content === 'none') wrong.push('no hint is shown');
  }
  return wrong;
})()"""
# The contrast of text on what lies behind it, the least of all.
CONTRAST = """(() => {
  const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  let least = 99;
  for (const e of document.querySelectorAll('h1, h2, dt, dd, figcaption, .numbers th, .numbers td, .facts th, .facts td, footer')) {
    let back = e;
    while (back && getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') back = back.parentElement;
    const a = light(getComputedStyle(e).color), b = light(getComputedStyle(back || document.body).backgroundColor);
    least = Math.min(least, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return least;
})()"""

for width in (390, 768, 1280):
    with chromium.Page((width, 1000)) as page:
        for scheme in ("light", "dark"):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for curves in (1, 3, 12):
                page.open(f"file://{os.getcwd()}/report{curves}.html")
                page.wait_for(f"location.pathname.endsWith('report{curves}.html') && document.documentElement?.dataset.ready === 'yes'")
                where = f"{curves} curves, {width} pixels, {scheme}"
                faults += [f"{where}: {fault}" for fault in page.value(LAYOUT)]
                contrast = page.value(CONTRAST)
                if contrast < 4.5:
                    faults.append(f"{where}: text has a contrast of {contrast:.1f}")
                dark = page.value("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 128")
                if dark != (scheme == "dark"):
                    faults.append(f"{where}: the page is {'dark' if dark else 'light'}")
                if os.environ.get("PICTURES"):
                    height = page.value("document.documentElement.scrollHeight")
                    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
                    pathlib.Path(f"report{curves}-{width}-{scheme}.png").write_bytes(base64.b64decode(page.picture()))
                    page.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)

print("\n".join(faults) or "reports fit three widths, light and dark, with 1, 3 and 12 curves")
sys.exit(1 if faults else 0)
