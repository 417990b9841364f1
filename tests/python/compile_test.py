"""tandem.compile of Python modules: the same results as the module's own forward, and all that must be followed."""

import copy
import gc
import io
import itertools
import math
import random
import unittest
import weakref

import tandem as torch
from tandem import nn
from tandem.testing import assert_close


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 8), nn.Linear(8, 3)
        self.scale = 1.0
        self.calls = []

    def forward(self, x):
        self.calls.append(1)
        return self.fc2(torch.relu(self.fc1(x))) * self.scale


def trained(model, steps=20):
    """The losses and the parameters after some steps of Adam."""
    torch.manual_seed(3)
    x, y = torch.randn(6, 4), torch.randn(6, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach().clone() for p in model.parameters()]


class CompileTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def test_training_gives_the_same_to_the_bit_without_calling_forward(self):
        plain = Net()
        other = copy.deepcopy(plain)
        fast = torch.compile(other)
        losses, parameters = trained(plain)
        fast_losses, fast_parameters = trained(fast)
        self.assertEqual(losses, fast_losses)
        for a, b in zip(parameters, fast_parameters):
            self.assertTrue(torch.equal(a, b))
        self.assertEqual(fast.why, "")
        self.assertLess(len(other.calls), 6)
        self.assertEqual(len(plain.calls), 20)
        self.assertIn("backward:", fast.steps())

    def test_evaluation(self):
        net = Net().eval()
        fast = torch.compile(net)
        with torch.no_grad():
            for rows in (1, 5, 1, 5):
                x = torch.randn(rows, 4)
                assert_close(fast(x), net(x))
                self.assertEqual(fast.why, "")

    def test_follows_what_changes(self):
        net = Net().eval()
        fast = torch.compile(net)
        x = torch.randn(2, 4)
        with torch.no_grad():
            for change in (
                lambda: net.fc1.weight.mul_(2),
                lambda: setattr(net.fc1, "weight", nn.Parameter(torch.ones(8, 4))),
                lambda: setattr(net, "scale", 3.0),
                lambda: setattr(net, "fc2", nn.Linear(8, 3)),
                lambda: setattr(net, "fc1", nn.Sequential(nn.Linear(4, 8), nn.Tanh())),
                lambda: net.load_state_dict({name: value + 1 for name, value in net.state_dict().items()}),
                lambda: net.double().float(),
            ):
                change()
                for _ in range(3):
                    assert_close(fast(x), net(x))
                self.assertEqual(fast.why, "")

    def test_every_combination_of_settings(self):
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.factor = 1.0

            def forward(self, x):
                return x * self.factor

        x = torch.ones(3)
        for combination in itertools.product((1.0, 1.5), repeat=5):
            net = nn.Sequential(*(Scaled() for _ in combination)).eval()
            fast = torch.compile(net)
            self.assertEqual(fast(x).tolist(), [1.0] * 3)
            for part, factor in zip(net, combination):
                part.factor = factor
            self.assertEqual(fast(x).tolist(), [math.prod(combination)] * 3)

    def test_random_changes_between_calls(self):
        """As the module itself: results, gradients and buffers, whatever was changed since the last call."""
        chance = random.Random(1)

        def new_part(size):
            return chance.choice((lambda: nn.Linear(size, size), nn.ReLU, nn.Tanh, lambda: nn.BatchNorm1d(size), nn.GELU, lambda: nn.Softmax(1)))()

        def linear_of(model):
            return next((part for part in model if isinstance(part, nn.Linear)), None)

        def assigned(model, size):
            if linear_of(model) is not None:
                linear_of(model).weight = nn.Parameter(torch.ones(size, size) / size)

        def data_assigned(model, size):
            if linear_of(model) is not None:
                linear_of(model).weight.data = torch.ones(size, size)

        changes = (
            lambda model, size: model.train(),
            lambda model, size: model.eval(),
            lambda model, size: [p.data.mul_(0.9) for p in model.parameters()],
            lambda model, size: [p.requires_grad_(False) for p in model.parameters()],
            lambda model, size: [p.requires_grad_(True) for p in model.parameters()],
            lambda model, size: model.append(nn.Sigmoid()),
            lambda model, size: model.load_state_dict({name: value * 2 for name, value in model.state_dict().items()}),
            lambda model, size: model[0].train(not model[0].training),
            assigned,
            data_assigned,
        )
        steps = 0
        for _ in range(60):
            size = chance.choice((4, 8))
            net = nn.Sequential(*(new_part(size) for _ in range(chance.randint(1, 4))))
            own = copy.deepcopy(net)
            fast = torch.compile(net)
            for _ in range(6):
                change = chance.choice(changes)
                change(net, size), change(own, size)
                x, records = torch.randn(chance.choice((2, 3, 5)), size), chance.random() < 0.5
                with torch.set_grad_enabled(records):
                    y, wanted = fast(x), own(x)
                steps += fast.why == ""
                assert_close(y, wanted)
                if y.requires_grad:
                    net.zero_grad(), own.zero_grad()
                    y.sin().sum().backward(), wanted.sin().sum().backward()
                    for p, q in zip(net.parameters(), own.parameters()):
                        assert_close(p.grad, q.grad)
                for value, wanted in zip(net.state_dict().values(), own.state_dict().values()):
                    assert_close(value, wanted)
        self.assertGreater(steps, 100)

    def test_modes_of_parts(self):
        net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        own = copy.deepcopy(net)
        fast = torch.compile(net)
        x = torch.randn(8, 4)
        for change in (lambda m: m.train(), lambda m: m.eval(), lambda m: m[1].train(), lambda m: m.train()):
            change(net), change(own)
            for _ in range(3):
                assert_close(fast(x), own(x))
        assert_close(net[1].running_mean, own[1].running_mean)
        self.assertEqual(net[1].num_batches_tracked.item(), own[1].num_batches_tracked.item())

    def test_what_is_called_itself_and_why(self):
        x = torch.randn(2, 4)

        class Pair(nn.Module):
            def forward(self, x):
                return x * 2, x * 3

        class Reads(nn.Module):
            def forward(self, x):
                return x * 2 if x.sum().item() > 0 else x * 3

        class Counts(nn.Module):
            def __init__(self):
                super().__init__()
                self.count = 0

            def forward(self, x):
                self.count += 1
                return x * self.count

        pair = torch.compile(Pair().eval())
        for _ in range(2):
            a, b = pair(x)
            assert_close(a, x * 2), assert_close(b, x * 3)
        self.assertIn("not a new tensor", pair.why)
        reads = torch.compile(Reads().eval())
        with torch.no_grad():
            assert_close(reads(x.abs()), x.abs() * 2)
            assert_close(reads(-x.abs()), -x.abs() * 3)
        self.assertIn("needs values", reads.why)
        counts = torch.compile(Counts().eval())
        results = [counts(x)[0, 0].item() / x[0, 0].item() for _ in range(30)]
        self.assertAlmostEqual(results[-1] - results[-2], 1, places=4)
        self.assertIn("change from call to call", counts.why)
        dropout = torch.compile(nn.Dropout(0.5))
        self.assertFalse(torch.equal(dropout(torch.ones(100)), dropout(torch.ones(100))))
        hooked = Net()
        seen = []
        hooked.fc1.register_forward_hook(lambda *args: seen.append(1))
        torch.compile(hooked)(x)
        self.assertEqual(seen, [1])

    def test_on_a_gpu_it_is_the_module(self):
        net = Net().to("cuda:0")
        fast = torch.compile(net)
        x = torch.randn(2, 4, device="cuda:0")
        assert_close(fast(x), net(x))
        self.assertIn("not on the CPU", fast.why)

    def test_errors_keep_their_class(self):
        fast = torch.compile(Net())
        with self.assertRaisesRegex(RuntimeError, "mat1 and mat2 shapes cannot be multiplied"):
            fast(torch.ones(2, 5))

        class Raises(nn.Module):
            def forward(self, x):
                raise KeyError("mine")

        with self.assertRaises(KeyError):
            torch.compile(Raises())(torch.ones(2))
        with self.assertRaises(TypeError):
            torch.compile(3)

    def test_it_stands_for_the_module(self):
        net = Net()
        fast = torch.compile(net)
        self.assertIs(fast.fc1, net.fc1)
        fast.scale = 2.0
        self.assertEqual(net.scale, 2.0)
        self.assertEqual(list(fast.state_dict())[0], "_orig_mod.fc1.weight")
        fast.eval()
        self.assertFalse(net.training)
        buffer = io.BytesIO()
        torch.save(copy.deepcopy(fast), buffer)
        net.compile()
        x = torch.randn(2, 4)
        with torch.no_grad():
            assert_close(net(x), net.forward(x))

    def test_functions_and_decorators(self):
        @torch.compile
        def double(x):
            return x * 2

        @torch.compile(fullgraph=True, mode="max-autotune")
        def triple(x):
            return x * 3

        self.assertEqual(double(torch.ones(1)).item() + triple(torch.ones(1)).item(), 5)

    def test_nothing_keeps_it_alive(self):
        net = Net()
        net.compile()
        net(torch.randn(2, 4)).sum().backward()
        fast = torch.compile(Net())
        fast(torch.randn(2, 4)).sum().backward()
        gone = weakref.ref(net), weakref.ref(fast._orig_mod)
        del net, fast
        gc.collect()
        self.assertEqual([ref() for ref in gone], [None, None])


if __name__ == "__main__":
    unittest.main()
