"""Writes networks of torchvision's and a GPT as programs, with their inputs and outputs: networks.py FOLDER."""

import pathlib
import sys

import torch
import torchvision
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).parent / "programs"))
from make import Gpt  # noqa: E402

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(0)
batch, time = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("time", min=2, max=15)
networks = {
    "resnet18": (torchvision.models.resnet18(weights=None), torch.randn(2, 3, 64, 64), {0: batch}),
    "mobilenet_v3_small": (torchvision.models.mobilenet_v3_small(weights=None), torch.randn(2, 3, 64, 64), {0: batch}),
    "vit_b_16": (torchvision.models.vit_b_16(weights=None), torch.randn(2, 3, 224, 224), {0: batch}),
    "gpt": (Gpt(tokens=100, width=64), torch.randint(100, (2, 12)), {0: batch, 1: time}),
}
torch.nn.init.normal_(networks["vit_b_16"][0].heads.head.weight, std=0.05)  # zeros otherwise, and so were all outputs
for name, (network, x, shapes) in networks.items():
    with torch.no_grad():
        for _ in range(20):  # running figures that fit: numbers that are not tiny come out
            network.train()(x) if name in ("resnet18", "mobilenet_v3_small") else None
    program = torch.export.export(network.eval(), (x,), dynamic_shapes=(shapes,))
    torch.export.save(program, str(folder / f"{name}.pt2"))
    with torch.no_grad():
        save_file({"input0": x, "output0": network(x).contiguous()}, folder / f"{name}.safetensors")
