"""Modules and functions of one's own: parameters, hooks, containers, a backward written by hand."""

from typing import Any

import tandem as torch
from tandem import nn


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * grads[0]


class Scale(nn.Module):
    def __init__(self, features: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = Square.apply(x) * self.weight
        return y if self.bias is None else y + self.bias


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), Scale(3), nn.ModuleList([nn.Identity()])[0])
shapes: list[torch.Size] = []
handle = net[0].register_forward_hook(lambda module, inputs, output: shapes.append(output.shape))

if __name__ == "__main__":
    net(torch.randn(2, 4)).sum().backward()
    handle.remove()
    assert count(net) == 15 + 6 and shapes == [(2, 3)]
    net.load_state_dict(net.state_dict())
