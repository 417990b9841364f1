"""Tensor parallelism on two ranks: layers in parts compute what whole ones do, forward and backward, in each style and placement."""

import copy
import os
import tempfile
import unittest
from datetime import timedelta

import tandem as torch
import tandem.distributed as dist
import tandem.multiprocessing as mp
from tandem import nn
from tandem.distributed.device_mesh import init_device_mesh
from tandem.distributed.tensor import Replicate, Shard
from tandem.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 12)
        self.down = nn.Linear(12, 8)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.feed = Feed()

    def forward(self, x):
        return x + self.feed(self.norm(x))


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 8)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, 10)

    def forward(self, x):
        x = self.words(x)
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


def close(found, wanted, what=""):
    assert torch.allclose(found.detach(), wanted.detach(), atol=1e-5), f"{what}: {found} is not {wanted}"


def part(tensor, dim, rank):
    return tensor.chunk(2, dim)[rank]


def models(make, rank):
    """A whole model, the same on both ranks, and one to be taken apart, which is another on rank 1 before."""
    torch.manual_seed(0)
    whole = make()
    torch.manual_seed(rank)
    return whole, copy.deepcopy(whole) if rank == 0 else make()


def feed(rank):
    mesh = init_device_mesh("cpu", (2,))
    whole, model = models(Feed, rank)
    parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    assert [tuple(p.shape) for p in model.parameters()] == [(6, 8), (6,), (8, 6), (8,)]
    torch.manual_seed(5)
    x = torch.rand(3, 8, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    found, wanted = model(x), whole(y)
    close(found, wanted)
    found.square().sum().backward()
    wanted.square().sum().backward()
    close(x.grad, y.grad, "input")
    for name, dim in (("up.weight", 0), ("up.bias", 0), ("down.weight", 1), ("down.bias", None)):
        full = whole.get_parameter(name).grad
        close(model.get_parameter(name).grad, full if dim is None else part(full, dim, rank), name)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    torch.optim.SGD(whole.parameters(), lr=0.1).step()
    close(model(x), whole(y), "after a step")


def language(rank):
    mesh = init_device_mesh("cpu", (2,))
    whole, model = models(Language, rank)
    parallelize_module(model, mesh, {
        "words": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "out": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
        "blocks.*.norm": SequenceParallel(),
        "blocks.*.feed": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "blocks.*.feed.up": ColwiseParallel(),
        "blocks.*.feed.down": RowwiseParallel(output_layouts=Shard(1)),
    })  # fmt: skip
    torch.manual_seed(5)
    words = torch.randint(0, 10, (2, 4))
    found, wanted = model(words), whole(words)
    close(found, wanted)
    for one, result in ((model, found), (whole, wanted)):
        nn.functional.cross_entropy(result.flatten(0, 1), words.flatten()).backward()
    dims = {"words.weight": 0, "out.weight": 0, "out.bias": 0, "up.weight": 0, "up.bias": 0, "down.weight": 1}
    for name, parameter in model.named_parameters():
        full = whole.get_parameter(name).grad
        dim = next((dims[end] for end in dims if name.endswith(end)), None)
        close(parameter.grad, full if dim is None else part(full, dim, rank), name)


def others(rank):
    mesh = init_device_mesh("cpu", (2,))
    whole, model = models(lambda: nn.Embedding(6, 4), rank)
    parallelize_module(model, mesh, ColwiseParallel(output_layouts=Replicate()))
    words = torch.tensor([[0, 5], [3, 1]])
    close(model(words), whole(words))
    whole, model = models(Feed, rank)
    parallelize_module(model, mesh, PrepareModuleInputOutput(
        input_layouts=Shard(0), desired_input_layouts=Replicate(), output_layouts=Replicate(), desired_output_layouts=Shard(0),
    ), src_data_rank=0)  # fmt: skip
    model.load_state_dict(whole.state_dict())
    torch.manual_seed(5)
    x = torch.rand(4, 8)
    close(model(part(x, 0, rank)), part(whole(x), 0, rank))
    model = parallelize_module(nn.Identity(), mesh, PrepareModuleOutput(output_layouts=Shard(0), desired_output_layouts=Shard(1)))
    close(model(part(x, 0, rank)), part(x, 1, rank))
    for plan, error in (
        ({"up": SequenceParallel}, TypeError),
        (ColwiseParallel(), NotImplementedError),
        ({"up": ColwiseParallel()}, ValueError),  # 5 outputs have no two equal parts
    ):
        model = Feed()
        model.up = nn.Linear(8, 5)
        try:
            parallelize_module(model, mesh, plan)
        except error:
            continue
        raise AssertionError(f"{plan} was accepted")


def enter(rank, path, body):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2, timeout=timedelta(seconds=60))
    body(rank)
    dist.destroy_process_group()


class TwoRanks(unittest.TestCase):
    def run_ranks(self, body):
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(enter, (os.path.join(folder, "meeting"), body), nprocs=2)

    def test_a_layer_after_another(self):
        self.run_ranks(feed)

    def test_parts_of_the_sequence(self):
        self.run_ranks(language)

    def test_other_styles_and_refusals(self):
        self.run_ranks(others)

    def test_placements(self):
        self.assertEqual((Shard(1), str(Shard(0)), str(Replicate())), (Shard(1), "S(0)", "R"))
        self.assertTrue(Shard(0).is_shard() and Shard(0).is_shard(0) and not Shard(0).is_shard(1) and Replicate().is_replicate())


if __name__ == "__main__":
    unittest.main()
