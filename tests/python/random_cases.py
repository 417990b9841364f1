"""Random calls of PyTorch's CPU generator: random_cases.py, run by a Python that imports torch, writes random_cases.json anew.

Each case is a seed, an expression of several calls, and a digest of all bits that PyTorch gives.
"""

import hashlib
import json
import pathlib

SIZES = [1, 5, 15, 16, 17, 31, 32, 33, 100, "3, 7", "4, 4, 5"]
FLOATS = ["float32", "float64", "bfloat16", "float16"]


def expressions():
    """The calls, as text."""
    for size in SIZES:
        for dtype in FLOATS:
            yield f"torch.rand({size}, dtype=torch.{dtype})"
            yield f"torch.randn({size}, dtype=torch.{dtype})"
    for size in (5, 16, 40):
        for dtype in FLOATS[:2]:
            yield f"torch.empty({size}, dtype=torch.{dtype}).uniform_(-2, 3)"
            yield f"torch.empty({size}, dtype=torch.{dtype}).normal_(1.5, 0.25)"
            yield f"torch.empty({size}, dtype=torch.{dtype}).exponential_(2.0)"
            yield f"torch.empty({size}, dtype=torch.{dtype}).exponential_(0.3)"
            yield f"torch.empty({size}, dtype=torch.{dtype}).bernoulli_(0.3)"
            yield f"torch.bernoulli(torch.full(({size},), 0.3, dtype=torch.{dtype}))"
            yield f"torch.empty({size}, dtype=torch.{dtype}).log_normal_(0.5, 0.75)"
            yield f"torch.empty({size}, dtype=torch.{dtype}).geometric_(0.25)"
            yield f"torch.normal(torch.arange({size}, dtype=torch.{dtype}), 2.0)"
        yield f"torch.normal(1.0, 3.0, ({size},))"
        yield f"torch.nn.functional.dropout(torch.ones({size}), 0.4)"
        yield f"torch.nn.init.kaiming_uniform_(torch.empty({size}, 7), a=5 ** 0.5)"
        yield f"torch.nn.init.xavier_normal_(torch.empty({size}, 4))"
        yield f"torch.nn.Linear({size}, 3).weight.detach()"
        yield f"torch.nn.Conv2d(3, {size}, 3).bias.detach()"
    for dtype in ("int64", "int32", "int16", "uint8", "float32"):
        yield f"torch.randint(0, 10, (20,), dtype=torch.{dtype})"
        yield f"torch.randint(3, 100, (4, 5), dtype=torch.{dtype})"
    for dtype in ("int64", "int32", "int16", "int8", "uint8", "bool", "float32", "float64", "float16", "bfloat16"):
        yield f"torch.empty(20, dtype=torch.{dtype}).random_()"
    for high in (2, 1000, 1 << 27, (1 << 28) - 1, 1 << 28, (1 << 31) - 5, 1 << 32, 1 << 40, (1 << 53) - 1):
        yield f"torch.randint(0, {high}, (9,))"
        yield f"torch.empty(9, dtype=torch.int64).random_({high})"
    for n in (1, 2, 5, 30, 1000):
        yield f"torch.randperm({n})"
    yield "torch.randperm(12, dtype=torch.int32)"
    for weights in ("[1.0, 2.0, 3.0, 4.0]", "[0.0, 0.5, 0.5, 0.0, 9.0]"):
        yield f"torch.multinomial(torch.tensor({weights}), 1)"
        yield f"torch.multinomial(torch.tensor({weights}), 2)"
        yield f"torch.multinomial(torch.tensor({weights}), 30, replacement=True)"
        yield f"torch.multinomial(torch.tensor([{weights}, {weights}], dtype=torch.float64), 8, replacement=True)"
    yield "torch.rand(3), torch.randn(3), torch.randn(4), torch.rand(2), torch.randn(16), torch.randn(1)"
    yield "torch.randn(3, generator=torch.Generator().manual_seed(5)), torch.randn(3)"
    yield "torch.empty(4, 5).t().normal_().contiguous()"
    yield "torch.empty(4, 5).t().uniform_().contiguous()"
    yield "torch.rand_like(torch.ones(3, 3)), torch.randn_like(torch.ones(5, 5)), torch.randint_like(torch.ones(4), 9)"


def digest(torch, seed, text):
    """A digest of the bits that the expression gives after manual_seed(seed)."""
    torch.manual_seed(seed)
    result = eval(text, {"torch": torch})
    whole = hashlib.sha256()
    for tensor in result if isinstance(result, tuple) else (result,):
        whole.update(str(tuple(tensor.shape)).encode())
        whole.update(repr(tensor.double().reshape(-1).tolist()).encode())
    return whole.hexdigest()[:16]


def main():
    import torch
    cases = [[seed, text, digest(torch, seed, text)] for seed, text in enumerate(expressions())]
    lines = ",\n".join(json.dumps(case) for case in cases)
    pathlib.Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(cases)} cases of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
