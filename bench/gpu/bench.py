#!/usr/bin/env python3
"""tandem beside the PyTorch that is installed, on the same GPU: bench/gpu/bench.py [--json] [--rounds N] [--out FOLDER] TREE.

TREE is a build folder, or a tree made by ./dev gpu-tree. Needs nothing but Python, torch and a GPU. Both sides run in turn, A-B-B-A, after a
warm-up; a case queues its work ten times and waits once. Writes gpu-NAME.md and gpu-NAME.json into the folder of --out.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

CASES = ["copy_to", "copy_from", "copy_within", "matmul_4096", "matmul_4096_bf16", "mlp_8", "mlp_128", "mlp_8_graph", "mlp_128_graph", "cifar_cnn",
         "resnet18", "copy_rows", "copy_transposed", "cast_bf16", "add_row", "batch_norm", "batch_norm_large", "layer_norm", "rms_norm", "softmax", "max_pool",
         "linear_of_sum", "cat", "lstm", "lstm_step", "attention_1024", "attention_197", "attention_token", "attention_growing", "attention_grouped",
         "cholesky", "inverse", "qr"]
# At least so many times as fast as PyTorch, 1 where nothing is said; copies are held against a plain benchmark's rate, which PyTorch's copy is.
TARGETS = {"copy_to": 0.9, "copy_from": 0.9, "copy_within": 0.9, "mlp_8": 2, "mlp_128": 2}
QUEUED = 10


def kernels(device):
    """The cases of bench/gpu_kernels.cpp."""
    import torch
    from torch.nn import functional

    def rand(*sizes, dtype=torch.float32):
        return torch.randn(*sizes, device=device).to(dtype)

    def differentiated(inputs, f):
        inputs = [x.requires_grad_() for x in inputs]
        gradient = torch.ones_like(f(*inputs).detach())
        return lambda: torch.autograd.grad(f(*inputs), inputs, gradient)

    def copied(source):
        target = torch.empty(source.shape, device=device)
        return lambda: target.copy_(source)

    def cast():
        source = torch.zeros(64 << 20, device=device)
        target = torch.empty(source.shape, dtype=torch.bfloat16, device=device)
        return lambda: target.copy_(source)

    def add_row():
        x, row = torch.zeros(16384, 4096, device=device), torch.zeros(4096, device=device)
        return lambda: x + row

    def batch_norm(batch, side):
        mean, variance = torch.zeros(64, device=device), torch.ones(64, device=device)
        return differentiated([rand(batch, 64, side, side), torch.ones(64, device=device), torch.zeros(64, device=device)],
                              lambda x, weight, bias: functional.batch_norm(x, mean, variance, weight, bias, training=True))

    def layer_norm():
        return differentiated([rand(8192, 1024), torch.ones(1024, device=device), torch.zeros(1024, device=device)],
                              lambda x, weight, bias: functional.layer_norm(x, (1024,), weight, bias))

    def rms_norm():
        return differentiated([rand(8192, 1024), torch.ones(1024, device=device)], lambda x, weight: functional.rms_norm(x, (1024,), weight))

    def linear_of_sum():
        inputs = [rand(4096, 1024).requires_grad_(), rand(1024, 1024).requires_grad_()]
        return lambda: torch.autograd.grad(functional.linear(*inputs).sum(), inputs)

    def cat():
        parts = [torch.zeros(4096, 64, device=device) for _ in range(64)]
        return lambda: torch.cat(parts, 1)

    def lstm():
        net, x = torch.nn.LSTM(512, 512, 2).to(device), rand(128, 32, 512)

        def step():
            net.zero_grad()
            net(x)[0].sum().backward()
        return step

    def lstm_step():
        net, x, state = torch.nn.LSTM(512, 512, 2).to(device), rand(1, 1, 512), [None]

        def step():
            with torch.no_grad():
                state[0] = net(x, state[0])[1]
        return step

    def heads(batch, tokens):
        return rand(batch, 16, tokens, 64, dtype=torch.bfloat16)

    def attention(tokens):
        return differentiated([heads(8, tokens) for _ in range(3)], functional.scaled_dot_product_attention)

    def attention_token():
        q, k, v = heads(8, 1), heads(8, 1024), heads(8, 1024)
        return lambda: functional.scaled_dot_product_attention(q, k, v)

    def attention_growing():
        q, k, v, length = heads(1, 1), heads(1, 4096), heads(1, 4096), [0]

        def step():
            length[0] = length[0] % 4096 + 1
            functional.scaled_dot_product_attention(q, k[:, :, :length[0]], v[:, :, :length[0]])
        return step

    def attention_grouped():
        q, k, v = heads(8, 4), *(rand(8, 4, 1024, 64, dtype=torch.bfloat16) for _ in range(2))
        return lambda: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    def of_definite(f):
        x = rand(256, 32, 32)
        definite = x @ x.mT + 32 * torch.eye(32, device=device)
        return lambda: f(definite)

    def qr():
        x = rand(256, 64, 32)
        return lambda: torch.linalg.qr(x)

    return {"copy_rows": lambda: copied(torch.zeros(65536, 600, device=device)[:, 4:516]), "copy_transposed": lambda: copied(torch.zeros(4096, 4096, device=device).t()),
            "cast_bf16": cast, "add_row": add_row, "batch_norm": lambda: batch_norm(256, 28), "batch_norm_large": lambda: batch_norm(128, 112),
            "layer_norm": layer_norm, "rms_norm": rms_norm, "softmax": lambda: differentiated([rand(8192, 1024)], lambda x: torch.softmax(x, 1)),
            "max_pool": lambda: differentiated([rand(64, 64, 112, 112)], lambda x: functional.max_pool2d(x, 3, 2, 1)), "linear_of_sum": linear_of_sum,
            "cat": cat, "lstm": lstm, "lstm_step": lstm_step, "attention_1024": lambda: attention(1024), "attention_197": lambda: attention(197), "attention_token": attention_token,
            "attention_growing": attention_growing, "attention_grouped": attention_grouped, "cholesky": lambda: of_definite(torch.linalg.cholesky),
            "inverse": lambda: of_definite(torch.linalg.inv), "qr": qr}


def peer(names, seconds):
    """The cases in PyTorch: nanoseconds of one."""
    import torch
    from torch import nn
    device = torch.device("cuda")
    copied = 64 << 20

    def step_of(net, make, x):
        net = net.to(device)
        optimizer = make(net.parameters())
        labels = torch.randint(0, 10, (x.shape[0],), device=device)

        def step():
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), labels).backward()
            optimizer.step()
        return step

    def copy(from_pinned, to_pinned, size):
        source = torch.zeros(size, dtype=torch.uint8, pin_memory=True) if from_pinned else torch.zeros(size, dtype=torch.uint8, device=device)
        target = torch.empty(size, dtype=torch.uint8, pin_memory=True) if to_pinned else torch.empty(size, dtype=torch.uint8, device=device)
        return lambda: target.copy_(source, non_blocking=True)

    def product(dtype):
        a, b = (torch.randn(4096, 4096, device=device).to(dtype) for _ in range(2))
        return lambda: a @ b

    def mlp(batch):
        net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
        return step_of(net, lambda p: torch.optim.Adam(p, lr=1e-6), torch.randn(batch, 784, device=device))

    def mlp_graph(batch):
        net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
        step = step_of(net, lambda p: torch.optim.Adam(p, lr=1e-6, capturable=True), torch.randn(batch, 784, device=device))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay

    def cifar():
        net = nn.Sequential(nn.Conv2d(3, 50, 3, padding=1), nn.ReLU(), nn.Conv2d(50, 50, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(), nn.Dropout(0.25),
                            nn.Conv2d(50, 100, 3, padding=1), nn.ReLU(), nn.Conv2d(100, 100, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(), nn.Dropout(0.25),
                            nn.Flatten(), nn.Linear(6400, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 10))
        return step_of(net, lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9), torch.randn(64, 3, 32, 32, device=device))

    class Residual(nn.Module):
        def __init__(self, into, out, stride=1, project=False):
            super().__init__()
            self.conv1 = nn.Conv2d(into, out, 3, padding=1, stride=stride)
            self.conv2 = nn.Conv2d(out, out, 3, padding=1)
            self.conv3 = nn.Conv2d(into, out, 1, stride=stride) if project else None
            self.bn1, self.bn2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)

        def forward(self, x):
            y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(y + (self.conv3(x) if self.conv3 is not None else x))

    def resnet18():
        layers = [nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), Residual(64, 64), Residual(64, 64)]
        for into, out in ((64, 128), (128, 256), (256, 512)):
            layers += [Residual(into, out, 2, True), Residual(out, out)]
        net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
        return step_of(net, lambda p: torch.optim.SGD(p, lr=1e-4), torch.randn(256, 1, 28, 28, device=device))

    make = {"copy_to": lambda: copy(True, False, copied), "copy_from": lambda: copy(False, True, copied),
            "copy_within": lambda: copy(False, False, 4 * copied), "matmul_4096": lambda: product(torch.float32),
            "matmul_4096_bf16": lambda: product(torch.bfloat16), "mlp_8": lambda: mlp(8), "mlp_128": lambda: mlp(128), "mlp_8_graph": lambda: mlp_graph(8),
            "mlp_128_graph": lambda: mlp_graph(128), "cifar_cnn": cifar,
            "resnet18": resnet18, **kernels(device)}
    torch.backends.cuda.matmul.allow_tf32 = False
    figures = {}
    for name in names:
        torch.manual_seed(0)
        run = make[name]()
        samples, ends = [], time.perf_counter() + seconds
        for index in range(10**9):
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(QUEUED):
                run()
            torch.cuda.synchronize()
            if index >= 3:
                samples.append((time.perf_counter() - began) / QUEUED * 1e9)
            if time.perf_counter() > ends and len(samples) >= 3:
                break
        figures[name] = statistics.median(samples)
    return {"library": f"PyTorch {torch.__version__}", "device": torch.cuda.get_device_name(0), "results": [{"name": n, "ns": t} for n, t in figures.items()]}


def measured(command, environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"gpu bench: {' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr.strip().splitlines() or ['it printed nothing'])[-1]}")
    return json.loads(done.stdout)


def readable(ns):
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * scale:
            break
    return f"{ns / scale:.3g} {unit}"


def driver_version():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True).stdout.split()[0]
    except (OSError, IndexError):
        return "unknown"


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu/bench.py", description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path, metavar="TREE", help="a build folder, or a tree made by ./dev gpu-tree")
    parser.add_argument("--only", action="append", choices=CASES, help="measure only this case; may be given several times")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="rounds of peer, ours, ours, peer (default 2)")
    parser.add_argument("--seconds", type=float, default=0.7, metavar="S", help="seconds a case and run (default 0.7)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path.cwd(), metavar="FOLDER", help="where the files go (default: here)")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.only or CASES
    if options.peer:
        print(json.dumps(peer(names, options.seconds)))
        return
    only = [word for name in names for word in ("--only", name)]
    sides = {"peer": [sys.executable, __file__, str(options.tree), "--peer", "--seconds", str(options.seconds), *only],
             "ours": [str(options.tree / "bin" / "tandem_bench"), "gpu", "--json", "--ms", str(options.seconds * 1000), *only]}
    # The tree's own copies of system libraries are for our side alone.
    tree = str(options.tree.resolve())
    paths = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path and not path.startswith(tree)]
    environments = {"peer": {**os.environ, "LD_LIBRARY_PATH": ":".join(paths)}, "ours": None}
    runs, documents = {"peer": [], "ours": []}, {}
    for side in ["peer", "ours"] + ["peer", "ours", "ours", "peer"] * options.rounds:  # the first pair warms up
        documents[side] = measured(sides[side], environments[side])
        runs[side].append({row["name"]: row["ns"] for row in documents[side]["results"]})
    rows = []
    for name in names:
        theirs, ours = ([run[name] for run in runs[side][1:]] for side in ("peer", "ours"))
        ratios = sorted(a / b for a, b in zip(theirs, ours))
        rows.append({"name": name, "peer_ns": statistics.median(theirs), "ours_ns": statistics.median(ours), "ratio": statistics.median(ratios),
                     "lowest": ratios[0], "highest": ratios[-1], "target": TARGETS.get(name, 1), "holds": statistics.median(ratios) >= TARGETS.get(name, 1)})
    gpu = documents["peer"]["device"]
    document = {"gpu": gpu, "driver": driver_version(), "date": datetime.date.today().isoformat(), "peer": documents["peer"]["library"], "rows": rows}
    lines = [f"# {gpu}", "", f"{document['date']}, driver {document['driver']}, against {document['peer']} (eager), A-B-B-A, medians.", "",
             "| case | PyTorch | tandem | ratio (range) | target | |", "|---|---|---|---|---|---|"]
    lines += [f"| {r['name']} | {readable(r['peer_ns'])} | {readable(r['ours_ns'])} | {r['ratio']:.2f}x ({r['lowest']:.2f}-{r['highest']:.2f}) | >= {r['target']}x | "
              f"{'pass' if r['holds'] else 'FAIL'} |" for r in rows]
    options.out.mkdir(parents=True, exist_ok=True)
    stem = "gpu-" + re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    (options.out / f"{stem}.md").write_text("\n".join(lines) + "\n")
    (options.out / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(document, indent=1) if options.json else "\n".join(lines))
    sys.exit(0 if all(row["holds"] for row in rows) else 1)


if __name__ == "__main__":
    main()
