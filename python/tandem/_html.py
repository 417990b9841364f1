"""Reports as a notebook shows them."""

from html import escape


def preformatted(text):
    """A text of columns: what is wider than the page scrolls, and no line is broken. Notebooks give a pre no font of its own."""
    return f'<pre style="font-family:monospace;white-space:pre;overflow-x:auto">{escape(text)}</pre>'
