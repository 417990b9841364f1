"""tandem.distributed with real processes: collectives, groups, objects, DistributedDataParallel, and what starts ranks."""

import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import warnings
from datetime import timedelta

import tandem
import tandem.distributed as dist
import tandem.multiprocessing as mp
from tandem import nn
from tandem.nn.parallel import DistributedDataParallel

_GPUS = tandem.cuda.device_count()


def _enter(rank, world_size, path, body, args):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=world_size, timeout=timedelta(seconds=60))
    body(rank, *args)
    dist.destroy_process_group()


def run_ranks(world_size, body, *args):
    """Runs body(rank, *args) in processes that are the ranks of a program."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_enter, (world_size, os.path.join(folder, "meeting"), body, args), nprocs=world_size)


def run_program(text, *options, **keywords):
    """Runs a program by tandem.distributed.run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        command = [sys.executable, "-m", "tandem.distributed.run", *options, path, *keywords.pop("args", ())]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, **keywords)


def enter_by(rank, how, port):
    if how == "store":
        store = dist.TCPStore("127.0.0.1", port, 2, is_master=rank == 0)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    else:
        dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
        assert dist.get_backend() == "nccl"
    t = tandem.ones(1)
    dist.all_reduce(t)
    assert t.item() == 2
    dist.destroy_process_group()
    # The same ranks may meet again.
    if how == "tcp":
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}?rank={rank}&world_size=2")
        dist.barrier()
        dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- Bodies

def reductions(rank, device):
    device = f"cuda:{rank % _GPUS}" if device == "cuda" else device
    t = tandem.arange(3, device=device, dtype=tandem.float32) + rank
    assert dist.all_reduce(t) is None
    assert t.tolist() == [3, 6, 9]
    for op, expected in ((dist.ReduceOp.MAX, 2), (dist.ReduceOp.MIN, 0), (dist.ReduceOp.PRODUCT, 0), (dist.ReduceOp.AVG, 1)):
        t = tandem.full((2, 2), float(rank), device=device)
        work = dist.all_reduce(t, op=op, async_op=True)
        assert work.wait() is True
        assert t.tolist() == [[expected] * 2] * 2, (op, t)
    t = tandem.tensor([rank + 1], device=device)
    dist.reduce(t, 1)
    assert t.item() == (6 if rank == 1 else rank + 1)
    t = tandem.arange(4.0, device=device).reshape(2, 2).t() * rank  # not dense
    dist.broadcast(t, src=2)
    assert t.tolist() == [[0, 4], [2, 6]]
    out = tandem.empty(2, device=device)
    dist.reduce_scatter(out, [tandem.full((2,), float(10 * i + rank), device=device) for i in range(3)])
    assert out.tolist() == [30 * rank + 3] * 2
    dist.reduce_scatter_tensor(out, tandem.arange(6.0, device=device))
    assert out.tolist() == [6 * rank, 6 * rank + 3]
    half = tandem.full((2,), 0.5, dtype=tandem.bfloat16, device=device)
    dist.all_reduce(half)
    assert half.tolist() == [1.5, 1.5]
    parameter = nn.Parameter(tandem.full((2,), float(rank), device=device))
    dist.broadcast(parameter, 1)
    assert parameter.tolist() == [1, 1] and parameter.is_leaf


def exchanges(rank, device):
    device = f"cuda:{rank % _GPUS}" if device == "cuda" else device
    gathered = [tandem.empty(2, device=device) for _ in range(3)]
    dist.all_gather(gathered, tandem.full((2,), float(rank), device=device))
    assert [t.tolist() for t in gathered] == [[0, 0], [1, 1], [2, 2]]
    work = dist.all_gather(gathered, tandem.full((2,), 5.0 + rank, device=device), async_op=True)
    work.wait()
    assert [t[0].item() for t in gathered] == [5, 6, 7]
    stacked = tandem.empty(3, 2, device=device)
    dist.all_gather_into_tensor(stacked, tandem.full((2,), float(rank), device=device))
    assert stacked[:, 0].tolist() == [0, 1, 2]
    parts = [tandem.empty(1, device=device) for _ in range(3)] if rank == 1 else None
    dist.gather(tandem.full((1,), float(rank), device=device), parts, dst=1)
    assert rank != 1 or [t.item() for t in parts] == [0, 1, 2]
    joined = tandem.empty(6, device=device) if rank == 0 else None
    dist.gather_single(tandem.full((2,), float(rank), device=device), joined)
    assert rank != 0 or joined.tolist() == [0, 0, 1, 1, 2, 2]
    t = tandem.empty(2, device=device)
    dist.scatter(t, [tandem.full((2,), float(i * i), device=device) for i in range(3)] if rank == 0 else None)
    assert t.tolist() == [rank * rank] * 2
    received = [tandem.empty(r + 1, device=device) for r in range(3)]
    dist.all_to_all(received, [tandem.full((rank + 1,), float(10 * rank + r), device=device) for r in range(3)])
    assert [t[0].item() for t in received] == [rank, 10 + rank, 20 + rank]
    out = tandem.empty(3, device=device)
    dist.all_to_all_single(out, tandem.arange(3.0, device=device) + 10 * rank)
    assert out.tolist() == [rank, 10 + rank, 20 + rank]
    if rank == 0:
        dist.send(tandem.arange(4.0, device=device), 1, tag=7)
    elif rank == 1:
        assert dist.recv(tandem.empty(4, device=device), src=0, tag=7) == 0
    a, b = tandem.full((2,), float(rank), device=device), tandem.empty(2, device=device)
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, a, (rank + 1) % 3), dist.P2POp(dist.irecv, b, (rank - 1) % 3)])
    for work in works:
        work.wait()
    assert b.tolist() == [(rank - 1) % 3] * 2


def objects(rank):
    everybody = [None] * 3
    dist.all_gather_object(everybody, {"rank": rank, "text": "x" * 100 * rank})
    assert everybody == [{"rank": r, "text": "x" * 100 * r} for r in range(3)]
    values = [rank, "text", tandem.arange(2)] if rank == 2 else [None] * 3
    dist.broadcast_object_list(values, src=2)
    assert values[:2] == [2, "text"] and values[2].tolist() == [0, 1]
    mine = [None]
    dist.scatter_object_list(mine, [("a", i) for i in range(3)] if rank == 0 else None)
    assert mine == [("a", rank)]
    if rank == 0:
        dist.send_object_list(["sent", 3], dst=1)
    elif rank == 1:
        received = [None] * 2
        assert dist.recv_object_list(received, src=0) == 0 and received == ["sent", 3]
    gathered = [None] * 3 if rank == 0 else None
    dist.gather_object(rank * "y", gathered)
    assert rank or gathered == ["", "y", "yy"]


def groups(rank):
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (rank, 3, "gloo")
    pair = dist.new_group([2, 0])
    if rank == 1:
        assert pair == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(pair) == -1
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert dist.all_reduce(tandem.ones(1), group=pair) is None
        assert "Running all_reduce on global rank 1 which does not belong to the given group." in str(seen[0].message)
    else:
        assert dist.get_process_group_ranks(pair) == [0, 2]
        assert dist.get_rank(pair) == rank // 2 and dist.get_global_rank(pair, 1) == 2
        t = tandem.tensor([rank])
        dist.broadcast(t, group_src=1, group=pair)
        assert t.item() == 2
        dist.all_reduce(t, group=pair)
        assert t.item() == 4
    try:
        dist.init_process_group("gloo")
    except ValueError as error:
        assert "trying to initialize the default process group twice!" in str(error)
    dist.monitored_barrier(timeout=timedelta(seconds=30))
    dist.barrier()
    assert dist.group.WORLD.size() == 3


def mismatch(rank):
    try:
        dist.all_reduce(tandem.ones(3)) if rank == 0 else dist.broadcast(tandem.ones(3), 0)
    except RuntimeError as error:
        assert "ranks differ" in str(error) and "distributed_test.py" in str(error), error
    else:
        raise AssertionError("no error")


class Branches(nn.Module):
    """A module with a part that is used only where it is asked for, a shared part, and one that nobody uses."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(3, 3)
        self.left = nn.Linear(3, 1)
        self.right = nn.Linear(3, 1)
        self.never = nn.Linear(3, 1)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x, left=True, right=True):
        y = self.norm(self.shared(self.shared(x)))
        out = []
        if left:
            out.append(self.left(y))
        if right:
            out.append(self.right(y))
        return {"outputs": out}


def make(net, rank, device, **options):
    device = f"cuda:{rank % _GPUS}" if device == "cuda" else "cpu"
    tandem.manual_seed(rank)  # other values on each rank: rank 0's count
    module = net().to(device)
    return DistributedDataParallel(module, device_ids=[rank % _GPUS] if device != "cpu" else None, **options), device


def plain_net():
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))


def batch(rank, step):
    generator = tandem.Generator()
    generator.manual_seed(100 * step + rank)
    return tandem.randn(4, 3, generator=generator)


def gradients_of_all(ddp, device, x_of, loss_of):
    """What one process finds with all ranks' data: the mean of their gradients."""
    import copy
    module = copy.deepcopy(ddp.module)
    module.zero_grad()
    for rank in range(2):
        (loss_of(module, x_of(rank).to(device)) / 2).backward()
    return [parameter.grad for parameter in module.parameters()]


def data_parallel(rank, device):
    # A tiny limit makes a bucket of each parameter, so that several are under way.
    ddp, device = make(plain_net, rank, device, bucket_cap_mb=0.00001)
    assert ddp.get_ddp_logging_data()["num_buckets"] > 2
    assert list(ddp.state_dict())[0] == "module.0.weight"
    optimizer = tandem.optim.SGD(ddp.parameters(), lr=0.1)

    def loss_of(module, x):
        return module(x).square().mean()

    for step in range(3):
        expected = gradients_of_all(ddp, device, lambda r: batch(r, step), loss_of)
        optimizer.zero_grad()
        loss_of(ddp, batch(rank, step).to(device)).backward()
        for parameter, gradient in zip(ddp.parameters(), expected):
            assert tandem.allclose(parameter.grad, gradient, atol=1e-6), step
        optimizer.step()
    # Accumulation: the first two batches stay here, the third sends the sum.
    optimizer.zero_grad()
    expected = gradients_of_all(ddp, device, lambda r: tandem.cat([batch(r, s) for s in range(5, 8)]), lambda m, x: 3 * loss_of(m, x))
    with ddp.no_sync():
        loss_of(ddp, batch(rank, 5).to(device)).backward()
        loss_of(ddp, batch(rank, 6).to(device)).backward()
    loss_of(ddp, batch(rank, 7).to(device)).backward()
    for parameter, gradient in zip(ddp.parameters(), expected):
        assert tandem.allclose(parameter.grad, gradient, atol=1e-6)
    # Two forwards before one backward, and before two.
    for separately in (False, True):
        optimizer.zero_grad()
        first, second = (loss_of(ddp, batch(rank, step).to(device)) for step in (8, 9))
        if separately:
            first.backward()
            second.backward()
        else:
            (first + second).backward()
        expected = gradients_of_all(ddp, device, lambda r: tandem.cat([batch(r, 8), batch(r, 9)]), lambda m, x: 2 * loss_of(m, x))
        for parameter, gradient in zip(ddp.parameters(), expected):
            assert tandem.allclose(parameter.grad, gradient, atol=1e-6), separately
    # All ranks have the same bits.
    for parameter in ddp.parameters():
        mine = parameter.detach().reshape(-1)
        everybody = tandem.empty(2, mine.numel(), device=device)
        dist.all_gather_into_tensor(everybody, mine)
        assert tandem.equal(everybody[0], everybody[1])


def unused_parameters(rank, device):
    ddp, device = make(Branches, rank, device, find_unused_parameters=True)
    x = batch(rank, 0).to(device)
    # Rank 0 uses the left part, rank 1 the right one.
    out = ddp(x, left=rank == 0, right=rank == 1)["outputs"]
    sum(y.sum() for y in out).backward()
    assert ddp.module.never.weight.grad is None
    for part in (ddp.module.left, ddp.module.right, ddp.module.shared):
        everybody = tandem.empty(2, part.weight.numel(), device=device)
        dist.all_gather_into_tensor(everybody, part.weight.grad.reshape(-1))
        assert tandem.equal(everybody[0], everybody[1]) and everybody.abs().sum() > 0
    # The left part's bias has gradient 4 on rank 0 and none on rank 1.
    assert ddp.module.left.bias.grad.tolist() == [2]
    # Buffers are rank 0's before each forward.
    ddp(x)
    before = ddp.module.norm.running_mean.clone()
    ddp.eval()
    with tandem.no_grad():
        ddp(x)
    dist.broadcast(before, 0)
    assert tandem.equal(ddp.module.norm.running_mean, before)


def forgotten_parameters(rank):
    ddp, _ = make(Branches, rank, "cpu")
    sum(y.sum() for y in ddp(batch(rank, 0))["outputs"]).backward()
    try:
        ddp(batch(rank, 1))
    except RuntimeError as error:
        assert "Expected to have finished reduction in the prior iteration" in str(error) and "never.weight" in str(error)
    else:
        raise AssertionError("no error")


def different_modules(rank):
    try:
        DistributedDataParallel(nn.Linear(2, 2 + rank))
    except RuntimeError as error:
        assert "'weight' is float32 [2, 2] on rank 0, but float32 [3, 2] on rank 1" in str(error), error
    else:
        raise AssertionError("no error")
    try:
        DistributedDataParallel(nn.ReLU())
    except RuntimeError as error:
        assert "doesn't have any parameters that require a gradient" in str(error)
    dist.barrier()


def copies(rank):
    import copy
    ddp, _ = make(plain_net, rank, "cpu")
    twin = copy.deepcopy(ddp) if rank == 0 else ddp  # such as one that follows by averages, on one rank alone
    assert rank != 0 or twin.module[0].weight is not ddp.module[0].weight
    again = DistributedDataParallel(nn.Linear(3, 1))
    for module in (ddp, again):
        module(batch(rank, 0)).sum().backward()
    weight = twin.module[0].weight if rank else copy.deepcopy(ddp).module[0].weight
    everybody = tandem.empty(2, weight.numel())
    dist.all_gather_into_tensor(everybody, weight.detach().reshape(-1))
    assert tandem.equal(everybody[0], everybody[1])


def synchronized_batch_norm(rank, device):
    device = f"cuda:{rank % _GPUS}" if device == "cuda" else "cpu"
    whole = tandem.cat([batch(r, 0) for r in range(2)]).to(device)
    plain = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)).to(device)
    synchronized = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1))).to(device)
    synchronized.load_state_dict(plain.state_dict())
    ddp = DistributedDataParallel(synchronized)
    dist.broadcast(plain[1].weight, 0)
    dist.broadcast(plain[1].bias, 0)
    expected = plain(whole)
    out = ddp(batch(rank, 0).to(device))
    assert tandem.allclose(out, expected[4 * rank:4 * rank + 4], atol=1e-5)
    assert tandem.allclose(synchronized[0].running_var, plain[0].running_var, atol=1e-5)
    expected.square().mean().backward()
    out.square().mean().backward()
    for a, b in zip(synchronized.parameters(), plain.parameters()):
        assert tandem.allclose(a.grad, b.grad, atol=1e-5)


def subgroup(rank):
    # Ranks 1 and 2 train together; the group's root is rank 1.
    pair = dist.new_group([1, 2])
    if rank > 0:
        tandem.manual_seed(rank)
        ddp = DistributedDataParallel(nn.Linear(3, 1), process_group=pair)
        ddp(tandem.full((1, 3), float(rank))).sum().backward()
        assert ddp.module.weight.grad.tolist() == [[1.5] * 3]
        weight = ddp.module.weight.detach().clone()
        dist.broadcast(weight, 1, group=pair)
        assert tandem.equal(weight, ddp.module.weight)
    dist.barrier()


def communication_hooks(rank):
    from tandem.distributed.algorithms.ddp_comm_hooks import default_hooks
    for hook, tolerance in ((default_hooks.allreduce_hook, 1e-6), (default_hooks.bf16_compress_hook, 2e-2)):
        ddp, _ = make(plain_net, rank, "cpu", bucket_cap_mb=0.00001)
        ddp.register_comm_hook(None, hook)
        expected = gradients_of_all(ddp, "cpu", lambda r: batch(r, 0), lambda m, x: m(x).square().mean())
        ddp(batch(rank, 0)).square().mean().backward()
        for parameter, gradient in zip(ddp.parameters(), expected):
            assert tandem.allclose(parameter.grad, gradient, atol=tolerance)

    ddp, _ = make(plain_net, rank, "cpu")

    def twice(state, bucket):
        state.append((bucket.index(), bucket.is_last(), len(bucket.parameters())))
        future = dist.Future()
        future.set_result(bucket.buffer() * 2)
        return future

    seen = []
    ddp.register_comm_hook(seen, twice)
    ddp(batch(0, 0)).sum().backward()
    assert seen == [(0, True, 6)]
    assert ddp.module[4].bias.grad.tolist() == [8]


def sharded_optimizer(rank):
    from tandem.distributed.optim import ZeroRedundancyOptimizer
    tandem.manual_seed(0)
    ours, plain = plain_net(), plain_net()
    plain.load_state_dict(ours.state_dict())
    ours = DistributedDataParallel(ours)
    sharded = ZeroRedundancyOptimizer(ours.parameters(), optimizer_class=tandem.optim.Adam, lr=0.01)
    whole = tandem.optim.Adam(plain.parameters(), lr=0.01)
    for step in range(3):
        for module, optimizer in ((ours, sharded), (plain, whole)):
            optimizer.zero_grad()
            module(batch(0, step)).square().mean().backward()
            optimizer.step()
    for a, b in zip(ours.parameters(), plain.parameters()):
        assert tandem.allclose(a, b, atol=1e-6)
    assert 0 < len(sharded.optim.state) < len(list(plain.parameters()))
    sharded.consolidate_state_dict(to=0)
    if rank == 0:
        state = sharded.state_dict()
        assert sorted(state["state"]) == list(range(6))
        expected = whole.state_dict()["state"][3]["exp_avg"]
        assert tandem.allclose(state["state"][3]["exp_avg"], expected, atol=1e-6)
        sharded.load_state_dict(state)


# --- Tests

class Collectives(unittest.TestCase):
    def test_reductions(self):
        run_ranks(3, reductions, "cpu")

    def test_exchanges(self):
        run_ranks(3, exchanges, "cpu")

    @unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
    def test_on_gpus(self):
        run_ranks(3, reductions, "cuda")
        run_ranks(3, exchanges, "cuda")

    def test_objects(self):
        run_ranks(3, objects)

    def test_groups(self):
        run_ranks(3, groups)

    def test_ranks_that_differ_are_told_of_both_lines(self):
        run_ranks(2, mismatch)

    def test_without_a_group(self):
        self.assertTrue(dist.is_available())
        self.assertFalse(dist.is_initialized())
        with self.assertRaisesRegex(ValueError, "Default process group has not been initialized, please make sure to call"):
            dist.get_rank()
        with self.assertRaisesRegex(ValueError, "using env:// rendezvous: environment variable RANK expected, but not set"):
            dist.init_process_group("gloo")
        with self.assertRaisesRegex(ValueError, "Invalid backend: 'carrier pigeon'"):
            dist.init_process_group("carrier pigeon")
        with self.assertRaisesRegex(RuntimeError, "another machine"):
            dist.init_process_group("gloo", init_method="tcp://192.0.2.1:29500", rank=0, world_size=2)

    def test_meeting_by_an_address_and_by_a_store(self):
        for how in ("tcp", "store"):
            mp.spawn(enter_by, (how, free_port()), nprocs=2)

    def test_one_rank_alone_by_a_store(self):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        try:
            t = tandem.ones(2)
            dist.all_reduce(t)
            self.assertEqual(t.tolist(), [1, 1])
        finally:
            dist.destroy_process_group()


class DataParallelism(unittest.TestCase):
    def test_gradients(self):
        run_ranks(2, data_parallel, "cpu")

    def test_unused_parameters(self):
        run_ranks(2, unused_parameters, "cpu")

    @unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
    def test_on_gpus(self):
        run_ranks(2, data_parallel, "cuda")
        run_ranks(2, unused_parameters, "cuda")

    def test_forgotten_parameters_are_named(self):
        run_ranks(2, forgotten_parameters)

    def test_modules_that_differ_are_named(self):
        run_ranks(2, different_modules)

    def test_copies(self):
        run_ranks(2, copies)

    def test_subgroup(self):
        run_ranks(3, subgroup)

    def test_synchronized_batch_norm(self):
        run_ranks(2, synchronized_batch_norm, "cpu")

    @unittest.skipIf(_GPUS < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
    def test_synchronized_batch_norm_on_gpus(self):
        run_ranks(2, synchronized_batch_norm, "cuda")

    def test_communication_hooks(self):
        run_ranks(2, communication_hooks)

    def test_sharded_optimizer(self):
        run_ranks(2, sharded_optimizer)


class Run(unittest.TestCase):
    def test_ranks_and_their_environment(self):
        text = """
            import os, sys
            import tandem
            import tandem.distributed as dist
            dist.init_process_group()
            t = tandem.ones(1)
            dist.all_reduce(t)
            if os.environ["LOCAL_RANK"] == "1":
                names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK TORCHELASTIC_RESTART_COUNT"
                print(*(os.environ[name] for name in names.split()), t.item(), sys.argv[1:], flush=True)
        """
        done = run_program(text, "--standalone", "--nproc_per_node=3", args=("--lr", "3"))
        self.assertEqual((done.returncode, done.stdout), (0, "1 1 3 3 0 0 3.0 ['--lr', '3']\n"), done.stderr)

    def test_one_failure_ends_all(self):
        text = """
            import os, sys, time
            if os.environ["RANK"] == "1":
                sys.exit(7)
            time.sleep(100)
        """
        start = time.monotonic()
        done = run_program(text, "--nproc-per-node", "2")
        self.assertEqual(done.returncode, 7)
        self.assertIn("rank 1", done.stderr)
        self.assertIn("ended with exit code 7", done.stderr)
        self.assertLess(time.monotonic() - start, 30)

    def test_restarts(self):
        text = """
            import os, sys
            sys.exit(0 if os.environ["TORCHELASTIC_RESTART_COUNT"] == "1" else 3)
        """
        self.assertEqual(run_program(text, "--max-restarts", "2").returncode, 0)

    def test_bad_options(self):
        done = run_program("", "--nproc-per-node", "many")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Unsupported nproc_per_node value: many", done.stderr)

    def test_interrupt_ends_a_wait_and_threads_run_meanwhile(self):
        text = """
            import os, signal, threading, time
            import tandem, tandem.distributed as dist
            dist.init_process_group()
            if dist.get_rank() == 0:
                ticks = []
                threading.Thread(target=lambda: [(time.sleep(0.01), ticks.append(1)) for _ in range(200)], daemon=True).start()
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                start = time.monotonic()
                try:
                    dist.all_reduce(tandem.ones(3))
                except KeyboardInterrupt:
                    print("interrupted", time.monotonic() - start < 2, len(ticks) > 10, flush=True)
            else:
                time.sleep(2)
            os._exit(0)
        """
        done = run_program(text, "--nproc-per-node", "2")
        self.assertEqual(done.stdout, "interrupted True True\n", done.stderr)


class Stores(unittest.TestCase):
    def check(self, store):
        store.set("key", "value")
        self.assertEqual(store.get("key"), b"value")
        self.assertEqual([store.add("n", 2), store.add("n", 3)], [2, 5])
        self.assertEqual(store.compare_set("new", "", "first"), b"first")
        self.assertEqual(store.compare_set("new", "other", "second"), b"first")
        self.assertTrue(store.check(["key", "n"]))
        self.assertTrue(store.delete_key("key"))
        self.assertFalse(store.check(["key"]))
        store.set("bytes", bytes(range(256)))
        self.assertEqual(store.get("bytes"), bytes(range(256)))
        with self.assertRaisesRegex(RuntimeError, "wait timeout after 50ms, keys: /missing"):
            store.wait(["missing"], timedelta(milliseconds=50))
        threading.Timer(0.1, store.set, ("late", "x")).start()
        self.assertEqual(store.get("late"), b"x")

    def test_hash(self):
        self.check(dist.HashStore())

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check(dist.FileStore(os.path.join(folder, "store"), 1))

    def test_tcp(self):
        server = dist.TCPStore("127.0.0.1", 0, is_master=True)
        client = dist.TCPStore("127.0.0.1", server.port)
        self.check(dist.PrefixStore("part", client))
        self.assertEqual(server.get("part/late"), b"x")


if __name__ == "__main__":
    unittest.main()
