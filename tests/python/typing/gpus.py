"""GPUs: devices, copies, streams, and the reports of what they do."""

import tandem as torch
from tandem import nn


def try_gpu(i: int = 0) -> torch.device:
    return torch.device(f"cuda:{i}") if torch.cuda.device_count() > i else torch.device("cpu")


def allreduce(tensors: list[torch.Tensor]) -> None:
    total = tensors[0].clone()
    for tensor in tensors[1:]:
        total += tensor.to(total.device)
    for tensor in tensors:
        tensor.copy_(total)


def report(device: torch.device) -> str:
    x = torch.ones(8, device=device)
    with torch.ledger.Recorder() as recorder, torch.races.Checker() as checker:
        total = 0.0
        for i in range(3):
            total += float((x * i).sum())
    return f"{total} {recorder.report()} {checker.reports}"


if __name__ == "__main__":
    pair = [torch.ones(2, device=try_gpu(i)) for i in range(2)]
    allreduce(pair)
    assert [tensor.tolist() for tensor in pair] == [[2.0, 2.0]] * 2
    assert report(try_gpu()).startswith("24.0")
    net = nn.Linear(2, 2).to(try_gpu())
    print(net(pair[0].to(try_gpu())), torch.smi())
