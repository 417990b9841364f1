"""The site as a reader has it, opened from disk at a laptop's and at a phone's width: site.py FOLDER.

Every page is read once for links that lead nowhere and for addresses of other machines; some are opened: nothing is wider than the screen, the
console says nothing, and the search finds functions, classes and guides.
"""

import contextlib
import pathlib
import re
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium  # noqa: E402

folder = pathlib.Path(sys.argv[1]).resolve()
PYTHON = (folder / "python_tandem.html").exists()  # left out where tandem for Python was not built
faults = []


def check(what, good, seen=""):
    if not good:
        faults.append(f"{what}: {seen}" if seen != "" else what)


def look_at_files():
    anchors = {}

    def has(file, anchor):
        if file not in anchors:
            anchors[file] = set(re.findall(r'(?:id|name)="([^"]+)"', file.read_text(errors="replace"))) if file.exists() else None
        return anchors[file] is not None and (not anchor or file.suffix != ".html" or urllib.parse.unquote(anchor) in anchors[file])

    pages = sorted(folder.glob("*.html"))
    for page in pages:
        text = page.read_text(errors="replace")
        for kind, target in re.findall(r'<(?:a|link|script|img|iframe)\b[^>]*?\b(href|src)="([^"]+)"', text):
            if target.startswith("javascript:"):
                continue
            if "://" in target:
                check(f"{page.name} loads {target}", kind == "href" and f'<link' not in text[max(0, text.find(target) - 80):text.find(target)])
                continue
            path, _, anchor = target.partition("#")
            file = folder / urllib.parse.unquote(path.split("?")[0]) if path else page
            check(f"{page.name} links to {target}, which is not there", has(file, anchor))
    return len(pages)


LISTEN = """
window.trouble = [];
window.addEventListener('error', event => trouble.push(String(event.message || event.target.src || event.target.href)), true);
for (const name of ['error', 'warn']) { const old = console[name]; console[name] = (...all) => { trouble.push(all.join(' ')); old(...all); }; }
"""
WIDE = """[...document.querySelectorAll('#doc-content *')].filter(e => {
  const box = e.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1) return false;
  for (let p = e.parentElement; p && p.id !== 'doc-content'; p = p.parentElement)
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
  return true;
}).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40)).slice(0, 3).join('; ')"""


def look_at_pages(page, width):
    names = ["index.html", "classtandem_1_1Tensor.html", "structtandem_1_1optim_1_1AdamOptions.html", "namespacetandem.html", "annotated.html", "page_operations.html",
             "site_python_reference.html", *sorted(path.name for path in folder.glob("guide_*.html"))]
    check("the guides are there", len(names) >= 7 + 14, len(names))
    names += [name for name in ("python_names.html", "python_tandem.html", "python_tandem_Tensor.html", "python_tandem_nn.html") if PYTHON]
    for name in names:
        page.open(f"file://{folder}/{name}")
        page.wait_for(f"document.readyState === 'complete' && location.pathname.endsWith('/{name}') && !!document.querySelector('#MSearchField')")
        check(f"{name} at {width}: the console", page.value("trouble.join(' | ')") == "", page.value("trouble.join(' | ')"))
        outside = page.value("performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('file:') && !n.startsWith('data:')).join()")
        check(f"{name} at {width}: resources from outside", outside == "", outside)
        wide = page.value(WIDE)
        check(f"{name} at {width}: wider than the screen", wide == "" and page.value("document.documentElement.scrollWidth <= innerWidth"), wide)


def look_at_menu(page):
    """Guides, reference and how it is made; the tree beside has whole titles."""
    page.open(f"file://{folder}/page_development.html")
    page.wait_for("document.readyState === 'complete' && document.querySelectorAll('#main-menu > li').length > 1 && !!document.querySelector('#nav-tree .selected')")
    menu = page.value("[...document.querySelectorAll('#main-menu > li > a')].map(e => e.textContent.trim()).join(' | ')")
    check("the menu", menu == "Start | Guides | Reference | How it is made", menu)
    cut = page.value("""(() => { const edge = document.querySelector('#nav-tree').getBoundingClientRect().right;
      return [...document.querySelectorAll('#nav-tree .label a')].filter(e => e.getBoundingClientRect().right > edge).map(e => e.textContent).join(' | '); })()""")
    check("titles that are cut", cut == "", cut)


def search(page, word, target):
    """Types a word; the address of the first result whose page is `target`, or what there was."""
    page.open(f"file://{folder}/index.html")
    page.wait_for("document.readyState === 'complete' && typeof searchBox !== 'undefined' && !!document.querySelector('#MSearchField')")
    page.value("document.querySelector('#MSearchField').focus()")
    page.call("Input.insertText", text=word)
    page.value("document.querySelector('#MSearchField').dispatchEvent(new KeyboardEvent('keyup', {key: 'a', keyCode: 65, bubbles: true}))")
    # The results are a frame, which only its own scripts may read on a page from disk.
    shown = "[...document.querySelectorAll('.SRResult')].filter(e => e.style.display !== 'none').flatMap(e => [...e.querySelectorAll('a')].map(a => a.href))"
    end, found = time.monotonic() + 30, []
    while not any(target in address for address in found) and time.monotonic() < end:
        frames = [child["frame"] for child in page.call("Page.getFrameTree")["frameTree"].get("childFrames", []) if child["frame"]["name"] == "MSearchResults"]
        if frames:
            with contextlib.suppress(RuntimeError):  # the frame may be loading anew
                world = page.call("Page.createIsolatedWorld", frameId=frames[0]["id"])["executionContextId"]
                found = page.call("Runtime.evaluate", expression=shown, contextId=world, returnByValue=True)["result"].get("value") or []
        time.sleep(0.1)
    address = next((address for address in found if target in address), None)
    if address is None:
        faults.append(f"searching for {word} finds {found[:5]}, and not {target}")
        return
    page.open(address)
    page.wait_for("document.readyState === 'complete'")
    check(f"{word}: the result leads to its page", target.split("#")[0] in page.value("location.pathname"), page.value("location.href"))


pages = look_at_files()
for size in ((1280, 900), (390, 844)):
    with chromium.Page(size) as page:
        page.call("Page.enable")
        page.call("Page.addScriptToEvaluateOnNewDocument", source=LISTEN)
        look_at_pages(page, size[0])
        if size[0] == 1280:
            look_at_menu(page)
            search(page, "softmax", "namespacetandem.html")
            search(page, "AdamOptions", "structtandem_1_1optim_1_1AdamOptions.html")
            search(page, "Gradients", "guide_autograd.html")
            if PYTHON:
                search(page, "tandem.nn.functional", "python_tandem_nn_functional.html")
            # From the start to a guide and on to the reference, by links.
            page.open(f"file://{folder}/index.html")
            page.wait_for("!!document.querySelector('.contents a[href=\"guide_training.html\"]')")
            with contextlib.suppress(RuntimeError):  # the page that is asked is gone with the click
                page.value("document.querySelector('.contents a[href=\"guide_training.html\"]').click()")
            there, end = False, time.monotonic() + 60
            while not there and time.monotonic() < end:
                with contextlib.suppress(RuntimeError):
                    there = page.value("location.pathname.endsWith('guide_training.html') && document.readyState === 'complete'")
            check("the start leads to the guides", there)
            order = page.value("document.querySelector('.contents').textContent")
            check("the training guide names the hooks", "on_epoch_end" in order)
            page.open(f"file://{folder}/structtandem_1_1optim_1_1AdamOptions.html")
            page.wait_for("document.readyState === 'complete'")
            fields = page.value("[...document.querySelectorAll('.memItemRight')].map(e => e.textContent.trim().split(/[\\s=]/)[0]).join(' ')")
            check("fields stand in the order of the header", fields.startswith("lr betas eps weight_decay amsgrad maximize"), fields)

print("\n".join(faults[:40]) or f"{pages} pages open from disk, search and link, at 1280 and 390 pixels")
sys.exit(1 if faults else 0)
