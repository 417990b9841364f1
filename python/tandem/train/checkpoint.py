"""What a Trainer's checkpoint holds, and how a run goes on from it. The keys are PyTorch Lightning's."""

import os

import tandem
from tandem.train.hyper_parameters import HyperParameters


def made_of(trainer, weights_only=False):
    """The checkpoint of a run as it is now, or the weights alone of it."""
    run = trainer._run or trainer._fit and trainer._fit._run
    module = trainer.lightning_module
    checkpoint = {
        "epoch": trainer.current_epoch,
        "global_step": trainer.global_step,
        "tandem_version": tandem.__version__,
        "state_dict": module.state_dict(),
    }
    if not weights_only:
        checkpoint["callbacks"] = {callback.state_key: state for callback in trainer.callbacks if (state := callback.state_dict())}
        checkpoint["optimizer_states"] = [optimizer.state_dict() for optimizer in trainer.optimizers]
        checkpoint["lr_schedulers"] = [config.scheduler.state_dict() for config in trainer.lr_scheduler_configs]
        if run is not None and run.precision.scaler is not None:
            checkpoint["MixedPrecision"] = run.precision.scaler.state_dict()
        if trainer._fit is not None:
            checkpoint["loops"] = trainer._fit.state()
    for owner, prefix in ((module, ""), (trainer.datamodule, "datamodule_")):
        if isinstance(owner, HyperParameters) and owner.hparams:
            checkpoint[f"{prefix}hyper_parameters"] = dict(owner.hparams)
            checkpoint[f"{prefix}hparams_name"] = owner._hparams_name
    if hasattr(trainer.datamodule, "state_dict"):
        checkpoint["datamodule"] = trainer.datamodule.state_dict()
    for callback in trainer.callbacks:
        if not weights_only:
            callback.on_save_checkpoint(trainer, module, checkpoint)
    if hasattr(module, "on_save_checkpoint"):
        module.on_save_checkpoint(checkpoint)
    return checkpoint


def read(path, weights_only=None):
    """A checkpoint from a file. RuntimeError for a file that no Trainer wrote."""
    checkpoint = tandem.load(path, "cpu", weights_only=weights_only)
    if not isinstance(checkpoint, dict) or "state_dict" not in checkpoint:
        raise RuntimeError(f"[Trainer] {os.fspath(path)} is no checkpoint of a Trainer: it has no state_dict")
    return checkpoint


def take_model(trainer, module, checkpoint):
    """The weights of a checkpoint; what listens to it being loaded is told before."""
    if trainer.datamodule is not None and hasattr(trainer.datamodule, "load_state_dict") and "datamodule" in checkpoint:
        trainer.datamodule.load_state_dict(checkpoint["datamodule"])
    for callback in trainer.callbacks:
        callback.on_load_checkpoint(trainer, module, checkpoint)
    if hasattr(module, "on_load_checkpoint"):
        module.on_load_checkpoint(checkpoint)
    module.load_state_dict(checkpoint["state_dict"], strict=getattr(module, "strict_loading", True))


def take_run(trainer, checkpoint, path):
    """The rest of a checkpoint: a run goes on where the one that wrote it stood."""
    run = trainer._run
    missing = [key for key in ("loops", "optimizer_states", "lr_schedulers") if key not in checkpoint]
    if missing:
        raise RuntimeError(
            f"[Trainer.fit] {path}: a run cannot go on from it, since it has no {missing[0]} (weights alone were "
            "saved): load them by load_from_checkpoint"
        )
    for key, mine in (("optimizer_states", trainer.optimizers), ("lr_schedulers", trainer.lr_scheduler_configs)):
        if len(checkpoint[key]) != len(mine):
            raise RuntimeError(
                f"[Trainer.fit] {path} has {len(checkpoint[key])} {key.replace('_', ' ')}, but configure_optimizers gave {len(mine)}: "
                "go on with the same optimizers and schedulers"
            )
    for optimizer, state in zip(trainer.optimizers, checkpoint["optimizer_states"]):
        optimizer.load_state_dict(state)
    for config, state in zip(trainer.lr_scheduler_configs, checkpoint["lr_schedulers"]):
        config.scheduler.load_state_dict(state)
    if run.precision.scaler is not None and checkpoint.get("MixedPrecision"):
        run.precision.scaler.load_state_dict(checkpoint["MixedPrecision"])
    for callback in trainer.callbacks:
        if callback.state_key in checkpoint["callbacks"]:
            callback.load_state_dict(checkpoint["callbacks"][callback.state_key])
    trainer._fit.load_state(checkpoint["loops"], path)
