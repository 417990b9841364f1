"""What the tests of tandem.distributed.fsdp have in common: ranks, modules, and a training beside that of one process."""

import os
import tempfile
from datetime import timedelta

import tandem
import tandem.distributed as dist
import tandem.multiprocessing as mp
from tandem import nn
from tandem.distributed.fsdp import FullyShardedDataParallel as FSDP
from tandem.utils.checkpoint import checkpoint

SAMPLES = 12
STEPS = 5


def _enter(rank, world_size, path, bodies, args):
    tandem.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=world_size, timeout=timedelta(seconds=60))
    for body in bodies:
        body(rank, *args)
    dist.destroy_process_group()


def run_ranks(world_size, bodies, *args):
    """Runs body(rank, *args) for each of the bodies in processes that are the ranks of one program."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_enter, (world_size, os.path.join(folder, "meeting"), bodies, args), nprocs=world_size)


# --- Modules

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, 2 * width), nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        return x + self.second(self.first(x).tanh())


class Checkpointed(Block):
    def forward(self, x):
        return checkpoint(super().forward, x, use_reentrant=False)


class Net(nn.Module):
    """Two blocks between two layers, with normalisation whose buffers follow the samples."""

    def __init__(self, block=Block, normalised=False):
        super().__init__()
        self.enter = nn.Linear(3, 5)
        self.blocks = nn.ModuleList([block(5), block(5)])
        self.norm = nn.BatchNorm1d(5) if normalised else nn.Identity()
        self.leave = nn.Linear(5, 2)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.leave(self.norm(x))


class Tied(nn.Module):
    """The first and the last layer have one weight, a frozen scale, and a layer that nobody calls."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Embedding(7, 4)
        self.middle = Block(4)
        self.leave = nn.Linear(4, 7, bias=False)
        self.leave.weight = self.enter.weight
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.leave(self.middle(self.enter(x)))


def make(kind=Net, *args):
    tandem.manual_seed(3)
    return kind(*args)


def samples():
    generator = tandem.Generator()
    generator.manual_seed(1)
    return tandem.randn(SAMPLES, 3, generator=generator), tandem.randn(SAMPLES, 2, generator=generator)


def share(rank, tensor):
    """This rank's samples."""
    return tensor.chunk(dist.get_world_size())[rank]


def whole_state(fsdp):
    return {name: value.cpu() for name, value in fsdp.state_dict().items()}


def check_states(fsdp, reference, atol=1e-6):
    found, expected = whole_state(fsdp), reference.state_dict()
    assert list(found) == list(expected), (list(found), list(expected))
    for name, value in expected.items():
        assert tandem.allclose(found[name], value, rtol=0, atol=atol), (name, (found[name] - value).abs().max())


def check_optimizers(fsdp, optimizer, reference, reference_optimizer, atol=1e-6):
    state = FSDP.optim_state_dict(fsdp, optimizer)
    expected = reference_optimizer.state_dict()["state"]
    for number, (name, parameter) in enumerate(reference.named_parameters()):
        for key, value in expected.get(number, {}).items():
            found = state["state"][name][key]
            assert tandem.allclose(tandem.as_tensor(found), tandem.as_tensor(value), rtol=0, atol=atol), (name, key)


def train(rank, fsdp, reference, x, y, loss=nn.functional.mse_loss, between=None, device="cpu", atol=1e-6, steps=STEPS):
    """Adam on all ranks with their shares, and in one process with all samples, in step."""
    optimizer, other = tandem.optim.Adam(fsdp.parameters(), lr=0.05), tandem.optim.Adam(reference.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        out = fsdp(share(rank, x).to(device))
        if between is not None:
            between(fsdp)
        loss(out, share(rank, y).to(device)).backward()
        optimizer.step()
        other.zero_grad()
        loss(reference(x), y).backward()
        other.step()
    check_states(fsdp, reference, atol)
    check_optimizers(fsdp, optimizer, reference, other, atol)
    return optimizer, other
