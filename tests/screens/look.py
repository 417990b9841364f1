"""What is looked for on a screen: Chromium's accessibility tree, contrasts, and the way of the Tab key."""

# Roles of what is pressed, filled in or looked at: each needs a name.
NAMED = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "switch", "tab", "tabpanel", "spinbutton", "img", "image", "meter", "progressbar",
         "menuitem", "option", "DisclosureTriangle", "dialog", "form", "region", "complementary", "listbox", "graphics-document"}

# Text whose colour is too near to the one behind it: 4.5 to 1, or 3 to 1 from 24 pixels on or 18.66 bold. What is drawn on a canvas takes the same colours.
CONTRAST = r"""(() => {
  const parsed = text => { const part = text.match(/[\d.]+/g).map(Number); return part.length < 4 ? [...part.slice(0, 3), 1] : part; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none" && at !== document.body) return null;  // a picture or a pattern
      layers.push(parsed(style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const wrong = [], seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), e = walker.currentNode.parentElement;
    if (!text || !e.checkVisibility({opacityProperty: true, visibilityProperty: true}) || e.closest("script, style, noscript, option")) continue;
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const style = getComputedStyle(e), ground = behind(e);
    if (!ground) continue;
    const colour = over(parsed(e instanceof SVGElement ? style.fill : style.color), ground);
    const [a, b] = [light(colour), light(ground)], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const key = style.color + ground + large;
    if (ratio < (large ? 3 : 4.5) && !seen.has(key)) { seen.add(key); wrong.push(`contrast ${ratio.toFixed(2)}: "${text.slice(0, 40)}" (${e.tagName.toLowerCase()}.${e.className})`); }
  }
  return wrong;
})()"""

# What the Tab key must come to; of radio-like groups (tabs) one stop.
STOPS = r"""[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility())"""
STATE = r"""(() => { const e = document.activeElement; if (!e || e === document.body) return null;
  if (!window.stops.has(e)) window.stops.set(e, window.stops.size);
  const s = getComputedStyle(e), box = e.getBoundingClientRect();
  const seen = (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== 'none';
  return [window.stops.get(e), seen, box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0, e.outerHTML.slice(0, 90)]; })()"""


def tree(page):
    """Findings in the accessibility tree."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    by_id, waiting = {node["nodeId"]: node for node in nodes}, [nodes[0]["nodeId"]]
    found, mains, levels = [], 0, []
    while waiting:  # in the document's order
        node = by_id.get(waiting.pop())
        if not node:
            continue
        waiting += reversed(node.get("childIds", []))
        if node.get("ignored"):
            continue
        role, name = node["role"]["value"], node.get("name", {}).get("value", "").strip()
        mains += role == "main"
        if role == "heading":
            levels.append(next((p["value"]["value"] for p in node["properties"] if p["name"] == "level"), 0))
            if not name or not levels[-1]:
                found.append(f"a heading without text or level: {node}")
        elif role in NAMED and not name:
            found.append(f"{role} without a name")
    if mains != 1:
        found.append(f"{mains} main parts")
    if levels.count(1) != 1:
        found.append(f"{levels.count(1)} headings of the first level")
    for before, after in zip([0, *levels], levels):
        if after > before + 1:
            found.append(f"a heading of level {after} after one of level {before}")
    return sorted(set(found))


def keyboard(page, most=70):
    """Findings along the Tab key: what is not reached, where the focus is not seen, and where it stays."""
    page.value("window.stops = new Map(); scrollTo(0, 0); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    wanted, found, seen = page.value(STOPS + ".length"), set(), set()
    for _ in range(min(wanted, most) + 2):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        state = page.value(STATE)
        if state is None or state[0] in seen:
            break
        seen.add(state[0])
        if not state[1]:
            found.add(f"the focus is not seen: {state[3]}")
        if not state[2]:
            found.add(f"the focus is outside of what is shown: {state[3]}")
    if len(seen) < min(wanted, most):
        found.add(f"Tab comes to {len(seen)} of {wanted} places")
    return sorted(found)


def findings(page, keys=True):
    out = tree(page) + page.value(CONTRAST)
    if page.value("document.documentElement.scrollWidth > innerWidth"):
        out.append("the page is wider than the screen")
    return out + (keyboard(page) if keys else [])
