"""Trainer: the loop over epochs and batches, on the CPU, GPUs, or several ranks, with a progress bar, figures and checkpoints."""

import contextlib
import os
import sys
import time
import warnings

import tandem
from tandem.train import checkpoint as checkpoints
from tandem.train import evaluate, loaders
from tandem.train.callbacks import Checkpoint, ModelCheckpoint
from tandem.train.devices import chosen_devices
from tandem.train.fit import Fit
from tandem.train.loggers import loggers_of
from tandem.train.optimization import ManagedOptimizer, Precision, clip_gradients
from tandem.train.optimizers import configured
from tandem.train.options import check_options, check_step
from tandem.train.progress_bar import ProgressBar, figures_text, seconds_text
from tandem.train.ranks import Ranks
from tandem.train.run import Run
from tandem.train.trainer_state import TrainerState


class Trainer(TrainerState):
    """Trains modules. By PyTorch Lightning's names, and `num_gpus`: 0 for the CPU (the default), 1 for a GPU, more for several together.

    Several ranks (of `tandem launch` or `tandem.distributed.run`) share a run as DistributedDataParallel does, each on one device."""

    def __init__(
        self,
        *,
        max_epochs=None,
        num_gpus=None,
        accelerator=None,
        devices=None,
        strategy="auto",
        num_nodes=1,
        precision="32",
        logger=None,
        callbacks=None,
        fast_dev_run=False,
        min_epochs=None,
        max_steps=-1,
        min_steps=None,
        limit_train_batches=None,
        limit_val_batches=None,
        limit_test_batches=None,
        limit_predict_batches=None,
        num_sanity_val_steps=None,
        val_check_interval=None,
        check_val_every_n_epoch=1,
        log_every_n_steps=None,
        enable_checkpointing=None,
        enable_progress_bar=None,
        enable_model_summary=None,
        accumulate_grad_batches=1,
        gradient_clip_val=None,
        gradient_clip_algorithm=None,
        deterministic=None,
        benchmark=None,
        inference_mode=True,
        use_distributed_sampler=True,
        detect_anomaly=False,
        sync_batchnorm=False,
        default_root_dir=None,
    ):
        check_options(locals())
        Precision.check(precision)
        self._devices = chosen_devices(num_gpus, accelerator, devices)
        self._fast = 1 if fast_dev_run is True else int(fast_dev_run)
        if max_epochs is None and max_steps == -1 and not self._fast:
            warnings.warn(
                "`max_epochs` was not set. Setting it to 1000 epochs. To train without an epoch limit, set `max_epochs=-1`.", stacklevel=2
            )
            max_epochs = 1000
        self.max_epochs, self.max_steps, self.min_epochs, self.min_steps = max_epochs, max_steps, min_epochs, min_steps

        def limit(value):
            return self._fast or (1.0 if value is None else value)

        self.limit_train_batches, self.limit_val_batches = limit(limit_train_batches), limit(limit_val_batches)
        self.limit_test_batches, self.limit_predict_batches = limit(limit_test_batches), limit(limit_predict_batches)
        self.num_sanity_val_steps = 2 if num_sanity_val_steps is None else num_sanity_val_steps
        self.val_check_interval = 1.0 if val_check_interval is None else val_check_interval
        self.check_val_every_n_epoch = check_val_every_n_epoch
        if self._fast:
            self.max_epochs, self.max_steps, self.num_sanity_val_steps = 1, self._fast, 0
            self.val_check_interval, self.check_val_every_n_epoch = 1.0, 1
            logger = enable_checkpointing = False
        self.log_every_n_steps = 50 if log_every_n_steps is None else log_every_n_steps
        self.accumulate_grad_batches = accumulate_grad_batches
        self.gradient_clip_val, self.gradient_clip_algorithm = gradient_clip_val, gradient_clip_algorithm
        self.strategy, self.num_nodes, self.precision = strategy, num_nodes, str(precision)
        self.inference_mode, self.use_distributed_sampler = inference_mode, use_distributed_sampler
        self.sync_batchnorm, self._detect_anomaly = sync_batchnorm, detect_anomaly
        self.default_root_dir = os.fspath(default_root_dir) if default_root_dir is not None else os.getcwd()
        if deterministic is not None:
            tandem.use_deterministic_algorithms(bool(deterministic), warn_only=deterministic == "warn")
        if benchmark is not None:
            tandem.backends.cudnn.benchmark = benchmark
        self._shows = enable_progress_bar is None or enable_progress_bar
        self.loggers = loggers_of(logger, self.default_root_dir)
        self.callbacks = self._ordered(self._all_callbacks(callbacks, enable_checkpointing))
        self._forget()

    def _forget(self):
        """As before any run."""
        self.current_epoch = self.global_step = self.batch_idx = self._judged_batches = 0
        self.training = self.validating = self.testing = self.predicting = self.sanity_checking = False
        self.should_stop = self.interrupted = self.is_last_batch = False
        self.callback_metrics, self.progress_bar_metrics, self.logged_metrics = {}, {}, {}
        self.optimizers, self.lr_scheduler_configs, self._managed_optimizers = [], [], []
        self.train_dataloader = self.val_dataloaders = self.test_dataloaders = self.predict_dataloaders = None
        self.lightning_module = self.datamodule = None
        self.num_training_batches, self.num_val_batches = 0, []
        self._run = self._fit = self._results = self._bar = None
        self._hook = ""
        self._ranks = None

    def _all_callbacks(self, callbacks, enable_checkpointing):
        callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [] if callbacks is None else [callbacks]
        for callback in callbacks:
            if not hasattr(callback, "on_train_epoch_end"):
                raise TypeError(
                    f"[Trainer] {callback!r} is no callback: derive its class from tandem.train.Callback, and give an object of it"
                )
        has_checkpoint = any(isinstance(callback, Checkpoint) for callback in callbacks)
        if has_checkpoint and enable_checkpointing is False and not self._fast:
            raise ValueError(
                "[Trainer] enable_checkpointing=False, but there is a ModelCheckpoint among the callbacks: leave one of them out"
            )
        if self._fast:
            return [callback for callback in callbacks if not isinstance(callback, Checkpoint)]
        return callbacks if has_checkpoint or enable_checkpointing is False else [*callbacks, ModelCheckpoint()]

    @staticmethod
    def _ordered(callbacks):
        keys = [callback.state_key for callback in callbacks]
        twice = next((key for key in keys if keys.count(key) > 1 and any(c.state_dict() for c in callbacks if c.state_key == key)), None)
        if twice is not None:
            raise ValueError(
                f"[Trainer] there are two callbacks of the state key {twice}: give them different ones, by the property state_key"
            )
        return sorted(callbacks, key=lambda callback: callback.comes_last)

    # --- Runs
    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, weights_only=None):
        """Trains a module in place, from the beginning or from a checkpoint ("last", "best" or a path) as if the run had never stopped.

        Ctrl-C ends the run after the batch under way: `interrupted` is true, and with a ModelCheckpoint last.ckpt is written. A second one
        ends it at once by KeyboardInterrupt."""
        check_step(model, "fit")
        train_dataloaders, datamodule = _with_datamodule(train_dataloaders, datamodule)
        path = self._found_path(ckpt_path, "fit")
        self._forget()
        with self._begin(model, datamodule, "fit") as run:
            self.training = True
            checkpoint = None if path is None else checkpoints.read(path, weights_only)
            self._make_loaders(train_dataloaders, val_dataloaders)
            self._bar = ProgressBar(sys.stderr) if self._shows and self.is_global_zero else None
            run.place_model(checkpoint)
            self.optimizers, self.lr_scheduler_configs = configured(model)
            self._managed_optimizers = run.managed = [ManagedOptimizer(optimizer, run) for optimizer in self.optimizers]
            self._fit = Fit(run, self.train_dataloader, self._val_loaders)
            self.num_training_batches, self.num_val_batches = self._fit.batches, self._fit.val_batches
            if checkpoint is not None:
                checkpoints.take_run(self, checkpoint, path)
            self._log_hyper_parameters()
            with tandem.autograd.set_detect_anomaly(True) if self._detect_anomaly else contextlib.nullcontext():
                self._fit.run()

    def _make_loaders(self, train, validation):
        seed = tandem.initial_seed() % 2**31 if self._ranks.several else 0
        seed = self._ranks.first(seed)
        train = loaders.training_loader(
            loaders.found(train, self.datamodule, self.lightning_module, "train_dataloader"), self.lightning_module
        )
        self.train_dataloader = self._divided(train, seed)
        given = loaders.found(validation, self.datamodule, self.lightning_module, "val_dataloader")
        self._val_loaders = [self._divided(loader) for loader in loaders.as_list(given)]
        self.val_dataloaders = given if len(self._val_loaders) != 1 else self._val_loaders[0]

    def _divided(self, loader, seed=0):
        return loaders.divided(loader, self._ranks, seed) if self.use_distributed_sampler else loader

    def validate(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, weights_only=None):
        """What validation_step logs over data: a list with a dictionary for each loader."""
        return self._judge("validate", model, dataloaders, ckpt_path, datamodule, weights_only)

    def test(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, weights_only=None):
        """What test_step logs over data: a list with a dictionary for each loader.

        Without a model, that of the last fit, with the weights of its best checkpoint where there is one."""
        return self._judge("test", model, dataloaders, ckpt_path, datamodule, weights_only)

    def predict(self, model=None, dataloaders=None, datamodule=None, return_predictions=None, ckpt_path=None, weights_only=None):
        """What predict_step gives for each batch, on the CPU; of several loaders a list for each."""
        with self._judging("predict", model, dataloaders, ckpt_path, datamodule, weights_only) as (run, found):
            self.predict_dataloaders = found
            self.predicting = True
            predictions = evaluate.predict(
                run, found, evaluate.number_of_batches(found, self.limit_predict_batches, "limit_predict_batches")
            )
        return None if return_predictions is False else predictions

    def _judge(self, verb, model, dataloaders, ckpt_path, datamodule, weights_only):
        stage, limit_name = {"validate": ("validation", "limit_val_batches"), "test": ("test", "limit_test_batches")}[verb]
        with self._judging(verb, model, dataloaders, ckpt_path, datamodule, weights_only) as (run, found):
            self.validating, self.testing = verb == "validate", verb == "test"
            counts = evaluate.number_of_batches(found, getattr(self, limit_name), limit_name)
            if verb == "validate":
                self.val_dataloaders, self.num_val_batches = found, counts
            else:
                self.test_dataloaders = found
            self.callback_metrics.clear()
            began = time.monotonic()
            figures = evaluate.evaluate(run, stage, found, counts)
            if self._shows and self.is_global_zero:
                merged = {name: value for one in figures for name, value in one.items()}
                parts = [figures_text(merged, ", "), seconds_text(time.monotonic() - began)]
                ProgressBar(sys.stderr).say(f"{verb}: {', '.join(part for part in parts if part)}")
        return figures

    @contextlib.contextmanager
    def _judging(self, verb, model, dataloaders, ckpt_path, datamodule, weights_only):
        """A run that learns nothing, and the loaders of its data."""
        dataloaders, datamodule = _with_datamodule(dataloaders, datamodule)
        if model is None and self.lightning_module is None:
            raise ValueError(f"`Trainer.{verb}()` requires a model when there was no fit before: give model")
        path = self._found_path(ckpt_path, verb, best_is_default=model is None)
        if verb == "validate" and model is None and dataloaders is None and datamodule is None:
            dataloaders = self.val_dataloaders
        model = self.lightning_module if model is None else model
        loader_name = {"validate": "val_dataloader", "test": "test_dataloader", "predict": "predict_dataloader"}[verb]
        check_step(model, verb)
        with self._begin(model, self.datamodule if datamodule is None else datamodule, verb) as run:
            found = [self._divided(loader) for loader in loaders.as_list(loaders.found(dataloaders, self.datamodule, model, loader_name))]
            if not found:
                raise ValueError(
                    f"[Trainer.{verb}] there is no data: give dataloaders or datamodule, or define {loader_name}() in "
                    f"{type(model).__name__}"
                )
            run.place_model(None if path is None else checkpoints.read(path, weights_only))
            yield run, found

    @contextlib.contextmanager
    def _begin(self, model, datamodule, stage):
        """A run from its setup to its teardown, whatever happens in between."""
        self.lightning_module, self.datamodule = model, datamodule
        self._ranks = Ranks(self.num_nodes)
        devices = self._devices
        if self._ranks.several and devices[0].type == "cuda":
            devices = [tandem.device("cuda", self._ranks.local_rank % tandem.cuda.device_count())]
        try:
            with Run(self, model, datamodule, stage, self._ranks, devices) as run:
                try:
                    yield run
                except BaseException as error:
                    self.interrupted = self.interrupted or isinstance(error, KeyboardInterrupt)
                    self._tell_of_exception(error)
                    raise
        finally:
            if self._bar:
                self._bar.close()
            self.training = self.validating = self.testing = self.predicting = self.sanity_checking = False

    # --- Checkpoints
    def save_checkpoint(self, filepath, weights_only=False, storage_options=None):
        """Writes all that a run needs to go on, or the weights alone; rank 0 does, for all. The folder is made where it is not there."""
        if self.lightning_module is None:
            raise AttributeError(
                "Saving a checkpoint is only possible if a model is attached to the Trainer. Did you call `Trainer.save_checkpoint()` "
                "before calling `Trainer.{fit,validate,test,predict}`?"
            )
        checkpoint = checkpoints.made_of(self, weights_only)
        if self.is_global_zero:
            path = os.fspath(filepath)
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            tandem.save(checkpoint, path)
        if self._ranks is not None:
            self._ranks.wait_for_all()

    def _found_path(self, given, verb, best_is_default=False):
        """The file that ckpt_path means; None for none."""
        callback = self.checkpoint_callback
        if given is None:
            best = getattr(callback, "best_model_path", "") if best_is_default else ""
            return best or None
        if given == "best":
            best = getattr(callback, "best_model_path", "")
            if not best:
                raise ValueError(
                    f'`.{verb}(ckpt_path="best")` is set but `ModelCheckpoint` is not configured to save the best '
                    "model, or nothing was saved yet"
                )
            return best
        if given == "last":
            paths = [path for one in self.checkpoint_callbacks for path in one.last_paths(self)]
            return max(paths, key=os.path.getmtime, default=None)
        return os.fspath(given)

    def _path_when_interrupted(self):
        callback = self.checkpoint_callback
        return None if callback is None else callback.path_when_interrupted()

    # --- What is told of a run
    def _call(self, hook, *arguments, last=None):
        """Calls a hook of callbacks and of the module: those that watch figures come after it. `last` chooses one part. What they gave."""
        self._hook = hook
        first, watching = self._run.listeners(hook)
        chosen = first + watching if last is None else watching if last else first
        return [listener(*arguments) for listener in chosen]

    def _tell_of_exception(self, error):
        for callback in self.callbacks:
            callback.on_exception(self, self.lightning_module, error)
        if hasattr(self.datamodule, "on_exception"):
            self.datamodule.on_exception(error)

    # --- For modules
    def _backward(self, loss, *args, **kwargs):
        self._run.optimization.backward(loss, *args, **kwargs)

    def _clip_gradients(self, optimizer, value, algorithm):
        clip_gradients(optimizer, value, algorithm)


def _with_datamodule(loaders_given, datamodule):
    """(loaders, datamodule): a data module may also be given in the place of loaders."""
    if datamodule is None and not isinstance(loaders_given, (list, tuple, dict)) and hasattr(loaders_given, "train_dataloader"):
        return None, loaders_given
    if datamodule is not None and loaders_given is not None:
        raise ValueError("[Trainer] give loaders or datamodule, not both")
    return loaders_given, datamodule
