"""What a notebook has beside its cells: `!nvidia-smi` where the machine has none."""

import atexit
import os
import shlex
import shutil
import sys
import tempfile

_SCRIPT = """#!/bin/sh
# Shows the GPUs of programs of tandem's, virtual ones too.
PYTHONPATH={folder}${{PYTHONPATH:+:$PYTHONPATH}} exec {python} -c 'import tandem; print(tandem.smi(all=True), end="")'
"""


def put_nvidia_smi_on_path():
    """Puts a small nvidia-smi at the end of PATH. Nothing where there is one."""
    if shutil.which("nvidia-smi"):
        return
    import tandem

    package = os.path.dirname(os.path.dirname(os.path.abspath(tandem.__file__)))
    folder = tempfile.mkdtemp(prefix="tandem-smi-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "nvidia-smi")
    with open(path, "w") as file:
        file.write(_SCRIPT.format(folder=shlex.quote(package), python=shlex.quote(sys.executable)))
    os.chmod(path, 0o755)
    os.environ["PATH"] = os.environ.get("PATH", os.defpath) + os.pathsep + folder
