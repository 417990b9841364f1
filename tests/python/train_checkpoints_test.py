"""tandem.train's checkpoints: which are kept, what they hold, and runs that go on from them to the bit; early stopping; Ctrl-C."""

import io
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import tandem
import tandem.train as pl
from train_cases import FILES, QUIET, Net, Script, StopsAt, bits, loader, run_of

_GPUS = tandem.cuda.device_count()


class GoingOn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def net(self):
        tandem.manual_seed(1)
        return Net()

    def assert_goes_on(self, path, whole, trainer, **options):
        tandem.manual_seed(99)
        model = Net()
        again = run_of(model, self.folder, ckpt_path=path, **options)
        self.assertEqual(bits(model), bits(whole))
        self.assertEqual((again.global_step, again.current_epoch), (trainer.global_step, trainer.current_epoch))
        figures = [{name: value.item() for name, value in one.callback_metrics.items()} for one in (again, trainer)]
        self.assertEqual(*figures)
        rates = [one.optimizers[0].param_groups[0]["lr"] for one in (again, trainer)]
        self.assertEqual(*rates)

    def test_after_an_epoch_and_within_one(self):
        for options in [{}, {"num_gpus": 1}] if _GPUS else [{}]:
            whole = self.net()
            every = pl.ModelCheckpoint(os.path.join(self.folder, str(len(options))), "{step}", save_top_k=-1, every_n_train_steps=3)
            trainer = run_of(whole, self.folder, callbacks=[every], **options)
            # 4 batches an epoch: after step 3 it goes on within an epoch, after step 12 at the end of one.
            for step in (3, 12) if not options else (6,):
                self.assert_goes_on(os.path.join(every.dirpath, f"step={step}.ckpt"), whole, trainer, enable_checkpointing=False, **options)

    def test_from_every_place_where_checkpoints_are_written(self):
        whole = self.net()
        kinds = {
            "epoch": pl.ModelCheckpoint(os.path.join(self.folder, "e"), "{epoch}", save_top_k=-1, save_on_train_epoch_end=True),
            "validation": pl.ModelCheckpoint(
                os.path.join(self.folder, "v"), "{epoch}", save_top_k=-1, save_on_train_epoch_end=False, monitor="val_loss"
            ),
        }
        warnings.simplefilter("ignore")  # a first step that float16 overflows in is left out, and schedules know it
        self.addCleanup(warnings.resetwarnings)
        trainer = run_of(whole, self.folder, callbacks=kinds.values(), precision="16-mixed")
        for kind in kinds.values():
            self.assertEqual(sorted(os.listdir(kind.dirpath)), [f"epoch={number}.ckpt" for number in range(4)])
            self.assert_goes_on(
                os.path.join(kind.dirpath, "epoch=1.ckpt"), whole, trainer, enable_checkpointing=False, precision="16-mixed"
            )

    def test_with_workers_generators_and_a_stopped_run(self):
        def train():
            return loader(shuffle=True, num_workers=1, generator=tandem.Generator().manual_seed(8))

        whole = self.net()
        trainer = run_of(whole, self.folder, train=train(), enable_checkpointing=False, accumulate_grad_batches=2)
        self.assertEqual(trainer.global_step, 8)
        stopped = self.net()
        last = pl.ModelCheckpoint(os.path.join(self.folder, "last"), save_last=True, save_top_k=0)
        run_of(stopped, self.folder, train=train(), callbacks=[last, StopsAt(3)], accumulate_grad_batches=2)
        self.assertNotEqual(bits(stopped), bits(whole))
        self.assert_goes_on(last.last_model_path, whole, trainer, train=train(), enable_checkpointing=False, accumulate_grad_batches=2)

    def test_what_a_file_holds(self):
        model = self.net()
        trainer = run_of(model, self.folder, enable_checkpointing=False)
        path = os.path.join(self.folder, "new", "mine.ckpt")
        trainer.save_checkpoint(path)
        saved = tandem.load(path)
        self.assertEqual((saved["epoch"], saved["global_step"], saved["hyper_parameters"]), (4, 16, {"width": 4, "lr": 0.05}))
        self.assertEqual({name: value.tolist() for name, value in saved["state_dict"].items()}, bits(model))
        self.assertEqual((len(saved["optimizer_states"]), len(saved["lr_schedulers"])), (1, 2))
        self.assertEqual(os.listdir(os.path.dirname(path)), ["mine.ckpt"])
        made = Net.load_from_checkpoint(path)
        self.assertEqual((bits(made), made.hparams.width), (bits(model), 4))
        self.assertEqual(Net.load_from_checkpoint(path, lr=1.0).hparams.lr, 1.0)
        with self.assertRaisesRegex(RuntimeError, "size mismatch"):
            Net.load_from_checkpoint(path, width=5)
        trainer.save_checkpoint(path, weights_only=True)
        self.assertNotIn("optimizer_states", tandem.load(path))
        with self.assertRaisesRegex(RuntimeError, "a run cannot go on from it, since it has no loops"):
            run_of(self.net(), self.folder, ckpt_path=path)

    def test_files_that_do_not_fit(self):
        trainer = run_of(self.net(), self.folder, enable_checkpointing=False, callbacks=[StopsAt(6)])
        path = os.path.join(self.folder, "mine.ckpt")
        trainer.save_checkpoint(path)
        with self.assertRaisesRegex(
            RuntimeError, "that run stopped after batch 2 of 4 an epoch, but here an epoch has 8: go on with the same data"
        ):
            run_of(self.net(), self.folder, ckpt_path=path, train=loader(2))
        with self.assertRaises(FileNotFoundError):
            run_of(self.net(), self.folder, ckpt_path=path + "x")
        tandem.save({"a": 1}, path)
        with self.assertRaisesRegex(RuntimeError, "is no checkpoint of a Trainer"):
            run_of(self.net(), self.folder, ckpt_path=path)
        with self.assertRaisesRegex(AttributeError, "only possible if a model is attached"):
            pl.Trainer(max_epochs=1, **QUIET).save_checkpoint(path)
        with self.assertRaisesRegex(ValueError, "not configured to save the best model"):
            run_of(self.net(), self.folder, ckpt_path="best", enable_checkpointing=False)

    def test_hooks_and_states(self):
        class Counts(pl.Callback):
            batches = 0

            def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
                self.batches += 1

            def state_dict(self):
                return {"batches": self.batches}

            def load_state_dict(self, state_dict):
                self.batches = state_dict["batches"]

        class Adds(Net):
            def on_save_checkpoint(self, checkpoint):
                checkpoint["more"] = [1, 2]

            def on_load_checkpoint(self, checkpoint):
                self.more = checkpoint["more"]

        path = os.path.join(self.folder, "mine.ckpt")
        run_of(Adds(), self.folder, enable_checkpointing=False, max_epochs=1, callbacks=[Counts()]).save_checkpoint(path)
        counts, model = Counts(), Adds()
        run_of(model, self.folder, enable_checkpointing=False, max_epochs=3, callbacks=[counts], ckpt_path=path)
        self.assertEqual((counts.batches, model.more), (12, [1, 2]))
        self.assertEqual(Adds.load_from_checkpoint(path).more, [1, 2])


class Checkpoints(unittest.TestCase):
    def run_script(self, figures, *callbacks, **options):
        with tempfile.TemporaryDirectory() as folder:
            trainer = pl.Trainer(
                **{**FILES, "default_root_dir": folder, "callbacks": list(callbacks), "max_epochs": len(figures), **options}
            )
            trainer.fit(Script(figures), loader(), loader(16))
            kept = sorted(os.path.relpath(os.path.join(parent, name), folder) for parent, _, names in os.walk(folder) for name in names)
            return trainer, kept

    def test_the_best_are_kept(self):
        keeps = pl.ModelCheckpoint(monitor="score", save_top_k=2, filename="{epoch}-{score:.1f}", save_last=True)
        trainer, kept = self.run_script([0.5, 0.3, 0.9, 0.4, 0.3], keeps)
        self.assertEqual(kept, [f"checkpoints/{name}.ckpt" for name in ("epoch=1-score=0.3", "epoch=4-score=0.3", "last")])
        self.assertEqual(os.path.basename(keeps.best_model_path), "epoch=1-score=0.3.ckpt")
        self.assertAlmostEqual(keeps.best_model_score.item(), 0.3)
        self.assertIs(trainer.checkpoint_callback, keeps)
        keeps = pl.ModelCheckpoint(monitor="score", mode="max", filename="{score:.1f}", auto_insert_metric_name=False)
        _, kept = self.run_script([0.5, float("nan"), 0.9, 0.4], keeps)
        self.assertEqual(kept, ["checkpoints/0.9.ckpt"])

    def test_the_newest_all_or_none(self):
        names = [f"checkpoints/epoch={epoch}-step={4 * epoch + 4}.ckpt" for epoch in range(4)]
        figures = [1.0] * 4
        self.assertEqual(self.run_script(figures)[1], names[3:])
        self.assertEqual(self.run_script(figures, pl.ModelCheckpoint(save_top_k=-1))[1], names)
        self.assertEqual(self.run_script(figures, pl.ModelCheckpoint(save_top_k=-1, every_n_epochs=2))[1], names[1::2])
        self.assertEqual(self.run_script(figures, pl.ModelCheckpoint(save_top_k=0))[1], [])
        self.assertEqual(self.run_script(figures, enable_checkpointing=False)[1], [])
        each_3 = pl.ModelCheckpoint(save_top_k=-1, every_n_train_steps=6, filename="{step}")
        self.assertEqual(self.run_script(figures, each_3)[1], ["checkpoints/step=12.ckpt", "checkpoints/step=6.ckpt"])
        same = pl.ModelCheckpoint(save_top_k=-1, filename="same")
        self.assertEqual(self.run_script(figures[:2], same)[1], ["checkpoints/same-v1.ckpt", "checkpoints/same.ckpt"])

    def test_errors(self):
        with self.assertRaisesRegex(
            RuntimeError,
            r"\[ModelCheckpoint\] there is no figure val_acc to watch; this run has score: log it by self.log\('val_acc', value\)",
        ):
            self.run_script([1.0], pl.ModelCheckpoint(monitor="val_acc"))
        with self.assertRaisesRegex(ValueError, "No quantity for top_k to track"):
            pl.ModelCheckpoint(save_top_k=3)
        with self.assertRaisesRegex(ValueError, "`mode` can be 'min', 'max', got 'best'"):
            pl.ModelCheckpoint(mode="best")
        with self.assertRaisesRegex(ValueError, "enable_checkpointing=False, but there is a ModelCheckpoint"):
            self.run_script([1.0], pl.ModelCheckpoint(), enable_checkpointing=False)
        with self.assertRaisesRegex(ValueError, "two callbacks of the state key"):
            self.run_script([1.0], pl.ModelCheckpoint(), pl.ModelCheckpoint())

    def test_the_best_is_tested(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer = pl.Trainer(
                **FILES, max_epochs=3, default_root_dir=folder, callbacks=pl.ModelCheckpoint(monitor="score", save_top_k=1)
            )
            model = Script([0.1, 0.5, 0.6, 0.0])
            trainer.fit(model, loader(), loader(16))
            last = model.weight.item()
            trainer.validate(dataloaders=loader(16))
            self.assertAlmostEqual(model.weight.item(), last / 3, places=4)
            trainer.validate(model, loader(16), ckpt_path="best")
            self.assertAlmostEqual(model.weight.item(), last / 3, places=4)

    def test_early_stopping(self):
        stops = pl.EarlyStopping("score", patience=2)
        trainer, _ = self.run_script([0.5, 0.4, 0.45, 0.41, 0.3, 0.2], stops)
        self.assertEqual((trainer.current_epoch, stops.stopped_epoch, stops.wait_count), (4, 3, 2))
        self.assertAlmostEqual(stops.best_score.item(), 0.4)
        trainer, _ = self.run_script([0.5, 0.4, 0.35, 0.3], pl.EarlyStopping("score", patience=1, min_delta=0.2))
        self.assertEqual(trainer.current_epoch, 2)
        trainer, _ = self.run_script([0.5, 0.6, 0.55, 0.7], pl.EarlyStopping("score", patience=1, mode="max"))
        self.assertEqual(trainer.current_epoch, 3)
        trainer, _ = self.run_script([0.5, float("inf"), 0.1], pl.EarlyStopping("score"))
        self.assertEqual(trainer.current_epoch, 2)
        trainer, _ = self.run_script([0.5, 0.05, 0.01], pl.EarlyStopping("score", stopping_threshold=0.1))
        self.assertEqual(trainer.current_epoch, 2)
        trainer, _ = self.run_script([0.5, 3.0, 0.01], pl.EarlyStopping("score", divergence_threshold=2.0))
        self.assertEqual(trainer.current_epoch, 2)
        trainer, _ = self.run_script([0.5, 3.0], pl.EarlyStopping("other", strict=False))
        self.assertEqual(trainer.current_epoch, 2)
        with self.assertRaisesRegex(RuntimeError, r"\[EarlyStopping\] there is no figure other to watch; this run has score"):
            self.run_script([0.5], pl.EarlyStopping("other"))


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_the_run_and_it_goes_on(self):
        calls = []

        class Signals(pl.Callback):
            def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
                if trainer.global_step == 5 and trainer.max_epochs == 4:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.01)

            def on_exception(self, trainer, pl_module, exception):
                calls.append(type(exception).__name__)

            def teardown(self, trainer, pl_module, stage):
                calls.append("teardown")

        handler = signal.getsignal(signal.SIGINT)
        with tempfile.TemporaryDirectory() as folder:
            whole = Script([0.0] * 4)
            pl.Trainer(**QUIET, max_epochs=4).fit(whole, loader(), loader(8))
            model, err = Script([0.0] * 4), io.StringIO()
            with mock.patch.object(sys, "stderr", err):
                trainer = pl.Trainer(logger=False, max_epochs=4, callbacks=[Signals(), pl.ModelCheckpoint(folder)])
                trainer.fit(model, loader(), loader(8))
            self.assertTrue(trainer.interrupted)
            self.assertEqual((trainer.global_step, calls), (6, ["KeyboardInterrupt", "teardown"]))
            path = os.path.join(os.path.realpath(folder), "last.ckpt")
            self.assertIn(f"interrupted: ends after the batch under way, then saves {path}; once more ends at once", err.getvalue())
            self.assertIn(
                f"interrupted in epoch 2 after batch 2 of 4: saved {path}; fit(ckpt_path='last') goes on from there", err.getvalue()
            )
            self.assertIs(signal.getsignal(signal.SIGINT), handler)
            model = Script([0.0] * 4)
            trainer = pl.Trainer(**FILES, max_epochs=4, callbacks=[pl.ModelCheckpoint(folder)])
            trainer.fit(model, loader(), loader(8), ckpt_path="last")
            self.assertEqual((model.weight.tolist(), trainer.interrupted, trainer.global_step), (whole.weight.tolist(), False, 16))

    def test_the_second_ends_it_at_once(self):
        class Twice(Script):
            def training_step(self, batch, batch_idx):
                for _ in range(2):
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.01)
                raise AssertionError("not reached")

        trainer = pl.Trainer(max_epochs=1, **QUIET)
        with self.assertRaises(KeyboardInterrupt):
            trainer.fit(Twice([0.0]), loader())
        self.assertTrue(trainer.interrupted)

    def test_in_another_thread(self):
        model = Script([0.0])
        thread = threading.Thread(target=lambda: pl.Trainer(max_epochs=1, **QUIET).fit(model, loader()))
        thread.start()
        thread.join()
        self.assertNotEqual(model.weight.item(), 0)


if __name__ == "__main__":
    unittest.main()
