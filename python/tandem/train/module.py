"""LightningModule: a model that also knows its steps, its optimizer and what to log."""

import warnings

from tandem import nn, serialization
from tandem.train.devices import first_device, moved
from tandem.train.hooks import StepHooks
from tandem.train.hyper_parameters import HyperParameters, made_of_checkpoint


class LightningModule(StepHooks, HyperParameters, nn.Module):
    """Derive and give `training_step` and `configure_optimizers`; all else is as needed. By PyTorch Lightning's names."""

    automatic_optimization = True  # False: training_step calls backward and the optimizers itself
    strict_loading = True
    example_input_array = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__["_trainer"] = None

    # --- What a program gives
    def training_step(self, batch, batch_idx):
        """The loss of a batch: a tensor of one element, a dict with it under "loss", or None to skip the batch."""
        raise NotImplementedError(f"{type(self).__name__} has no training_step")

    def validation_step(self, batch, batch_idx):
        """Logs what is to be known of a batch it does not learn from."""
        raise NotImplementedError(f"{type(self).__name__} has no validation_step")

    def test_step(self, batch, batch_idx):
        """The same of a batch of Trainer.test."""
        raise NotImplementedError(f"{type(self).__name__} has no test_step")

    def predict_step(self, batch, batch_idx):
        """What Trainer.predict returns for a batch: the model's output unless overridden."""
        return self(batch)

    def configure_optimizers(self):
        """An optimizer; or a list of them, (optimizers, schedulers), or {"optimizer": ..., "lr_scheduler": ..., "monitor": ...}."""
        raise NotImplementedError(
            f"{type(self).__name__} has no configure_optimizers: give one, as in `return tandem.optim.SGD(self.parameters(), lr=0.1)`"
        )

    def configure_callbacks(self):
        """Callbacks that come with the module; they replace the Trainer's of the same class."""
        return []

    def configure_model(self):
        """Makes layers, before the module is moved and its optimizers are made."""

    def prepare_data(self):
        """As in LightningDataModule."""

    def setup(self, stage):
        """As in LightningDataModule."""

    def teardown(self, stage):
        """The run has ended."""

    # --- Where it is
    @property
    def trainer(self):
        """The Trainer that runs it. RuntimeError where none does."""
        if self.__dict__.get("_trainer") is None:
            raise RuntimeError(f"{type(self).__name__} is not attached to a `Trainer`.")
        return self._trainer

    @trainer.setter
    def trainer(self, trainer):
        self.__dict__["_trainer"] = trainer

    @property
    def device(self):
        """Where its parameters are."""
        return self.__dict__.get("_replica_device") or first_device(self)

    @property
    def dtype(self):
        """The dtype of its parameters."""
        return next((parameter.dtype for parameter in self.parameters() if parameter.is_floating_point()), None)

    @property
    def current_epoch(self):
        """The number of the epoch, from 0."""
        return self._trainer.current_epoch if self.__dict__.get("_trainer") else 0

    @property
    def global_step(self):
        """Steps of optimizers that have been done."""
        return self._trainer.global_step if self.__dict__.get("_trainer") else 0

    @property
    def global_rank(self):
        """The number of this rank."""
        return self._trainer.global_rank if self.__dict__.get("_trainer") else 0

    @property
    def local_rank(self):
        """The number of this rank on its machine."""
        return self._trainer.local_rank if self.__dict__.get("_trainer") else 0

    @property
    def logger(self):
        """The Trainer's first logger."""
        return self._trainer.logger if self.__dict__.get("_trainer") else None

    @property
    def loggers(self):
        """All of them."""
        return self._trainer.loggers if self.__dict__.get("_trainer") else []

    def __getstate__(self):
        return {**super().__getstate__(), "_trainer": None}  # a copy is in no run

    # --- Logging
    def log(
        self,
        name,
        value,
        prog_bar=False,
        logger=None,
        on_step=None,
        on_epoch=None,
        reduce_fx="mean",
        enable_graph=False,
        sync_dist=False,
        sync_dist_group=None,
        add_dataloader_idx=True,
        batch_size=None,
        metric_attribute=None,
        rank_zero_only=False,
    ):
        """A figure: of each step (the default in training_step), of the epoch (the default elsewhere), or both; in the bar with `prog_bar`.

        Over an epoch, values are combined by `reduce_fx`, a mean by the batches' sizes, and over all ranks. What is logged has no graph."""
        trainer = self.__dict__.get("_trainer")
        if trainer is None:
            warnings.warn(
                "You are trying to `self.log()` but the `self.trainer` reference is not registered on the model yet. This is most likely "
                "because the model hasn't been passed to the `Trainer`",
                stacklevel=2,
            )
            return
        trainer._log(
            name,
            value,
            prog_bar=prog_bar,
            logger=logger,
            on_step=on_step,
            on_epoch=on_epoch,
            reduce_fx=reduce_fx,
            add_dataloader_idx=add_dataloader_idx,
            batch_size=batch_size,
        )

    def log_dict(self, dictionary, **options):
        """`log` of each name in a dictionary; options as of `log`."""
        for name, value in dictionary.items():
            self.log(name, value, **options)

    def print(self, *args, **kwargs):
        """print on rank 0, in a line of its own beside the progress bar."""
        trainer = self.__dict__.get("_trainer")
        if trainer is None:
            print(*args, **kwargs)
        else:
            trainer.print(*args, **kwargs)

    # --- Optimization
    def optimizers(self, use_pl_optimizer=True):
        """The optimizer, or the list of them, for a module with automatic_optimization = False."""
        optimizers = self.trainer._managed_optimizers if use_pl_optimizer else self.trainer.optimizers
        return optimizers[0] if len(optimizers) == 1 else list(optimizers)

    def lr_schedulers(self):
        """The scheduler, or the list of them; None without."""
        schedulers = [config.scheduler for config in self.trainer.lr_scheduler_configs]
        return None if not schedulers else schedulers[0] if len(schedulers) == 1 else schedulers

    def manual_backward(self, loss, *args, **kwargs):
        """loss.backward() for a module with automatic_optimization = False; scales the loss where the precision needs it."""
        self.trainer._backward(loss, *args, **kwargs)

    def toggle_optimizer(self, optimizer):
        """Until untoggle_optimizer, parameters of the other optimizers alone need no gradients."""
        own = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        toggled = self.__dict__["_toggled"] = []
        for other in self.trainer.optimizers:
            for group in other.param_groups:
                for parameter in group["params"]:
                    if id(parameter) not in own and parameter.requires_grad:
                        toggled.append(parameter)
                        parameter.requires_grad_(False)

    def untoggle_optimizer(self, optimizer):
        """Takes toggle_optimizer back."""
        for parameter in self.__dict__.pop("_toggled", ()):
            parameter.requires_grad_(True)

    def backward(self, loss, *args, **kwargs):
        """The gradients of a loss."""
        loss.backward(*args, **kwargs)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        """Forgets the gradients of the step before."""
        optimizer.zero_grad()

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        """A step of the optimizer. The closure computes loss and gradients."""
        optimizer.step(closure=optimizer_closure)

    def lr_scheduler_step(self, scheduler, metric):
        """A step of a scheduler; `metric` is None unless it watches a figure."""
        scheduler.step() if metric is None else scheduler.step(metric)

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        """Clips the gradients before a step."""
        self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        """Clips the gradients of the optimizer's parameters by "norm" (of all together) or by "value"."""
        self.trainer._clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def freeze(self):
        """No parameter needs a gradient, and the module is in evaluation mode."""
        self.requires_grad_(False)
        self.eval()

    def unfreeze(self):
        """Takes freeze back."""
        self.requires_grad_(True)
        self.train()

    # --- Batches
    def on_before_batch_transfer(self, batch, dataloader_idx):
        """A batch before it is moved; returns it, changed or not."""
        return batch

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        """The batch on the device."""
        return moved(batch, device)

    def on_after_batch_transfer(self, batch, dataloader_idx):
        """A batch after it is moved; returns it, changed or not."""
        return batch

    # --- Checkpoints
    @classmethod
    def load_from_checkpoint(cls, checkpoint_path, map_location=None, hparams_file=None, strict=None, weights_only=None, **kwargs):
        """A module of a checkpoint: of its hyper parameters, and what is given besides, with its weights. On the CPU unless `map_location`
        says otherwise. A file that holds other objects than tensors, numbers, texts and containers needs `weights_only=False`."""
        if hparams_file is not None:
            raise NotImplementedError("load_from_checkpoint(hparams_file=...) is not supported: give the hyper parameters as keywords")
        checkpoint = serialization.load(checkpoint_path, map_location or "cpu", weights_only=weights_only)
        if not isinstance(checkpoint, dict) or "state_dict" not in checkpoint:
            raise RuntimeError(f"{checkpoint_path} is no checkpoint of a Trainer: it has no state_dict")
        model = made_of_checkpoint(cls, checkpoint, kwargs)
        model.on_load_checkpoint(checkpoint)
        model.load_state_dict(checkpoint["state_dict"], strict=model.strict_loading if strict is None else strict)
        return model if map_location is None or not isinstance(map_location, (str, int)) else model.to(map_location)
