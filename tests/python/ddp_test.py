"""DistributedDataParallel with real processes: uneven batches, gradients as views, buckets; meshes, and what else averages."""

import copy
import os
import tempfile
import unittest
from datetime import timedelta

import tandem
import tandem.distributed as dist
import tandem.multiprocessing as mp
from tandem import nn
from tandem.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, register_ddp_comm_hook
from tandem.distributed.algorithms.join import Join, Joinable, JoinHook
from tandem.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from tandem.distributed.device_mesh import DeviceMesh, init_device_mesh
from tandem.distributed.optim import PostLocalSGDOptimizer, ZeroRedundancyOptimizer
from tandem.nn.parallel import DistributedDataParallel

_GPUS = tandem.cuda.device_count()


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


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last, self.spare = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, spare=False):
        y = self.last(self.first(x).tanh())
        return y + self.spare(self.first(x)) if spare else y


def plain():
    tandem.manual_seed(5)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def batch(rank, step):
    generator = tandem.Generator()
    generator.manual_seed(100 * step + rank)
    return tandem.randn(4, 3, generator=generator)


def loss_of(net, x):
    return net(x).square().mean()


def check_alike(tensors):
    """All ranks have the same values."""
    for tensor in tensors:
        everybody = [tandem.empty_like(tensor) for _ in range(dist.get_world_size())]
        dist.all_gather(everybody, tensor.detach().contiguous())
        assert all(tandem.equal(everybody[0], other) for other in everybody)


def raises(kind, text, function):
    try:
        function()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError("no error")


# --- Bodies

def uneven(rank, device):
    """Rank r has r + 1 batches: the others take part with zeros, and the average is by all ranks or by those with samples."""
    device = f"cuda:{rank}" if device == "cuda" else device
    ranks = dist.get_world_size()
    for by_all in (True, False):
        ddp = DistributedDataParallel(plain().to(device), bucket_cap_mb=0.00001)
        reference = plain()
        optimizer, other = tandem.optim.SGD(ddp.parameters(), lr=0.1), tandem.optim.SGD(reference.parameters(), lr=0.1)
        with ddp.join(divide_by_initial_world_size=by_all):
            for step in range(rank + 1):
                optimizer.zero_grad()
                loss_of(ddp, batch(rank, step).to(device)).backward()
                optimizer.step()
        for step in range(ranks):
            other.zero_grad()
            for one in range(step, ranks):
                (loss_of(reference, batch(one, step)) / (ranks if by_all else ranks - step)).backward()
            other.step()
        for found, expected in zip(ddp.parameters(), reference.parameters()):
            assert tandem.allclose(found.detach().cpu(), expected.detach(), atol=1e-6), by_all
    # Outside everything is as before.
    optimizer.zero_grad()
    loss_of(ddp, batch(rank, 0).to(device)).backward()
    check_alike([parameter.grad for parameter in ddp.parameters()])


def uneven_with_more(rank):
    """Buffers, accumulation, unused parameters and an optimizer whose state is divided."""
    tandem.manual_seed(5)
    ddp = DistributedDataParallel(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
    optimizer = ZeroRedundancyOptimizer(ddp.parameters(), tandem.optim.Adam, lr=0.1)
    with Join([ddp, optimizer]):
        for step in range(2 * rank + 1):
            optimizer.zero_grad()
            loss_of(ddp, batch(rank, step)).backward()
            optimizer.step()
    check_alike(list(ddp.parameters()) + list(ddp.buffers()))
    # The last rank has 2 * ranks - 1 batches, and the buffers are its own.
    assert ddp.module[1].num_batches_tracked.item() == 2 * dist.get_world_size() - 1
    ddp = DistributedDataParallel(Net(), find_unused_parameters=True)
    with ddp.join():
        for step in range(3 - rank):
            ddp.zero_grad()
            with ddp.no_sync():
                loss_of(ddp, batch(rank, 10 + step)).backward()
            ddp(batch(rank, step), spare=rank == 0 and step == 2).sum().backward()
            # All three ranks are there in the first step alone; the spare part is used in the last, by rank 0.
            bias = ddp.module.spare.bias.grad
            assert bias is None if step < 2 else abs(bias.item() - 4 / 3) < 1e-6, (step, bias)
    check_alike(ddp.parameters())


def ended_early(rank):
    ddp = DistributedDataParallel(plain())

    def run():
        with ddp.join(throw_on_early_termination=True):
            for step in range(rank + 1):
                loss_of(ddp, batch(rank, step)).backward()

    text = "Rank 0 exhausted all inputs." if rank == 0 else "Detected at least one rank that exhausted inputs."
    raises(RuntimeError, text, run)
    with ddp.join(enable=False):
        loss_of(ddp, batch(rank, 0)).backward()
    raises(ValueError, "at least one joinable", lambda: Join([]))

    class Counter(Joinable):
        """Sums ones, as the example of a Joinable does."""

        def __init__(self):
            self.sum, self.last = 0, None

        def __call__(self):
            Join.notify_join_context(self)
            t = tandem.ones(1)
            dist.all_reduce(t)
            self.sum += int(t)

        def join_hook(self, **kwargs):
            counter = self

            class Hook(JoinHook):
                def main_hook(self):
                    dist.all_reduce(tandem.zeros(1))

                def post_hook(self, is_last_joiner):
                    counter.last = is_last_joiner

            return Hook()

        join_device = property(lambda self: tandem.device("cpu"))
        join_process_group = property(lambda self: dist.group.WORLD)

    counter = Counter()
    with Join([counter]):
        for _ in range(rank + 1):
            counter()
    # Of three ranks the batches are 1, 2 and 3: three are there in the first, two in the second, one in the last.
    assert counter.sum == [3, 5, 6][rank] and counter.last == (rank == 2), (counter.sum, counter.last)


def views(rank):
    """gradient_as_bucket_view: gradients share the memory that is sent, and are what they are without."""
    made = [DistributedDataParallel(plain(), gradient_as_bucket_view=as_view) for as_view in (True, False)]
    optimizers = [tandem.optim.SGD(ddp.parameters(), lr=0.1) for ddp in made]
    for step in range(4):
        for ddp, optimizer in zip(made, optimizers):
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            with ddp.no_sync():
                loss_of(ddp, batch(rank, step)).backward()
            loss_of(ddp, batch(rank, step + 10)).backward()
            loss_of(ddp, batch(rank, step + 20)).backward()
            optimizer.step()
        for first, second in zip(made[0].parameters(), made[1].parameters()):
            assert tandem.allclose(first.grad, second.grad, atol=1e-6) and tandem.allclose(first, second, atol=1e-6)
    storages = {ddp: {p.grad.untyped_storage().data_ptr() for p in ddp.parameters()} for ddp in made}
    assert len(storages[made[0]]) == 1 and len(storages[made[1]]) == 4


def buckets(rank):
    """Delayed parameters come last; a static graph may leave parameters out."""
    net = Net()
    delayed = [("first.weight", net.first.weight), ("last.bias", net.last.bias)]
    ddp = DistributedDataParallel(
        net, delay_all_reduce_named_params=delayed, param_to_hook_all_reduce=net.first.weight, static_graph=True, bucket_cap_mb=1
    )
    names = ddp.reducer.buckets()
    assert names[-1] == ["last.bias", "first.weight"] and len(names) == 2, names
    loss_of(ddp, batch(rank, 0)).backward()
    assert ddp.module.spare.weight.grad is None
    check_alike([net.first.weight.grad, net.last.bias.grad, net.last.weight.grad])
    raises(ValueError, "need to be set at the same time", lambda: DistributedDataParallel(Net(), delay_all_reduce_named_params=delayed))
    raises(NotImplementedError, "mixed_precision", lambda: DistributedDataParallel(Net(), mixed_precision=object()))
    own = Net()
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(own, ["spare.weight", "spare.bias"])
    ddp = DistributedDataParallel(own)
    assert "spare.weight" not in sum(ddp.reducer.buckets(), []) and not ddp.will_sync_module_buffers()
    seen = []

    def hook(state, bucket):
        assert isinstance(bucket, dist.GradBucket)
        seen.append((state, bucket.index(), bucket.is_last(), len(bucket.parameters())))
        return dist.all_reduce(bucket.buffer(), op=dist.ReduceOp.AVG, async_op=True).get_future()

    ddp.register_comm_hook("state", hook)
    expected = copy.deepcopy(own)
    loss_of(ddp, batch(rank, 0)).backward()
    assert seen == [("state", 0, True, 4)], seen
    for one in range(3):
        (loss_of(expected, batch(one, 0)) / 3).backward()
    assert tandem.allclose(own.first.weight.grad, expected.first.weight.grad, atol=1e-6)


def meshes(rank):
    mesh = init_device_mesh("cpu", (3,), mesh_dim_names=("dp",))
    assert (mesh.ndim, mesh.shape, mesh.size(), mesh.get_local_rank(), mesh.get_rank()) == (1, (3,), 3, rank, rank)
    assert mesh.device_type == "cpu" and mesh.mesh.tolist() == [0, 1, 2] and mesh.mesh_dim_names == ("dp",)
    assert mesh.get_group().size() == 3 and mesh["dp"].get_group() is mesh.get_group("dp") and mesh.get_coordinate() == (rank,)
    assert repr(mesh) == "DeviceMesh((dp=3), 'cpu', stride=(1,))", repr(mesh)
    t = tandem.ones(1)
    dist.all_reduce(t, group=mesh.get_group("dp"))
    assert t.item() == 3
    two = DeviceMesh("cpu", [[0, 2]], mesh_dim_names=("one", "two"))
    if rank == 1:
        assert two.get_coordinate() is None
    else:
        assert two.shape == (1, 2) and two.size(1) == 2 and two.get_local_rank("two") == rank // 2
        assert dist.get_process_group_ranks(two["two"].get_group()) == [0, 2] and two["one"].size() == 1
        raises(RuntimeError, "mesh_dim", two.get_group)
    raises(KeyError, "other", lambda: mesh["other"])
    raises(RuntimeError, "Mesh should not be bigger than default world size", lambda: init_device_mesh("cpu", (4,)))
    raises(RuntimeError, "Each mesh_dim_name must be unique", lambda: init_device_mesh("cpu", (1, 3), mesh_dim_names=("a", "a")))
    ddp = DistributedDataParallel(plain(), device_mesh=mesh)
    assert ddp.process_group is mesh.get_group()
    assert DeviceMesh.from_group(dist.group.WORLD, "cpu").get_group() is dist.group.WORLD


def more_names(rank):
    lists = [[tandem.empty(2) for _ in range(3)], [tandem.empty(1) for _ in range(3)]]
    dist.all_gather_coalesced(lists, [tandem.full((2,), float(rank)), tandem.tensor([10.0 * rank])])
    assert [t.tolist() for t in lists[0]] == [[0, 0], [1, 1], [2, 2]] and [t.item() for t in lists[1]] == [0, 10, 20]
    part = dist.split_group(split_ranks=[[0, 1], [2]])
    assert dist.get_process_group_ranks(part) == ([2] if rank == 2 else [0, 1])
    assert issubclass(dist.QueueEmptyError, RuntimeError)


def averaged_parameters(rank):
    """PostLocalSGDOptimizer: every rank steps alone, and in every second step the parameters are averaged."""
    net = nn.Linear(1, 1, bias=False)
    nn.init.constant_(net.weight, 0.0)
    averager = PeriodicModelAverager(period=2, warmup_steps=1)
    optimizer = PostLocalSGDOptimizer(tandem.optim.SGD(net.parameters(), lr=1.0), averager)
    for expected in (-rank, -1 - 1, -2 - rank, -3 - 1):
        optimizer.zero_grad()
        net.weight.grad = tandem.tensor([[float(rank)]])
        optimizer.step()
        # The gradient is this rank's number, whose average over the ranks 0, 1 and 2 is 1.
        assert abs(net.weight.item() - expected) < 1e-6, net.weight
    assert averager.step == 4 and optimizer.state_dict()["step"] == 4
    averager.step = 0
    optimizer.load_state_dict({**optimizer.state_dict(), "step": 3})
    assert averager.step == 3
    raises(ValueError, "period", lambda: PeriodicModelAverager(period=0))


def named_hooks(rank):
    for kind, atol in ((DDPCommHookType.ALLREDUCE, 1e-6), (DDPCommHookType.FP16_COMPRESS, 1e-3), (DDPCommHookType.BF16_COMPRESS, 2e-2)):
        ddp, expected = DistributedDataParallel(plain()), plain()
        register_ddp_comm_hook(kind, ddp)
        loss_of(ddp, batch(rank, 0)).backward()
        for one in range(3):
            (loss_of(expected, batch(one, 0)) / 3).backward()
        for found, wanted in zip(ddp.parameters(), expected.parameters()):
            assert tandem.allclose(found.grad, wanted.grad, rtol=0, atol=atol), kind


class Ranks(unittest.TestCase):
    def test_uneven_batches(self):
        run_ranks(3, [uneven], "cpu")
        run_ranks(3, [uneven_with_more, ended_early])

    @unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
    def test_uneven_batches_on_gpus(self):
        run_ranks(2, [uneven], "cuda")

    def test_gradients_buckets_and_meshes(self):
        run_ranks(3, [views, buckets, meshes, more_names, averaged_parameters, named_hooks])


if __name__ == "__main__":
    unittest.main()
