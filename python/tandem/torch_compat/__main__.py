"""python -m tandem.torch_compat train.py --args: runs a program of PyTorch's as Python itself would; -m package.module too."""

import builtins
import io
import os
import runpy
import sys
import types

import tandem.torch_compat  # noqa: F401
from tandem.torch_compat import _finder


def run_script(path):
    """Runs a file as the program, in a module __main__ of its own that lives until the process ends."""
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, builtins
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def main():
    """Reads the arguments and runs what they name."""
    arguments = sys.argv[1:]
    if not arguments or arguments in (["-h"], ["--help"], ["-m"]):
        print("usage: python -m tandem.torch_compat (file.py | -m module) [arguments]", file=sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    # Programs that this one starts, as a launcher does, find torch so too.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_finder.FOR_PROCESSES, os.environ.get("PYTHONPATH")]))
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif not os.path.isfile(arguments[0]):
        print(f"tandem.torch_compat: no file {arguments[0]}", file=sys.stderr)
        return 2
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))
        run_script(arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
