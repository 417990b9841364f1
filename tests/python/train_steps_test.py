"""tandem.train around a step: figures and when a module is judged, hooks, data modules, hyper parameters, and errors."""

import unittest

import tandem
import tandem.train as pl
from tandem import nn
from tandem.utils.data import DataLoader, TensorDataset
from train_cases import QUIET, Line, fitted, line_data, line_loader

_GPUS = tandem.cuda.device_count()


class Judging(unittest.TestCase):
    def test_means_count_samples(self):
        x, y = line_data(10)
        model = Line()
        trainer = pl.Trainer(max_epochs=1, **QUIET)
        (figures,) = trainer.validate(model, DataLoader(TensorDataset(x, y), batch_size=4))
        self.assertAlmostEqual(figures["val_loss"], (y**2).mean().item(), places=5)
        (figures,) = trainer.test(model, DataLoader(TensorDataset(x, y), batch_size=4), verbose=False)
        self.assertAlmostEqual(figures["test_loss"], (y**2).mean().item(), places=5)
        self.assertTrue(model.training)
        predictions = trainer.predict(model, DataLoader(TensorDataset(x, y), batch_size=4))
        self.assertEqual([part.tolist() for part in predictions], [[[0.0]] * 4, [[0.0]] * 4, [[0.0]] * 2])

    def test_reductions_and_names(self):
        class Logs(Line):
            def training_step(self, batch, batch_idx):
                self.log_dict({"low": batch_idx, "high": tandem.tensor(batch_idx)}, on_step=False, on_epoch=True, reduce_fx="min")
                self.log("sum", 1, on_step=False, on_epoch=True, reduce_fx=sum)
                self.log("max", float(batch_idx), on_step=True, on_epoch=True, reduce_fx=max)
                self.log("weighted", float(batch_idx), on_step=False, on_epoch=True, batch_size=batch_idx)
                return super().training_step(batch, batch_idx)

            def on_train_epoch_end(self):
                self.calls.append(self.trainer.callback_metrics["sum"].item())
                self.log("late", 7)

        for options in [{}, {"num_gpus": 1}] if _GPUS else [{}]:
            model, trainer = fitted(Logs(), **options)
            figures = {name: round(float(value), 4) for name, value in trainer.callback_metrics.items()}
            self.assertEqual(
                {name: figures[name] for name in ("low", "high", "sum", "max", "max_step", "max_epoch", "weighted", "late")},
                {"low": 0, "high": 0, "sum": 4, "max": 3, "max_step": 3, "max_epoch": 3, "weighted": round(14 / 6, 4), "late": 7},
            )
            self.assertEqual(model.calls, [4])

    def test_several_loaders(self):
        class Two(Line):
            def validation_step(self, batch, batch_idx, dataloader_idx):
                self.log("value", float(dataloader_idx + 1))
                self.calls.append(dataloader_idx)

        model = Two()
        figures = pl.Trainer(max_epochs=1, **QUIET).validate(model, [line_loader(16), line_loader(32)])
        self.assertEqual(figures, [{"value/dataloader_idx_0": 1.0}, {"value/dataloader_idx_1": 2.0}])
        self.assertEqual(model.calls, [0, 0, 1])

    def test_when_it_is_judged(self):
        class Notes(Line):
            def on_validation_epoch_start(self):
                if not self.trainer.sanity_checking:
                    self.calls.append((self.current_epoch, self.trainer.global_step))

        def places(**options):
            return fitted(Notes(), line_loader(), line_loader(), **{"max_epochs": 2, **options})[0].calls

        self.assertEqual(places(), [(0, 4), (1, 8)])
        self.assertEqual(places(check_val_every_n_epoch=2), [(1, 8)])
        self.assertEqual(places(val_check_interval=0.5), [(0, 2), (0, 4), (1, 6), (1, 8)])
        self.assertEqual(places(val_check_interval=3), [(0, 3), (1, 7)])
        self.assertEqual(places(val_check_interval=3, check_val_every_n_epoch=None), [(0, 3), (1, 6)])
        self.assertEqual(places(limit_val_batches=0), [])
        with self.assertRaisesRegex(ValueError, r"`val_check_interval` \(9\) must be less than or equal"):
            places(val_check_interval=9)

    def test_modes_come_back_and_nothing_is_recorded(self):
        class Modes(Line):
            def __init__(self):
                super().__init__()
                self.frozen = nn.Dropout().eval()

            def validation_step(self, batch, batch_idx):
                assert not self.training and not tandem.is_grad_enabled()
                super().validation_step(batch, batch_idx)

        model, _ = fitted(Modes(), validation=line_loader())
        self.assertTrue(model.training and model.layer.training)
        self.assertFalse(model.frozen.training)
        model.eval()
        fitted(model)
        self.assertTrue(model.training)

    def test_log_errors(self):
        class Bad(Line):
            value = "text"

            def training_step(self, batch, batch_idx):
                self.log("figure", self.value)

        for value, text in (
            ("text", r"`self.log\(figure, 'text'\)` was called, but `str` values cannot be logged"),
            (tandem.ones(2), "the tensor must have a single element"),
        ):
            model = Bad()
            model.value = value
            with self.assertRaisesRegex(ValueError, text):
                fitted(model)
        with self.assertWarnsRegex(UserWarning, "reference is not registered on the model yet"):
            Line().log("a", 1)
        with self.assertRaisesRegex(RuntimeError, "Line is not attached to a `Trainer`"):
            Line().trainer


class Hooks(unittest.TestCase):
    def test_order(self):
        calls = []
        names = [name for name in dir(pl.Callback) if name.startswith("on_") or name in ("setup", "teardown")]

        def noting(base, who):
            return type(
                who,
                (base,),
                {name: (lambda name: lambda self, *args: calls.append(f"{who}.{name}"))(name) for name in names if hasattr(base, name)},
            )

        module, callback = noting(Line, "module"), noting(pl.Callback, "callback")
        fitted(module(), line_loader(32), line_loader(32), callbacks=[callback()])
        both = [
            f"{who}.on_{hook}" if "." not in hook else hook
            for hook in """
            fit_start sanity_check_start
            validation_start validation_epoch_start validation_batch_start validation_batch_end validation_epoch_end validation_end
            sanity_check_end train_start train_epoch_start
            train_batch_start before_zero_grad before_backward after_backward before_optimizer_step train_batch_end
            validation_start validation_epoch_start validation_batch_start validation_batch_end validation_epoch_end validation_end
            train_epoch_end train_end fit_end""".split()
            for who in ("callback", "module")
            if not (who == "module" and hook.startswith("sanity"))
        ]
        self.assertEqual(calls, ["callback.setup", "module.setup", *both, "callback.teardown", "module.teardown"])

    def test_an_epoch_can_be_cut_short_and_a_run_stopped(self):
        class Short(Line):
            def on_train_batch_start(self, batch, batch_idx):
                return -1 if batch_idx == 2 else None

        self.assertEqual(fitted(Short(), max_epochs=2)[1].global_step, 4)

        class Stops(pl.Callback):
            def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
                trainer.should_stop = trainer.global_step >= 6

        self.assertEqual(fitted(max_epochs=5, callbacks=Stops())[1].global_step, 6)
        self.assertEqual(fitted(max_epochs=5, min_epochs=3, callbacks=Stops())[1].current_epoch, 3)

    def test_data_module(self):
        class Data(pl.LightningDataModule):
            def __init__(self, batch_size=8):
                super().__init__()
                self.save_hyperparameters()
                self.calls = []

            def prepare_data(self):
                self.calls.append("prepare_data")

            def setup(self, stage):
                self.calls.append(stage)
                self.dataset = TensorDataset(*line_data())

            def teardown(self, stage):
                self.calls.append("end of " + stage)

            def train_dataloader(self):
                assert self.trainer is not None
                return DataLoader(self.dataset, batch_size=self.hparams.batch_size)

            val_dataloader = test_dataloader = predict_dataloader = train_dataloader

            def on_after_batch_transfer(self, batch, dataloader_idx):
                return batch

        data, trainer = Data(batch_size=16), pl.Trainer(max_epochs=2, **QUIET)
        trainer.fit(Line(), datamodule=data)
        self.assertEqual((trainer.global_step, data.calls), (4, ["prepare_data", "fit", "end of fit"]))
        self.assertIn("test_loss", trainer.test(datamodule=data)[0])
        made = pl.LightningDataModule.from_datasets(TensorDataset(*line_data(6)), batch_size=4)
        trainer.fit(Line(), datamodule=made)
        self.assertEqual(trainer.global_step, 4)
        with self.assertRaisesRegex(ValueError, "give loaders or datamodule, not both"):
            trainer.fit(Line(), line_loader(), datamodule=data)

    def test_transfer_hooks(self):
        class Moves(Line):
            def transfer_batch_to_device(self, batch, device, dataloader_idx):
                self.calls.append(device.type)
                return super().transfer_batch_to_device(batch, device, dataloader_idx)

            def on_after_batch_transfer(self, batch, dataloader_idx):
                return batch[0] * 0, batch[1]

        model, _ = fitted(Moves(), [line_data(4)])
        self.assertEqual((model.calls, model.layer.weight.abs().sum().item()), (["cpu"], 0.0))

    def test_hyper_parameters(self):
        class Base(pl.LightningModule):
            def __init__(self, width, **more):
                super().__init__()
                self.save_hyperparameters(ignore="secret")

        class Net(Base):
            def __init__(self, width=3, depth=2, *, secret=None, act="relu"):
                super().__init__(width * 2, extra=1)

        net = Net(depth=5, secret="x")
        self.assertEqual(dict(net.hparams), {"width": 3, "extra": 1, "depth": 5, "act": "relu"})
        self.assertEqual(net.hparams.depth, 5)
        with self.assertRaisesRegex(AttributeError, "Missing attribute 'height': there are width"):
            net.hparams.height


class Errors(unittest.TestCase):
    def test_steps(self):
        class None_(nn.Module):
            pass

        class NoStep(pl.LightningModule):
            pass

        for model, name in ((None_(), "None_"), (NoStep(), "NoStep")):
            with self.assertRaisesRegex(
                TypeError,
                rf"No `training_step\(\)` method defined in {name}: give one, as in `def training_step\(self, batch, batch_idx\):`",
            ):
                fitted(model)
        with self.assertRaisesRegex(TypeError, "No `test_step"):
            pl.Trainer(max_epochs=1, **QUIET).test(NoStep(), line_loader())
        with self.assertRaisesRegex(TypeError, "give a model, not its class"):
            fitted(Line)
        with self.assertRaisesRegex(TypeError, "must be a LightningModule or an nn.Module with training_step, but is str"):
            fitted("net")

    def test_losses(self):
        def giving(value):
            class Gives(Line):
                def training_step(self, batch, batch_idx):
                    return value(self.loss(batch))

            return Gives()

        for value, kind, text in (
            (lambda loss: loss.item(), TypeError, r"Gives.training_step gave [\d.]+ of type float: return the loss"),
            (lambda loss: {"los": loss}, TypeError, "gave a dict without 'loss', but with los"),
            (
                lambda loss: loss.detach(),
                RuntimeError,
                "element 0 of tensors does not require grad and does not have a grad_fn: the loss that Gives",
            ),
            (lambda loss: loss * tandem.ones(2), RuntimeError, r"only for scalar outputs: Gives.training_step gave a loss of shape \(2,\)"),
        ):
            with self.assertRaisesRegex(kind, text):
                fitted(giving(value))

    def test_loaders(self):
        with self.assertRaisesRegex(ValueError, "nothing to train on: give train_dataloaders or datamodule, or define train_dataloader"):
            pl.Trainer(max_epochs=1, **QUIET).fit(Line())
        with self.assertRaisesRegex(
            ValueError, "the loader has no batches; its dataset has 4 samples, and drop_last=True leaves out batches of less than 8"
        ):
            fitted(loader=line_loader(8, 4, drop_last=True))
        with self.assertRaisesRegex(ValueError, "nothing to train on: the loader has no batches"):
            fitted(loader=iter([]))
        with self.assertRaisesRegex(ValueError, r"\[Trainer.validate\] there is no data"):
            pl.Trainer(max_epochs=1, **QUIET).validate(Line())

    def test_options(self):
        for options, kind, text in (
            ({"max_epochs": -2}, ValueError, "max_epochs must not be below -1"),
            ({"max_epochs": 1.5}, TypeError, "max_epochs is a whole number, not 1.5"),
            ({"accumulate_grad_batches": 0}, ValueError, "accumulate_grad_batches must not be below 1"),
            ({"gradient_clip_val": -1}, ValueError, "gradient_clip_val must not be negative"),
            ({"limit_train_batches": 1.5}, ValueError, "limit_train_batches is a whole number of batches from 0, or a share"),
            ({"strategy": "fsdp"}, ValueError, "strategy 'fsdp' is not supported"),
            ({"callbacks": [print]}, TypeError, "is no callback: derive its class from tandem.train.Callback"),
            ({"logger": 3}, TypeError, "3 is no logger"),
            ({"num_nodes": 2}, RuntimeError, "num_nodes is 2, but this program has 1 rank: start it on every server"),
        ):
            with self.assertRaisesRegex(kind, text):
                fitted(**options)

    def test_an_error_ends_the_run_properly(self):
        calls = []

        class Notes(pl.Callback):
            def on_exception(self, trainer, pl_module, exception):
                calls.append(repr(exception))

            def teardown(self, trainer, pl_module, stage):
                calls.append("teardown")

        class Breaks(Line):
            def training_step(self, batch, batch_idx):
                raise KeyError("here")

        with self.assertRaises(KeyError):
            fitted(Breaks(), callbacks=[Notes()])
        self.assertEqual(calls, ["KeyError('here')", "teardown"])


if __name__ == "__main__":
    unittest.main()
