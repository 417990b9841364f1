"""What a run calls in modules, by PyTorch Lightning's names. Each does nothing until it is overridden."""


class StepHooks:
    """The hooks of a LightningModule. Callbacks have the same, with trainer and module in front."""

    def on_fit_start(self):
        """The model is where it trains, its optimizers are there, and a checkpoint has been read."""

    def on_fit_end(self):
        """The run has ended by itself."""

    def on_train_start(self):
        """Training begins."""

    def on_train_end(self):
        """Training has ended."""

    def on_train_epoch_start(self):
        """An epoch begins, before its first batch."""

    def on_train_epoch_end(self):
        """All batches of an epoch are done, and it is judged."""

    def on_train_batch_start(self, batch, batch_idx):
        """A batch begins; -1 leaves out the rest of the epoch."""

    def on_train_batch_end(self, outputs, batch, batch_idx):
        """A batch is done. `outputs` is what training_step gave, without graph."""

    def on_validation_start(self):
        """A validation begins."""

    def on_validation_end(self):
        """A validation has ended."""

    def on_validation_epoch_start(self):
        """Its batches begin."""

    def on_validation_epoch_end(self):
        """All its batches are done; figures of all of them may be logged."""

    def on_validation_batch_start(self, batch, batch_idx, dataloader_idx=0):
        """A batch of it begins."""

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        """A batch of it is done."""

    def on_test_start(self):
        """Trainer.test begins."""

    def on_test_end(self):
        """It has ended."""

    def on_test_epoch_start(self):
        """Its batches begin."""

    def on_test_epoch_end(self):
        """All its batches are done."""

    def on_test_batch_start(self, batch, batch_idx, dataloader_idx=0):
        """A batch of it begins."""

    def on_test_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        """A batch of it is done."""

    def on_predict_start(self):
        """Trainer.predict begins."""

    def on_predict_end(self):
        """It has ended."""

    def on_predict_epoch_start(self):
        """Its batches begin."""

    def on_predict_epoch_end(self):
        """All its batches are done."""

    def on_predict_batch_start(self, batch, batch_idx, dataloader_idx=0):
        """A batch of it begins."""

    def on_predict_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        """A batch of it is done."""

    def on_before_zero_grad(self, optimizer):
        """Before the gradients of the step before are forgotten."""

    def on_before_backward(self, loss):
        """Before loss.backward()."""

    def on_after_backward(self):
        """After it."""

    def on_before_optimizer_step(self, optimizer):
        """The gradients are there, and not clipped yet."""

    def on_save_checkpoint(self, checkpoint):
        """A checkpoint is about to be written: a dictionary that may be added to."""

    def on_load_checkpoint(self, checkpoint):
        """A checkpoint has been read, and nothing has been taken over yet."""
