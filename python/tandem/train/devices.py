"""What a run computes on, and how a step reaches it: one device, several GPUs of this process, or this rank's."""

import itertools

import tandem
from tandem import _C, nn
from tandem.nn.parallel import DistributedDataParallel, gather, parallel_apply, replicate, scatter
from tandem.nn.parallel.parallel_apply import _first_tensor
from tandem.utils._pytree import tree_map

_ASK_FOR_VIRTUAL = "TANDEM_VIRTUAL_GPUS={0}, or tandem.virtual_gpus({0}) before the first use of a GPU, gives {0} virtual ones"


def moved(batch, device):
    """A batch - tensors, and what holds them or has a `to` of its own - on the device."""
    return tree_map(lambda leaf: leaf.to(device) if hasattr(leaf, "to") else leaf, batch, is_leaf=lambda value: hasattr(value, "to"))


def size_of(batch):
    """The samples of a batch: the length of the first tensor in it; 1 where there is none."""
    tensor = _first_tensor(batch)
    return len(tensor) if tensor is not None and tensor.dim() > 0 else 1


def first_device(module):
    """Where a module's first parameter or buffer is; the CPU without any."""
    return next((tensor.device for tensor in itertools.chain(module.parameters(), module.buffers())), tandem.device("cpu"))


def _gpus(numbers, asked):
    there = tandem.cuda.device_count()
    missing = [number for number in numbers if not 0 <= number < there]
    if missing:
        count = max(missing) + 1
        raise RuntimeError(
            f"[Trainer] {asked} needs cuda:{max(missing)}, but this process sees {there} GPU{'' if there == 1 else 's'}: ask for fewer; "
            + _ASK_FOR_VIRTUAL.format(count)
        )
    return [tandem.device("cuda", number) for number in numbers]


def _numbers(devices, asked):
    """The GPUs that Lightning's `devices` names: how many, which, or all of them."""
    if isinstance(devices, str):
        text = devices.strip()
        if text in ("auto", "-1"):
            devices = -1
        else:
            try:
                devices = [int(one) for one in text.split(",") if one.strip()] if "," in text else int(text)
            except ValueError:
                raise ValueError(f"[Trainer] {asked}: give a number of GPUs, a list of their numbers, -1 or 'auto'") from None
    if isinstance(devices, int) and not isinstance(devices, bool):
        if devices == -1:
            return list(range(max(1, tandem.cuda.device_count())))
        if devices < 1:
            raise ValueError(f"[Trainer] {asked}: give how many GPUs, or accelerator='cpu' for none")
        return list(range(devices))
    if (
        isinstance(devices, (list, tuple))
        and devices
        and all(isinstance(one, int) for one in devices)
        and len(set(devices)) == len(devices)
    ):
        return list(devices)
    raise ValueError(f"[Trainer] {asked}: give a number of GPUs, a list of their numbers, -1 or 'auto'")


def chosen_devices(num_gpus, accelerator, devices):
    """What `num_gpus`, or `accelerator` and `devices`, ask for. RuntimeError where so many GPUs are not there."""
    if accelerator is None and devices is None:
        count = 0 if num_gpus is None else num_gpus
        if not isinstance(count, int) or isinstance(count, bool):
            raise TypeError(f"[Trainer] num_gpus is a whole number, not {count!r}: give 0 for the CPU, or how many GPUs to train on")
        if count < 0:
            raise ValueError(f"[Trainer] num_gpus must not be negative, but is {count}: give 0 for the CPU, or how many GPUs to train on")
        return _gpus(range(count), f"num_gpus={count}") or [tandem.device("cpu")]
    if num_gpus is not None:
        raise ValueError("[Trainer] give num_gpus, or accelerator and devices, not both")
    kind = "auto" if accelerator is None else accelerator
    if kind not in ("auto", "cpu", "gpu", "cuda"):
        raise ValueError(f"[Trainer] accelerator is 'cpu', 'gpu', 'cuda' or 'auto', not {accelerator!r}")
    if kind == "cpu" or kind == "auto" and tandem.cuda.device_count() == 0:
        if devices not in (None, "auto", 1, "1"):
            raise ValueError(f"[Trainer] devices={devices!r} on the CPU: one process has one; start more by `tandem launch -n {devices}`")
        return [tandem.device("cpu")]
    asked = f"accelerator={kind!r}, devices={devices!r}"
    return _gpus(_numbers("auto" if devices is None else devices, asked), asked)


def step_of(module, name):
    """A step of a module; where a plain module has no predict_step, its forward."""
    return module.forward if name == "predict_step" and not hasattr(module, name) else getattr(module, name)


class _Step(nn.Module):
    """What DistributedDataParallel wraps: a step of a module as its forward."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, hook, arguments):
        return getattr(self.module, hook)(*arguments)


class Runner:
    """Calls the steps of a module where it computes. `results` is told the size of each part of a batch."""

    def __init__(self, module, devices, ranks, find_unused_parameters=False, for_training=True):
        self.devices = devices
        self._module = module
        self._parallel = None
        if len(devices) == 1 and not (ranks.several and for_training):
            return
        if any(nn.parameter.is_lazy(parameter) for parameter in module.parameters()):
            raise RuntimeError(
                f"[Trainer] {type(module).__name__} has lazy layers, and several GPUs or ranks copy parameters: call "
                "the module on a sample before the run"
            )
        if ranks.several and for_training and any(parameter.requires_grad for parameter in module.parameters()):
            self._parallel = DistributedDataParallel(_Step(module), find_unused_parameters=find_unused_parameters)

    def to_device(self, batch, loader_number):
        """The batch on the first device, by the module's own hooks where it has them; as it is where several GPUs get parts of it."""
        module, several = self._module, len(self.devices) > 1
        if not hasattr(module, "transfer_batch_to_device"):
            return batch if several else moved(batch, self.devices[0])
        batch = module.on_before_batch_transfer(batch, loader_number)
        if not several:
            batch = module.transfer_batch_to_device(batch, self.devices[0], loader_number)
        return module.on_after_batch_transfer(batch, loader_number)

    def step(self, hook, batch, more, results, averages=True):
        """[(what the step gave, samples of its part)], one for each GPU that got a part of the batch."""
        if len(self.devices) == 1:
            results.part_size = size_of(batch)
            return [(self._one(hook, (batch, *more), averages), results.part_size)]
        parts = scatter((batch,), self.devices)[: size_of(batch)] or [(batch,)]
        devices, sizes = self.devices[: len(parts)], [size_of(part) for part in parts]
        replicas = replicate(self._module, devices, not _C.is_grad_enabled())
        for replica, device in zip(replicas, devices):
            replica.__dict__["_replica_device"] = device

        def call(replica, size):
            def run(*arguments):
                results.part_size = size
                return step_of(replica, hook)(*arguments)

            return run

        outputs = parallel_apply(list(map(call, replicas, sizes)), [(*part, *more) for part in parts], None, devices)
        return list(zip(outputs, sizes))

    def _one(self, hook, arguments, averages):
        if self._parallel is None or hook != "training_step":
            return step_of(self._module, hook)(*arguments)
        if averages:
            return self._parallel(hook, arguments)
        with self._parallel.no_sync():
            return self._parallel(hook, arguments)

    def joined(self, outputs):
        """What the GPUs gave for parts of a batch, as one."""
        parts = [output for output, _ in outputs]
        return parts[0] if len(parts) == 1 else gather(parts, self.devices[0])
