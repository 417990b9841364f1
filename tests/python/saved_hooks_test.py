"""Hooks of the tensors that backward needs: saved_tensors_hooks, save_on_cpu, disable_saved_tensors_hooks."""

import contextlib
import os
import tempfile
import unittest
import uuid

import tandem
from tandem.autograd import graph
from tandem.utils.checkpoint import checkpoint

DEVICES = ["cpu", "cuda:0"]


class SavedTensorsHooks(unittest.TestCase):
    def test_backward_computes_with_what_unpack_gives(self):
        for device in DEVICES:
            x = tandem.tensor([2.0, 3.0], device=device, requires_grad=True)
            seen = []

            def pack(tensor):
                self.assertFalse(tensor.requires_grad)
                seen.append(tensor.tolist())
                return {"times": 10, "tensor": tensor}

            with graph.saved_tensors_hooks(pack, lambda kept: kept["tensor"] * kept["times"]):
                y = x * x
            self.assertEqual(seen, [[2.0, 3.0], [2.0, 3.0]])
            y.sum().backward()
            self.assertEqual(x.grad.tolist(), [40.0, 60.0])

    def test_values_may_wait_in_files(self):
        with tempfile.TemporaryDirectory() as folder:
            def pack(tensor):
                name = os.path.join(folder, uuid.uuid4().hex)
                tandem.save(tensor, name)
                return name

            x = tandem.ones(5, requires_grad=True)
            with graph.saved_tensors_hooks(pack, tandem.load):
                y = x.exp().pow(2)
            self.assertGreater(len(os.listdir(folder)), 0)
            y.sum().backward()
            tandem.testing.assert_close(x.grad, 2 * tandem.ones(5).exp() ** 2)

    def test_the_innermost_block_counts(self):
        calls = []
        with graph.saved_tensors_hooks(lambda t: calls.append("outer") or t, lambda t: t):
            x = tandem.ones(1, requires_grad=True)
            with graph.saved_tensors_hooks(lambda t: calls.append("inner") or t, lambda t: t):
                x.exp()
            x.exp()
        x.exp()
        self.assertEqual(calls, ["inner", "outer"])

    def test_exceptions_cross_with_their_own_type(self):
        class Full(Exception):
            pass

        def raises(_):
            raise Full("no room")

        x = tandem.ones(1, requires_grad=True)
        with graph.saved_tensors_hooks(raises, lambda t: t):
            with self.assertRaises(Full):
                x.exp()
        with graph.saved_tensors_hooks(lambda t: t, raises):
            y = x.exp()
        with self.assertRaises(Full):
            y.backward()
        with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
            y = x.exp()
        with self.assertRaisesRegex(TypeError, "unpack_hook expected to be a Tensor but got result of type int"):
            y.backward()
        with graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
            with self.assertRaisesRegex(RuntimeError, "A saved tensor pack hook is modifying its input in place"):
                x.exp()
        self.assertEqual(x.exp().pow(0).sum().item(), 1.0)

    def test_the_block_ends_with_an_error(self):
        calls = []
        with self.assertRaises(KeyError):
            with graph.saved_tensors_hooks(lambda t: calls.append(1) or t, lambda t: t):
                raise KeyError
        tandem.ones(1, requires_grad=True).exp()
        self.assertEqual(calls, [])

    def test_second_gradients(self):
        x = tandem.tensor([2.0], requires_grad=True)
        with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            y = x.exp() * x
            (first,) = tandem.autograd.grad(y.sum(), x, create_graph=True)
            (second,) = tandem.autograd.grad(first.sum(), x)
        value = x.detach()
        tandem.testing.assert_close(second, value.exp() * (value + 2))

    def test_functions_of_ones_own(self):
        class Square(tandem.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * 2 * x

        x = tandem.tensor([3.0], requires_grad=True)
        calls = []
        with graph.saved_tensors_hooks(lambda t: calls.append("pack") or t, lambda t: calls.append("unpack") or t):
            y = Square.apply(x)
        y.backward()
        self.assertEqual(calls, ["pack", "unpack"])
        self.assertEqual(x.grad.item(), 6.0)

    def test_may_be_forbidden(self):
        with graph.disable_saved_tensors_hooks("not here"):
            with self.assertRaisesRegex(RuntimeError, "not here"):
                with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                    pass
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass


class SaveOnCPU(unittest.TestCase):
    def test_a_checkpoint_keeps_its_inputs_so(self):
        for device in DEVICES:
            tandem.manual_seed(4)
            linear = tandem.nn.Linear(5, 5).to(device)
            x = tandem.randn(2, 5, device=device, requires_grad=True)
            found = []
            for scope in (contextlib.nullcontext(), graph.save_on_cpu()):
                with scope:
                    y = checkpoint(lambda a: linear(a).sin(), x, use_reentrant=False)
                y.square().sum().backward()
                found.append((x.grad, linear.weight.grad))
                x.grad = linear.weight.grad = None
            for one, other in zip(*found):
                self.assertTrue(tandem.equal(one, other))

    def test_frees_the_gpus_memory(self):
        side = 512
        for pin_memory in (False, True):
            x = tandem.rand(side, side, device="cuda", requires_grad=True)

            def chain():
                y = x
                for _ in range(8):
                    y = y.sin()
                return y

            (expected,) = tandem.autograd.grad(chain().sum(), x)
            before = tandem.cuda.memory_allocated()
            with graph.save_on_cpu(pin_memory=pin_memory):
                y = chain()
            self.assertLessEqual(tandem.cuda.memory_allocated() - before, side * side * 4 + 4096)  # y alone
            (gradient,) = tandem.autograd.grad(y.sum(), x)
            self.assertEqual(gradient.device, x.device)
            self.assertTrue(tandem.equal(gradient, expected))

    def test_a_network_learns_the_same(self):
        for device in DEVICES:
            tandem.manual_seed(1)
            net = tandem.nn.Sequential(
                tandem.nn.Conv2d(1, 3, 3), tandem.nn.BatchNorm2d(3), tandem.nn.ReLU(), tandem.nn.Flatten(), tandem.nn.Linear(108, 4)
            ).to(device)
            x = tandem.randn(2, 1, 8, 8, device=device)
            net(x).square().sum().backward()
            plain = [p.grad.clone() for p in net.parameters()]
            net.zero_grad()
            with graph.save_on_cpu():
                loss = net(x).square().sum()
            loss.backward()
            for one, other in zip(plain, net.parameters()):
                self.assertTrue(tandem.equal(one, other.grad))


if __name__ == "__main__":
    unittest.main()
