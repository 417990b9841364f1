"""Writes the files of this folder by PyTorch: /usr/bin/python3 make.py FOLDER. What is in them, tests/io/torch_file_test.cpp expects."""

import collections
import io
import pathlib
import sys
import zipfile

import torch

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/..").resolve()
DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def values():
    """One of all that is plain."""
    flat = torch.arange(12, dtype=torch.float32)
    return {
        "dtypes": {name: torch.tensor([[0, 1, 0], [1, 1, 0]]).to(getattr(torch, name)) for name in DTYPES},
        "rows": flat.view(3, 4),
        "column": flat.view(3, 4)[:, 1],
        "part": flat[4:7],
        "turned": flat.view(3, 4).t(),
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(2, 0, 3),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "leaf": torch.ones(1, requires_grad=True),
        "numbers": [0, 1, 255, 256, 65536, -1, -(2**40), 2**62, True, False, None, 0.5, float("inf")],
        "texts": ("", "plain", "Grüße, 世界", "a" * 300),
        "bytes": b"\x00\x7f\x80\xff",
        "set": {3},
        "size": torch.Size([2, 3]),
        "device": torch.device("cuda", 1),
        "dtype": torch.bfloat16,
        "ordered": collections.OrderedDict(a=1, b=[]),
        "default": collections.defaultdict(list, {"x": [1]}),
        7: {"nested": [{"deep": torch.tensor([7])}]},
    }


def checkpoint():
    """A net's and an optimizer's state after a step."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    for i, parameter in enumerate(net.parameters()):
        torch.nn.init.constant_(parameter, i + 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.25)
    net(torch.ones(5, 3)).sum().backward()
    optimizer.step()
    return {"epoch": 3, "model": net.state_dict(), "optimizer": optimizer.state_dict()}


class Scripted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)
        self.scale = 2.0
        torch.nn.init.constant_(self.linear.weight, 0.5)
        torch.nn.init.constant_(self.linear.bias, 1.5)

    def forward(self, x):
        return self.linear(x) * self.scale


for protocol in (2, 3, 4, 5):
    torch.save(values(), folder / f"values_{protocol}.pt", pickle_protocol=protocol)
    torch.save(values(), folder / f"old_{protocol}.pt", pickle_protocol=protocol, _use_new_zipfile_serialization=False)
torch.save(checkpoint(), folder / "checkpoint.pt")
torch.save(checkpoint(), folder / "old_checkpoint.pt", _use_new_zipfile_serialization=False)
torch.save(torch.nn.Linear(2, 2), folder / "model.pt")
torch.save({"z": torch.zeros(2, dtype=torch.complex64)}, folder / "complex.pt")
# Without what says where the code came from.
written = io.BytesIO()
torch.jit.save(torch.jit.script(Scripted()), written)
with zipfile.ZipFile(written) as archive, zipfile.ZipFile(folder / "script.pt", "w") as stripped:
    for name in archive.namelist():
        if not name.endswith(".debug_pkl"):
            stripped.writestr(zipfile.ZipInfo(name), archive.read(name))
