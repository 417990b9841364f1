"""Doxygen's pages as people who cannot see them, or use no mouse, need them: finish.py HTML, the folder of the pages.

The main part is told as such, the title is the heading of the first level and the sections of a page stand below it, the field of the search has a name.
"""

import pathlib
import re
import sys


def finished(text):
    text = text.replace('<div id="doc-content">', '<div id="doc-content" role="main">')
    head, title, rest = text.partition('<div class="title">')
    if not title:
        return text
    # Where a page's own sections begin at the first level, they and what is in them stand one deeper.
    rest = rest.replace("<h3>Table of Contents</h3>", '<h3 aria-level="2">Table of Contents</h3>')
    if "<h1" in rest:
        rest = re.sub(r"<h([1-5])\b(?! aria)", lambda found: f'<h{found[1]} aria-level="{int(found[1]) + 1}"', rest)
    return head + '<div class="title" role="heading" aria-level="1">' + rest


menu = pathlib.Path(sys.argv[1]) / "menu.js"
menu.write_text(menu.read_text().replace('id="MSearchField"', 'id="MSearchField" aria-label="Search"'))
for page in pathlib.Path(sys.argv[1]).glob("*.html"):
    page.write_text(finished(page.read_text()))
