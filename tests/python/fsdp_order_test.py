"""Which units of FullyShardedDataParallel and fully_shard are on their way while another one computes."""

import unittest

import tandem
from fsdp_cases import run_ranks
from tandem import nn
from tandem.distributed.fsdp import BackwardPrefetch, fully_shard
from tandem.distributed.fsdp import FullyShardedDataParallel as FSDP
from tandem.distributed.fsdp.wrap import ModuleWrapPolicy
from tandem.utils.checkpoint import checkpoint

_GPUS = tandem.cuda.device_count()


class Layer(nn.Linear):
    """Writes down at each call and at each backward of it which units have values and which are coming."""

    def __init__(self, watch):
        super().__init__(4, 4)
        self.watch, self.calls = watch, []

    def forward(self, x):
        self.calls.append(self.watch.seen())
        y = super().forward(x)
        if y.requires_grad:
            y.register_hook(lambda gradient: self.calls.append(self.watch.seen()))
        return y.tanh()


class Watch:
    def __init__(self):
        self.units = []

    def seen(self):
        """A letter for each unit: G gathered, c coming, . neither."""
        return "".join("G" if unit.shards.has_values else "c" if unit.shards.is_coming else "." for unit in self.units)


class Chain(nn.Module):
    def __init__(self, layers, checkpointed=False):
        super().__init__()
        self.layers, self.checkpointed, self.skips = nn.ModuleList(layers), checkpointed, ()

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            if number not in self.skips:
                x = checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return x


def steps(module, layers, x, count=1):
    """What the layers have written down in some steps."""
    for _ in range(count):
        for layer in layers:
            layer.calls.clear()
        module(x).sum().backward()
    return [layer.calls for layer in layers]


class Counted:
    """The shards of a unit; counts how often they are gathered."""

    def __init__(self, shards):
        self._shards, self.gathers = shards, 0

    def __getattr__(self, name):
        return getattr(self._shards, name)

    def _count(self, call, local):
        before = self._shards.has_values or self._shards.is_coming
        call(local)
        self.gathers += not before

    def begin_gather(self, local):
        self._count(self._shards.begin_gather, local)

    def gather(self, local):
        self._count(self._shards.gather, local)


def gathers_of(module, layers, x):
    """How many units are gathered in a step."""
    units = layers[0].watch.units
    for unit in units:
        unit.shards = Counted(unit.shards)
    steps(module, layers, x)
    counted = [unit.shards for unit in units]
    for unit, shards in zip(units, counted):
        unit.shards = shards._shards
    return sum(shards.gathers for shards in counted)


def in_wrappers(device, backward_prefetch, **options):
    watch = Watch()
    layers = [Layer(watch) for _ in range(3)]
    chain = Chain(layers, **options).to(device)
    fsdp = FSDP(chain, auto_wrap_policy=ModuleWrapPolicy({Layer}), backward_prefetch=backward_prefetch)
    watch.units = [part._unit for part in chain.layers]
    return fsdp, chain, layers, watch


def wrapped(rank, device):
    x = tandem.ones(2, 4, device=device)
    fsdp, chain, layers, watch = in_wrappers(device, BackwardPrefetch.BACKWARD_PRE)
    # The first forward shows the order, which the first backward knows already.
    assert steps(fsdp, layers, x) == [["G..", "G.."], [".G.", "cG."], ["..G", ".cG"]], layers[1].calls
    assert steps(fsdp, layers, x) == [["Gc.", "G.."], [".Gc", "cG."], ["..G", ".cG"]]
    assert gathers_of(fsdp, layers, x) == 6
    with tandem.no_grad():
        fsdp(x)
    assert [layer.calls[-1] for layer in layers] == ["Gc.", ".Gc", "..G"] and watch.seen() == "..."
    # One that is not called this time is given up.
    chain.skips = (1,)
    assert steps(fsdp, layers, x) == [["Gc.", "Gc."], [], [".cG", ".cG"]] and watch.seen() == "..."
    chain.skips = ()
    # Values that an optimizer has changed meanwhile are not those that were on their way.
    watch.units[0].begin_gather()
    with tandem.no_grad():
        for parameter in fsdp.parameters():
            parameter.fill_(0.5)
    expected = tandem.full((4, 4), 0.5, device=device)
    with FSDP.summon_full_params(fsdp):
        assert tandem.equal(layers[0].weight, expected)
    y = fsdp(x)
    plain = x
    for _ in layers:
        plain = (plain @ expected.t() + 0.5).tanh()
    assert tandem.allclose(y, plain, atol=1e-6)
    for late in (BackwardPrefetch.BACKWARD_POST, None):
        fsdp, chain, layers, watch = in_wrappers(device, late)
        assert steps(fsdp, layers, x, 2) == [["Gc.", "G.."], [".Gc", ".G."], ["..G", "..G"]], late


def computed_again(rank, device):
    """A layer that is computed again in backward does not bring the one after it, which is through."""
    fsdp, chain, layers, watch = in_wrappers(device, BackwardPrefetch.BACKWARD_PRE, checkpointed=True)
    assert steps(fsdp, layers, tandem.ones(2, 4, device=device), 2) == [
        ["Gc.", "G..", "G.."], [".Gc", ".G.", "cG."], ["..G", "..G", ".cG"]
    ], [layer.calls for layer in layers]
    assert watch.seen() == "..."
    # Each is gathered for forward, to be computed again, and for backward; none in vain.
    assert gathers_of(fsdp, layers, tandem.ones(2, 4, device=device)) == 9


def in_place(rank, device):
    watch = Watch()
    layers = [Layer(watch) for _ in range(3)]
    net = Chain(layers).to(device)
    for layer in layers:
        fully_shard(layer)
    fully_shard(net)
    watch.units = [layer._sharded.unit for layer in layers]
    x = tandem.ones(2, 4, device=device)
    steps(net, layers, x)
    assert steps(net, layers, x) == [["Gc.", "G.."], [".Gc", "cG."], ["..G", ".cG"]]
    layers[0].set_modules_to_forward_prefetch([layers[1], layers[2]])
    layers[2].set_modules_to_backward_prefetch([layers[1], layers[0]])
    layers[1].set_modules_to_backward_prefetch([])
    assert steps(net, layers, x) == [["Gcc", "G.."], [".Gc", "cG."], ["..G", "ccG"]]
    try:
        layers[0].set_modules_to_forward_prefetch([nn.Linear(1, 1)])
        raise AssertionError("no error")
    except ValueError as error:
        assert "fully_shard" in str(error)
    handle = layers[1].unshard(async_op=True)
    assert watch.seen() == ".c."
    handle.wait()
    assert watch.seen() == ".G." and layers[1].weight.shape == (4, 4)
    layers[1].reshard()
    assert layers[0].unshard() is None and watch.seen() == "G.."
    layers[0].reshard()


class Ranks(unittest.TestCase):
    def test_units_come_while_others_compute(self):
        run_ranks(2, [wrapped, computed_again, in_place], "cpu")

    @unittest.skipIf(_GPUS < 1, "needs a GPU, such as TANDEM_VIRTUAL_GPUS=1")
    def test_the_same_on_a_gpu(self):
        run_ranks(2, [wrapped, computed_again, in_place], "cuda")


if __name__ == "__main__":
    unittest.main()
