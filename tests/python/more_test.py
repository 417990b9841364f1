"""Counts, segments, fractional pooling, orthogonal weights, Adafactor, Muon and a linear layer with its loss: by values worked out by hand."""

import math
import unittest

import tandem
from tandem import nn
from tandem.nn import functional as F
from tandem.nn.utils import parametrizations

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])
tensor = tandem.tensor


class Functions(unittest.TestCase):
    def test_segments(self):
        for device in DEVICES:
            data, lengths = tensor([1.0, 2.0, 3.0, 4.0, 5.0], device=device), tensor([2, 0, 3], device=device)
            for reduce, wanted in (("sum", [3.0, 0.0, 12.0]), ("prod", [2.0, 1.0, 60.0]), ("max", [2.0, -math.inf, 5.0])):
                self.assertEqual(tandem.segment_reduce(data, reduce, lengths=lengths).tolist(), wanted)
            self.assertEqual(tandem.segment_reduce(data, "mean", offsets=tensor([0, 2, 5], device=device)).tolist(), [1.5, 4.0])
        rows = tandem.segment_reduce(tensor([[1.0, 2.0], [3.0, 4.0]]), "sum", lengths=tensor([[2, 0], [1, 1]]), axis=1)
        self.assertEqual(rows.tolist(), [[3.0, 0.0], [3.0, 4.0]])
        with self.assertRaisesRegex(RuntimeError, "Expected all rows of lengths along axis to sum to data.size"):
            tandem.segment_reduce(data, "sum", lengths=tensor([2, 2], device=data.device))

    def test_counts(self):
        found = tandem.histogramdd(tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), bins=[2, 2], weight=tensor([1.0, 2.0, 4.0, 8.0]))
        self.assertEqual(found.hist.tolist(), [[0.0, 1.0], [6.0, 8.0]])
        self.assertEqual([edges.tolist() for edges in found.bin_edges], [[0.0, 1.0, 2.0]] * 2)
        tandem.manual_seed(0)
        counts = tandem.poisson(tandem.full((50_000,), 4.0))
        self.assertAlmostEqual(counts.mean().item(), 4, delta=5 * 2 / math.sqrt(50_000))
        with self.assertRaisesRegex(RuntimeError, "invalid Poisson rate"):
            tandem.poisson(tensor([-1.0]))

    def test_layers_by_old_names(self):
        x = tandem.arange(12.0).reshape(3, 2, 2)
        found = tandem.conv_tbc(x, tandem.ones(2, 2, 1), tandem.zeros(1), 1)
        self.assertEqual(found[:, :, 0].tolist(), [[1.0, 5.0], [10.0, 18.0], [26.0, 34.0], [17.0, 21.0]])
        kept = tandem.ones(4)
        self.assertIs(tandem.alpha_dropout_(kept, 0.5, False), kept)
        self.assertEqual(tandem.vmap(lambda v: v * 2)(tensor([1.0, 2.0])).tolist(), [2.0, 4.0])


class Layers(unittest.TestCase):
    def test_fractional_pooling(self):
        for device in DEVICES:
            x = tandem.arange(25.0, device=device).reshape(1, 1, 5, 5)
            samples = tandem.zeros(1, 1, 2, device=device)  # windows begin at 0 and at 3
            found, places = F.fractional_max_pool2d(x, 2, output_size=2, return_indices=True, _random_samples=samples)
            self.assertEqual(found.tolist(), [[[[6.0, 9.0], [21.0, 24.0]]]])
            self.assertEqual(places.tolist(), [[[[6, 9], [21, 24]]]])
        self.assertEqual(nn.FractionalMaxPool3d(2, output_ratio=0.5)(tandem.rand(1, 2, 6, 6, 8)).shape, (1, 2, 3, 3, 4))
        with self.assertRaisesRegex(ValueError, "requires specifying either an output size, or a pooling ratio"):
            nn.FractionalMaxPool2d(2)
        with self.assertRaisesRegex(RuntimeError, "pool height 5 too large relative to input height 5"):
            F.fractional_max_pool2d(x, 5, output_size=2)

    def test_linear_layer_with_its_loss(self):
        loss = nn.LinearCrossEntropyLoss(3, 4, bias=True)
        x, target = tandem.rand(5, 3), tensor([0, 1, 2, 3, 0])
        self.assertTrue(tandem.equal(loss(x, target), F.cross_entropy(loss.linear(x), target)))
        self.assertEqual(list(loss.state_dict()), ["linear.weight", "linear.bias"])
        several = nn.LinearCrossEntropyLoss(3, 4, out_features=(2,))
        logits = several.linear(x).reshape(5, 4, 2)
        self.assertTrue(tandem.equal(several(x, target.unsqueeze(1).expand(5, 2)), F.cross_entropy(logits, target.unsqueeze(1).expand(5, 2))))

    def test_orthogonal_weights(self):
        tandem.manual_seed(0)
        for rows, columns in ((3, 3), (4, 2), (2, 4)):
            for kind in ("matrix_exp", "cayley", "householder"):
                for trivial in (True, False):
                    with self.subTest((rows, columns, kind, trivial)):
                        layer = parametrizations.orthogonal(
                            nn.Linear(columns, rows, bias=False, dtype=tandem.float64), orthogonal_map=kind, use_trivialization=trivial
                        )
                        layer.parametrizations.weight.original.data.add_(0.0 if kind == "householder" else 0.1)
                        weight = layer.weight
                        gram = weight @ weight.T if rows <= columns else weight.T @ weight
                        self.assertTrue(tandem.allclose(gram, tandem.eye(min(rows, columns), dtype=tandem.float64)))
        square = parametrizations.orthogonal(nn.Linear(3, 3, bias=False, dtype=tandem.float64))
        rotation = tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], dtype=tandem.float64)
        square.weight = rotation
        self.assertTrue(tandem.allclose(square.weight, rotation))


class Steps(unittest.TestCase):
    def test_adafactor(self):
        w = tensor([[3.0, 4.0]], requires_grad=True)
        optimizer = tandem.optim.Adafactor([w], lr=0.01)
        w.sum().backward()
        optimizer.step()
        # The update is 1 for each element; the step is the root mean square of w times min(lr, 1).
        size = math.sqrt(12.5) * 0.01
        self.assertTrue(tandem.allclose(w, tensor([[3.0 - size, 4.0 - size]])))
        self.assertEqual(sorted(optimizer.state[w]), ["col_var", "row_var", "step"])

    def test_muon(self):
        w = tandem.zeros(2, 2, requires_grad=True)
        optimizer = tandem.optim.Muon([w], lr=1.0, weight_decay=0.0)
        (w * tensor([[3.0, 0.0], [0.0, -5.0]])).sum().backward()
        optimizer.step()
        # About minus the sign of the gradient; the quintic's steps leave singular values between 0.7 and 1.2.
        self.assertTrue(bool((w.abs().diagonal() > 0.6).all() and (w.abs().diagonal() < 1.3).all()))
        self.assertTrue(w[0, 0] < 0 < w[1, 1])
        with self.assertRaisesRegex(ValueError, "Muon only supports 2D parameters"):
            tandem.optim.Muon([tandem.zeros(3, requires_grad=True)])

    def test_other_parameters_for_a_while(self):
        w, other = tensor([1.0], requires_grad=True), tensor([5.0], requires_grad=True)
        optimizer = tandem.optim.SGD([w], lr=0.1)
        with tandem.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, optimizer.state_dict()):
            other.grad = tensor([1.0])
            optimizer.step()
        self.assertEqual(w.item(), 1.0)
        self.assertAlmostEqual(other.item(), 4.9, places=6)
        self.assertIs(optimizer.param_groups[0]["params"][0], w)


if __name__ == "__main__":
    unittest.main()
