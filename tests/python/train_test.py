"""tandem.train.Trainer: what it learns, on the CPU, one GPU and two, in which precision, of which loaders; and its schedules."""

import unittest

import tandem
import tandem.train as pl
from tandem import nn
from tandem.utils.data import DataLoader, IterableDataset
from train_cases import QUIET, Line, fitted, line_data, line_loader, weights

_GPUS = tandem.cuda.device_count()


class Learning(unittest.TestCase):
    def assert_close(self, a, b, atol=1e-6):
        for one, other in zip(weights(a), weights(b)):
            self.assertTrue(tandem.allclose(one, other, atol=atol, rtol=0), (one, other))

    def test_known_weights(self):
        model, trainer = fitted(max_epochs=30)
        self.assertTrue(tandem.allclose(model.layer.weight, tandem.tensor([[2.0, -3.0]]), atol=1e-3))
        self.assertAlmostEqual(model.layer.bias.item(), 0.5, places=3)
        self.assertEqual((trainer.current_epoch, trainer.global_step, model.device), (30, 120, tandem.device("cpu")))
        if _GPUS:
            model, _ = fitted(max_epochs=2)
            there, trainer = fitted(max_epochs=2, num_gpus=1)
            self.assert_close(model, there, 1e-5)
            self.assertEqual((trainer.global_step, there.device), (8, tandem.device("cuda:0")))

    def test_one_step_by_hand(self):
        x, y = line_data(4)
        model, trainer = fitted(loader=[(x, y)])
        gradient = (-2 * (y - 0) * x).mean(0)  # of the mean of (y - w x)^2 at w = 0
        self.assertTrue(tandem.allclose(model.layer.weight[0], -0.1 * gradient, atol=1e-6))
        self.assertAlmostEqual(trainer.callback_metrics["loss"].item(), (y**2).mean().item(), places=4)

    def test_accumulated_halves_are_one_batch(self):
        halves, trainer = fitted(loader=line_loader(4), accumulate_grad_batches=2)
        whole, _ = fitted(loader=line_loader(8))
        self.assert_close(halves, whole)
        self.assertEqual(trainer.global_step, 4)
        # A group that the epoch's end cuts short steps, too.
        _, trainer = fitted(loader=line_loader(8, 24), accumulate_grad_batches=2, max_epochs=2)
        self.assertEqual(trainer.global_step, 4)

    @unittest.skipIf(_GPUS < 2, "needs two GPUs")
    def test_two_gpus_are_one(self):
        loader = line_loader(7)  # parts of 4 and 3, and of 2 and 2
        one, first = fitted(loader=loader, validation=loader, num_gpus=1, num_sanity_val_steps=0)
        two, second = fitted(loader=loader, validation=loader, num_gpus=2, num_sanity_val_steps=0)
        self.assert_close(one, two, 1e-5)
        for name in ("val_loss", "loss"):
            self.assertAlmostEqual(first.callback_metrics[name].item(), second.callback_metrics[name].item(), places=5)
        self.assertEqual(two.device, tandem.device("cuda:0"))
        predictions = second.predict(two, loader)
        self.assertEqual([len(part) for part in predictions], [7, 7, 7, 7, 4])
        self.assertTrue(predictions[0].is_cpu)
        self.assertEqual([(part.shape, part.dtype) for part in second.predict(two, [line_data(1)])], [((1, 1), tandem.float32)])

    @unittest.skipIf(_GPUS < 2, "needs two GPUs")
    def test_devices(self):
        model, trainer = fitted(accelerator="gpu", devices=[1])
        self.assertEqual((model.device, trainer.device_ids), (tandem.device("cuda:1"), [1]))
        self.assertEqual(tandem.cuda.current_device(), 0)
        _, trainer = fitted(accelerator="gpu", devices=2, max_epochs=0)
        self.assertEqual(trainer.num_devices, 2)
        self.assertEqual(pl.Trainer(max_epochs=1, accelerator="cuda", devices="1,0", **QUIET).device_ids, [1, 0])
        self.assertEqual(pl.Trainer(max_epochs=1, accelerator="auto", devices=-1, **QUIET).device_ids, list(range(_GPUS)))
        self.assertEqual(pl.Trainer(max_epochs=1, accelerator="cpu", **QUIET).device_ids, [0])
        with self.assertRaisesRegex(
            RuntimeError, rf"num_gpus=99 needs cuda:98, but this process sees {_GPUS} GPUs: .*TANDEM_VIRTUAL_GPUS=99"
        ):
            pl.Trainer(max_epochs=1, num_gpus=99)
        with self.assertRaisesRegex(ValueError, "num_gpus must not be negative, but is -1"):
            pl.Trainer(max_epochs=1, num_gpus=-1)
        with self.assertRaisesRegex(ValueError, "num_gpus, or accelerator and devices, not both"):
            pl.Trainer(max_epochs=1, num_gpus=1, devices=1)

    def test_batches_of_dictionaries(self):
        class Named(Line):
            def training_step(self, batch, batch_idx):
                return {"loss": nn.functional.mse_loss(self(batch["x"]), batch["y"]), "note": batch["note"]}

            def on_train_batch_end(self, outputs, batch, batch_idx):
                self.calls.append((outputs["note"], outputs["loss"].requires_grad, batch["x"].device.type))

        class Unnoted(Named):
            def on_train_batch_end(self, outputs, batch, batch_idx):
                assert list(outputs) == ["loss"] and not outputs["loss"].requires_grad

        x, y = line_data(8)
        plain, _ = fitted(loader=[(x, y)])
        for options in [{}, {"num_gpus": 1}] if _GPUS else [{}]:
            model, _ = fitted(Named(), [{"x": x, "y": y, "note": "a"}], **options)
            self.assert_close(model, plain)
            self.assertEqual(model.calls, [("a", False, "cuda" if options else "cpu")])
        if _GPUS > 1:
            model, _ = fitted(Unnoted(), [{"x": x, "y": y, "note": "a"}], num_gpus=2)
            self.assert_close(model, plain)

    def test_clipping(self):
        x, y = line_data(4)
        model, _ = fitted(Line(lr=1.0), [(x, y)], gradient_clip_val=0.5)
        change = tandem.cat([model.layer.weight.reshape(-1), model.layer.bias])
        self.assertAlmostEqual(change.norm().item(), 0.5, places=4)
        model, _ = fitted(Line(lr=1.0), [(x, y)], gradient_clip_val=0.25, gradient_clip_algorithm="value")
        self.assertEqual(model.layer.weight.abs().max().item(), 0.25)

        class Own(Line):
            def configure_gradient_clipping(self, optimizer, gradient_clip_val, gradient_clip_algorithm):
                self.clip_gradients(optimizer, gradient_clip_val=2 * gradient_clip_val, gradient_clip_algorithm="norm")

        model, _ = fitted(Own(lr=1.0), [(x, y)], gradient_clip_val=0.25)
        self.assertAlmostEqual(tandem.cat([model.layer.weight.reshape(-1), model.layer.bias]).norm().item(), 0.5, places=4)

    def test_precisions(self):
        class Seen(Line):
            def training_step(self, batch, batch_idx):
                self.calls.append(self(batch[0]).dtype)
                return super().training_step(batch, batch_idx)

        for precision, dtype in (
            ("32", tandem.float32),
            (32, tandem.float32),
            ("bf16-mixed", tandem.bfloat16),
            ("16-mixed", tandem.float16),
        ):
            for options in [{}, {"num_gpus": 1}] if _GPUS else [{}]:
                model, trainer = fitted(
                    Seen(), [line_data(8)] * 2 if options else None, precision=precision, max_epochs=1 if options else 20, **options
                )
                self.assertEqual((set(model.calls), model.layer.weight.dtype), ({dtype}, tandem.float32))
                if not options:
                    self.assertLess(trainer.callback_metrics["loss"].item(), 0.05)
        with self.assertRaisesRegex(ValueError, "precision must be '32', 'bf16-mixed' or '16-mixed', but is 'int8'"):
            pl.Trainer(max_epochs=1, precision="int8")

    def test_a_plain_module(self):
        class Plain(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.LazyLinear(1)

            def training_step(self, batch):
                assert self.trainer.training
                return nn.functional.mse_loss(self.layer(batch[0]), batch[1])

            def validation_step(self, batch):
                return {"val_error": (self.layer(batch[0]) - batch[1]).abs().mean()}

            def configure_optimizers(self):
                return tandem.optim.SGD(self.parameters(), lr=0.1)

        class Data:
            def train_dataloader(self):
                return line_loader()

            def val_dataloader(self):
                return line_loader(3)

        model, trainer = Plain(), pl.Trainer(max_epochs=20, **QUIET)
        trainer.fit(model, Data())
        self.assertLess(trainer.callback_metrics["val_error"].item(), 0.05)
        self.assertLess(trainer.callback_metrics["train_loss"].item(), 0.05)
        self.assertFalse(hasattr(model, "trainer"))
        for options in [{}, {"num_gpus": 2}] if _GPUS > 1 else [{}]:
            (output,) = pl.Trainer(max_epochs=1, **QUIET, **options).predict(nn.Flatten(), [tandem.ones(4, 2, 3)])
            self.assertEqual((output.shape, output.is_cpu), ((4, 6), True))

    def test_skipped_batches_and_nan(self):
        class Skips(Line):
            def training_step(self, batch, batch_idx):
                return None if batch_idx % 2 else super().training_step(batch, batch_idx)

        x, y = line_data(8)
        skips, trainer = fitted(Skips(), [(x, y), (x * 9, y), (x, y), (x * 9, y)])
        whole, _ = fitted(loader=[(x, y), (x, y)])
        self.assert_close(skips, whole)
        self.assertEqual(trainer.global_step, 2)
        model, trainer = fitted(loader=[(x * float("nan"), y)])
        self.assertTrue(model.layer.weight.isnan().all().item())
        self.assertTrue(trainer.callback_metrics["loss"].isnan().item())

    def test_limits_and_fast_dev_run(self):
        loader = line_loader(2)  # 16 batches
        for limit, steps in ((3, 3), (0.25, 4), (1.0, 16), (99, 16), (0, 0)):
            self.assertEqual(fitted(loader=loader, limit_train_batches=limit)[1].global_step, steps)
        self.assertEqual(fitted(loader=loader, max_epochs=None, max_steps=20)[1].global_step, 20)
        _, trainer = fitted(loader=loader, validation=loader, fast_dev_run=2)
        self.assertEqual((trainer.global_step, trainer.num_val_batches), (2, [2]))
        with self.assertWarnsRegex(UserWarning, "Setting it to 1000 epochs"):
            self.assertEqual(pl.Trainer(**QUIET).max_epochs, 1000)

    def test_loaders_that_do_not_say_their_length(self):
        class Stream(IterableDataset):
            def __iter__(self):
                return iter(zip(*line_data(10)))

        model, trainer = fitted(
            loader=DataLoader(Stream(), batch_size=4),
            validation=DataLoader(Stream(), batch_size=4),
            max_epochs=2,
            accumulate_grad_batches=2,
        )
        self.assertEqual(trainer.global_step, 4)  # 4 + 4, then 2, each epoch
        whole, _ = fitted(loader=line_loader(4, 10), max_epochs=2, accumulate_grad_batches=2)
        self.assert_close(model, whole)
        self.assertIn("val_loss", trainer.callback_metrics)

    def test_lbfgs_computes_its_closure_again(self):
        class Newton(Line):
            def configure_optimizers(self):
                return tandem.optim.LBFGS(self.parameters(), lr=1, max_iter=20)

        model, _ = fitted(Newton(), [line_data(32)], max_epochs=3)
        self.assertTrue(tandem.allclose(model.layer.weight, tandem.tensor([[2.0, -3.0]]), atol=1e-3))

    def test_manual_optimization(self):
        class Manual(Line):
            automatic_optimization = False

            def training_step(self, batch, batch_idx):
                first, second = self.optimizers()
                for optimizer in (first, second):
                    self.toggle_optimizer(optimizer)
                    loss = self.loss(batch)
                    optimizer.zero_grad()
                    self.manual_backward(loss)
                    optimizer.step()
                    self.untoggle_optimizer(optimizer)
                self.lr_schedulers().step()

            def configure_optimizers(self):
                first, second = (tandem.optim.SGD([parameter], lr=0.1) for parameter in self.parameters())
                return [first, second], [tandem.optim.lr_scheduler.StepLR(first, 1, 0.9)]

        model, trainer = fitted(Manual(), max_epochs=10)
        self.assertEqual(trainer.global_step, 80)
        self.assertAlmostEqual(trainer.optimizers[0].param_groups[0]["lr"], 0.1 * 0.9**40)
        self.assertTrue(all(parameter.requires_grad for parameter in model.parameters()))
        self.assertLess(model.loss(line_data()).item(), 1.0)
        with self.assertRaisesRegex(ValueError, "gradient_clip_val is for automatic optimization, and Manual has manual"):
            fitted(Manual(), gradient_clip_val=1)


class Schedules(unittest.TestCase):
    @staticmethod
    def net(give):
        class Scheduled(Line):
            def configure_optimizers(self):
                return give(tandem.optim.SGD(self.parameters(), lr=1e-3))

        return Scheduled()

    def rate(self, give, **options):
        _, trainer = fitted(self.net(give), line_loader(), line_loader(), **{"max_epochs": 3, **options})
        return trainer.optimizers[0].param_groups[0]["lr"]

    def test_forms(self):
        step = tandem.optim.lr_scheduler.StepLR
        for give in (
            lambda optimizer: ([optimizer], [step(optimizer, 1, 0.5)]),
            lambda optimizer: ([optimizer], [{"scheduler": step(optimizer, 1, 0.5)}]),
            lambda optimizer: {"optimizer": optimizer, "lr_scheduler": step(optimizer, 1, 0.5)},
            lambda optimizer: {"optimizer": optimizer, "lr_scheduler": {"scheduler": step(optimizer, 1, 0.5), "interval": "epoch"}},
            lambda optimizer: [{"optimizer": optimizer, "lr_scheduler": step(optimizer, 1, 0.5)}],
        ):
            self.assertAlmostEqual(self.rate(give), 1e-3 / 8)
        for give in (lambda optimizer: optimizer, lambda optimizer: [optimizer], lambda optimizer: {"optimizer": optimizer}):
            self.assertEqual(self.rate(give), 1e-3)

    def test_intervals(self):
        def each(**options):
            return lambda optimizer: {
                "optimizer": optimizer,
                "lr_scheduler": {"scheduler": tandem.optim.lr_scheduler.StepLR(optimizer, 1, 0.5), **options},
            }

        self.assertAlmostEqual(self.rate(each(interval="step")), 1e-3 / 2**12)
        self.assertAlmostEqual(self.rate(each(interval="step", frequency=4)), 1e-3 / 8)
        self.assertAlmostEqual(self.rate(each(interval="step"), accumulate_grad_batches=4), 1e-3 / 8)
        self.assertAlmostEqual(self.rate(each(frequency=2), max_epochs=5), 1e-3 / 4)

    def test_plateau(self):
        def give(optimizer):
            plateau = tandem.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=1e9, threshold_mode="abs", factor=0.1)
            return {"optimizer": optimizer, "lr_scheduler": plateau, "monitor": "val_loss"}

        self.assertAlmostEqual(self.rate(give), 1e-3 * 0.01)  # the first epoch sets the best, two do not improve it

        def without(optimizer):
            return {"optimizer": optimizer, "lr_scheduler": tandem.optim.lr_scheduler.ReduceLROnPlateau(optimizer)}

        with self.assertRaisesRegex(ValueError, "ReduceLROnPlateau without the figure it watches"):
            self.rate(without)
        with self.assertRaisesRegex(
            RuntimeError, "conditioned on metric val_los which is not available. Available metrics are: .*val_loss"
        ):
            self.rate(lambda optimizer: {**give(optimizer), "monitor": "val_los"})

    def test_estimated_steps(self):
        seen = []

        class Asks(Line):
            def configure_optimizers(self):
                seen.append(self.trainer.estimated_stepping_batches)
                return super().configure_optimizers()

        fitted(Asks(), max_epochs=3)
        fitted(Asks(), max_epochs=3, accumulate_grad_batches=3)
        fitted(Asks(), max_epochs=3, max_steps=5)
        self.assertEqual(seen, [12, 6, 5])

    def test_own_optimizer_step(self):
        class Every2(Line):
            def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
                if batch_idx % 2 == 1:
                    optimizer.step(closure=optimizer_closure)

        self.assertEqual(fitted(Every2())[1].global_step, 2)

    def test_nonsense_is_named(self):
        for given, kind, text in (
            (None, TypeError, "Scheduled.configure_optimizers gave no optimizer"),
            (3, TypeError, "configure_optimizers gave 3 of type int, which is no optimizer"),
            ([1], TypeError, "configure_optimizers gave 1 of type int where an optimizer belongs"),
            ({"optimiser": 1}, ValueError, "unknown key 'optimiser'"),
            ({}, ValueError, "a dict that has no key 'optimizer'"),
        ):
            with self.assertRaisesRegex(kind, text):
                fitted(self.net(lambda optimizer, given=given: given))
        with self.assertRaisesRegex(TypeError, "gave 5 of type int where a scheduler belongs"):
            fitted(self.net(lambda optimizer: ([optimizer], [5])))
        with self.assertRaisesRegex(ValueError, 'must be "step" or "epoch" but is "batch"'):
            fitted(
                self.net(
                    lambda optimizer: ([optimizer], [{"scheduler": tandem.optim.lr_scheduler.StepLR(optimizer, 1), "interval": "batch"}])
                )
            )
        with self.assertRaisesRegex(ValueError, "gave 2 optimizers, and Training with multiple optimizers is only supported with manual"):
            fitted(self.net(lambda optimizer: [optimizer, optimizer]))


if __name__ == "__main__":
    unittest.main()
