"""The loop of Trainer.fit over epochs and batches. It waits for no result within an epoch, but where a figure is to be shown."""

import math

import tandem
from tandem.train import evaluate, loaders, random_states
from tandem.train.devices import size_of
from tandem.train.figures import Figure, Results
from tandem.train.interrupt import Interrupt
from tandem.train.optimization import Optimization
from tandem.train.optimizers import step_schedulers
from tandem.train.pace import Pace
from tandem.train.run import is_lightning


class Fit:
    """A run that trains: where it stands, and what it does next."""

    def __init__(self, run, loader, val_loaders):
        trainer = run.trainer
        self._run, self._trainer = run, trainer
        self._loader, self._val_loaders = loader, val_loaders
        self._generators = loaders.generators_of(loader)
        self.batches = loaders.at_most(loaders.length_of(loader), trainer.limit_train_batches, "limit_train_batches")
        self.val_batches = evaluate.number_of_batches(val_loaders, trainer.limit_val_batches, "limit_val_batches")
        self._between_validations = loaders.batches_between_validations(
            trainer.val_check_interval, self.batches, trainer.check_val_every_n_epoch
        )
        self._bar = trainer._bar
        self._pace = Pace(run.devices[0])
        self._interrupt = None
        self.batch = 0  # done of the epoch
        self.batches_seen = 0  # done of all epochs
        self.batches_stepped = 0  # steps with the optimizer, whatever number of optimizers steps in each
        self._validated = True  # as far as it is due after so many batches
        self._ending = False  # all of the epoch is done but the checkpoints
        self._resumes_within = None  # random states of now, where the run goes on within an epoch
        self._epoch_began = None  # random states before the epoch's first batch
        self._new_epoch()

    def _new_epoch(self):
        self.batch, self._validated, self._ending = 0, True, False
        self._results = Results(self._run.devices[0])
        self._losses = Figure("mean")

    # --- What a checkpoint holds
    def state(self):
        """Where the run stands."""
        trainer, devices = self._trainer, self._run.devices
        now = random_states.capture(devices, self._generators)
        state = {
            "epoch": trainer.current_epoch,
            "batch": self.batch,
            "batches": self.batches,
            "validated": self._validated,
            "global_step": trainer.global_step,
            "batches_seen": self.batches_seen,
            "batches_stepped": self.batches_stepped,
            "random": now,
            "callback_metrics": {name: float(value) for name, value in trainer.callback_metrics.items()},
        }
        if self._ending or self.batch == 0:
            state.update(
                epoch=trainer.current_epoch + int(self._ending),
                batch=0,
                validated=True,
                epoch_began=now,
                results={},
                losses=Figure("mean").state(),
            )
        else:
            state.update(epoch_began=self._epoch_began, results=self._results.state(), losses=self._losses.state())
        return state

    def load_state(self, state, path):
        """Goes on from what `state` gave."""
        trainer, device = self._trainer, self._run.devices[0]
        if state["batch"] > 0 and state["batches"] != self.batches:
            raise RuntimeError(
                f"[Trainer.fit] {path}: that run stopped after batch {state['batch']} of {state['batches']} an epoch, "
                "but here an epoch has "
                f"{self.batches}: go on with the same data and batch_size"
            )
        trainer.current_epoch, trainer.global_step = state["epoch"], state["global_step"]
        self.batches_seen, self.batches_stepped = state["batches_seen"], state["batches_stepped"]
        self.batch, self._validated, self._epoch_began = state["batch"], state["validated"], state["epoch_began"]
        self._results.load_state(state["results"])
        self._losses = Figure.of_state(state["losses"], device)
        trainer.callback_metrics.update({name: tandem.tensor(value) for name, value in state["callback_metrics"].items()})
        self._resumes_within = state["random"]

    # --- The loop
    def run(self):
        """Trains until an end is reached; an interruption ends it, too."""
        trainer = self._trainer
        self._optimization = self._run.optimization = Optimization(self._run)
        with Interrupt(self._answer_to_interrupt()) as self._interrupt:
            trainer._call("on_fit_start")
            self._try_validation()
            if self._resumes_within is not None:
                random_states.restore(self._resumes_within, self._run.devices, self._generators)
            trainer._call("on_train_start")
            while not self._is_done():
                if not self._epoch():
                    break
            trainer.interrupted = self._run.ranks.any(self._interrupt.requested)
            if trainer.interrupted:
                self._leave_interrupted()
                return
            trainer._call("on_train_end")
            trainer._call("on_fit_end")

    def _is_done(self):
        trainer = self._trainer
        return (
            (trainer.max_epochs is not None and 0 <= trainer.max_epochs <= trainer.current_epoch)
            or self.batches == 0
            or self._should_stop()
        )

    def _should_stop(self):
        """Whether the run is to end here, on any rank."""
        trainer = self._trainer
        early = (
            trainer.should_stop and trainer.current_epoch >= (trainer.min_epochs or 0) and trainer.global_step >= (trainer.min_steps or 0)
        )
        return self._run.ranks.any(early or self._interrupt.requested or 0 <= trainer.max_steps <= trainer.global_step)

    def _epoch(self):
        """An epoch from where it stands. Whether the run goes on."""
        trainer, bar = self._trainer, self._bar
        epochs = trainer.max_epochs if trainer.max_epochs is not None and trainer.max_epochs >= 0 else None
        if bar:
            bar.begin_epoch(trainer.current_epoch + 1, epochs, self.batches, self.batch)
        trainer._results = self._run.results = self._results
        is_whole = self._train()
        if bar:
            bar.end_training()
        if not is_whole and self._run.ranks.any(self._interrupt.requested):
            return False
        loss = self._mean_loss()
        trainer._note_epoch_values(self._results)
        trainer._call("on_train_epoch_end", last=False)
        trainer._take_epoch_values(self._results)
        if is_whole:
            step_schedulers(trainer, self._run.model, "epoch", trainer.current_epoch + 1)
            self._ending = True
        trainer._call("on_train_epoch_end", last=True)
        if bar:
            figures = trainer._bar_figures()
            known = "train_loss" in figures or "train_loss_epoch" in figures
            bar.end_epoch(figures if known else {**loss, **figures})
        if is_whole:
            trainer.current_epoch += 1
            self._new_epoch()
        return is_whole

    def _mean_loss(self):
        """{"train_loss": the mean of the epoch's losses over all ranks}, which of a plain module is a figure like those that others log."""
        trainer = self._trainer
        parts = self._run.ranks.all_of(self._losses.parts())
        weight = sum(weight for _, weight in parts)
        mean = {"train_loss": sum(total for total, _ in parts) / weight} if weight else {}
        if not is_lightning(self._run.model):
            for name, value in mean.items():
                trainer._log(name, value, prog_bar=True, on_step=False, on_epoch=True)
        return mean

    def _train(self):
        """The batches of the epoch that are left. Whether they are all done."""
        trainer = self._trainer
        if self.batches is None or self.batch < self.batches:
            trainer._call("on_train_epoch_start")
        batches = None
        while True:
            if not self._validated:
                if self._validation_is_due() and not self._validate():
                    return False
                self._validated = True
            if self.batches is not None and self.batch >= self.batches:
                return True
            if self._may_stop_here() and self._should_stop():
                return False
            try:
                batches = batches or self._begin_batches()
                following = batches.next()
            except Exception:
                if self._interrupt.requested:  # which has ended the loader's workers, too
                    return False
                raise
            if following is None:
                if self.batch == 0:
                    raise ValueError(loaders.empty_text(self._loader))
                return True
            batch, is_last = following
            if not self._train_batch(batch, is_last):
                return True
            if is_last and self.batches is None:
                self._finish_unsized()
                return True

    def _begin_batches(self):
        """An iterator over the epoch's batches, after those that are done."""
        devices, generators = self._run.devices, self._generators
        loaders.set_epoch(self._loader, self._trainer.current_epoch)
        resumes, self._resumes_within = self._resumes_within, None
        if resumes is None or self.batch == 0:
            self._epoch_began = random_states.capture(devices, generators)
            return loaders.Batches(self._loader, self.batches)
        random_states.restore(self._epoch_began, devices, generators)
        batches = loaders.Batches(self._loader, self.batches)
        batches.skip(self.batch)
        random_states.restore(resumes, devices, generators)
        return batches

    def _train_batch(self, batch, is_last):
        """Learns from a batch. False where a hook has ended the epoch."""
        trainer, run, batch_idx = self._trainer, self._run, self.batch
        batch = run.to_device(batch)
        self._results.begin_batch()
        trainer.is_last_batch, trainer.batch_idx = is_last, batch_idx
        if -1 in trainer._call("on_train_batch_start", batch, batch_idx):
            self._results.end_batch()
            return False
        steps_before = trainer.global_step
        outputs, loss = self._optimization.train_batch(batch, batch_idx, is_last)
        samples = size_of(batch)
        if loss is not None:
            self._losses.add(float(loss) if loss.is_cpu else loss, float(samples))
        self.batch += 1
        self.batches_seen += 1
        self._validated = False
        self.batches_stepped += int(trainer.global_step > steps_before)
        self._results.part_size = samples
        trainer._call("on_train_batch_end", outputs, batch, batch_idx)
        self._results.end_batch()
        trainer._take_step_values(self._results, trainer.global_step > steps_before)
        self._pace.batch_queued()
        if self._bar:
            self._bar.advance(samples * run.ranks.size)
            if self._bar.due():
                self._bar.draw({"loss": self._running_loss(), **trainer._bar_figures()})
        return True

    def _running_loss(self):
        total, weight = self._losses.parts()
        return total / weight if weight else math.nan

    def _may_stop_here(self):
        # In the middle of a step there is nothing to go on from.
        return self.batch % self._trainer.accumulate_grad_batches == 0

    # --- Validation
    def _validation_is_due(self):
        trainer = self._trainer
        if not self._val_loaders or not any(count != 0 for count in self.val_batches) or not self._run.has_step("validation_step"):
            return False
        every = trainer.check_val_every_n_epoch
        if every is None:
            return self.batches_seen % self._between_validations == 0
        if (trainer.current_epoch + 1) % every:
            return False
        if self._between_validations == math.inf:
            return self.batch == self.batches
        return self.batch % self._between_validations == 0

    def _finish_unsized(self):
        """The last batch of a loader that did not say how many it has."""
        if not self._validated:
            every = self._trainer.check_val_every_n_epoch
            at_end = self._between_validations == math.inf and every is not None and (self._trainer.current_epoch + 1) % every == 0
            if at_end and self._val_loaders and self._run.has_step("validation_step") or self._validation_is_due():
                self._validate()
            self._validated = True

    def _validate(self):
        """Judges the module. False where the run was interrupted meanwhile: then it is judged anew when it goes on."""
        trainer, run = self._trainer, self._run
        before = random_states.capture(run.devices, self._generators)
        self._validated = True  # a checkpoint that is written at its end goes on after it
        trainer.validating, trainer.training = True, False
        try:
            figures = evaluate.evaluate(
                run, "validation", self._val_loaders, self.val_batches, lambda: run.ranks.several or not self._interrupt.requested
            )
        finally:
            trainer.validating, trainer.training = False, True
        if figures is None:
            random_states.restore(before, run.devices, self._generators)
            self._validated = False
            return False
        return True

    def _try_validation(self):
        """A few batches of validation before training, whose figures are forgotten: what is wrong with it shows at once."""
        trainer, run = self._trainer, self._run
        steps = trainer.num_sanity_val_steps
        if not steps or not self._val_loaders or not run.has_step("validation_step") or self._resumes_within is not None:
            return
        counts = [count if steps < 0 else steps if count is None else min(steps, count) for count in self.val_batches]
        before = random_states.capture(run.devices, self._generators)
        trainer.sanity_checking = True
        trainer._call("on_sanity_check_start")
        evaluate.evaluate(run, "validation", self._val_loaders, counts)
        trainer._call("on_sanity_check_end")
        trainer.sanity_checking = False
        for metrics in (trainer.callback_metrics, trainer.progress_bar_metrics, trainer.logged_metrics):
            metrics.clear()
        random_states.restore(before, run.devices, self._generators)

    # --- Ctrl-C
    def _answer_to_interrupt(self):
        if not self._bar:
            return ""
        saved = self._what_is_saved("and saves nothing", "then saves")
        return f"\ninterrupted: ends after the batch under way, {saved}; once more ends at once\n"

    def _what_is_saved(self, nothing, saves):
        path = self._trainer._path_when_interrupted()
        return f"{nothing}, since there is no ModelCheckpoint" if path is None else f"{saves} {path}"

    def _leave_interrupted(self):
        trainer = self._trainer
        path = trainer._path_when_interrupted()
        if path is not None:
            trainer.save_checkpoint(path)
        if self._bar:
            where = (
                f"after epoch {trainer.current_epoch}"
                if self.batch == 0
                else f"in epoch {trainer.current_epoch + 1} after batch {self.batch}"
            )
            where += f" of {self.batches}" if self.batch and self.batches else ""
            self._bar.say(
                f"interrupted {where}; nothing was saved, since there is no ModelCheckpoint"
                if path is None
                else f"interrupted {where}: saved {path}; fit(ckpt_path='last') goes on from there"
            )
        trainer._tell_of_exception(KeyboardInterrupt())
