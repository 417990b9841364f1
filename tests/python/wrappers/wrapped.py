"""Each wrapper behind one face: what trains a cell's net on some ranks."""

import contextlib

import tandem
import tandem.distributed as dist
from tandem import nn
from tandem.distributed.algorithms.join import Join
from tandem.distributed.device_mesh import DeviceMesh
from tandem.distributed.fsdp import FullyShardedDataParallel as FSDP
from tandem.distributed.fsdp import ShardingStrategy, fully_shard
from tandem.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from tandem.distributed.fsdp.wrap import ModuleWrapPolicy
from tandem.distributed.optim import ZeroRedundancyOptimizer
from wrappers.net import Block, Net


def _optimizer_class(cell):
    """A class and its options."""
    # A step that a gradient of zero does not change: in a unit of shards one parameter's makes the others' zeros.
    if cell.kind in ("FSDP", "fully_shard") and cell.has("unused"):
        return tandem.optim.SGD, {"lr": 0.05}
    if cell.adam:
        return tandem.optim.AdamW, {"lr": 0.01, "eps": 1e-3, "weight_decay": 0.1}
    return tandem.optim.SGD, {"lr": 0.02, "momentum": 0.9, "weight_decay": 0.01}


def _listed(cell, module):
    """The parameters that the optimizer is given: all, or those that are trained."""
    every = list(module.parameters())
    return every if cell.draws("listed").random() < 0.5 else [one for one in every if one.requires_grad]


def optimizer_of(cell, module):
    optimizer_class, options = _optimizer_class(cell)
    return optimizer_class(_listed(cell, module), **options)


def scaler_of(cell, sort=tandem.amp.GradScaler, **options):
    return sort("cpu", init_scale=1024, growth_interval=2, enabled=cell.has("scaler"), **options)


def plain(value):
    """The number that a tensor, in shards or not, or a float is."""
    value = value.full_tensor() if hasattr(value, "full_tensor") else value
    return float(value)


class Wrapped:
    """A net of a process of its own."""

    def __init__(self, cell):
        self.cell = cell
        self.module = self.net = Net(cell)
        self.optimizer = optimizer_of(cell, self.net)
        self.scaler = scaler_of(cell)

    def no_sync(self):
        return contextlib.nullcontext()

    def join(self, divides_by_all):
        return contextlib.nullcontext()

    def clip(self, limit):
        return nn.utils.clip_grad_norm_(self.module.parameters(), limit)

    def state(self):
        """All parameters and buffers, on the CPU; every rank calls it."""
        return {name: value.detach().cpu().clone() for name, value in self.net.state_dict().items()}

    def gradients(self):
        """Those of the parameters, or None where they are in shards."""
        return {name: one.grad.detach().cpu().clone() for name, one in self.net.named_parameters() if one.grad is not None}

    def averaged(self):
        """The module that an average of the parameters is taken of."""
        return self.net

    def save(self):
        """What a rank 0 writes into a file; every rank calls it."""
        return {"model": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, saved):
        self.net.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])


class OnDevices(Wrapped):
    """DataParallel."""

    def __init__(self, cell, ranks):
        super().__init__(cell)
        self.net.cuda(0)
        self.module = nn.DataParallel(self.net, device_ids=list(range(ranks)))


def _net_of_rank(cell, group, keeps_values):
    """A rank's net, with values of its own where the wrapper takes rank 0's."""
    net = Net(cell)
    if dist.get_rank(group) and not keeps_values:
        net.fill(dist.get_rank(group))
    if cell.has("sync_batch_norm"):
        net = nn.SyncBatchNorm.convert_sync_batchnorm(net, group)
    return net.cuda(dist.get_rank()) if cell.gpus else net


class InDdp(Wrapped):
    """DistributedDataParallel, with a plain optimizer or ZeroRedundancyOptimizer."""

    def __init__(self, cell, group):
        self.cell = cell
        draws = cell.draws("ddp")
        self.net = _net_of_rank(cell, group, False)
        steady = not cell.has("partly_used", "between", "no_sync", "accumulation", "join", "checkpoint", "resume")
        needs = cell.has("unused", "partly_used")
        static = steady and draws.random() < 0.3
        self.module = nn.parallel.DistributedDataParallel(
            self.net,
            process_group=group,
            bucket_cap_mb=draws.choice((None, 25, 0.0001)),
            gradient_as_bucket_view=draws.random() < 0.5,
            find_unused_parameters=(needs and not static) or draws.random() < 0.2,
            static_graph=static,
        )
        if cell.kind == "ZeRO":
            optimizer_class, options = _optimizer_class(cell)
            self.optimizer = ZeroRedundancyOptimizer(
                _listed(cell, self.net), optimizer_class, process_group=group, parameters_as_bucket_view=draws.random() < 0.5, **options
            )
        else:
            self.optimizer = optimizer_of(cell, self.net)
        self.scaler = scaler_of(cell)

    def no_sync(self):
        return self.module.no_sync()

    def join(self, divides_by_all):
        joined = [self.module, self.optimizer] if self.cell.kind == "ZeRO" else [self.module]
        return Join(joined, divide_by_initial_world_size=divides_by_all)

    def save(self):
        if self.cell.kind == "ZeRO":
            self.optimizer.consolidate_state_dict(to=0)
            optimizer = self.optimizer.state_dict() if self.optimizer.rank == 0 else None
        else:
            optimizer = self.optimizer.state_dict()
        return {"model": self.net.state_dict(), "optimizer": optimizer}


class InFsdp(Wrapped):
    """FullyShardedDataParallel."""

    def __init__(self, cell, group):
        self.cell = cell
        draws = cell.draws("fsdp")
        # PyTorch's makes ranks alike on GPUs only, and needs a scaler of its own; ours looks at all ranks by itself.
        of_torch = not hasattr(tandem, "virtual_gpus")
        self.net = _net_of_rank(cell, group, of_torch)
        self.module = FSDP(
            self.net,
            process_group=group,
            sharding_strategy=draws.choice((ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD)),
            auto_wrap_policy=ModuleWrapPolicy({Block}) if draws.random() < 0.6 and not cell.has("shared") else None,
            use_orig_params=draws.random() < 0.5 or cell.has("frozen"),
            sync_module_states=not of_torch,
            device_id=tandem.device("cuda", dist.get_rank()) if cell.gpus else tandem.device("cpu"),
        )
        self.optimizer = optimizer_of(cell, self.module)
        sharded = draws.random() < 0.5 or of_torch
        self.scaler = scaler_of(cell, ShardedGradScaler, process_group=group) if sharded else scaler_of(cell)

    def no_sync(self):
        return self.module.no_sync()

    def clip(self, limit):
        return self.module.clip_grad_norm_(limit)

    def state(self):
        with FSDP.summon_full_params(self.module, writeback=False):
            values = dict(self.module.named_parameters())
            values.update(self.module.named_buffers())
            return {name.replace("_fsdp_wrapped_module.", ""): value.detach().cpu().clone() for name, value in values.items()}

    def gradients(self):
        return None

    def save(self):
        from tandem.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

        model, optimizer = get_state_dict(self.module, self.optimizer, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
        return {"model": model, "optimizer": optimizer}

    def load(self, saved):
        from tandem.distributed.checkpoint.state_dict import StateDictOptions, set_state_dict

        set_state_dict(
            self.module,
            self.optimizer,
            model_state_dict=saved["model"],
            optim_state_dict=saved["optimizer"],
            options=StateDictOptions(full_state_dict=True),
        )


class InShards(InFsdp):
    """fully_shard."""

    def __init__(self, cell, group):
        self.cell = cell
        draws = cell.draws("fully_shard")
        # It takes the values as they are, which is rank 0's business.
        self.net = self.module = _net_of_rank(cell, group, True)
        mesh = DeviceMesh.from_group(group, "cuda" if cell.gpus else "cpu")
        resharded = draws.random() < 0.5
        if draws.random() < 0.6 and not cell.has("shared"):
            for block in self.net.blocks:
                fully_shard(block, mesh=mesh, reshard_after_forward=resharded)
        fully_shard(self.net, mesh=mesh, reshard_after_forward=resharded)
        self.optimizer = optimizer_of(cell, self.net)
        self.scaler = scaler_of(cell)

    @contextlib.contextmanager
    def no_sync(self):
        self.net.set_requires_gradient_sync(False)
        yield
        self.net.set_requires_gradient_sync(True)

    def clip(self, limit):
        return nn.utils.clip_grad_norm_(self.net.parameters(), limit)

    def state(self):
        values = dict(self.net.named_parameters())
        values.update(self.net.named_buffers())
        values = {name: value.full_tensor() if hasattr(value, "full_tensor") else value for name, value in values.items()}
        return {name: value.detach().cpu().clone() for name, value in values.items()}


def wrapped(cell, ranks, group):
    """What trains the cell on this rank, one of some."""
    if cell.kind == "DataParallel":
        return OnDevices(cell, ranks)
    return {"DDP": InDdp, "ZeRO": InDdp, "FSDP": InFsdp, "fully_shard": InShards}[cell.kind](cell, group)
