"""The peer's side of the comm benchmark: PyTorch's collectives over gloo, and DistributedDataParallel. One rank; bench/comm.py starts them."""

import argparse
import json
import statistics
import sys
import time

import torch
import torch.distributed as dist

SIZES = {"all_reduce_4": 4, "all_reduce_1m": 1_000_000, "all_reduce_16m": 16_000_000}


def time_ns(iterations, body):
    start = time.perf_counter_ns()
    for _ in range(iterations):
        body()
    return time.perf_counter_ns() - start


def agreed(number):
    """The first rank's number, on every rank."""
    t = torch.tensor([number], dtype=torch.float64)
    dist.broadcast(t, 0)
    return t.item()


def measure(name, budget_ms, body):
    """As measure_together of bench/measure.h."""
    budget, batch, warm = budget_ms * 1e6, 1, 0
    while True:
        ns = agreed(time_ns(batch, body))
        warm += ns
        if warm >= budget / 4:
            batch = max(1, int(batch * (budget / 20) / max(ns, 1)))
            break
        if ns < budget / 40:
            batch *= 2
    times = [time_ns(batch, body) / batch for _ in range(15)]
    return {"name": name, "ns": statistics.median(times), "best_ns": min(times), "batches": len(times), "batch": batch}


def mlp(name, ms):
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    ddp = nn.parallel.DistributedDataParallel(net)
    sgd = torch.optim.SGD(net.parameters(), lr=1e-6)
    x, labels = torch.randn(64, 784), torch.randint(0, 10, (64,))

    def step():
        sgd.zero_grad()
        nn.functional.cross_entropy(ddp(x), labels).backward()
        sgd.step()

    return measure(name, ms, step)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ms", type=float, default=200)
    parser.add_argument("--only", action="append")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dist.init_process_group("gloo")
    results = []
    for name in [*SIZES, "mlp"]:
        if options.only and name not in options.only:
            continue
        if name == "mlp":
            results.append(mlp(name, options.ms))
        else:
            t = torch.zeros(SIZES[name] // 4)
            results.append(measure(name, options.ms, lambda: dist.all_reduce(t)))
    if dist.get_rank() == 0:
        print(json.dumps({"library": f"torch {torch.__version__} gloo", "threads": options.threads, "results": results}))
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
