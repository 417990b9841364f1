"""What tandem.train shows and writes of a run: loggers and bars; and that of several ranks one does."""

import csv
import io
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

import tandem
import tandem.train as pl
from tandem.train.progress_bar import ProgressBar, Terminal, clock_text, rate_text, seconds_text
from train_cases import QUIET, Net, loader


class Loggers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def rows(self, logger):
        with open(os.path.join(logger.log_dir, "metrics.csv"), newline="") as file:
            return [{name: value for name, value in row.items() if value} for row in csv.DictReader(file)]

    def test_csv(self):
        logger = pl.CSVLogger(self.folder, "mine")
        trainer = pl.Trainer(max_epochs=2, logger=logger, enable_checkpointing=False, enable_progress_bar=False, log_every_n_steps=2)
        trainer.fit(Net(), loader(), loader(8))
        self.assertEqual(logger.log_dir, os.path.join(self.folder, "mine", "version_0"))
        rows = self.rows(logger)
        self.assertEqual(
            [(sorted(set(row) - {"epoch", "step"}), row["epoch"], row["step"]) for row in rows],
            [
                (["loss_step"], "0", "1"),
                (["loss_step"], "0", "3"),
                (["val_loss"], "0", "3"),
                (["loss_epoch"], "0", "3"),
                (["loss_step"], "1", "5"),
                (["loss_step"], "1", "7"),
                (["val_loss"], "1", "7"),
                (["loss_epoch"], "1", "7"),
            ],
        )
        self.assertAlmostEqual(float(rows[-1]["loss_epoch"]), trainer.callback_metrics["loss"].item(), places=5)
        with open(os.path.join(logger.log_dir, "hparams.yaml")) as file:
            self.assertEqual(file.read(), "width: 4\nlr: 0.05\n")
        self.assertEqual(pl.CSVLogger(self.folder, "mine").version, 1)
        again = pl.CSVLogger(self.folder, "mine", version=0)
        again.log_metrics({"other": 1.5}, step=9)
        again.save()
        self.assertEqual(self.rows(again)[-1], {"other": "1.5", "step": "9"})
        self.assertEqual(len(self.rows(again)), 9)

    def test_default_folders(self):
        trainer = pl.Trainer(max_epochs=1, default_root_dir=self.folder, enable_progress_bar=False)
        trainer.fit(Net(), loader(), loader(8))
        self.assertEqual(trainer.log_dir, os.path.join(self.folder, "lightning_logs", "version_0"))
        self.assertEqual(sorted(os.listdir(trainer.log_dir)), ["checkpoints", "hparams.yaml", "metrics.csv"])
        self.assertEqual(os.listdir(os.path.join(trainer.log_dir, "checkpoints")), ["epoch=0-step=4.ckpt"])

    def test_learning_rates(self):
        def rates(interval):
            monitor = pl.LearningRateMonitor(interval)
            trainer = pl.Trainer(**{**QUIET, "logger": pl.CSVLogger(self.folder)}, max_epochs=2, callbacks=[monitor], log_every_n_steps=1)
            trainer.fit(Halves(), loader(8), None)
            return monitor.lrs

        class Halves(Net):
            def configure_optimizers(self):
                optimizer = tandem.optim.SGD(self.parameters(), lr=0.1)
                return [optimizer], [{"scheduler": tandem.optim.lr_scheduler.StepLR(optimizer, 1, 0.5), "interval": "step"}]

        self.assertEqual(rates("step"), {"lr-SGD": [0.1, 0.05, 0.025, 0.0125]})
        self.assertEqual(rates("epoch"), {"lr-SGD": [0.1, 0.025]})
        self.assertEqual(rates(None), {"lr-SGD": [0.1, 0.05, 0.025, 0.0125]})
        with self.assertRaisesRegex(ValueError, "has no logger: give one"):
            pl.Trainer(max_epochs=1, callbacks=pl.LearningRateMonitor(), **QUIET).fit(Net(), loader())

    @unittest.skipUnless(hasattr(tandem._C, "SummaryWriter"), "this build has no SummaryWriter")
    def test_tensorboard(self):
        logger = pl.TensorBoardLogger(self.folder, "mine")
        pl.Trainer(max_epochs=2, logger=logger, enable_checkpointing=False, enable_progress_bar=False, log_every_n_steps=2).fit(
            Net(), loader(), loader(8)
        )
        logger.experiment.add_scalar("own", 3.0, 1)
        logger.save()
        (name,) = (name for name in os.listdir(logger.log_dir) if "tfevents" in name)
        with open(os.path.join(logger.log_dir, name), "rb") as file:
            data = file.read()
        for tag in (b"loss_step", b"loss_epoch", b"val_loss", b"own", b"epoch"):
            self.assertIn(tag, data)


class Tty(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


class Bars(unittest.TestCase):
    def test_texts(self):
        self.assertEqual([clock_text(seconds) for seconds in (0, 1.2, 83, 3723)], ["0:00", "0:02", "1:23", "1:02:03"])
        self.assertEqual([seconds_text(seconds) for seconds in (0.123, 12.34)], ["0.12 s", "12.3 s"])
        self.assertEqual([rate_text(rate) for rate in (3.14159, 99.96, 1234.5)], ["3.1", "100", "1,234"])

    def bar(self, **terminal):
        self.out, self.time = io.StringIO(), 0.0
        return ProgressBar(self.out, Terminal(**terminal), lambda: self.time)

    def test_on_a_terminal(self):
        bar = self.bar(interactive=True, width=120, unicode=True)
        bar.begin_epoch(1, 3, 4)
        self.time = 1.0
        bar.advance(16)
        self.assertTrue(bar.due())
        bar.draw({"loss": 0.5})
        self.assertEqual(
            self.out.getvalue(), "\rEpoch 1/3 ━━━━━━━╸······················  1.0 batches/s (16.0 samples/s)  ETA 0:11  loss 0.5000\x1b[K"
        )
        self.assertFalse(bar.due())
        self.time = 2.0
        bar.end_training()
        bar.end_epoch({"loss": 0.25, "val_acc": -0.00001})
        self.assertTrue(self.out.getvalue().endswith("0.5 batches/s (8.0 samples/s)  2.00 s  loss 0.2500  val_acc 0.0000\x1b[K\n"))
        for width, line in ((40, "Epoch 1/3 ........  2.00 s  loss 0.2500"), (24, "Epoch 1/3  loss 0.2500"), (12, "Epoch 1/3")):
            bar = self.bar(interactive=True, width=width)
            bar.begin_epoch(1, 3, 4)
            self.time = 2.0
            bar.end_epoch({"loss": 0.25})
            self.assertEqual(self.out.getvalue(), f"\r{line}\x1b[K\n")

    def test_elsewhere(self):
        bar = self.bar()
        bar.begin_epoch(2, None, None)
        bar.advance(8)
        self.time = 0.5
        bar.draw({"loss": 1.0})
        bar.end_epoch({"loss": 1.0})
        self.assertEqual(self.out.getvalue(), "epoch 2: loss 1.0000, 2.0 batches/s (16.0 samples/s), 0.50 s\n")

    def fit(self, stream, **options):
        with mock.patch.object(sys, "stderr", stream), mock.patch.dict(os.environ, {"TERM": "xterm"}):
            trainer = pl.Trainer(logger=False, enable_checkpointing=False, max_epochs=2, **options)
            trainer.fit(Net(), loader(), loader(8))
            trainer.test(dataloaders=loader(8))
        return stream.getvalue()

    def test_of_a_run(self):
        text = self.fit(Tty())
        self.assertRegex(text, r"\rEpoch 1/2 [━╸·]+  [^\r]*ETA 0:0\d  loss \d\.\d{4}")
        self.assertRegex(text, r"\rEpoch 2/2 [^\r\n]*val_loss \d+\.\d{4}[^\r\n]*\x1b\[K\n")
        self.assertEqual(text.count("\n"), 3)
        lines = self.fit(io.StringIO()).splitlines()
        self.assertRegex(
            lines[0],
            r"^epoch 1/2: train_loss \d+\.\d{4}, val_loss \d+\.\d{4}, loss_epoch \d+\.\d{4}, [\d.,]+ batches/s "
            r"\([\d.,]+ samples/s\), [\d.]+ s$",
        )
        self.assertRegex(lines[2], r"^test: val_loss \d+\.\d{4}, [\d.]+ s$")
        self.assertEqual(len(lines), 3)
        self.assertEqual(self.fit(Tty(), enable_progress_bar=False), "")


class Ranks(unittest.TestCase):
    def test_two_ranks_are_one(self):
        program = textwrap.dedent("""
            import sys, tandem, tandem.train as pl
            from tandem import nn
            from tandem.utils.data import DataLoader, TensorDataset

            class Net(pl.LightningModule):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(2, 1)

                def loss(self, batch):
                    return nn.functional.mse_loss(self.layer(batch[0]), batch[1])

                def training_step(self, batch, batch_idx):
                    return self.loss(batch)

                def validation_step(self, batch, batch_idx):
                    self.log("val_loss", self.loss(batch))

                def configure_optimizers(self):
                    return tandem.optim.SGD(self.parameters(), lr=0.1)

            x = tandem.randn(16, 2, generator=tandem.Generator().manual_seed(3))
            data = TensorDataset(x, x.sum(1, keepdim=True))
            tandem.manual_seed(2)
            model = Net()
            trainer = pl.Trainer(max_epochs=3, logger=False, default_root_dir=sys.argv[1], accumulate_grad_batches=2)
            batch_size = 8 // max(1, int(__import__("os").environ.get("WORLD_SIZE", "1")))
            trainer.fit(model, DataLoader(data, batch_size=batch_size), DataLoader(data, batch_size=batch_size))
            if trainer.is_global_zero:
                judged = trainer.callback_metrics["val_loss"].item()
                figures = {"val_loss": judged, "steps": trainer.global_step, "size": trainer.world_size}
                tandem.save({"weights": model.state_dict(), **figures}, sys.argv[1] + "/result.pt")
        """)
        results = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(program)
            for command in ([], ["-m", "tandem.distributed.run", "--standalone", "--nproc-per-node=2"]):
                root = os.path.join(folder, str(len(command)))
                os.mkdir(root)
                done = subprocess.run([sys.executable, *command, path, root], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count("epoch 3/3"), 1)  # rank 0 alone tells
                self.assertEqual(os.listdir(os.path.join(root, "checkpoints")), ["epoch=2-step=3.ckpt"])
                results.append(tandem.load(os.path.join(root, "result.pt")))
        one, two = results
        self.assertEqual((one["size"], two["size"], one["steps"], two["steps"]), (1, 2, 3, 3))
        self.assertAlmostEqual(one["val_loss"], two["val_loss"], places=5)
        for name, value in one["weights"].items():
            self.assertTrue(tandem.allclose(value, two["weights"][name], atol=1e-6))


if __name__ == "__main__":
    unittest.main()
