"""nn.grad: what backward gives of convolutions, from sizes alone."""

import unittest

import tandem as td
from tandem import nn
from tandem.nn import grad


class ConvolutionGradients(unittest.TestCase):
    def test_by_hand(self):
        ones = td.ones(1, 1, 2)
        self.assertEqual(grad.conv1d_input((1, 1, 3), td.tensor([[[2.0, 5.0]]]), ones).tolist(), [[[2, 7, 5]]])
        self.assertEqual(grad.conv1d_weight(td.tensor([[[1.0, 2.0, 4.0]]]), (1, 1, 2), ones).tolist(), [[[3, 6]]])

    def check(self, dimensions, device):
        convolve = getattr(nn.functional, f"conv{dimensions}d")
        options = dict(stride=2, padding=1, dilation=1, groups=2)
        x = td.randn(2, 4, *[6] * dimensions, device=device, requires_grad=True)
        weight = td.randn(6, 2, *[3] * dimensions, device=device, requires_grad=True)
        out = convolve(x, weight, **options)
        given = td.randn_like(out)
        by_input, by_weight = td.autograd.grad(out, [x, weight], given)
        with td.no_grad():
            of_input = getattr(grad, f"conv{dimensions}d_input")(x.shape, weight, given, **options)
            of_weight = getattr(grad, f"conv{dimensions}d_weight")(x, weight.shape, given, **options)
        self.assertTrue(td.allclose(of_input, by_input, atol=1e-5))
        self.assertTrue(td.allclose(of_weight, by_weight, atol=1e-5))

    def test_as_backward(self):
        for dimensions in (1, 2, 3):
            self.check(dimensions, "cpu")

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_gpu(self):
        self.check(2, "cuda:0")


if __name__ == "__main__":
    unittest.main()
