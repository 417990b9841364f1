#!/usr/bin/env python3
"""edges.py: PyTorch's values and gradients of every pointwise operation at the edges of each type, in float64: writes edges.npz.

For each row of kernels/pointwise.def, and each operation that calls a kernel by hand: "NAME/DTYPE" is (values, gradients…) at the ten edges, or at
all pairs of them, each a row. The edges are those of DTYPE, the numbers are float64: what is lost by rounding and overflow inside of an
operation shows. tests/ops/edges_test.cpp compares. Needs torch and numpy:

    python3 tests/golden/edges.py
"""
import pathlib
import re

import numpy
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
aten = torch.ops.aten

# Where PyTorch has another name, or parameters. What is not here is torch.NAME or torch.nn.functional.NAME.
CALLS = {
    "logsigmoid": F.logsigmoid,
    "fmax": torch.fmax,
    "tanh_backward": aten.tanh_backward,
    "sigmoid_backward": aten.sigmoid_backward,
    "silu_backward": aten.silu_backward,
    "mish_backward": aten.mish_backward,
    "gelu_backward": lambda g, x: aten.gelu_backward(g, x),
    "gelu_tanh_backward": lambda g, x: aten.gelu_backward(g, x, approximate="tanh"),
    "hardswish_backward": aten.hardswish_backward,
}
# Operations that kernels without a function of their own compute.
UNARY = {
    "threshold": lambda x: F.threshold(x, 0.5, 2),
    "hardtanh": lambda x: F.hardtanh(x, -1, 1),
    "clamp": lambda x: torch.clamp(x, -0.5, 1),
    "pow_2": lambda x: x**2,
    "pow_3": lambda x: x**3,
    "pow_half": lambda x: x**0.5,
    "pow_minus_half": lambda x: x**-0.5,
    "pow_minus_1": lambda x: x**-1,
    "pow_minus_2": lambda x: x**-2,
    "pow_2_5": lambda x: x**2.5,
    "base_0": lambda x: torch.pow(0, x),
    "base_2": lambda x: torch.pow(2, x),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.25),
    "elu": lambda x: F.elu(x, 0.5),
    "celu": lambda x: F.celu(x, 0.5),
    "softplus": lambda x: F.softplus(x, 2, 20),
    "hardshrink": lambda x: F.hardshrink(x, 0.5),
    "softshrink": lambda x: F.softshrink(x, 0.5),
    "nan_to_num": lambda x: torch.nan_to_num(x, 2, 3, 4),
    "logit": torch.logit,
    "logit_eps": lambda x: torch.logit(x, 0.25),
    "polygamma_1": lambda x: torch.polygamma(1, x),
    "polygamma_2": lambda x: torch.polygamma(2, x),
}
BINARY = {
    "where": lambda a, b: torch.where(a > 0, a, b),
    "clamp_min": lambda a, b: torch.clamp(a, min=b),
    "clamp_max": lambda a, b: torch.clamp(a, max=b),
    "add_scaled": lambda a, b: torch.add(a, b, alpha=2),
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "lerp": lambda a, b: torch.lerp(a, b, 0.25),
    "lerp_far": lambda a, b: torch.lerp(a, b, 0.75),
    "addcmul": lambda a, b: torch.addcmul(torch.ones_like(a), a, b, value=2),
    "addcdiv": lambda a, b: torch.addcdiv(torch.ones_like(a), a, b, value=2),
    "isclose": torch.isclose,
    "mse_loss": lambda a, b: F.mse_loss(a, b, reduction="none"),
    "l1_loss": lambda a, b: F.l1_loss(a, b, reduction="none"),
    "smooth_l1_loss": lambda a, b: F.smooth_l1_loss(a, b, reduction="none", beta=0.5),
    "huber_loss": lambda a, b: F.huber_loss(a, b, reduction="none", delta=0.5),
    "binary_cross_entropy": lambda a, b: F.binary_cross_entropy(probability(a), probability(b), reduction="none"),
    "binary_cross_entropy_with_logits": lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction="none"),
}


def probability(x):
    """x where it lies in [0, 1], else a half."""
    return torch.where((x >= 0) & (x <= 1), x, 0.5)


def edges(dtype):
    info = torch.finfo(dtype)
    least = {torch.float32: 2.0**-149, torch.float64: 2.0**-1074, torch.bfloat16: 2.0**-133, torch.float16: 2.0**-24}[dtype]
    inf = float("inf")
    return torch.tensor([0.0, -0.0, 1, -1, info.tiny, info.max, least * 3, inf, -inf, float("nan")], dtype=torch.float64)


def answers(call, inputs):
    leaves = [x.clone().requires_grad_() for x in inputs]
    y = call(*leaves)
    rows = [y.detach()]
    if y.is_floating_point() and y.requires_grad:
        try:
            gradients = torch.autograd.grad(y, leaves, torch.ones_like(y), allow_unused=True)
        except RuntimeError as error:
            if "is not implemented" not in str(error):
                raise
        else:
            rows += [torch.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs)]
    return torch.stack([row.to(torch.float64) for row in rows]).numpy()


def main():
    text = (HERE / "../../src/kernels/pointwise.def").read_text()
    unary, binary = dict(UNARY), dict(BINARY)
    for kind, name, rule in re.findall(r"^TD_(UNARY|BINARY)\((\w+),\s*\w+,\s*(\w+),", text, re.M):
        if rule in ("Integer", "Shift"):
            continue
        call = CALLS.get(name) or getattr(torch, name, None) or getattr(F, name)
        (unary if kind == "UNARY" else binary)[name] = call
    out = {}
    for dtype_name, dtype in DTYPES.items():
        x = edges(dtype)
        a, b = x.repeat_interleave(len(x)), x.repeat(len(x))
        for name, call in unary.items():
            out[f"{name}/{dtype_name}"] = answers(call, [x])
        for name, call in binary.items():
            out[f"{name}/{dtype_name}"] = answers(call, [a, b])
    numpy.savez_compressed(HERE / "edges.npz", **out)
    print(len(out), "operations and types")


if __name__ == "__main__":
    main()
