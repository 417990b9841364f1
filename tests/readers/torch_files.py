"""Files of torch.save's, read by tandem and by PyTorch, and what tandem writes of them read by PyTorch: torch_files.py READ_FILES [FOLDER].

Two hundred files are made: both formats, all protocols, dtypes, views, optimizers' states, values beside tensors. Those in FOLDER are others'. For each, both give the same to
the bit, or both refuse."""

import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import torch

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64]


class Maker:
    """Random values that a checkpoint may hold."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.storages = []

    def tensor(self):
        pick = self.random
        if self.storages and pick.random() < 0.4:  # another view
            flat = pick.choice(self.storages)
        else:
            dtype = pick.choice(DTYPES)
            flat = torch.randint(0, 256, (pick.choice([0, 1, 24, 120]) * dtype.itemsize,), generator=self.generator, dtype=torch.uint8)
            flat = flat % 2 == 1 if dtype is torch.bool else flat.view(dtype)
            self.storages.append(flat)
        if flat.numel() < 24:
            return flat
        view = pick.randrange(6)
        if view == 0:
            return flat
        if view == 1:
            return flat.view(-1, 4).t()
        if view == 2:
            return flat.view(-1, 6)[::2, 1:3]
        if view == 3:
            return flat[3]
        if view == 4:
            return flat[:4].expand(3, 4)
        return flat.view(2, -1, 3)[:, 1:1]

    def leaf(self):
        pick = self.random
        return pick.choice([
            self.tensor, self.tensor, self.tensor, lambda: pick.randrange(-10, 10), lambda: pick.randrange(-(2**63), 2**63), pick.random, lambda: None, lambda: pick.random() < 0.5,
            lambda: "".join(pick.choice("abcäß世 '\\") for _ in range(pick.randrange(300))), lambda: bytes(pick.randrange(256) for _ in range(pick.randrange(9))),
            lambda: pick.choice(DTYPES), lambda: torch.device("cuda", 1), lambda: torch.Size([2, 3]), lambda: {pick.randrange(5)},
            lambda: self.parameter()])()  # fmt: skip

    def parameter(self):
        return torch.nn.Parameter(torch.rand(self.random.randrange(1, 4), 2, generator=self.generator), requires_grad=self.random.random() < 0.5)

    def value(self, depth):
        pick = self.random
        if depth == 0 or pick.random() < 0.2:
            return self.leaf()
        size = pick.choice([0, 1, 2, 3, 1200 if depth == 1 and pick.random() < 0.05 else 4])
        items = [self.value(depth - 1) for _ in range(size)]
        kind = pick.randrange(4)
        if kind == 0:
            return items
        if kind == 1:
            return tuple(items)
        pairs = [(i if pick.random() < 0.2 else f"key{i}.weight", item) for i, item in enumerate(items)]
        return dict(pairs) if kind == 2 else collections.OrderedDict(pairs)

    def checkpoint(self):
        pick, nn = self.random, torch.nn
        torch.manual_seed(pick.randrange(1000))
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LSTM(4, 2) if pick.random() < 0.3 else nn.Linear(4, 2))
        net.to(pick.choice([torch.float32, torch.float64]))
        kinds = [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad]
        optimizer = pick.choice(kinds)(net.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
        out = net(torch.randn(5, 3, dtype=net[0].weight.dtype))
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        optimizer.step()
        schedule.step()
        return {"epoch": 3, "model": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(), "more": self.value(2)}


def tensors_of(value, name=""):
    """All tensors, by the keys that lead to them."""
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        pairs = enumerate(value)
    elif isinstance(value, dict):
        pairs = value.items()
    else:
        return
    for key, item in pairs:
        yield from tensors_of(item, f"{name}.{key}" if name else str(key))


def bits(tensor):
    """Its elements' bytes, row by row."""
    flat = tensor.detach().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def plain(value):
    """What is to be the same beside tensors: values whose classes tandem keeps apart."""
    if isinstance(value, torch.Tensor):
        return "tensor", str(value.dtype), tuple(value.shape), value.stride() if value.numel() else None, value.requires_grad
    if isinstance(value, dict):
        return "dict", [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return "list" if isinstance(value, list) else "tuple", [plain(item) for item in value]
    return type(value).__name__, repr(value)


class Reader:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, path, write):
        self.process.stdin.write(json.dumps({"reader": "torch", "path": str(path), "write": str(write)}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        for tensor in answer.get("tensors", []):
            tensor["data"] = self.process.stdout.read(tensor["bytes"])
        return answer


def compare(reader, path, folder, trusted):
    """What differs, in a sentence; None where nothing does, "refused" where both refuse. Of protocols above 2 PyTorch reads most only where it trusts the file."""
    try:
        wanted = torch.load(path, map_location="cpu", weights_only=not trusted)
        if isinstance(wanted, torch.jit.ScriptModule):
            raise TypeError("TorchScript")
        error = None
    except Exception as raised:  # any that PyTorch has
        wanted, error = None, raised
    again = folder / "again.pt"
    answer = reader.read(path, again)
    if "error" in answer:
        return "refused" if error else f"tandem refuses it: {answer['error']}"
    if error:
        return f"read by tandem alone ({len(answer['tensors'])} tensors); PyTorch: {str(error).splitlines()[0][:80]}"
    named = list(tensors_of(wanted))
    if [name for name, _ in named] != [tensor["name"] for tensor in answer["tensors"]]:
        return "other names of tensors"
    for (name, tensor), ours in zip(named, answer["tensors"]):
        if (str(tensor.dtype), list(tensor.shape), bits(tensor)) != ("torch." + ours["dtype"], ours["sizes"], ours["data"]):
            return f"tensor {name} differs"
    back = torch.load(again, weights_only=True)
    if plain(back) != plain(wanted):
        return "what tandem writes of it is another value"
    if [bits(tensor) for _, tensor in tensors_of(back)] != [bits(tensor) for _, tensor in named]:
        return "what tandem writes of it has other elements"
    return None


def main():
    reader = Reader(sys.argv[1])
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = []
        for seed in range(200):
            maker = Maker(seed)
            path = folder / f"{seed}.pt"
            value = maker.checkpoint() if seed % 4 == 0 else maker.value(3)
            torch.save(value, path, pickle_protocol=2 + seed % 4, _use_new_zipfile_serialization=seed % 3 != 0)
            files.append(path)
        if len(sys.argv) > 2:
            files += sorted(path for path in pathlib.Path(sys.argv[2]).rglob("*") if path.suffix in (".pt", ".pth") and path.is_file())
        for path in files:
            found = compare(reader, path, folder, path.parent == folder)
            kind = "made" if path.parent == folder else "others'"
            result = "the same" if found is None else "refused by both" if found == "refused" else "read by tandem alone" if found.startswith("read by") else "DIFFERENT"
            counts[kind, result] += 1
            if kind == "others'" or result != "the same":
                print(f"{path if kind != 'made' else path.name}: {found or 'the same'}")
    for (kind, result), count in sorted(counts.items()):
        print(f"{kind}: {count} {result}")
    bad = [count for (kind, result), count in counts.items() if result == "DIFFERENT" or kind == "made" and result != "the same"]
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
