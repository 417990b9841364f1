"""Writes the files of this folder by PyTorch 2.15: make.py [FOLDER]. NAME.pt2 is a program, NAME.safetensors its inputs and what it gives.

The programs are written again without what names this machine: stack traces, and the inputs that PyTorch keeps beside them.
"""

import io
import json
import pathlib
import sys
import zipfile

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/..").resolve()
Dim = torch.export.Dim


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, padding="same", groups=2), nn.BatchNorm2d(4)
        self.relu, self.act, self.drop = nn.ReLU(inplace=True), nn.Hardswish(inplace=True), nn.Dropout(0.5, inplace=True)
        self.pool, self.fc = nn.MaxPool2d(2), nn.Linear(4, 5)

    def forward(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        y = self.bn2(self.conv2(x))
        y += x
        y = self.act(y)
        y = F.avg_pool2d(y, 2, count_include_pad=False) + F.interpolate(y, scale_factor=0.5, mode="bilinear", align_corners=False)
        return self.fc(self.drop(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1)))


class Block(nn.Module):
    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"), nn.Linear(2 * width, width))
        self.register_buffer("mask", torch.tril(torch.ones(16, 16, dtype=torch.bool)), persistent=False)

    def forward(self, x):
        batch, time, width = x.shape
        parts = self.qkv(self.ln1(x)).chunk(3, -1) if self.fused else self.qkv(self.ln1(x)).split(width, -1)
        q, k, v = (part.view(batch, time, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
            y = scores.masked_fill(~self.mask[:time, :time], float("-inf")).softmax(-1) @ v
        x = x + self.proj(y.transpose(1, 2).reshape(batch, time, width))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    """Two layers, whose head shares the weight of the embedding."""

    def __init__(self, tokens=11, width=8):
        super().__init__()
        self.tok, self.pos = nn.Embedding(tokens, width), nn.Embedding(16, width)
        self.blocks = nn.ModuleList([Block(width, 2, False), Block(width, 2, True)])
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, tokens, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


class Norm(nn.Module):
    """In training: the running figures follow."""

    def __init__(self):
        super().__init__()
        self.bn, self.fc = nn.BatchNorm1d(3), nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls.add_(1)
        return self.fc(self.bn(x))


class Many(nn.Module):
    """Operations of all groups, several inputs and outputs, sizes that are computed with, views that are written to."""

    def __init__(self):
        super().__init__()
        self.table = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]])

    def forward(self, x, index):
        rows, columns = x.shape
        values, places = x.topk(2, 1)
        largest, where = x.max(1)
        y = x.clone()
        y[:, 0] = 7
        y[:, 1:3].mul_(2)
        y.clamp_(-1.5)
        chosen = x[torch.arange(rows, device=x.device), index]
        summed = torch.zeros(3, columns, device=x.device).index_add(0, index, x)
        spread = x.var(1, unbiased=False) + x.std() + x.mean() + x.sum(0).prod()
        padded = F.pad(x, (1, 2), value=0.5).reshape(rows * (columns + 3))
        joined = torch.cat([x, self.table[index]], 1).cumsum(1)
        where_small = torch.where(x < 0, x * x, torch.full_like(x, 0.25)).to(torch.float64)
        scattered = torch.zeros_like(x).scatter(1, places, values)
        halves = torch.einsum("ij,kj->ik", x, x).tril() / (rows // 2 + 1)
        grid = torch.linspace(0, 1, columns, device=x.device).pow(2) * x.norm(dim=1, keepdim=True)
        return (y, chosen, summed, spread, padded, joined, where_small, scattered, halves, grid, largest, where, rows), x.argmax(), None


class Missing(nn.Module):
    def forward(self, x):
        return torch.linalg.svdvals(x) + torch.special.bessel_j0(x).sum()


def without_places(data):
    """The archive without what names a machine."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as slim:
        for entry in archive.namelist():
            content = archive.read(entry)
            if "/sample_inputs/" in entry:
                continue
            if "/models/" in entry:
                program = json.loads(content)
                program["guards_code"] = []
                module = program["graph_module"]
                module["metadata"] = {}
                for node in module["graph"]["nodes"]:
                    node["metadata"] = {}
                content = json.dumps(program, separators=(",", ":")).encode()
            info = zipfile.ZipInfo(entry.replace(entry.split("/")[0], "program", 1), (1980, 1, 1, 0, 0, 0))
            slim.writestr(info, content)
    return out.getvalue()


def write(name, module, inputs, shapes=None, decompose=False, expected=True):
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    if decompose:
        program = program.run_decompositions()
    out = io.BytesIO()
    torch.export.save(program, out)
    (folder / f"{name}.pt2").write_bytes(without_places(out.getvalue()))
    if not expected:
        return
    outputs = torch.utils._pytree.tree_leaves(program.module()(*inputs))
    tensors = {f"input{i}": x for i, x in enumerate(inputs) if isinstance(x, torch.Tensor)}
    tensors |= {f"output{i}": torch.as_tensor(x).detach().clone() for i, x in enumerate(outputs) if x is not None}
    save_file(tensors, folder / f"{name}.safetensors")


def main():
    torch.manual_seed(0)
    conv = Conv()
    for bn in (conv.bn1, conv.bn2):
        nn.init.uniform_(bn.running_mean, -0.5, 0.5), nn.init.uniform_(bn.running_var, 0.5, 2), nn.init.uniform_(bn.weight, 0.5, 2)
    conv.eval()
    batch, time = Dim("batch", min=1, max=64), Dim("time", min=2, max=15)
    image = torch.randn(2, 3, 8, 8)
    write("conv", conv, (image,), ({0: batch},))
    write("conv_decomposed", conv, (image,), decompose=True)
    gpt, ids = Gpt().eval(), torch.randint(11, (2, 5))
    write("gpt", gpt, (ids,), ({0: batch, 1: time},))
    write("gpt_decomposed", gpt, (ids,), ({0: batch, 1: time},), decompose=True)
    write("norm", Norm().train(), (torch.randn(4, 3),))
    write("norm_decomposed", Norm().train(), (torch.randn(4, 3),), decompose=True)
    write("many", Many(), (torch.randn(4, 5), torch.tensor([0, 2, 1, 2])), ({0: Dim("rows", min=2)}, {0: Dim("rows", min=2)}))
    write("missing", Missing(), (torch.randn(3, 3),), expected=False)


if __name__ == "__main__":
    main()
