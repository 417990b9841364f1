"""No tile loop calls a function of the mathematics library for each lane, on any instruction set: scalar_calls.py OBJECT...

Reads the calls of each function from the machine code. ALLOWED names the functions that may make them, and why."""

import re
import shutil
import subprocess
import sys

NAMES = ("acos acosh asin asinh atan atan2 atanh cos cosh erf erfc exp exp2 expm1 fmod hypot lgamma lgamma_r log log10 log1p log2 pow sin sinh tan "
         "tanh tgamma").split()
LIBRARY = set(NAMES) | {name + "f" for name in NAMES}
# (what the function's name contains, the calls, why)
ALLOWED = [
    (r"(FloorDivide|Remainder|Fmod|Sinc), (float|double)", {"fmod", "fmodf"}, "where the quotient is too large for one product, a remainder is taken bit by bit"),
    (r"(::sin|::cos|::tan|Sin|Cos|Tan|Sinc)\b", {"sin", "cos", "tan"}, "angles too large for the reduction by pi/2 in three parts are rare"),
    (r"(Lgamma|Digamma|Erfinv|Polygamma), |polygamma|lgamma|digamma|erfinv", LIBRARY, "kernels/special.h has these for numbers only"),
    (r"<tandem::kernels::\w+, double,", LIBRARY, "functions of doubles that have no vector form yet"),
]

if not shutil.which("objdump"):
    print("no objdump here")
    sys.exit(77)
faults, functions = [], 0
objects = [path for argument in sys.argv[1:] for path in argument.split(";")]  # CMake gives a list as one argument
for path in objects:
    # A call's target stands in the relocation.
    listing = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", "-C", path], capture_output=True, text=True, check=True).stdout
    function = ""
    for line in listing.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function, functions = start[1], functions + 1
        elif call := re.search(r"\sR_\w*(?:PLT32|GOTPCRELX?|CALL26|JUMP26)\s+(\w+)", line):
            if call[1] in LIBRARY and not any(re.search(where, function) and call[1] in calls for where, calls, _ in ALLOWED):
                faults.append(f"{path}: {function} calls {call[1]}")
print("\n".join(sorted(set(faults))) or f"{functions} functions of {len(objects)} objects call the library only where they may")
sys.exit(bool(faults) or functions == 0)
