"""Runs cells on tandem as a notebook does, in a process of their own: reads a list of codes as JSON, writes what each printed."""

import ast
import contextlib
import io
import json
import os
import pprint
import subprocess
import sys
import warnings


class Display(pprint.PrettyPrinter):
    """The text of a cell's last expression, as IPython has it."""

    def __init__(self):
        super().__init__(width=78)

    def format(self, value, context, depth, level):
        if type(value).__repr__ is object.__repr__:
            return f"<{type(value).__module__}.{type(value).__qualname__} at {id(value):#x}>", True, False
        return super().format(value, context, depth, level)


def run_cell(code, name, names):
    """Runs a cell among `names`, and gives what it printed; of an error its last line."""
    if code.startswith("!"):
        done = subprocess.run(code[1:], shell=True, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else f"{code}: {done.stderr}"
    body = ast.parse(code)
    last = ast.Expression(body.body.pop().value) if isinstance(body.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(body, name, "exec"), names)
            value = None if last is None else eval(compile(last, name, "eval"), names)
            if value is not None:
                print(Display().pformat(value))
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def main():
    import tandem.torch_compat

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    tandem.torch_compat.load_ipython_extension(None)
    warnings.simplefilter("ignore")
    names = {"__name__": "__main__"}
    json.dump([run_cell(code, f"notebook[{number}]", names) for number, code in enumerate(json.load(sys.stdin))], sys.stdout)


if __name__ == "__main__":
    main()
