"""Callback: what is told of a run while it runs."""


class Callback:
    """Derive and override what is of interest. What is thrown in one ends the run and comes out of fit."""

    comes_last = 0  # those that watch figures and write checkpoints come after the others, and after the module

    @property
    def state_key(self):
        """The name of its state in a checkpoint: two of one class need different ones."""
        return type(self).__qualname__

    def state_dict(self):
        """What it must remember across an interruption."""
        return {}

    def load_state_dict(self, state_dict):
        """Goes on from what state_dict gave."""

    def setup(self, trainer, pl_module, stage):
        """A run begins. `stage` is "fit", "validate", "test" or "predict"."""

    def teardown(self, trainer, pl_module, stage):
        """It has ended, however it did."""

    def on_sanity_check_start(self, trainer, pl_module):
        """A few batches of validation are tried before training."""

    def on_sanity_check_end(self, trainer, pl_module):
        """They are done."""

    def on_fit_start(self, trainer, pl_module):
        """The model is where it trains, its optimizers are there, and a checkpoint has been read."""

    def on_fit_end(self, trainer, pl_module):
        """The run has ended by itself."""

    def on_train_start(self, trainer, pl_module):
        """Training begins."""

    def on_train_end(self, trainer, pl_module):
        """Training has ended."""

    def on_train_epoch_start(self, trainer, pl_module):
        """An epoch begins, before its first batch."""

    def on_train_epoch_end(self, trainer, pl_module):
        """All batches of an epoch are done, and it is judged."""

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        """A batch begins; -1 leaves out the rest of the epoch."""

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        """A batch is done. `outputs` is what training_step gave, without graph."""

    def on_validation_start(self, trainer, pl_module):
        """A validation begins."""

    def on_validation_end(self, trainer, pl_module):
        """A validation has ended."""

    def on_validation_epoch_start(self, trainer, pl_module):
        """Its batches begin."""

    def on_validation_epoch_end(self, trainer, pl_module):
        """All its batches are done; figures of all of them may be logged."""

    def on_validation_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        """A batch of it begins."""

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        """A batch of it is done."""

    def on_test_start(self, trainer, pl_module):
        """Trainer.test begins."""

    def on_test_end(self, trainer, pl_module):
        """It has ended."""

    def on_test_epoch_start(self, trainer, pl_module):
        """Its batches begin."""

    def on_test_epoch_end(self, trainer, pl_module):
        """All its batches are done."""

    def on_test_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        """A batch of it begins."""

    def on_test_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        """A batch of it is done."""

    def on_predict_start(self, trainer, pl_module):
        """Trainer.predict begins."""

    def on_predict_end(self, trainer, pl_module):
        """It has ended."""

    def on_predict_epoch_start(self, trainer, pl_module):
        """Its batches begin."""

    def on_predict_epoch_end(self, trainer, pl_module):
        """All its batches are done."""

    def on_predict_batch_start(self, trainer, pl_module, batch, batch_idx, dataloader_idx=0):
        """A batch of it begins."""

    def on_predict_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        """A batch of it is done."""

    def on_before_zero_grad(self, trainer, pl_module, optimizer):
        """Before the gradients of the step before are forgotten."""

    def on_before_backward(self, trainer, pl_module, loss):
        """Before loss.backward()."""

    def on_after_backward(self, trainer, pl_module):
        """After it."""

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        """The gradients are there, and not clipped yet."""

    def on_exception(self, trainer, pl_module, exception):
        """An error, or Ctrl-C, ends the run."""

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        """A checkpoint is about to be written: a dictionary that may be added to."""

    def on_load_checkpoint(self, trainer, pl_module, checkpoint):
        """A checkpoint has been read, and nothing has been taken over yet."""
