"""The peer: libtorch from PyPI's torch wheel, in a virtual environment outside the repository, and programs compiled against it.

Only libtorch_cpu.so and libc10.so are linked. For these programs only the two small CUDA libraries that libtorch_cpu.so itself names are
installed of the wheel's dependencies (no GPU is needed for them). What Python needs to import torch is installed for whom it is asked.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

WANTED = "2.15"
# Beside torch, for Python: numpy and files of weights, and what runs exported networks.
PYTHON_PACKAGES = ["numpy", "safetensors", "onnx", "onnxscript", "onnxruntime", "openvino"]


class PeerError(Exception):
    """What could not be done, and what to do about it; one or more lines for people."""


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tandem"


def run(command, what):
    """Runs a command; where it fails, an error with the end of what it printed."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise PeerError(f"{what} failed: {' '.join(map(str, command))}\n" + "\n".join(done.stdout.strip().splitlines()[-8:]))


def installed(venv):
    """The environment's site-packages and the version of torch in it; (None, None) where it is not there."""
    for version in venv.glob("lib/python3*/site-packages/torch/version.py"):
        found = re.search(r"__version__ = '([^']+)'", version.read_text())
        if found:
            return version.parent.parent, found.group(1)
    return None, None


def install(venv):
    """Makes the virtual environment and installs what is missing in it. Returns site-packages and torch's version."""
    site, version = installed(venv)
    if site is None or not version.startswith(WANTED + "."):
        print(f"installing torch {WANTED} (a wheel of about 540 MB) into {venv}", file=sys.stderr, flush=True)
        if not (venv / "bin" / "pip").exists():
            try:
                run([sys.executable, "-m", "venv", venv], "making a virtual environment")
            except PeerError as error:
                raise PeerError(f"{error}\nOn Debian the module comes with: apt-get install python3-venv") from None
        run([venv / "bin" / "pip", "install", "--quiet", "--no-deps", f"torch=={WANTED}.*"], f"installing torch {WANTED} from PyPI")
        site, version = installed(venv)
        if site is None:
            raise PeerError(f"torch was installed into {venv}, but there is no torch/version.py in its site-packages")
    cuda = re.search(r"^cuda[^=]*= '([0-9.]+)'", (site / "torch" / "version.py").read_text(), re.M)
    if cuda and not list(site.glob("nvidia/*/lib/libcudart.so.*")):
        packages = [f"{name}=={cuda.group(1)}.*" for name in ("nvidia-cuda-runtime", "nvidia-cuda-cupti")]
        run([venv / "bin" / "pip", "install", "--quiet", "--no-deps", *packages], "installing the libraries that libtorch_cpu.so is linked to")
    return site, version


def install_for_python(venv):
    """The same with all that torch and PYTHON_PACKAGES need in Python, at the newest versions where they are missing. Returns its Python."""
    site, version = installed(venv)
    complete = site and version.startswith(WANTED + ".") and all((site / name).is_dir() for name in [*PYTHON_PACKAGES, "sympy", "triton"])
    if not complete:
        install(venv)
        print(f"installing what torch {WANTED} needs in Python, onnxruntime and OpenVINO (several GB) into {venv}", file=sys.stderr, flush=True)
        run([venv / "bin" / "pip", "install", "--quiet", f"torch=={WANTED}.*", *PYTHON_PACKAGES], "installing the peers from PyPI")
    return venv / "bin" / "python"


def compile_program(source, include, site, version):
    """Compiles `source` against the wheel unless the same was compiled before. Returns the program's path."""
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        raise PeerError(f"the compiler {compiler} is missing: apt-get install g++ (or set CXX)")
    lib = site / "torch" / "lib"
    # Whether the wheel's std::string is that of the new ABI shows in its symbols.
    abi = 1 if b"__cxx1112basic_string" in (lib / "libc10.so").read_bytes() else 0
    headers = site / "torch" / "include"
    command = [compiler, "-std=c++20", "-O2", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", f"-I{include}", "-isystem", headers, "-isystem",
               headers / "torch/csrc/api/include", source]
    link = [f"-L{lib}", f"-Wl,-rpath,{lib}", *[f"-Wl,-rpath-link,{folder}" for folder in site.glob("nvidia/*/lib")], "-ltorch_cpu", "-lc10",
            "-pthread"]
    key = hashlib.sha256(version.encode())
    key.update(" ".join(map(str, command + link)).encode())
    for file in (source, include / "bench" / "measure.h"):
        key.update(file.read_bytes())
    program = cache_folder() / "bench" / f"{source.stem}-{key.hexdigest()[:16]}"
    if not program.exists():
        print(f"compiling {source.name} against torch {version} (half a minute, once)", file=sys.stderr, flush=True)
        program.parent.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix(f".{os.getpid()}")
        run([*command, "-o", unfinished, *link], f"compiling {source.name} against torch {version}")
        unfinished.rename(program)
    return program
