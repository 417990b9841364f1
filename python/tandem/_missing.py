"""Why the extension cannot be imported."""

import pathlib
import re
import sys


def explained(error):
    """The error, with what to do where the extension was built for another Python, or not at all."""
    made_for = sorted(re.findall(r"_C\.cpython-(\d)(\d+)", " ".join(path.name for path in pathlib.Path(__file__).parent.glob("_C.*"))))
    this = (str(sys.version_info[0]), str(sys.version_info[1]))
    if this in made_for:
        return error
    if not made_for:
        return ImportError("tandem's extension is not built: ./dev python builds it, and runs Python with it")
    versions = " and ".join(".".join(version) for version in made_for)
    return ImportError(f"this tandem was built for Python {versions}, and this is Python {'.'.join(this)}: build it with -DPython3_EXECUTABLE={sys.executable}, or use that Python")
