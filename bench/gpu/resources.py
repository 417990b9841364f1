#!/usr/bin/env python3
"""What the kernels of the CUDA plug-in take of a GPU, as its compiler put it down: registers, stack and shared memory.

bench/gpu/resources.py [--check] [--json] [--out FILE] [PLUGIN]: reads PLUGIN (default build/release/lib/libtandem_cuda.so) with cuobjdump. No GPU is
needed. The stack holds what is spilled from registers, besides arrays that are indexed at run time: the kernels that training spends its time
in must have none. --check exits with 1 where one has, or where a kernel could not start for want of registers.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Where training spends its time, by the names of their kernels' structs.
HOT = re.compile(r"Apply(Dense|Fours|Strided)<.*(Add|Sub|Mul|Div|Relu|Exp|Tanh|Sigmoid|Gelu|Silu)\b|Move(Fours)?<|Convert<|Join<|Fill|Softmax|CrossEntropy|Normalize|Sum|Matmul|Product|"
                 r"Adam|Sgd|Dropout|Embed|Gather|MaxPool|AvgPool|Lstm|Gru|Attention")


def tool(name):
    found = shutil.which(name) or shutil.which(f"/usr/local/cuda/bin/{name}")
    if not found:
        sys.exit(f"resources: {name} is missing; it comes with {'binutils' if name == 'c++filt' else 'the CUDA toolkit, or as PyPI nvidia-cuda-cuobjdump'}")
    return found


def read(plugin):
    """A row for each kernel and architecture."""
    text = subprocess.run([tool("cuobjdump"), "--dump-resource-usage", str(plugin)], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = subprocess.run([tool("c++filt")], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    rows, arch = [], "?"
    for line in names.splitlines():
        if found := re.search(r"arch = (sm_\d+)", line):
            arch = found.group(1)
        elif found := re.match(r"\s*Function (.*):$", line):
            name = found.group(1)
        elif found := re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", line):
            registers, stack, shared, local = map(int, found.groups())
            rows.append({"arch": arch, "kernel": shorter(name), "registers": registers, "stack": stack, "shared": shared, "local": local})
    return rows


def shorter(name):
    name = re.sub(r"tandem::kernels::(cuda::)?(<unnamed>::|_NV_ANON_NAMESPACE::|vendor::)*|\(anonymous namespace\)::", "", name)
    name = re.sub(r"^void ", "", name).replace("tandem::", "")
    return re.sub(r" ?>\(.*$", ">", name)


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu/resources.py", description=__doc__.splitlines()[0])
    parser.add_argument("plugin", nargs="?", type=pathlib.Path, default=ROOT / "build/release/lib/libtandem_cuda.so", metavar="PLUGIN")
    parser.add_argument("--check", action="store_true", help="exit 1 where a kernel of training has a stack, or a kernel could not start")
    parser.add_argument("--json", action="store_true", help="print every kernel as JSON")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write the page there, too")
    options = parser.parse_args()
    if not options.plugin.is_file():
        sys.exit(f"resources: there is no {options.plugin}: ./dev build makes it where nvcc is found")
    rows = read(options.plugin)
    if not rows:
        sys.exit(f"resources: cuobjdump finds no kernel in {options.plugin}")
    ours = [row for row in rows if row["kernel"].startswith("grids::")]
    hot = [row for row in ours if HOT.search(row["kernel"])]
    spilled = [row for row in hot if row["stack"] or row["local"]]
    archs = sorted({row["arch"] for row in rows})
    lines = ["# Kernels of the CUDA plug-in", "",
             f"{len(rows)} kernels for {', '.join(archs)}, {options.plugin.stat().st_size / 1e6:.1f} MB; {len(ours)} of them are written here, the others CUB's.", "",
             "| architecture | kernels | registers: median, most | with a stack | of training's, with a stack |", "|---|---|---|---|---|"]
    for arch in archs:
        mine = sorted((row for row in ours if row["arch"] == arch), key=lambda row: row["registers"])
        stacked = [row for row in mine if row["stack"]]
        lines.append(f"| {arch} | {len(mine)} | {mine[len(mine) // 2]['registers']}, {mine[-1]['registers']} | {len(stacked)} | "
                     f"{len([row for row in spilled if row['arch'] == arch])} of {len([row for row in hot if row['arch'] == arch])} |")
    last = archs[-1]
    most = sorted((row for row in ours if row["arch"] == last), key=lambda row: -row["registers"])[:12]
    lines += ["", f"The most registers, {last}:", "", "| kernel | registers | stack | shared |", "|---|---|---|---|"]
    lines += [f"| `{row['kernel'][:110]}` | {row['registers']} | {row['stack']} | {row['shared']} |" for row in most]
    stacks = sorted((row for row in ours if row["arch"] == last and row["stack"]), key=lambda row: -row["stack"])[:12]
    lines += ["", f"The largest stacks, {last}:", "", "| kernel | registers | stack | shared |", "|---|---|---|---|"]
    lines += [f"| `{row['kernel'][:110]}` | {row['registers']} | {row['stack']} | {row['shared']} |" for row in stacks]
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    print(json.dumps(rows, indent=1) if options.json else "\n".join(lines))
    if options.check and spilled:
        for row in spilled:
            print(f"resources: {row['arch']} {row['kernel']} has a stack of {row['stack']} bytes", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
