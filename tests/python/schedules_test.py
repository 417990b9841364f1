"""Schedules: the rates of each against its formula, their dictionaries and what they refuse; loss scaling and autocast."""
import math
import pickle
import unittest
import warnings

import tandem
from tandem import nn, optim
from tandem.amp import GradScaler, autocast
from tandem.optim import lr_scheduler as schedules


def optimizer(lr=0.1, kind=optim.SGD, **options):
    return kind([nn.Parameter(tandem.zeros(1))], lr=lr, **options)


def rates(schedule, steps):
    """The rate at first and after each step."""
    found = [schedule.get_last_lr()[0]]
    for _ in range(steps):
        schedule.optimizer.step()
        schedule.step()
        found.append(schedule.get_last_lr()[0])
        assert schedule.optimizer.param_groups[0]["lr"] == found[-1]
    return found


class Rates(unittest.TestCase):
    def check(self, schedule, formula, steps=100):
        for epoch, rate in enumerate(rates(schedule, steps)):
            self.assertAlmostEqual(rate, formula(epoch), places=9, msg=f"epoch {epoch}")

    def test_factors(self):
        self.check(schedules.LambdaLR(optimizer(), lambda epoch: 0.9**epoch), lambda e: 0.1 * 0.9**e)
        self.check(schedules.MultiplicativeLR(optimizer(), lambda epoch: 0.5), lambda e: 0.1 * 0.5**e)
        self.check(schedules.StepLR(optimizer(), 7, 0.5), lambda e: 0.1 * 0.5 ** (e // 7))
        self.check(schedules.MultiStepLR(optimizer(), [30, 5, 5], 0.1), lambda e: 0.1 if e < 5 else 0.001 if e < 30 else 0.0001)
        self.check(schedules.ConstantLR(optimizer(), 0.5, 4), lambda e: 0.05 if e < 4 else 0.1)
        self.check(schedules.LinearLR(optimizer(), 0.2, 0.8, 10), lambda e: 0.1 * (0.2 + 0.6 * min(e, 10) / 10))
        self.check(schedules.ExponentialLR(optimizer(), 0.9), lambda e: 0.1 * 0.9**e)
        self.check(schedules.PolynomialLR(optimizer(), 20, 2.0), lambda e: 0.1 * (1 - min(e, 20) / 20) ** 2)

    def test_cosines(self):
        self.check(schedules.CosineAnnealingLR(optimizer(), 20, 0.01), lambda e: 0.01 + 0.09 * (1 + math.cos(math.pi * e / 20)) / 2)

        def restarts(epoch):
            period = 10
            while epoch >= period:
                epoch -= period
                period *= 2
            return 0.1 * (1 + math.cos(math.pi * epoch / period)) / 2

        self.check(schedules.CosineAnnealingWarmRestarts(optimizer(), 10, 2), restarts)

    def test_cyclic(self):
        def triangle(epoch, down=6):
            place = epoch % (4 + down)
            share = place / 4 if place <= 4 else (4 + down - place) / down
            return share, epoch // (4 + down)

        schedule = schedules.CyclicLR(optimizer(momentum=0.9), 0.1, 0.5, 4, 6, mode="triangular2")
        self.check(schedule, lambda e: 0.1 + 0.4 * triangle(e)[0] / 2 ** triangle(e)[1])
        schedule = schedules.CyclicLR(optimizer(momentum=0.9), 0.1, 0.5, 4, mode="exp_range", gamma=0.9)
        self.check(schedule, lambda e: 0.1 + 0.4 * triangle(e, 4)[0] * 0.9**e, 42)
        self.assertAlmostEqual(schedule.optimizer.param_groups[0]["momentum"], 0.9 - 0.1 * 0.5 * 0.9**42, places=9)

    def test_one_cycle(self):
        sgd = optimizer(momentum=0.9)
        found = rates(schedules.OneCycleLR(sgd, 1.0, total_steps=11, pct_start=0.5, anneal_strategy="linear"), 10)
        up = [0.04 + 0.96 * epoch / 4.5 for epoch in range(5)]
        last = 0.04 / 1e4
        down = [1 + (last - 1) * (epoch - 4.5) / 5.5 for epoch in range(5, 11)]
        for rate, expected in zip(found, up + down):
            self.assertAlmostEqual(rate, expected, places=9)
        self.assertAlmostEqual(sgd.param_groups[0]["momentum"], 0.95)
        adam = optimizer(kind=optim.Adam)
        rates(schedules.OneCycleLR(adam, 1.0, total_steps=11, pct_start=0.5, anneal_strategy="linear"), 2)
        self.assertAlmostEqual(adam.param_groups[0]["betas"][0], 0.95 - 0.1 * 2 / 4.5)
        self.assertEqual(adam.param_groups[0]["betas"][1], 0.999)

    def test_plateau(self):
        sgd = optimizer(lr=1.0)
        schedule = schedules.ReduceLROnPlateau(sgd, factor=0.5, patience=1, cooldown=1, min_lr=0.2)
        found = []
        for metric in (3.0, 2.0, 2.0, tandem.tensor(2.0), 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0):
            schedule.step(metric)
            found.append(sgd.param_groups[0]["lr"])
        self.assertEqual(found, [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2])
        highest = schedules.ReduceLROnPlateau(sgd, "max", patience=0, threshold_mode="abs", threshold=1.0)
        highest.step(1.0)
        highest.step(2.5)
        self.assertEqual(sgd.param_groups[0]["lr"], 0.2)
        highest.step(3.0)
        self.assertAlmostEqual(sgd.param_groups[0]["lr"], 0.02)

    def test_one_after_another_and_all_at_once(self):
        sgd = optimizer()
        parts = [schedules.ConstantLR(sgd, 0.5, 99), schedules.ExponentialLR(sgd, 0.9)]
        self.check(schedules.SequentialLR(sgd, parts, [5]), lambda e: 0.05 if e < 5 else 0.1 * 0.9 ** (e - 5), 20)
        sgd = optimizer()
        parts = [schedules.ConstantLR(sgd, 0.5, 4), schedules.ExponentialLR(sgd, 0.9)]
        self.check(schedules.ChainedScheduler(parts), lambda e: 0.1 * 0.9**e * (0.5 if e < 4 else 1), 20)

    def test_swa(self):
        for strategy, share in (("linear", lambda done: done), ("cos", lambda done: (1 - math.cos(math.pi * done)) / 2)):
            schedule = optim.swa_utils.SWALR(optimizer(), 0.5, anneal_epochs=4, anneal_strategy=strategy)
            self.check(schedule, lambda e: 0.1 + 0.4 * share(min(e, 4) / 4), 10)

    def test_each_group_has_its_rate(self):
        sgd = optim.SGD([{"params": [nn.Parameter(tandem.zeros(1))], "lr": lr} for lr in (1.0, 2.0)])
        schedule = schedules.LambdaLR(sgd, [lambda epoch: 0.5, lambda epoch: 0.25])
        self.assertEqual(schedule.get_last_lr(), [0.5, 0.5])
        self.assertEqual(schedule.base_lrs, [1.0, 2.0])

    def test_a_tensor_stays_the_same_tensor(self):
        lr = tandem.tensor(0.5)
        sgd = optimizer(lr=lr)
        schedule = schedules.StepLR(sgd, 1, 0.5)
        rates(schedule, 1)
        self.assertIs(sgd.param_groups[0]["lr"], lr)
        self.assertEqual(lr.item(), 0.25)
        self.assertEqual(schedule.base_lrs[0].item(), 0.5)


class Use(unittest.TestCase):
    def test_state_dicts_go_on(self):
        makers = [
            lambda sgd: schedules.StepLR(sgd, 3, 0.5),
            lambda sgd: schedules.CosineAnnealingLR(sgd, 20),
            lambda sgd: schedules.OneCycleLR(sgd, 1.0, 40),
            lambda sgd: schedules.SequentialLR(sgd, [schedules.LinearLR(sgd), schedules.ExponentialLR(sgd, 0.9)], [4]),
            lambda sgd: schedules.LambdaLR(sgd, lambda epoch: 1 / (epoch + 1)),
        ]
        for make in makers:
            sgd, other = optimizer(momentum=0.9), optimizer(momentum=0.9)
            schedule = make(sgd)
            rates(schedule, 6)
            resumed = make(other)
            other.load_state_dict(sgd.state_dict())
            resumed.load_state_dict(pickle.loads(pickle.dumps(schedule.state_dict())))
            self.assertEqual(rates(schedule, 10), rates(resumed, 10))

    def test_all_are_from_one_module(self):
        for name in schedules.__all__:
            kind = getattr(schedules, name)
            self.assertEqual((kind.__module__, pickle.loads(pickle.dumps(kind))), (schedules.__name__, kind))

    def test_the_rate_is_used(self):
        p = nn.Parameter(tandem.zeros(1))
        sgd = optim.SGD([p], lr=1.0)
        schedule = schedules.ExponentialLR(sgd, 0.5)
        for _ in range(3):
            p.grad = tandem.ones(1)
            sgd.step()
            schedule.step()
        self.assertEqual(p.item(), -1.75)

    def test_the_order_of_steps_is_warned_of(self):
        schedule = schedules.StepLR(optimizer(), 1)
        with self.assertWarnsRegex(UserWarning, r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
            schedule.step()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rates(schedules.StepLR(optimizer(), 1), 3)

    def test_refusals(self):
        sgd = optimizer()
        cases = [
            (lambda: schedules.StepLR(3, 1), TypeError, "int is not an Optimizer"),
            (lambda: schedules.StepLR(optimizer(), 1, last_epoch=2), KeyError, "param 'initial_lr' is not specified in param_groups[0]"),
            (lambda: schedules.LambdaLR(sgd, [1, 2]), ValueError, "Expected 1 lr_lambdas, but got 2"),
            (lambda: schedules.LinearLR(sgd, 0), ValueError, "Starting multiplicative factor expected to be greater than 0"),
            (lambda: schedules.CosineAnnealingWarmRestarts(sgd, 0), ValueError, "Expected positive integer T_0, but got 0"),
            (lambda: schedules.CyclicLR(optimizer(kind=optim.Adagrad), 1, 2), ValueError, "optimizer must support momentum or beta1"),
            (lambda: schedules.OneCycleLR(sgd, 1), ValueError, "You must define either total_steps OR (epochs AND steps_per_epoch)"),
            (lambda: rates(schedules.OneCycleLR(sgd, 1, 3), 4), ValueError, "Tried to step 4 times. The specified number of total"),
            (lambda: schedules.ReduceLROnPlateau(sgd, factor=1), ValueError, "Factor should be < 1.0."),
            (lambda: schedules.SequentialLR(sgd, [], []), ValueError, "SequentialLR expects at least one scheduler"),
        ]
        for make, kind, text in cases:
            with self.subTest(text=text), self.assertRaises(kind) as caught:
                make()
            self.assertIn(text, str(caught.exception))


class Scaling(unittest.TestCase):
    def run_step(self, scaler, sgd, p, factor):
        sgd.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(sgd)
        scaler.update()

    def test_steps_growth_and_backoff(self):
        for device in ["cpu"] + (["cuda"] if tandem.cuda.is_available() else []):
            p = nn.Parameter(tandem.ones(2, device=device))
            sgd = optim.SGD([p], lr=0.5)
            scaler = GradScaler(device, init_scale=8.0, growth_interval=2)
            self.run_step(scaler, sgd, p, 1.0)
            self.assertEqual(p.tolist(), [0.5, 0.5])
            self.assertEqual(scaler.get_scale(), 8.0)
            self.run_step(scaler, sgd, p, 1.0)
            self.assertEqual(scaler.get_scale(), 16.0)
            self.run_step(scaler, sgd, p, math.inf)
            self.assertEqual(p.tolist(), [0.0, 0.0])
            self.assertEqual(scaler.get_scale(), 8.0)
            self.run_step(scaler, sgd, p, math.nan)
            self.assertEqual(scaler.get_scale(), 4.0)

    def test_unscale(self):
        p = nn.Parameter(tandem.ones(1))
        sgd = optim.SGD([p], lr=1.0)
        scaler = GradScaler("cpu", init_scale=4.0)
        scaler.scale(p.sum() * 3).backward()
        self.assertEqual(p.grad.item(), 12.0)
        scaler.unscale_(sgd)
        self.assertEqual(p.grad.item(), 3.0)
        with self.assertRaisesRegex(RuntimeError, r"unscale_\(\) has already been called on this optimizer since the last update\(\)."):
            scaler.unscale_(sgd)
        with self.assertRaisesRegex(RuntimeError, "only be pickled"):
            pickle.dumps(scaler)
        scaler.step(sgd)
        self.assertEqual(p.item(), -2.0)
        with self.assertRaisesRegex(RuntimeError, r"step\(\) has already been called since the last update\(\)."):
            scaler.step(sgd)
        scaler.update(new_scale=2.0)
        self.assertEqual(scaler.get_scale(), 2.0)

    def test_state(self):
        scaler = GradScaler("cpu", init_scale=32.0, growth_interval=7)
        expected = {"scale": 32.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 7, "_growth_tracker": 0}
        self.assertEqual(scaler.state_dict(), expected)
        other = GradScaler("cpu")
        other.load_state_dict(expected)
        self.assertEqual(pickle.loads(pickle.dumps(other)).state_dict(), expected)
        off = GradScaler("cpu", enabled=False)
        self.assertEqual((off.state_dict(), off.get_scale(), off.scale(3)), ({}, 1.0, 3))
        with self.assertRaisesRegex(RuntimeError, "The source state dict is empty"):
            scaler.load_state_dict({})

    def test_misuse(self):
        p = nn.Parameter(tandem.ones(1))
        scaler = GradScaler("cpu")
        with self.assertRaisesRegex(AssertionError, "Attempted step but _scale is None"):
            scaler.step(optim.SGD([p], lr=1.0))
        scaler.scale(p.sum())
        with self.assertRaisesRegex(AssertionError, "No inf checks were recorded for this optimizer."):
            scaler.step(optim.SGD([p], lr=1.0))
        with self.assertRaisesRegex(AssertionError, "The growth factor must be > 1.0."):
            GradScaler("cpu", growth_factor=1.0)


class Autocast(unittest.TestCase):
    def test_scopes(self):
        x = tandem.ones(2, 2)
        with autocast("cpu"):
            self.assertEqual((x @ x).dtype, tandem.bfloat16)
            with autocast("cpu", enabled=False):
                self.assertEqual((x @ x).dtype, tandem.float32)
            with autocast("cpu", dtype=tandem.float16):
                self.assertEqual((x @ x).dtype, tandem.float16)
            self.assertEqual((x @ x).dtype, tandem.bfloat16)
        self.assertEqual((x @ x).dtype, tandem.float32)

    def test_on_a_gpu(self):
        if not tandem.cuda.is_available():
            self.skipTest("no GPU")
        x = tandem.ones(2, 2, device="cuda:0")
        with autocast("cuda"):
            self.assertEqual((x @ x).dtype, tandem.float16)

    def test_as_decorator_and_after_an_error(self):
        @autocast("cpu")
        def product(x, again):
            if again:
                return product(x, False)
            return x @ x

        x = tandem.ones(2, 2)
        self.assertEqual(product(x, True).dtype, tandem.bfloat16)
        with self.assertRaises(ZeroDivisionError), autocast("cpu"):
            1 / 0
        self.assertEqual((x @ x).dtype, tandem.float32)

    def test_other_dtypes_are_off(self):
        with self.assertWarnsRegex(UserWarning, "In CPU autocast, but the target dtype is not supported. Disabling autocast."):
            scope = autocast("cpu", dtype=tandem.float64)
        with scope:
            self.assertEqual((tandem.ones(2, 2) @ tandem.ones(2, 2)).dtype, tandem.float32)


if __name__ == "__main__":
    unittest.main()
