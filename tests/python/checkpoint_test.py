"""Activation checkpointing: the gradients are those without it, and the inner tensors are computed twice."""
import unittest

import tandem
from tandem import nn
from tandem.utils.checkpoint import checkpoint, checkpoint_sequential


class Checkpoints(unittest.TestCase):
    def test_gradients_are_those_without(self):
        for device in ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else []):
            net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2)).to(device)
            x = tandem.arange(6.0, device=device).reshape(2, 3)
            found = []
            for call in (net, lambda x: checkpoint(net, x, use_reentrant=False), lambda x: checkpoint_sequential(net, 2, x)):
                net.zero_grad()
                x = x.detach().requires_grad_()
                tandem.manual_seed(4)
                loss = (call(x) ** 2).sum()
                tandem.rand(3, device=device)  # what is drawn in between does not matter
                loss.backward()
                found.append([x.grad.tolist()] + [param.grad.tolist() for param in net.parameters()])
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])

    def test_it_is_computed_again(self):
        calls = []

        def double(x):
            calls.append(1)
            return x * 2

        x = tandem.ones(2, requires_grad=True)
        loss = checkpoint(double, x, use_reentrant=False).sum()
        self.assertEqual(len(calls), 1)
        loss.backward()
        self.assertEqual((len(calls), x.grad.tolist()), (2, [2.0, 2.0]))

    def test_structures_and_functions_of_parameters_alone(self):
        weight = tandem.ones(2, requires_grad=True)

        def run(x, scale=1.0):
            return {"out": x * weight * scale, "x": [x, 3]}

        result = checkpoint(run, tandem.tensor([2.0, 5.0]), scale=10.0, use_reentrant=False)
        self.assertEqual(result["x"][1], 3)
        self.assertFalse(result["x"][0].requires_grad)
        (gradient,) = tandem.autograd.grad(result["out"].sum(), [weight])
        self.assertEqual(gradient.tolist(), [20.0, 50.0])
        self.assertIsNone(weight.grad)

    def test_without_gradients(self):
        self.assertFalse(checkpoint(lambda x: x * 2, tandem.ones(1)).requires_grad)
        with tandem.no_grad():
            self.assertFalse(checkpoint(lambda x: x * 2, tandem.ones(1, requires_grad=True)).requires_grad)


if __name__ == "__main__":
    unittest.main()
