"""tandem.distributed.fsdp with real processes: parameters in shards train as one process does, on the CPU and on GPUs."""

import copy
import gc
import unittest

import tandem
import tandem.distributed as dist
from fsdp_cases import SAMPLES, STEPS, Block, Checkpointed, Net, Tied, check_states, make, run_ranks, samples, share, train, whole_state
from tandem import nn
from tandem.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointWrapper, apply_activation_checkpointing
from tandem.distributed.fsdp import BackwardPrefetch, CPUOffload, MixedPrecision, ShardingStrategy
from tandem.distributed.fsdp import FullyShardedDataParallel as FSDP
from tandem.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from tandem.distributed.fsdp.wrap import ModuleWrapPolicy, always_wrap_policy

_GPUS = tandem.cuda.device_count()


def plain(rank, device):
    for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD):
        for original in (False, True):
            for policy in (None, ModuleWrapPolicy({Block})):
                fsdp = FSDP(make().to(device), sharding_strategy=strategy, use_orig_params=original, auto_wrap_policy=policy)
                train(rank, fsdp, make(), *samples(), device=device)


def tied_frozen_and_unused(rank, device):
    generator = tandem.Generator()
    generator.manual_seed(2)
    x, y = tandem.randint(0, 7, (SAMPLES,), generator=generator), tandem.randint(0, 7, (SAMPLES,), generator=generator)
    loss = nn.functional.cross_entropy
    for original in (False, True):
        reference, net = make(Tied), make(Tied)
        fsdp = FSDP(net.to(device), auto_wrap_policy=ModuleWrapPolicy({Block, nn.Embedding, nn.Linear}), use_orig_params=original)
        train(rank, fsdp, reference, x, y, loss, device=device)
        state = fsdp.state_dict()
        assert tandem.equal(state["enter.weight"], state["leave.weight"])
    # Frozen parameters beside trained ones, and a unit that is frozen as a whole.
    for original in (False, True):
        nets = [make(), make()]
        for net in nets:
            net.blocks[0].requires_grad_(False)
            if original:
                net.enter.weight.requires_grad_(False)
                net.blocks[1].first.weight.requires_grad_(False)
        fsdp = FSDP(nets[0].to(device), auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=original)
        optimizer, _ = train(rank, fsdp, nets[1], *samples(), device=device)
        assert fsdp.blocks[0]._flat_param is None or fsdp.blocks[0]._flat_param.grad is None
    try:
        net = make().to(device)
        net.enter.weight.requires_grad_(False)
        FSDP(net)
        raise AssertionError("no error")
    except ValueError as error:
        assert str(error) == "Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`"


def accumulated(rank, device):
    """Two halves of the share, of which the first stays on its rank; and clipping."""
    x, y = samples()
    for original in (False, True):
        reference = make()
        fsdp = FSDP(make().to(device), auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=original)
        optimizer, other = tandem.optim.Adam(fsdp.parameters(), lr=0.05), tandem.optim.Adam(reference.parameters(), lr=0.05)
        for step in range(STEPS):
            optimizer.zero_grad()
            (first, second), (a, b) = share(rank, x).to(device).chunk(2), share(rank, y).to(device).chunk(2)
            if step % 2:
                with fsdp.no_sync():
                    (nn.functional.mse_loss(fsdp(first), a) / 2).backward()
                    assert all(parameter.grad is None for parameter in fsdp.parameters())
            else:
                (nn.functional.mse_loss(fsdp(first), a) / 2).backward()
            (nn.functional.mse_loss(fsdp(second), b) / 2).backward()
            norm = fsdp.clip_grad_norm_(0.05, norm_type=float("inf") if step == 2 else 2.0)
            optimizer.step()
            other.zero_grad()
            nn.functional.mse_loss(reference(x), y).backward()
            expected = nn.utils.clip_grad_norm_(reference.parameters(), 0.05, norm_type=float("inf") if step == 2 else 2.0)
            assert abs(norm.item() - expected.item()) < 1e-6, (norm, expected)
            other.step()
        check_states(fsdp, reference)


def scaled(rank, device):
    """An infinity on one rank leaves the step out on all."""
    x, y = samples()
    reference = make()
    fsdp = FSDP(make().to(device), auto_wrap_policy=ModuleWrapPolicy({Block}))
    optimizer, other = tandem.optim.Adam(fsdp.parameters(), lr=0.05), tandem.optim.Adam(reference.parameters(), lr=0.05)
    scaler = ShardedGradScaler(device=device.split(":")[0], init_scale=8.0, growth_interval=100)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(fsdp(share(rank, x).to(device)), share(rank, y).to(device))
        scaler.scale(loss * float("inf") if step == 1 and rank == 1 else loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if step == 1:
            assert scaler.get_scale() == 4.0
            continue
        other.zero_grad()
        nn.functional.mse_loss(reference(x), y).backward()
        other.step()
    check_states(fsdp, reference)
    # The infinity may be in the shard of one rank alone.
    optimizer.zero_grad()
    scaler.scale(nn.functional.mse_loss(fsdp(share(rank, x).to(device)), share(rank, y).to(device))).backward()
    if rank == 0:
        next(fsdp.parameters()).grad[0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0
    check_states(fsdp, reference)


def mixed(rank, device):
    """bfloat16 while computing: near float32's, the same on all ranks, and shards in float32."""
    x, y = samples()
    reference = make()
    precision = MixedPrecision(param_dtype=tandem.bfloat16, reduce_dtype=tandem.float32)
    fsdp = FSDP(make().to(device), mixed_precision=precision, auto_wrap_policy=ModuleWrapPolicy({Block}))
    seen = []
    fsdp.blocks[0].first.register_forward_hook(lambda module, args, out: seen.append((module.weight.dtype, args[0].dtype, out.dtype)))
    optimizer, other = tandem.optim.SGD(fsdp.parameters(), lr=0.05), tandem.optim.SGD(reference.parameters(), lr=0.05)
    for _ in range(STEPS):
        optimizer.zero_grad()
        nn.functional.mse_loss(fsdp(share(rank, x).to(device)).float(), share(rank, y).to(device)).backward()
        assert all(parameter.dtype == parameter.grad.dtype == tandem.float32 for parameter in fsdp.parameters())
        optimizer.step()
        other.zero_grad()
        nn.functional.mse_loss(reference(x), y).backward()
        other.step()
    assert seen[0] == (tandem.bfloat16,) * 3
    check_states(fsdp, reference, atol=0.02)
    buffers = FSDP(make(Net, Block, True).to(device), mixed_precision=MixedPrecision(buffer_dtype=tandem.float16))
    assert buffers.norm.running_mean.dtype == tandem.float16 and buffers.norm.num_batches_tracked.dtype == tandem.int64


def normalised(rank, device):
    """Each rank keeps its own figures; sync_module_states makes the starts alike."""
    x, y = samples()
    tandem.manual_seed(3 if rank == 0 else 4)
    fsdp = FSDP(Net(Block, True).to(device), auto_wrap_policy=ModuleWrapPolicy({Block}), sync_module_states=True)
    reference = make(Net, Block, True)
    check_states(fsdp, reference)
    nn.functional.mse_loss(fsdp(share(rank, x).to(device)), share(rank, y).to(device)).backward()
    with tandem.no_grad():
        hidden = reference.blocks[1](reference.blocks[0](reference.enter(share(rank, x))))
    assert tandem.allclose(fsdp.norm.running_mean.cpu(), 0.1 * hidden.mean(0), atol=1e-6)
    assert whole_state(fsdp)["norm.num_batches_tracked"].item() == 1


def checkpointed(rank, device):
    """Parts that compute again in backward: inside of a unit, and around one."""
    for policy in (None, ModuleWrapPolicy({Checkpointed}), ModuleWrapPolicy({nn.Linear})):
        for original in (False, True):
            fsdp = FSDP(make(Net, Checkpointed).to(device), auto_wrap_policy=policy, use_orig_params=original)
            train(rank, fsdp, make(), *samples(), device=device)


def checkpoint_wrapped(rank, device):
    """The wrappers that programs put around the parts of a module, before and after it is divided."""
    for after in (False, True):
        net = make()
        if not after:
            apply_activation_checkpointing(net, check_fn=lambda part: isinstance(part, Block))
        fsdp = FSDP(net.to(device), auto_wrap_policy=ModuleWrapPolicy({Block}))
        if after:
            apply_activation_checkpointing(fsdp, check_fn=lambda part: isinstance(part, Block))
        assert sum(isinstance(part, CheckpointWrapper) for part in fsdp.modules()) == 2
        train(rank, fsdp, make(), *samples(), device=device)
        fsdp.load_state_dict(make().state_dict())
        check_states(fsdp, make())


def forwards_in_between(rank, device):
    """Forwards without gradients between forward and backward, and a layer that is called twice."""
    x, y = samples()

    def look(fsdp):
        with tandem.no_grad():
            fsdp(share(rank, x).to(device))

    for policy in (None, ModuleWrapPolicy({Block}), always_wrap_policy):
        fsdp = FSDP(make().to(device), auto_wrap_policy=policy)
        train(rank, fsdp, make(), x, y, between=look, device=device)

    class Twice(Net):
        def forward(self, x):
            return super().forward(x + self.blocks[0](self.enter(x))[:, :3])

    fsdp = FSDP(make(Twice).to(device), auto_wrap_policy=ModuleWrapPolicy({Block, nn.Linear}))
    train(rank, fsdp, make(Twice), x, y, device=device)


def changed_before_backward(rank, device):
    """An optimizer's step between forward and backward is found out; so are gradients of gradients."""
    fsdp = FSDP(make().to(device), auto_wrap_policy=ModuleWrapPolicy({Block}))
    optimizer = tandem.optim.SGD(fsdp.parameters(), lr=0.1)
    x = tandem.ones(2, 3, device=device)
    fsdp(x).sum().backward()
    loss = fsdp(x).sum()
    optimizer.step()
    try:
        loss.backward()
        raise AssertionError("no error")
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), error
    try:
        fsdp(x).sum().backward(create_graph=True)
        raise AssertionError("no error")
    except RuntimeError as error:
        assert "create_graph=True" in str(error), error


def failing(rank, device):
    """After a forward that fails everything is as before."""
    class Fails(Net):
        fails = True

        def forward(self, x):
            x = super().forward(x)
            if self.fails:
                raise KeyError("here")
            return x

    net = make(Fails).to(device)
    fsdp = FSDP(net, auto_wrap_policy=ModuleWrapPolicy({Block}))
    try:
        fsdp(tandem.ones(2, 3, device=device))
        raise AssertionError("no error")
    except KeyError:
        pass
    net.fails = False
    train(rank, fsdp, make(), *samples(), device=device)


def memory(rank, device):
    """What a GPU has at most: a rank's share, and the units that compute or come next."""
    for backward_prefetch, units in ((BackwardPrefetch.BACKWARD_PRE, 4.5), (BackwardPrefetch.BACKWARD_POST, 3.5), (None, 3.5)):
        memory_of(rank, device, backward_prefetch, units)
        gc.collect()  # modules and their hooks refer to each other


def memory_of(rank, device, backward_prefetch, units):
    width, layers = 256, 6
    tandem.manual_seed(0)
    net = nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(layers)))
    unit = 4 * width * width
    fsdp = FSDP(net, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), device_id=device, backward_prefetch=backward_prefetch)
    x = tandem.randn(4, width, device=device)
    tandem.cuda.synchronize()
    start = tandem.cuda.memory_allocated(device)
    assert start < layers * unit / dist.get_world_size() + unit / 2, start
    for step in range(2):
        tandem.cuda.reset_peak_memory_stats(device)
        loss = fsdp(x).sum()
        tandem.cuda.synchronize()
        after_forward = tandem.cuda.memory_allocated(device) - start
        peak_of_forward = tandem.cuda.max_memory_allocated(device) - start
        loss.backward()
        tandem.cuda.synchronize()
        assert after_forward < unit / 2 + step * layers * unit / 2, (step, after_forward / unit)
        # The unit that computes and the next one; another may be there while its memory is on its way back.
        assert peak_of_forward < (2.5 + step) * unit + step * layers * unit / 2, (step, peak_of_forward / unit)
        peak = tandem.cuda.max_memory_allocated(device)
        # The shares of parameters and gradients, and beside them units: one that computes, its gradients, the same in one piece, the next.
        assert peak < layers * unit + units * unit, (step, backward_prefetch, peak / unit)
        assert tandem.cuda.memory_allocated(device) < layers * unit + unit / 2
    whole = FSDP(copy.deepcopy(nn.Linear(width, width)), device_id=device, sharding_strategy=ShardingStrategy.NO_SHARD)
    assert whole._flat_param.numel() == width * width + width


def offloaded(rank, device):
    fsdp = FSDP(make(), auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=device, cpu_offload=CPUOffload(offload_params=True))
    assert all(parameter.is_cpu for parameter in fsdp.parameters())
    train(rank, fsdp, make(), *samples(), device=device)
    assert fsdp(tandem.ones(1, 3)).is_cuda


class OnTheCpu(unittest.TestCase):
    def test_three_ranks_train_as_one_process(self):
        run_ranks(3, [plain, tied_frozen_and_unused, accumulated, scaled], "cpu")

    def test_two_ranks(self):
        run_ranks(2, [mixed, normalised, checkpointed, checkpoint_wrapped, forwards_in_between, changed_before_backward, failing], "cpu")


def on_gpu(rank):
    tandem.cuda.set_device(rank)
    for body in (plain, tied_frozen_and_unused, accumulated, scaled, checkpointed, forwards_in_between, memory, offloaded):
        body(rank, f"cuda:{rank}")


@unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
class OnGpus(unittest.TestCase):
    def test_two_gpus(self):
        run_ranks(2, [on_gpu])


if __name__ == "__main__":
    unittest.main()
