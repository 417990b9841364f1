"""Around tandem.distributed.fsdp: names, whole parameters, states that any number of ranks reads, policies, and fully_shard."""

import functools
import os
import tempfile
import unittest

import tandem
import tandem.distributed as dist
from fsdp_cases import STEPS, Block, Net, check_optimizers, check_states, make, run_ranks, samples, share, train, whole_state
from tandem import nn
from tandem.distributed.fsdp import (
    FSDPModule,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    MixedPrecisionPolicy,
    OptimStateKeyType,
    ShardingStrategy,
    StateDictType,
    fully_shard,
)
from tandem.distributed.fsdp import FullyShardedDataParallel as FSDP
from tandem.distributed.fsdp.wrap import (
    CustomPolicy,
    ModuleWrapPolicy,
    enable_wrap,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
    wrap,
)

_GPUS = tandem.cuda.device_count()


def names_and_sizes(rank, device):
    net = make().to(device)
    count = sum(parameter.numel() for parameter in net.parameters())
    fsdp = FSDP(net, auto_wrap_policy=ModuleWrapPolicy({Block}))
    assert [name for name, _ in fsdp.named_parameters()] == [
        "_fsdp_wrapped_module._flat_param", "_fsdp_wrapped_module.blocks.0._fsdp_wrapped_module._flat_param",
        "_fsdp_wrapped_module.blocks.1._fsdp_wrapped_module._flat_param",
    ]
    ranks = dist.get_world_size()
    held = sum(parameter.numel() for parameter in fsdp.parameters())
    assert count / ranks <= held <= count / ranks + 3, (held, count)
    assert fsdp.module is net and fsdp.enter is net.enter and isinstance(fsdp.blocks[0], FSDP)
    assert repr(fsdp).startswith("FullyShardedDataParallel(\n  (_fsdp_wrapped_module): Net(\n    (enter): Linear("), repr(fsdp)
    assert repr(fsdp).count("FullyShardedDataParallel(") == 2 or "(0-1): 2 x FullyShardedDataParallel(" in repr(fsdp)
    assert fsdp.check_is_root() and not fsdp.blocks[0].check_is_root()
    assert len(FSDP.fsdp_modules(fsdp)) == 3 and FSDP.fsdp_modules(fsdp, root_only=True) == [fsdp]
    assert net.enter.weight.shape == (5, 3)
    try:
        net.enter.weight + 1
        raise AssertionError("a weight without values was used")
    except RuntimeError as error:
        assert "shards" in str(error)
    original = FSDP(make().to(device), use_orig_params=True)
    assert [name for name, _ in original.named_parameters()] == [name for name, _ in make().named_parameters()]


def summoned(rank, device):
    for original in (False, True):
        fsdp = FSDP(make().to(device), auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=original)
        expected = make()
        nn.functional.mse_loss(fsdp(share(rank, samples()[0]).to(device)), share(rank, samples()[1]).to(device)).backward()
        nn.functional.mse_loss(expected(samples()[0]), samples()[1]).backward()
        with FSDP.summon_full_params(fsdp, with_grads=True):
            found = dict(fsdp.named_parameters())
            assert list(found) == [name for name, _ in expected.named_parameters()], list(found)
            for name, parameter in expected.named_parameters():
                assert tandem.equal(found[name].cpu(), parameter), name
                assert tandem.allclose(found[name].grad.cpu(), parameter.grad, atol=1e-6), name
            with tandem.no_grad():
                fsdp.enter.weight.fill_(2.0)
        assert whole_state(fsdp)["enter.weight"].tolist() == [[2.0] * 3] * 5
        with FSDP.summon_full_params(fsdp, writeback=False, rank0_only=True, offload_to_cpu=True):
            if rank == 0:
                assert fsdp.enter.weight.is_cpu
                with tandem.no_grad():
                    fsdp.enter.weight.fill_(3.0)
        assert whole_state(fsdp)["enter.weight"][0, 0].item() == 2.0

        def init(module):
            if isinstance(module, nn.Linear):
                nn.init.constant_(module.weight, 0.5)

        fsdp.apply(init)
        state = whole_state(fsdp)
        assert state["blocks.1.second.weight"].flatten().tolist() == [0.5] * 50 and state["leave.weight"][1, 4].item() == 0.5


def states(rank, device):
    """The forms of state dictionaries."""
    fsdp = FSDP(make(Net, Block, True).to(device), auto_wrap_policy=ModuleWrapPolicy({Block}))
    expected = make(Net, Block, True).state_dict()
    with FSDP.state_dict_type(fsdp, StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True, rank0_only=True)):
        state = fsdp.state_dict()
        assert FSDP.get_state_dict_type(fsdp).state_dict_config.rank0_only
    assert list(state) == (list(expected) if rank == 0 else [])
    assert all(value.is_cpu and tandem.equal(value, expected[name]) for name, value in state.items())
    for kind in (StateDictType.SHARDED_STATE_DICT, StateDictType.LOCAL_STATE_DICT):
        with FSDP.state_dict_type(fsdp, kind):
            state = fsdp.state_dict()
            held = sum(value.numel() for name, value in state.items() if "norm" not in name or "weight" in name or "bias" in name)
            assert held < sum(parameter.numel() for parameter in make(Net, Block, True).parameters())
            other = FSDP(Net(Block, True).to(device), auto_wrap_policy=ModuleWrapPolicy({Block}))
            other.load_state_dict(state)
        check_states(other, make(Net, Block, True))
    missing = dict(expected)
    del missing["blocks.0.first.bias"]
    missing["more"] = tandem.ones(1)
    missing["leave.bias"] = tandem.ones(3)
    try:
        fsdp.load_state_dict(missing)
        raise AssertionError("no error")
    except RuntimeError as error:
        text = str(error)
        assert "blocks.0." in text and "first.bias" in text and "more" in text, text
        assert "size mismatch" in text, text


def saved(rank, device, folder):
    """Trains a little and saves, for any number of ranks."""
    torch_like = make()
    fsdp = FSDP(torch_like.to(device), auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=True)
    optimizer, _ = train(rank, fsdp, make(), *samples(), device=device, steps=2)
    config = FullOptimStateDictConfig(rank0_only=True)
    with FSDP.state_dict_type(fsdp, StateDictType.FULL_STATE_DICT, FullStateDictConfig(rank0_only=True), config):
        state = {"model": fsdp.state_dict(), "optim": FSDP.optim_state_dict(fsdp, optimizer)}
    assert (rank == 0) == bool(state["optim"])
    if rank == 0:
        tandem.save(state, os.path.join(folder, "state.pt"))


def resumed(rank, device, folder):
    """Goes on from there: as the one process that never stopped."""
    x, y = samples()
    reference = make()
    other = tandem.optim.Adam(reference.parameters(), lr=0.05)
    state = tandem.load(os.path.join(folder, "state.pt"))
    for step in range(4):
        if step == 2:
            fsdp = FSDP(Net().to(device), auto_wrap_policy=ModuleWrapPolicy({Block}))
            fsdp.load_state_dict(state["model"])
            check_states(fsdp, reference)
            optimizer = tandem.optim.Adam(fsdp.parameters(), lr=1.0)
            FSDP.optim_state_dict_to_load(fsdp, optimizer, state["optim"], load_directly=True)
            assert optimizer.param_groups[0]["lr"] == 0.05
            by_number = FSDP.rekey_optim_state_dict(state["optim"], OptimStateKeyType.PARAM_ID, fsdp)
            tandem.optim.Adam(make().parameters()).load_state_dict(by_number)
        if step >= 2:
            optimizer.zero_grad()
            nn.functional.mse_loss(fsdp(share(rank, x).to(device)), share(rank, y).to(device)).backward()
            optimizer.step()
        other.zero_grad()
        nn.functional.mse_loss(reference(x), y).backward()
        other.step()
    check_states(fsdp, reference)
    check_optimizers(fsdp, optimizer, reference, other)


def composable(rank, device):
    """fully_shard: the module itself, in place."""
    x, y = samples()
    for reshard in (None, True, False):
        net = make().to(device)
        for block in net.blocks:
            fully_shard(block, reshard_after_forward=reshard)
        fully_shard(net, reshard_after_forward=reshard)
        assert isinstance(net, Net) and isinstance(net, FSDPModule) and type(net).__name__ == "FSDPNet"
        assert [name for name, _ in net.named_parameters()] == [name for name, _ in make().named_parameters()]
        reference = make()
        optimizer, other = tandem.optim.Adam(net.parameters(), lr=0.05), tandem.optim.Adam(reference.parameters(), lr=0.05)
        for _ in range(STEPS):
            for last, half in enumerate((0, 1)):
                net.set_requires_gradient_sync(bool(last))
                mine, wanted = share(rank, x).chunk(2)[half].to(device), share(rank, y).chunk(2)[half].to(device)
                (nn.functional.mse_loss(net(mine), wanted) / 2).backward()
            optimizer.step()
            optimizer.zero_grad()
            nn.functional.mse_loss(reference(x), y).backward()
            other.step()
            other.zero_grad()
        for (name, found), expected in zip(net.named_parameters(), reference.parameters()):
            assert found.dim() == 1 and tandem.allclose(found.full_tensor().cpu(), expected, rtol=0, atol=1e-6), name
        for name, value in net.state_dict().items():
            assert tandem.allclose(value.full_tensor().cpu(), reference.state_dict()[name], rtol=0, atol=1e-6), name
        net.unshard()
        assert net.enter.weight.shape == (5, 3)
        net.reshard()
        assert net.enter.weight.dim() == 1
        fresh = fully_shard(Net().to(device))
        fresh.load_state_dict(reference.state_dict())
        assert tandem.allclose(fresh.leave.bias.full_tensor().cpu(), reference.leave.bias)
    half = fully_shard(make().to(device), mp_policy=MixedPrecisionPolicy(param_dtype=tandem.bfloat16, output_dtype=tandem.float32))
    out = half(share(rank, x).to(device))
    assert out.dtype == tandem.float32 and not tandem.allclose(out.cpu(), make()(share(rank, x)), atol=1e-6)
    out.sum().backward()
    assert half.enter.bias.dtype == tandem.float32


def policies(rank, device):
    def wrapped(policy):
        fsdp = FSDP(make(Net, Block, True).to(device), auto_wrap_policy=policy)
        return [name.replace("_fsdp_wrapped_module.", "") for name, part in fsdp.named_modules() if isinstance(part, FSDP)][1:]

    assert wrapped(ModuleWrapPolicy([Block])) == ["blocks.0", "blocks.1"]
    assert wrapped(functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})) == ["blocks.0", "blocks.1"]
    assert wrapped(CustomPolicy(lambda part: part.__class__ is nn.BatchNorm1d)) == ["norm"]
    strategy = {"sharding_strategy": ShardingStrategy.NO_SHARD}
    assert wrapped(CustomPolicy(lambda part: strategy if isinstance(part, Block) else False)) == ["blocks.0", "blocks.1"]
    # A block has 110 elements, its layers 60 and 50: at 55 the first layer is a unit, and what is left of the block is too small.
    assert wrapped(functools.partial(size_based_auto_wrap_policy, min_num_params=100)) == ["blocks.0", "blocks.1"]
    assert wrapped(functools.partial(size_based_auto_wrap_policy, min_num_params=55)) == ["blocks.0.first", "blocks.1.first"]
    with enable_wrap(wrapper_cls=FSDP, use_orig_params=True):
        layer = wrap(nn.Linear(2, 2).to(device))
    assert isinstance(layer, FSDP) and isinstance(wrap(nn.Linear(2, 2)), nn.Linear)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    for strategy in (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2):
        try:
            FSDP(nn.Linear(2, 2), sharding_strategy=strategy)
            raise AssertionError("no error")
        except NotImplementedError as error:
            assert "HYBRID_SHARD" in str(error)
    net = make().to(device)
    fsdp = FSDP(net, ignored_modules=[net.leave])
    assert [name for name, _ in fsdp.named_parameters()] == ["_fsdp_wrapped_module._flat_param", "_fsdp_wrapped_module.leave.weight",
                                                              "_fsdp_wrapped_module.leave.bias"]
    assert list(fsdp.state_dict()) == list(make().state_dict())


class OnTheCpu(unittest.TestCase):
    def test_names_whole_parameters_states_and_policies(self):
        run_ranks(2, [names_and_sizes, summoned, states, policies], "cpu")

    def test_fully_shard(self):
        run_ranks(2, [composable], "cpu")

    def test_saved_by_two_ranks_and_read_by_others(self):
        with tempfile.TemporaryDirectory() as folder:
            run_ranks(2, [saved], "cpu", folder)
            for ranks in (1, 3):
                run_ranks(ranks, [resumed], "cpu", folder)


def on_gpu(rank):
    tandem.cuda.set_device(rank)
    for body in (names_and_sizes, summoned, states, composable):
        body(rank, f"cuda:{rank}")


@unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
class OnGpus(unittest.TestCase):
    def test_two_gpus(self):
        run_ranks(2, [on_gpu])


if __name__ == "__main__":
    unittest.main()
