"""nn.utils: clipping, vectors, weight and spectral normalization, parametrizations, packed sequences, fusion, stateless calls."""

import copy
import math
import unittest
import warnings

import tandem as td
from tandem import nn
from tandem.nn.utils import parametrizations, parametrize, rnn, stateless


class UtilsTest(unittest.TestCase):
    def near(self, actual, expected, tolerance=1e-5):
        actual, expected = td.as_tensor(actual), td.as_tensor(expected)
        self.assertEqual(actual.shape, expected.shape)
        self.assertLessEqual((actual - expected).abs().max().item(), tolerance)


class Clipping(UtilsTest):
    def parameters(self):
        first, second, third = (nn.Parameter(td.ones(1)) for _ in range(3))
        first.grad, second.grad = td.tensor([3.0]), td.tensor([4.0])
        return [first, second, third]

    def test_norm(self):
        parameters = self.parameters()
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(parameters, 1.0).item(), 5.0, places=5)
        self.near(parameters[0].grad, [0.6])
        self.near(parameters[1].grad, [0.8])
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(parameters, 10.0).item(), 1.0, places=5)
        self.near(parameters[1].grad, [0.8])

    def test_other_norms(self):
        gradients = [p.grad for p in self.parameters() if p.grad is not None]
        self.assertAlmostEqual(nn.utils.get_total_norm(gradients, 1).item(), 7.0, places=5)
        self.assertEqual(nn.utils.get_total_norm(gradients, math.inf).item(), 4.0)
        self.assertEqual(nn.utils.clip_grad_norm_([nn.Parameter(td.ones(1))], 1.0).item(), 0.0)

    def test_not_finite(self):
        parameters = self.parameters()
        parameters[0].grad.fill_(math.nan)
        with self.assertRaisesRegex(RuntimeError, "The total norm of order 2.0 for gradients from `parameters` is non-finite"):
            nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)

    def test_value(self):
        parameters = self.parameters()
        parameters[0].grad.fill_(-9)
        nn.utils.clip_grad_value_(parameters, 3.5)
        self.near(parameters[0].grad, [-3.5])
        self.near(parameters[1].grad, [3.5])

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_gradients_on_two_devices(self):
        parameters = self.parameters()[:2]
        parameters[1] = nn.Parameter(td.ones(1, device="cuda:0"))
        parameters[1].grad = td.tensor([4.0], device="cuda:0")
        self.assertAlmostEqual(nn.utils.clip_grad_norm_(parameters, 1.0).item(), 5.0, places=5)
        self.near(parameters[1].grad.cpu(), [0.8])


class Vectors(UtilsTest):
    def test_round_trip(self):
        parameters = [nn.Parameter(td.ones(2)), nn.Parameter(td.zeros(1, 2))]
        vector = nn.utils.parameters_to_vector(parameters)
        self.near(vector, [1.0, 1.0, 0.0, 0.0])
        nn.utils.vector_to_parameters(td.arange(4.0), parameters)
        self.near(parameters[1].detach(), [[2.0, 3.0]])
        with self.assertRaisesRegex(TypeError, "expected torch.Tensor, but got: int"):
            nn.utils.vector_to_parameters(3, parameters)


class Parametrizations(UtilsTest):
    def test_read_assign_remove(self):
        class Symmetric(nn.Module):
            def forward(self, x):
                return x.triu() + x.triu(1).transpose(-1, -2)

            def right_inverse(self, x):
                return x.triu()

        layer = nn.Linear(2, 2)
        parametrize.register_parametrization(layer, "weight", Symmetric())
        self.assertEqual(list(layer.state_dict()), ["bias", "parametrizations.weight.original"])
        layer.weight = td.tensor([[1.0, 2.0], [2.0, 3.0]])
        self.near(layer.weight.detach(), [[1.0, 2.0], [2.0, 3.0]])
        layer(td.ones(1, 2)).sum().backward()
        self.near(layer.parametrizations.weight.original.grad, [[1.0, 2.0], [0.0, 1.0]])
        self.assertEqual(type(layer).__name__, "ParametrizedLinear")
        twin = copy.deepcopy(layer)
        self.near(twin.weight.detach(), [[1.0, 2.0], [2.0, 3.0]])
        self.assertIsNot(twin.parametrizations.weight.original, layer.parametrizations.weight.original)
        parametrize.remove_parametrizations(layer, "weight")
        self.assertIs(type(layer), nn.Linear)
        self.assertIsInstance(layer.weight, nn.Parameter)
        self.near(layer.weight.detach(), [[1.0, 2.0], [2.0, 3.0]])

    def test_several_and_cached(self):
        layer = nn.Linear(2, 2)
        with td.no_grad():
            layer.weight.fill_(-2.0)
        parametrize.register_parametrization(layer, "weight", nn.Tanh())
        parametrize.register_parametrization(layer, "weight", nn.ReLU())
        self.near(layer.weight.detach(), td.zeros(2, 2))
        self.assertIsNot(layer.weight, layer.weight)
        with parametrize.cached():
            self.assertIs(layer.weight, layer.weight)
        self.assertTrue(parametrize.is_parametrized(layer, "weight"))
        self.assertFalse(parametrize.is_parametrized(layer, "bias"))

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, "does not have a parameter, a buffer, or a parametrized element with name 'x'"):
            parametrize.register_parametrization(nn.Linear(1, 1), "x", nn.ReLU())
        with self.assertRaisesRegex(ValueError, "may not change the shape of the tensor"):
            parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Flatten(0))
        with self.assertRaisesRegex(ValueError, "does not have a parametrization on weight"):
            parametrize.remove_parametrizations(nn.Linear(1, 1), "weight")

    def test_weight_norm(self):
        layer = nn.Linear(2, 1)
        with td.no_grad():
            layer.weight.copy_(td.tensor([[3.0, 4.0]]))
        parametrizations.weight_norm(layer)
        self.near(layer.parametrizations.weight.original0.detach(), [[5.0]])
        with td.no_grad():
            layer.parametrizations.weight.original0.fill_(10.0)
        self.near(layer.weight.detach(), [[6.0, 8.0]])

    def test_weight_norm_loads_the_older_names(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            older = nn.utils.weight_norm(nn.Linear(3, 2))
        newer = parametrizations.weight_norm(nn.Linear(3, 2))
        newer.load_state_dict(older.state_dict())
        self.near(newer(td.ones(1, 3)).detach(), older(td.ones(1, 3)).detach())

    def test_spectral_norm(self):
        layer = nn.Linear(2, 2)
        with td.no_grad():
            layer.weight.copy_(td.tensor([[0.0, 4.0], [2.0, 0.0]]))
        parametrizations.spectral_norm(layer)
        self.near(layer.weight.detach(), [[0.0, 1.0], [0.5, 0.0]], 1e-3)


class OlderNorms(UtilsTest):
    def test_weight_norm(self):
        layer = nn.Linear(2, 1, bias=False)
        with td.no_grad():
            layer.weight.copy_(td.tensor([[3.0, 4.0]]))
        with self.assertWarns(FutureWarning):
            nn.utils.weight_norm(layer)
        self.assertEqual([n for n, _ in layer.named_parameters()], ["weight_g", "weight_v"])
        with td.no_grad():
            layer.weight_g.fill_(10.0)
        self.near(layer(td.ones(1, 2)).detach(), [[14.0]])
        nn.utils.remove_weight_norm(layer)
        self.near(layer.weight.detach(), [[6.0, 8.0]])
        self.assertEqual([n for n, _ in layer.named_parameters()], ["weight"])
        with self.assertRaisesRegex(ValueError, "weight_norm of 'weight' not found in Linear"):
            nn.utils.remove_weight_norm(layer)

    def test_spectral_norm(self):
        layer = nn.Linear(2, 2, bias=False)
        with td.no_grad():
            layer.weight.copy_(td.tensor([[0.0, 4.0], [2.0, 0.0]]))
        nn.utils.spectral_norm(layer, n_power_iterations=20)
        layer(td.ones(1, 2)).sum().backward()
        self.near(layer.weight.detach(), [[0.0, 1.0], [0.5, 0.0]], 1e-4)
        self.assertIsNotNone(layer.weight_orig.grad)
        self.assertEqual(sorted(layer.state_dict()), ["weight_orig", "weight_u", "weight_v"])
        nn.utils.remove_spectral_norm(layer)
        self.assertEqual(list(layer.state_dict()), ["weight"])


class Sequences(UtilsTest):
    def test_pack(self):
        padded = td.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 0.0]])  # (T, N): lengths 3 and 2
        packed = rnn.pack_padded_sequence(padded, [3, 2])
        self.near(packed.data, [1.0, 4.0, 2.0, 5.0, 3.0])
        self.assertEqual(packed.batch_sizes.tolist(), [2, 2, 1])
        self.assertIsNone(packed.sorted_indices)
        back, lengths = rnn.pad_packed_sequence(packed, total_length=4, padding_value=-1.0)
        self.near(back, [[1.0, 4.0], [2.0, 5.0], [3.0, -1.0], [-1.0, -1.0]])
        self.assertEqual(lengths.tolist(), [3, 2])

    def test_not_sorted(self):
        sequences = [td.tensor([1.0]), td.tensor([2.0, 3.0, 4.0]), td.tensor([5.0, 6.0])]
        packed = rnn.pack_sequence(sequences, enforce_sorted=False)
        self.assertEqual(packed.sorted_indices.tolist(), [1, 2, 0])
        self.assertEqual(packed.unsorted_indices.tolist(), [2, 0, 1])
        for sequence, again in zip(sequences, rnn.unpack_sequence(packed)):
            self.near(again, sequence)
        self.assertEqual(packed.double().data.dtype, td.float64)
        self.assertIs(packed.to("cpu"), packed)

    def test_pad(self):
        sequences = [td.tensor([1.0]), td.tensor([2.0, 3.0])]
        self.near(rnn.pad_sequence(sequences, batch_first=True), [[1.0, 0.0], [2.0, 3.0]])
        self.near(rnn.pad_sequence(sequences, True, 9.0, "left"), [[9.0, 1.0], [2.0, 3.0]])
        cut = rnn.unpad_sequence(rnn.pad_sequence(sequences), td.tensor([1, 2]))
        self.near(cut[0], [1.0])

    def test_gradients(self):
        padded = td.ones(3, 2, requires_grad=True)
        rnn.pack_padded_sequence(padded, [3, 1]).data.sum().backward()
        self.near(padded.grad, [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])

    def test_errors(self):
        padded = td.ones(3, 2)
        for lengths, text in (
            ([2, 3], "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True"),
            ([3, 0], "Length of all samples has to be greater than 0"),
            ([3], r"Expected `len\(lengths\)` to be equal to batch_size, but got 1 \(batch_size=2\)"),
            ([4, 1], "Expected all lengths to be at most the 3 steps"),
        ):
            with self.assertRaisesRegex(RuntimeError, text):
                rnn.pack_padded_sequence(padded, lengths)


class Fusion(UtilsTest):
    def test_convolution_and_linear(self):
        x = td.randn(2, 2, 5, 5)
        conv, norm = nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3)
        norm(conv(x))
        conv.eval(), norm.eval()
        self.near(nn.utils.fuse_conv_bn_eval(conv, norm)(x).detach(), norm(conv(x)).detach(), 1e-4)
        linear, norm = nn.Linear(4, 3), nn.BatchNorm1d(3)
        norm(linear(td.randn(6, 4)))
        linear.eval(), norm.eval()
        x = td.randn(2, 4)
        self.near(nn.utils.fuse_linear_bn_eval(linear, norm)(x).detach(), norm(linear(x)).detach(), 1e-4)
        with self.assertRaisesRegex(AssertionError, "Fusion only for eval!"):
            nn.utils.fuse_linear_bn_eval(linear.train(), norm)


class Others(UtilsTest):
    def test_skip_init_draws_nothing(self):
        td.manual_seed(1)
        layer = nn.utils.skip_init(nn.Linear, 3, 4)
        drawn = td.rand(2)
        td.manual_seed(1)
        self.near(drawn, td.rand(2))
        self.assertIs(type(layer), nn.Linear)
        self.assertEqual(layer.weight.shape, (4, 3))
        with self.assertRaisesRegex(RuntimeError, "Module must support a 'device' arg to skip initialization"):
            nn.utils.skip_init(nn.ReLU)

    def test_functional_call(self):
        layer = nn.Linear(1, 1, bias=False)
        own = layer.weight
        weight = td.full((1, 1), 3.0, requires_grad=True)
        y = stateless.functional_call(layer, {"weight": weight}, td.full((1, 1), 2.0))
        y.sum().backward()
        self.assertEqual((y.item(), weight.grad.item()), (6.0, 2.0))
        self.assertIs(layer.weight, own)
        self.assertIsNone(own.grad)

    def test_functional_call_ties_weights(self):
        net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
        net[1].weight = net[0].weight
        y = stateless.functional_call(net, {"0.weight": td.full((1, 1), 3.0)}, td.ones(1, 1))
        self.assertEqual(y.item(), 9.0)
        with self.assertRaisesRegex(RuntimeError, r"Unexpected key\(s\): 'x'"):
            stateless.functional_call(net, {"x": td.ones(1)}, td.ones(1, 1), strict=True)

    def test_state_after_an_error_is_the_own_one(self):
        layer = nn.Linear(2, 1)
        own = layer.weight
        with self.assertRaises(RuntimeError):
            stateless.functional_call(layer, {"weight": td.ones(1, 2)}, td.ones(1, 5))
        self.assertIs(layer.weight, own)


if __name__ == "__main__":
    unittest.main()
