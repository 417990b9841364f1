"""One call of fit, validate, test or predict: the module, where it computes, and how its steps and hooks are called."""

import functools
import inspect

import tandem
from tandem import _C
from tandem.train.callbacks.callback import Callback
from tandem.train.checkpoint import take_model
from tandem.train.devices import Runner, step_of
from tandem.train.module import LightningModule
from tandem.train.optimization import Precision
from tandem.train.optimizers import step_schedulers


def is_lightning(module):
    """Whether it is a LightningModule: a plain module's steps are called, too, but it logs nothing itself."""
    return isinstance(module, LightningModule)


def positional_count(function):
    """How many positional arguments it takes."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return 1 << 30
    return sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)


def _is_own(owner, hook, base):
    """Whether it has a hook that is not the base's, which does nothing."""
    method = getattr(owner, hook, None)
    return method is not None and getattr(method, "__func__", method) is not getattr(base, hook, None)


def _with_as_many_as_it_takes(method):
    """A hook that may leave out its last arguments, as dataloader_idx."""
    count = positional_count(method)
    return lambda *arguments: method(*arguments[:count])


class Run:
    """What a run has at hand. A `with` block sets it up and ends it."""

    def __init__(self, trainer, module, datamodule, stage, ranks, devices):
        self.trainer, self.model, self.datamodule, self.stage = trainer, module, datamodule, stage
        self.ranks, self.devices = ranks, devices
        self.precision = Precision(trainer.precision, devices[0])
        self.runner = self.results = self.optimization = None
        self.managed = []
        self._gpu_before = None
        self._counts, self._listeners = {}, {}

    def __enter__(self):
        trainer, module, data = self.trainer, self.model, self.datamodule
        trainer._run = self
        if is_lightning(module):
            module.trainer = trainer
            self._add_callbacks_of_module()
        elif not hasattr(type(module), "trainer"):
            module.__dict__["trainer"] = trainer
        if data is not None:
            data.trainer = trainer
        if self.devices[0].type == "cuda":
            self._gpu_before = _C.cuda.current_device()
            tandem.cuda.set_device(self.devices[0])
        self._prepare_data()
        self.ranks.wait_for_all()
        self._call_data("setup", self.stage)
        for callback in trainer.callbacks:
            callback.setup(trainer, module, self.stage)
        self._call_module("setup", self.stage)
        self._call_module("configure_model")
        return self

    def __exit__(self, kind, error, traceback):
        trainer, module = self.trainer, self.model
        try:
            self._call_data("teardown", self.stage)
            for callback in trainer.callbacks:
                callback.teardown(trainer, module, self.stage)
            self._call_module("teardown", self.stage)
            for logger in trainer.loggers:
                logger.finalize("success" if error is None else "failed")
        finally:
            trainer._run = trainer._results = None
            if not is_lightning(module):
                module.__dict__.pop("trainer", None)
            if self._gpu_before is not None:
                tandem.cuda.set_device(self._gpu_before)

    def _add_callbacks_of_module(self):
        given = self.model.configure_callbacks() or []
        given = list(given) if isinstance(given, (list, tuple)) else [given]
        kinds = {type(callback) for callback in given}
        trainer = self.trainer
        trainer.callbacks = trainer._ordered([one for one in trainer.callbacks if type(one) not in kinds] + given)

    def _prepare_data(self):
        if self.ranks.local_rank == 0:
            self._call_data("prepare_data")
            self._call_module("prepare_data")

    def _call_data(self, name, *arguments):
        method = getattr(self.datamodule, name, None)
        if callable(method):
            method(*arguments)

    def _call_module(self, name, *arguments):
        if is_lightning(self.model):
            getattr(self.model, name)(*arguments)

    def place_model(self, checkpoint=None):
        """The module where it computes, with a checkpoint's weights where there is one. fit sets one in evaluation mode to train."""
        if checkpoint is not None:
            take_model(self.trainer, self.model, checkpoint)
        self.model.to(self.devices[0])
        trains = self.stage == "fit"
        if trains and not self.model.training:
            self.model.train()
        find_unused = "find_unused_parameters_true" in self.trainer.strategy
        if trains and self.ranks.several and self.trainer.sync_batchnorm:
            tandem.nn.SyncBatchNorm.convert_sync_batchnorm(self.model)
        self.runner = Runner(self.model, self.devices, self.ranks, find_unused, for_training=trains)

    # --- Steps and hooks
    def method(self, name):
        """A method of the module; for a plain module what LightningModule does."""
        return getattr(self.model, name, None) or functools.partial(getattr(LightningModule, name), self.model)

    def has_step(self, name):
        """Whether the module has a step of its own of that name."""
        given = getattr(type(self.model), name, None)
        return given is not None and given is not getattr(LightningModule, name)

    def listeners(self, hook):
        """Who has something to do in a hook: callbacks and then the module; and those that come after it. Each takes its arguments."""
        if hook not in self._listeners:
            found = {0: [], 1: []}
            for callback in self.trainer.callbacks:
                if _is_own(callback, hook, Callback):
                    found[int(callback.comes_last > 0)].append(functools.partial(getattr(callback, hook), self.trainer, self.model))
            if _is_own(self.model, hook, LightningModule):
                found[0].append(_with_as_many_as_it_takes(getattr(self.model, hook)))
            self._listeners[hook] = found[0], found[1]
        return self._listeners[hook]

    def listens_to(self, hook):
        """Whether anyone has something to do in a hook."""
        return any(self.listeners(hook))

    def step(self, name, batch, batch_idx, averages=True, loader_number=None):
        """Calls a step with as many of (batch, batch_idx, dataloader_idx) as it takes: [(what it gave, samples), …]."""
        if name not in self._counts:
            self._counts[name] = positional_count(step_of(self.model, name))
        more = (batch_idx,) if loader_number is None else (batch_idx, loader_number)
        self.trainer._hook = name
        return self.runner.step(name, batch, more[: self._counts[name] - 1], self.results, averages)

    def to_device(self, batch, loader_number=0):
        """A batch where it is computed with."""
        return self.runner.to_device(batch, loader_number)

    def step_schedulers(self):
        """Schedules that step with the optimizer."""
        step_schedulers(self.trainer, self.model, "step", self.trainer.global_step)

    def log_returned(self, stage, output):
        """The figures that a step of a plain module gives: a loss, or a dictionary of them."""
        if is_lightning(self.model) or output is None:
            return
        prefix = {"validation": "val", "test": "test"}[stage]
        figures = output if isinstance(output, dict) else {f"{prefix}_loss": output}
        for name, value in figures.items():
            self.trainer._log(name, value, prog_bar=True, on_step=False, on_epoch=True)
