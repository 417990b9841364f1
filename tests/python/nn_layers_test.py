"""Layers and functions: values against formulas, text, parameter names, first values and errors, on the CPU and a GPU."""

import math
import unittest
import warnings

import tandem as td
from tandem import nn
from tandem.nn import functional as F

DEVICES = ["cpu"] + (["cuda:0"] if td.cuda.is_available() else [])


def tensor(values, device="cpu"):
    return td.tensor(values, device=device)


def set_values(module, **values):
    with td.no_grad():
        for name, value in values.items():
            module.get_parameter(name).copy_(td.tensor(value))
    return module


class LayersTest(unittest.TestCase):
    def near(self, actual, expected, places=5):
        """Numbers, or lists of them, are the same up to rounding."""
        actual = actual.tolist() if isinstance(actual, td.Tensor) else actual
        if isinstance(expected, (list, tuple)):
            self.assertEqual(len(actual), len(expected))
            for a, e in zip(actual, expected):
                self.near(a, e, places)
        else:
            self.assertAlmostEqual(actual, expected, places)


class Linear(LayersTest):
    def test_values(self):
        for device in DEVICES:
            layer = set_values(nn.Linear(2, 2), weight=[[1.0, 2.0], [3.0, 4.0]], bias=[0.5, -0.5]).to(device)
            self.near(layer(tensor([[1.0, 1.0]], device)), [[3.5, 6.5]])
        layer = set_values(nn.Bilinear(2, 2, 1, bias=False), weight=[[[1.0, 2.0], [3.0, 4.0]]])
        self.near(layer(tensor([[1.0, 2.0]]), tensor([[3.0, 4.0]])), [[3 + 8 + 2 * 9 + 2 * 16]])
        self.assertIsInstance(nn.Identity(3, a=4), nn.Identity)

    def test_first_values_are_within_the_bound(self):
        layer = nn.Linear(16, 64)
        for parameter in layer.parameters():
            self.assertLessEqual(parameter.abs().max().item(), 0.25)
            self.assertGreater(parameter.abs().max().item(), 0.2)

    def test_draws_weight_then_bias(self):
        td.manual_seed(3)
        layer = nn.Linear(2, 2)
        td.manual_seed(3)
        bound = 1 / math.sqrt(2)
        weight = td.empty(2, 2).uniform_(-bound, bound)
        bias = td.empty(2).uniform_(-bound, bound)
        self.near(layer.weight, weight.tolist())
        self.near(layer.bias, bias.tolist())

    def test_dtype(self):
        self.assertEqual(nn.Linear(1, 1, dtype=td.float64).bias.dtype, td.float64)


class Convolutions(LayersTest):
    def test_values(self):
        for device in DEVICES:
            layer = set_values(nn.Conv1d(1, 1, 2), weight=[[[1.0, 10.0]]], bias=[0.5]).to(device)
            self.near(layer(tensor([[[1.0, 2.0, 3.0]]], device)), [[[21.5, 32.5]]])
            layer = set_values(nn.ConvTranspose1d(1, 1, 2, stride=2, bias=False), weight=[[[1.0, 10.0]]]).to(device)
            self.near(layer(tensor([[[1.0, 2.0]]], device)), [[[1.0, 10.0, 2.0, 20.0]]])

    def test_padding(self):
        ones = {"weight": [[[1.0, 1.0, 1.0]]]}
        x = tensor([[[1.0, 2.0, 3.0]]])
        self.near(set_values(nn.Conv1d(1, 1, 3, padding="same", bias=False), **ones)(x), [[[3.0, 6.0, 5.0]]])
        circular = nn.Conv1d(1, 1, 3, padding=1, padding_mode="circular", bias=False)
        self.near(set_values(circular, **ones)(x), [[[6.0, 6.0, 6.0]]])
        reflect = nn.Conv1d(1, 1, 3, padding="same", padding_mode="reflect", bias=False)
        self.near(set_values(reflect, **ones)(x), [[[5.0, 6.0, 7.0]]])
        self.assertEqual(nn.Conv2d(1, 1, 4, padding="same")(td.ones(1, 1, 5, 5)).shape, (1, 1, 5, 5))

    def test_output_size(self):
        layer = nn.ConvTranspose2d(1, 1, 3, 2)
        self.assertEqual(layer(td.ones(1, 1, 3, 3), output_size=(8, 7)).shape, (1, 1, 8, 7))
        with self.assertRaisesRegex(ValueError, r"requested an output size of \(99, 9\), but valid sizes range from \[7, 7\] to \[8, 8\]"):
            layer(td.ones(1, 1, 3, 3), output_size=(99, 9))

    def test_text(self):
        conv = nn.Conv2d(4, 4, 3, padding="same", groups=2, bias=False, padding_mode="reflect", dilation=2)
        self.assertEqual(
            repr(conv),
            "Conv2d(4, 4, kernel_size=(3, 3), stride=(1, 1), padding=same, dilation=(2, 2), groups=2, bias=False, padding_mode=reflect)",
        )
        self.assertEqual(conv.weight.shape, (4, 2, 3, 3))
        self.assertEqual(nn.ConvTranspose3d(2, 4, (1, 2, 3)).weight.shape, (2, 4, 1, 2, 3))

    def test_errors(self):
        for make, text in (
            (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
            (lambda: nn.Conv2d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
            (lambda: nn.Conv2d(4, 3, 3, padding="same", stride=2), "padding='same' is not supported for strided convolutions"),
            (lambda: nn.Conv2d(4, 3, 3, padding="x"), "Invalid padding string 'x', should be one of"),
            (lambda: nn.ConvTranspose2d(4, 3, 3, padding_mode="reflect"), 'Only "zeros" padding mode is supported for ConvTranspose2d'),
        ):
            with self.assertRaisesRegex(ValueError, text):
                make()


class Pooling(LayersTest):
    def test_values(self):
        for device in DEVICES:
            x = tensor([[[1.0, 5.0, 2.0, 4.0]]], device)
            self.near(nn.MaxPool1d(2)(x), [[[5.0, 4.0]]])
            values, indices = nn.MaxPool1d(2, return_indices=True)(x)
            self.assertEqual(indices.tolist(), [[[1, 3]]])
            self.near(nn.MaxUnpool1d(2)(values, indices), [[[0.0, 5.0, 0.0, 4.0]]])
            self.near(nn.MaxUnpool1d(2)(values, indices, output_size=(5,)), [[[0.0, 5.0, 0.0, 4.0, 0.0]]])
            self.near(nn.AvgPool1d(2)(x), [[[3.0, 3.0]]])
            self.near(nn.LPPool1d(2, 2)(x), [[[math.sqrt(26), math.sqrt(20)]]])
            self.near(nn.AdaptiveAvgPool1d(1)(x), [[[3.0]]])
            values, indices = nn.AdaptiveMaxPool1d(2, return_indices=True)(x)
            self.assertEqual((values.tolist(), indices.tolist()), ([[[5.0, 4.0]]], [[[1, 3]]]))
        x = td.arange(16.0).reshape(1, 1, 4, 4)
        self.near(nn.AvgPool2d(2, divisor_override=2)(x), [[[[5.0, 9.0], [21.0, 25.0]]]])
        self.assertEqual(nn.AdaptiveAvgPool2d((None, 2))(x).shape, (1, 1, 4, 2))
        self.near(F.max_pool2d(x, 2, return_indices=True)[1], [[[[5, 7], [13, 15]]]])

    def test_text(self):
        self.assertEqual(repr(nn.MaxPool2d(2)), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)")
        self.assertEqual(repr(nn.AvgPool1d(2)), "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))")


class Padding(LayersTest):
    def test_values(self):
        x = tensor([[[1.0, 2.0, 3.0]]])
        self.near(nn.ConstantPad1d(1, 9.0)(x), [[[9.0, 1.0, 2.0, 3.0, 9.0]]])
        self.near(nn.ReflectionPad1d((2, 0))(x), [[[3.0, 2.0, 1.0, 2.0, 3.0]]])
        self.near(nn.ReplicationPad1d(1)(x), [[[1.0, 1.0, 2.0, 3.0, 3.0]]])
        self.near(nn.CircularPad1d(1)(x), [[[3.0, 1.0, 2.0, 3.0, 1.0]]])
        self.assertEqual(nn.ZeroPad2d((1, 0, 2, 0))(td.ones(1, 1, 1, 1)).shape, (1, 1, 3, 2))
        self.assertEqual(repr(nn.ZeroPad2d(1)), "ZeroPad2d((1, 1, 1, 1))")


class Normalization(LayersTest):
    def test_batch_norm(self):
        for device in DEVICES:
            norm = nn.BatchNorm1d(1, eps=1e-12).to(device)
            self.near(norm(tensor([[1.0], [3.0]], device)), [[-1.0], [1.0]])
            self.near(norm.running_mean, [0.2])
            self.near(norm.running_var, [0.9 + 0.1 * 2])
            self.assertEqual(norm.num_batches_tracked.item(), 1)
            self.near(norm.eval()(tensor([[0.2]], device)), [[0.0]])

    def test_batch_norm_with_cumulative_average(self):
        norm = nn.BatchNorm1d(1, momentum=None)
        norm(tensor([[0.0], [2.0]]))
        norm(tensor([[2.0], [4.0]]))
        self.near(norm.running_mean, [2.0])

    def test_batch_norm_without_running_statistics(self):
        norm = nn.BatchNorm1d(1, eps=1e-12, track_running_stats=False, bias=False).eval()
        self.near(norm(tensor([[1.0], [3.0]])), [[-1.0], [1.0]])
        self.assertEqual(list(norm.state_dict()), ["weight"])

    def test_batch_norm_errors(self):
        with self.assertRaisesRegex(ValueError, r"Expected more than 1 value per channel when training, got input size"):
            nn.BatchNorm1d(3)(td.ones(1, 3))
        with self.assertRaisesRegex(ValueError, r"expected 4D input \(got 2D input\)"):
            nn.BatchNorm2d(3)(td.ones(2, 3))

    def test_state_of_before_counting(self):
        norm = nn.BatchNorm1d(1)
        state = norm.state_dict()
        del state["num_batches_tracked"]
        state._metadata[""] = {"version": 1}
        self.assertEqual(norm.load_state_dict(state).missing_keys, [])

    def test_others(self):
        for device in DEVICES:
            self.near(nn.LayerNorm(2, eps=0.0).to(device)(tensor([[1.0, 3.0]], device)), [[-1.0, 1.0]])
            self.near(nn.GroupNorm(1, 2, eps=0.0).to(device)(tensor([[1.0, 3.0]], device)), [[-1.0, 1.0]])
            self.near(nn.InstanceNorm1d(1, eps=0.0).to(device)(tensor([[[1.0, 3.0]]], device)), [[[-1.0, 1.0]]])
            rms = math.sqrt((9 + 16) / 2)
            self.near(nn.RMSNorm(2).to(device)(tensor([[3.0, 4.0]], device)), [[3 / rms, 4 / rms]])
        with self.assertRaisesRegex(ValueError, r"num_channels \(4\) must be divisible by num_groups \(3\)"):
            nn.GroupNorm(3, 4)
        self.near(nn.InstanceNorm1d(1, eps=0.0)(tensor([[1.0, 3.0]])), [[-1.0, 1.0]])

    def test_text(self):
        text = repr(nn.BatchNorm2d(3))
        self.assertEqual(text, "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)")
        self.assertEqual(repr(nn.LayerNorm(3)), "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)")

    def test_sync_batch_norm_is_batch_norm_alone(self):
        net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(1)))
        self.assertIsInstance(net[0], nn.SyncBatchNorm)


class Activations(LayersTest):
    def test_values(self):
        x = 0.7
        sigmoid = 1 / (1 + math.exp(-x))
        softplus = math.log1p(math.exp(x))
        normal = (1 + math.erf(x / math.sqrt(2))) / 2
        for layer, expected in (
            (nn.ReLU(), x),
            (nn.Sigmoid(), sigmoid),
            (nn.Tanh(), math.tanh(x)),
            (nn.SiLU(), x * sigmoid),
            (nn.Mish(), x * math.tanh(softplus)),
            (nn.GELU(), x * normal),
            (nn.Softplus(), softplus),
            (nn.LogSigmoid(), math.log(sigmoid)),
            (nn.Softsign(), x / (1 + x)),
            (nn.Tanhshrink(), x - math.tanh(x)),
            (nn.Hardswish(), x * (x + 3) / 6),
            (nn.Hardsigmoid(), (x + 3) / 6),
            (nn.Hardshrink(), x),
            (nn.Softshrink(), x - 0.5),
            (nn.Hardtanh(-0.1, 0.1), 0.1),
            (nn.ReLU6(), x),
            (nn.Threshold(1.0, 20.0), 20.0),
        ):
            for device in DEVICES:
                self.near(layer(tensor([x], device)), [expected])
        for layer, expected in (
            (nn.LeakyReLU(0.2), -0.2),
            (nn.ELU(), math.exp(-1) - 1),
            (nn.CELU(2.0), 2 * (math.exp(-0.5) - 1)),
            (nn.PReLU(), -0.25),
            (nn.RReLU().eval(), -(1 / 8 + 1 / 3) / 2),
        ):
            self.near(layer(tensor([-1.0])), [expected])
        self.near(nn.GLU()(tensor([2.0, 0.0])), [1.0])

    def test_inplace(self):
        layers = nn.ReLU(True), nn.ReLU6(True), nn.Hardtanh(inplace=True), nn.ELU(inplace=True), nn.LeakyReLU(0.1, True), nn.SiLU(True)
        for layer in layers:
            x = tensor([-1.0, 2.0])
            expected = type(layer)()(x) if not isinstance(layer, nn.LeakyReLU) else tensor([-0.1, 2.0])
            y = layer(x)
            self.assertIs(y, x)
            self.near(x, expected.tolist())
            self.assertIn("inplace=True", repr(layer))

    def test_softmax(self):
        x = tensor([[0.0, math.log(3.0)]])
        self.near(nn.Softmax(1)(x), [[0.25, 0.75]])
        self.near(nn.LogSoftmax(-1)(x), [[math.log(0.25), math.log(0.75)]])
        self.near(nn.Softmin(1)(x), [[0.75, 0.25]])
        self.assertEqual(F.softmax(x, 1, dtype=td.float64).dtype, td.float64)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.near(F.softmax(x), [[0.25, 0.75]])
        self.assertIn("Implicit dimension choice for softmax has been deprecated", str(caught[0].message))
        with self.assertRaisesRegex(ValueError, "Softmax2d: expected input to be 3D or 4D, got 1D instead"):
            nn.Softmax2d()(td.ones(2))


class Dropout(LayersTest):
    def test_scales_what_is_left(self):
        for device in DEVICES:
            y = nn.Dropout(0.25)(td.ones(4000, device=device))
            kept = (y != 0).float().mean().item()
            self.assertTrue(0.7 < kept < 0.8)
            self.near(y.max(), 4 / 3)

    def test_evaluation(self):
        x = td.ones(5)
        self.near(nn.Dropout().eval()(x), [1.0] * 5)
        self.near(F.dropout(x, training=False), [1.0] * 5)

    def test_channels(self):
        y = nn.Dropout2d()(td.ones(8, 8, 3, 3))
        self.assertTrue(td.equal(y.amax((2, 3)), y.amin((2, 3))))

    def test_errors(self):
        for call in (lambda: nn.Dropout(2), lambda: F.dropout(td.ones(1), 2)):
            with self.assertRaisesRegex(ValueError, "dropout probability has to be between 0 and 1, but got 2"):
                call()
        self.assertEqual(repr(nn.Dropout(0.3)), "Dropout(p=0.3, inplace=False)")


class Tables(LayersTest):
    def test_embedding(self):
        for device in DEVICES:
            table = nn.Embedding.from_pretrained(tensor([[1.0, 2.0], [3.0, 4.0]]), freeze=False, padding_idx=0).to(device)
            rows = table(tensor([1, 0, 1], device))
            self.near(rows, [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]])
            rows.sum().backward()
            self.near(table.weight.grad, [[0.0, 0.0], [2.0, 2.0]])

    def test_first_values(self):
        table = nn.Embedding(4, 2, padding_idx=-1)
        self.assertEqual(table.padding_idx, 3)
        self.near(table.weight[3], [0.0, 0.0])
        self.assertEqual(repr(table), "Embedding(4, 2, padding_idx=3)")
        self.assertFalse(nn.Embedding.from_pretrained(td.ones(1, 1)).weight.requires_grad)

    def test_max_norm(self):
        table = nn.Embedding(1, 2, max_norm=1.0, _weight=tensor([[3.0, 4.0]]))
        self.near(table(tensor([0])), [[0.6, 0.8]], 4)
        self.near(table.weight, [[0.6, 0.8]], 4)

    def test_bags(self):
        weight = tensor([[1.0], [2.0], [4.0]])
        indices, offsets = tensor([0, 1, 2]), tensor([0, 1])
        self.near(nn.EmbeddingBag(3, 1, _weight=weight)(indices, offsets), [[1.0], [3.0]])
        self.near(nn.EmbeddingBag(3, 1, mode="sum", _weight=weight)(tensor([[0, 1], [2, 2]])), [[3.0], [8.0]])
        self.near(nn.EmbeddingBag(3, 1, mode="max", _weight=weight)(indices, offsets), [[1.0], [4.0]])
        with self.assertRaisesRegex(ValueError, "offsets has to be a 1D Tensor but got None"):
            nn.EmbeddingBag(3, 1)(indices)


class Recurrent(LayersTest):
    def test_names_and_text(self):
        lstm = nn.LSTM(2, 3, 2, bidirectional=True, proj_size=1)
        first = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_hr_l0"]
        self.assertEqual([n for n, _ in lstm.named_parameters()][:6], [*first, "weight_ih_l0_reverse"])
        self.assertEqual(lstm.weight_ih_l1.shape, (12, 2))
        self.assertEqual(repr(nn.LSTM(3, 4, 2, bidirectional=True)), "LSTM(3, 4, num_layers=2, bidirectional=True)")
        self.assertEqual(repr(nn.RNNCell(2, 3, nonlinearity="relu")), "RNNCell(2, 3, nonlinearity=relu)")

    def test_rnn_against_the_formula(self):
        for device in DEVICES:
            rnn = nn.RNN(1, 1).to(device)
            set_values(rnn, weight_ih_l0=[[0.5]], weight_hh_l0=[[2.0]], bias_ih_l0=[0.1], bias_hh_l0=[0.2])
            output, h = rnn(tensor([[[1.0]], [[-1.0]]], device))
            first = math.tanh(0.8)
            second = math.tanh(-0.5 + 0.3 + 2 * first)
            self.near(output, [[[first]], [[second]]])
            self.near(h, [[[second]]])

    def check_stepwise(self, network, cell, x):
        """The network's outputs are those of its cell step by step."""
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            with td.no_grad():
                getattr(cell, name).copy_(getattr(network, name + "_l0"))
        output, _ = network(x)
        state = None
        for step in range(x.size(0)):
            state = cell(x[step], state)
            h = state[0] if isinstance(state, tuple) else state
            self.near(h, output[step].tolist())

    def test_cells(self):
        x = td.randn(4, 2, 3)
        self.check_stepwise(nn.LSTM(3, 5), nn.LSTMCell(3, 5), x)
        self.check_stepwise(nn.GRU(3, 5), nn.GRUCell(3, 5), x)
        self.check_stepwise(nn.RNN(3, 5, nonlinearity="relu"), nn.RNNCell(3, 5, nonlinearity="relu"), x)

    def test_batch_first_and_no_batch(self):
        gru = nn.GRU(3, 4, 2, batch_first=True, bidirectional=True)
        x = td.randn(2, 5, 3)
        output, h = gru(x)
        self.assertEqual((output.shape, h.shape), ((2, 5, 8), (4, 2, 4)))
        alone, h_alone = gru(x[1])
        self.near(alone, output[1].tolist())
        self.near(h_alone, h[:, 1].tolist())

    def test_packed_is_each_sequence_alone(self):
        for device in DEVICES:
            for network in (nn.LSTM(3, 4, 2, bidirectional=True), nn.GRU(3, 4, bias=False), nn.LSTM(3, 4, proj_size=2, bidirectional=True)):
                network = network.to(device)
                sequences = [td.randn(n, 3, device=device) for n in (2, 5, 1)]
                output, h = network(nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False))
                padded, lengths = nn.utils.rnn.pad_packed_sequence(output)
                self.assertEqual(lengths.tolist(), [2, 5, 1])
                for i, sequence in enumerate(sequences):
                    alone, h_alone = network(sequence.unsqueeze(1))
                    self.near(padded[: sequence.size(0), i], alone[:, 0].tolist(), 4)
                    both = (h, h_alone) if isinstance(h, td.Tensor) else (h[1], h_alone[1])
                    self.near(both[0][:, i], both[1][:, 0].tolist(), 4)

    def test_gradients_reach_all_weights_through_packed(self):
        lstm = nn.LSTM(2, 3, 2, bidirectional=True)
        output, _ = lstm(nn.utils.rnn.pack_sequence([td.randn(3, 2), td.randn(1, 2)]))
        output.data.sum().backward()
        for name, parameter in lstm.named_parameters():
            self.assertIsNotNone(parameter.grad, name)

    def test_errors(self):
        for call, error, text in (
            (lambda: nn.LSTM(3, 4)(td.ones(2, 3, 5)), RuntimeError, r"input.size\(-1\) must be equal to input_size. Expected 3, got 5"),
            (lambda: nn.LSTM(3, 4)(td.ones(2, 3, 4, 3)), ValueError, "LSTM: Expected input to be 2D or 3D, got 4D instead"),
            (lambda: nn.LSTM(3, 4, dropout=3), ValueError, r"dropout should be a number in range \[0, 1\]"),
            (lambda: nn.RNN(3, 4, nonlinearity="x"), ValueError, "Unknown nonlinearity 'x'. Select from 'tanh' or 'relu'."),
            (lambda: nn.GRU(3, 4)(td.ones(2, 3, 3), td.ones(1, 4)), RuntimeError, "For batched 3-D input, hx should also be 3-D"),
            (lambda: nn.GRUCell(2, 3)(td.ones(4, 5)), RuntimeError, "input has inconsistent input_size: got 5 expected 2"),
        ):
            with self.assertRaisesRegex(error, text):
                call()


class Attention(LayersTest):
    def test_names(self):
        same = nn.MultiheadAttention(4, 2)
        self.assertEqual([n for n, _ in same.named_parameters()], ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"])
        other = nn.MultiheadAttention(4, 2, kdim=3, add_bias_kv=True, bias=False)
        self.assertEqual(
            [n for n, _ in other.named_parameters()],
            ["q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"],
        )

    def test_against_the_formula(self):
        for device in DEVICES:
            attention = nn.MultiheadAttention(4, 2, batch_first=True).to(device)
            x = td.randn(3, 5, 4, device=device)
            output, weights = attention(x, x, x)
            q, k, v = F.linear(x, attention.in_proj_weight, attention.in_proj_bias).chunk(3, -1)
            q, k, v = (t.reshape(3, 5, 2, 2).transpose(1, 2) for t in (q, k, v))
            scores = (q @ k.transpose(-1, -2) / math.sqrt(2)).softmax(-1)
            expected = attention.out_proj((scores @ v).transpose(1, 2).reshape(3, 5, 4))
            self.near(output, expected.tolist(), 4)
            self.near(weights, scores.mean(1).tolist(), 4)
            self.assertIsNone(attention(x, x, x, need_weights=False)[1])

    def test_padding_does_not_count(self):
        layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
        x = td.randn(1, 3, 4)
        short = layer(x[:, :2])
        long = layer(x, src_key_padding_mask=tensor([[False, False, True]]))
        self.near(long[:, :2], short.tolist(), 4)

    def test_causal_mask(self):
        mask = nn.Transformer.generate_square_subsequent_mask(3)
        self.assertEqual(mask.tolist(), [[0, -math.inf, -math.inf], [0, 0, -math.inf], [0, 0, 0]])
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2)
        x = td.randn(3, 1, 4)
        whole = encoder(x, mask)
        self.near(whole[:2], encoder(x[:2], nn.Transformer.generate_square_subsequent_mask(2)).tolist(), 4)
        self.assertIsNot(encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight)

    def test_transformer(self):
        net = nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, norm_first=True, batch_first=True)
        y = net(td.randn(2, 3, 4), td.randn(2, 5, 4), tgt_mask=nn.Transformer.generate_square_subsequent_mask(5))
        self.assertEqual(y.shape, (2, 5, 4))
        y.sum().backward()
        self.assertTrue(all(p.grad is not None for p in net.parameters()))
        with self.assertRaisesRegex(RuntimeError, "the batch number of src and tgt must be equal"):
            net(td.ones(2, 2, 4), td.ones(3, 2, 4))
        with self.assertRaisesRegex(RuntimeError, "activation should be relu/gelu, not x"):
            nn.TransformerEncoderLayer(4, 2, activation="x")


class Losses(LayersTest):
    def test_cross_entropy(self):
        for device in DEVICES:
            logits, target = tensor([[0.0, math.log(3.0)], [0.0, 0.0]], device), tensor([1, 0], device)
            first, second = -math.log(0.75), math.log(2)
            self.near(nn.CrossEntropyLoss()(logits, target), (first + second) / 2)
            self.near(nn.CrossEntropyLoss(reduction="none")(logits, target), [first, second])
            weighted = nn.CrossEntropyLoss(tensor([3.0, 1.0])).to(device)
            self.near(weighted(logits, target), (first + 3 * second) / 4)
            self.assertEqual(list(weighted.state_dict()), ["weight"])
            self.near(F.cross_entropy(logits, target, ignore_index=0), first)

    def test_values(self):
        a, b = tensor([1.0, 2.0]), tensor([0.0, 4.0])
        for loss, expected in (
            (nn.MSELoss(), 2.5),
            (nn.L1Loss(), 1.5),
            (nn.L1Loss(reduction="sum"), 3.0),
            (nn.SmoothL1Loss(), (0.5 + 1.5) / 2),
            (nn.HuberLoss(), (0.5 + 1.5) / 2),
            (nn.PoissonNLLLoss(), (math.e + math.exp(2) - 8) / 2),
        ):
            self.near(loss(a, b), expected)
        self.near(nn.BCELoss()(tensor([0.25]), tensor([1.0])), -math.log(0.25))
        self.near(nn.BCEWithLogitsLoss(pos_weight=tensor([2.0]))(tensor([0.0]), tensor([1.0])), 2 * math.log(2))
        self.near(nn.NLLLoss()(tensor([[-1.0, -2.0]]), tensor([1])), 2.0)
        self.near(nn.KLDivLoss(reduction="batchmean")(tensor([[math.log(0.5)] * 2]), tensor([[1.0, 0.0]])), math.log(2))
        self.near(nn.HingeEmbeddingLoss()(tensor([0.25, 0.25]), tensor([1.0, -1.0])), 0.5)
        self.near(nn.MarginRankingLoss(0.5)(tensor([1.0]), tensor([2.0]), tensor([1.0])), 1.5)
        self.near(nn.CosineEmbeddingLoss()(tensor([[1.0, 0.0]]), tensor([[0.0, 1.0]]), tensor([1.0])), 1.0)
        triplet = (tensor([[0.0]]), tensor([[1.0]]), tensor([[3.0]]))
        self.near(nn.TripletMarginLoss(margin=5.0)(*triplet), 3.0, 4)
        self.near(nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(-1), margin=5.0)(*triplet), 3.0)
        self.near(nn.GaussianNLLLoss()(tensor([1.0]), tensor([3.0]), tensor([4.0])), 0.5 * (math.log(4) + 1))
        self.near(nn.MultiMarginLoss()(tensor([[0.0, 0.5]]), tensor([1])), 0.25)
        self.near(nn.SoftMarginLoss()(tensor([0.0]), tensor([1.0])), math.log(2))

    def test_ctc(self):
        # Two steps, labels {blank, 1}, each with probability 1/2: the target [1] is spelled by 11, -1 and 1-.
        log_probs = td.full((2, 1, 2), math.log(0.5))
        loss = nn.CTCLoss(reduction="sum")(log_probs, tensor([[1]]), tensor([2]), tensor([1]))
        self.near(loss, -math.log(0.75))

    def test_old_arguments(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(nn.MSELoss(size_average=False).reduction, "sum")
            self.assertEqual(nn.CrossEntropyLoss(reduce=False).reduction, "none")
            self.near(F.mse_loss(tensor([1.0, 2.0]), tensor([0.0, 0.0]), False), 5.0)
        self.assertIn("please use reduction='sum' instead", str(caught[0].message))

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, r"Target size \(\w+.Size\(\[2\]\)\) must be the same as input size"):
            F.binary_cross_entropy_with_logits(td.zeros(3), td.zeros(2))
        with self.assertRaisesRegex(ValueError, "foo is not a valid value for reduction"):
            F.cross_entropy(td.zeros(1, 2), tensor([1]), reduction="foo")

    def test_adaptive_softmax_sums_to_one(self):
        layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], div_value=2.0)
        logs = layer.log_prob(td.randn(3, 8))
        self.near(logs.exp().sum(1), [1.0] * 3, 4)
        x, target = td.randn(3, 8), tensor([0, 3, 9])
        output, loss = layer(x, target)
        self.near(output, [row[t] for row, t in zip(layer.log_prob(x).tolist(), target.tolist())])
        self.near(loss, -sum(output.tolist()) / 3)


class Shapes(LayersTest):
    def test_flatten(self):
        self.assertEqual(nn.Flatten()(td.ones(2, 3, 4)).shape, (2, 12))
        self.assertEqual(nn.Unflatten(1, (2, 3))(td.ones(2, 6)).shape, (2, 2, 3))
        with self.assertRaisesRegex(TypeError, "unflattened_size must be a tuple of ints, but found type int"):
            nn.Unflatten(1, 3)

    def test_shuffles(self):
        x = td.arange(4.0).reshape(1, 4, 1, 1)
        self.near(nn.PixelShuffle(2)(x), [[[[0.0, 1.0], [2.0, 3.0]]]])
        self.near(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)), x.tolist())
        self.near(nn.ChannelShuffle(2)(x).flatten(), [0.0, 2.0, 1.0, 3.0])

    def test_fold(self):
        x = td.arange(9.0).reshape(1, 1, 3, 3)
        columns = nn.Unfold(2)(x)
        self.assertEqual(columns.shape, (1, 4, 4))
        counts = nn.Fold(3, 2)(nn.Unfold(2)(td.ones(1, 1, 3, 3)))
        self.near(nn.Fold(3, 2)(columns) / counts, x.tolist())

    def test_upsampling(self):
        x = tensor([[[[1.0, 2.0]]]])
        self.near(nn.Upsample(scale_factor=2)(x), [[[[1.0, 1.0, 2.0, 2.0]] * 2]])
        self.near(nn.UpsamplingBilinear2d(size=(1, 3))(x), [[[[1.0, 1.5, 2.0]]]])
        self.assertEqual(repr(nn.Upsample(size=(2, 3))), "Upsample(size=(2, 3), mode='nearest')")
        for kwargs, text in (
            ({}, "either size or scale_factor should be defined"),
            ({"size": 3, "scale_factor": 2}, "only one of size or scale_factor should be defined"),
            ({"size": 3, "align_corners": True}, "align_corners option can only be set with the interpolating modes"),
            ({"size": (1, 2, 3)}, "Input and output must have the same number of spatial dimensions"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                F.interpolate(x, **kwargs)

    def test_grid(self):
        x = tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        theta = tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        grid = F.affine_grid(theta, (1, 1, 2, 2), align_corners=False)
        self.near(F.grid_sample(x, grid, align_corners=False), x.tolist())

    def test_distances(self):
        a, b = tensor([[3.0, 0.0]]), tensor([[0.0, 4.0]])
        self.near(nn.PairwiseDistance(eps=0.0)(a, b), [5.0])
        self.near(nn.CosineSimilarity()(a, b), [0.0])
        self.near(F.pdist(td.cat([a, b])), [5.0])
        self.near(F.normalize(tensor([[3.0, 4.0]])), [[0.6, 0.8]])
        self.assertEqual(F.one_hot(tensor([1, 0])).tolist(), [[0, 1], [1, 0]])


class Containers(LayersTest):
    def test_sequential(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Tanh())
        self.assertIsInstance(net[1:], nn.Sequential)
        self.assertEqual([type(m).__name__ for m in net[1:]], ["ReLU", "Tanh"])
        net.insert(1, nn.GELU()).append(nn.SiLU()).extend([nn.ELU()])
        del net[0]
        self.assertEqual([type(m).__name__ for m in net], ["GELU", "ReLU", "Tanh", "SiLU", "ELU"])
        self.assertEqual(list(net._modules), ["0", "1", "2", "3", "4"])
        self.assertIs(getattr(net, "0"), net[0])
        net[-1] = nn.Mish()
        self.assertIsInstance(net.pop(-1), nn.Mish)
        self.assertEqual(len(net + net), 8)
        self.assertEqual(len(net * 3), 12)
        with self.assertRaisesRegex(IndexError, "index 9 is out of range"):
            net[9]

    def test_module_list(self):
        layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU()])
        self.assertEqual(
            repr(layers), "ModuleList(\n  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n  (2): ReLU()\n)"
        )
        layers += [nn.Tanh()]
        layers.insert(0, nn.ELU())
        del layers[1:3]
        self.assertEqual([type(m).__name__ for m in layers], ["ELU", "ReLU", "Tanh"])
        with self.assertRaises(NotImplementedError):
            layers(1)

    def test_module_dict(self):
        heads = nn.ModuleDict({"a": nn.ReLU()})
        heads["b"] = nn.Tanh()
        heads.update([("c", nn.ELU())])
        self.assertEqual(list(heads), ["a", "b", "c"])
        self.assertIsInstance(heads.pop("b"), nn.Tanh)
        self.assertNotIn("b", heads)
        self.assertIs(heads.a, heads["a"])

    def test_parameter_containers(self):
        some = nn.ParameterList([td.ones(1), nn.Parameter(td.zeros(2))])
        some.append(td.ones(3))
        self.assertTrue(all(isinstance(p, nn.Parameter) for p in some))
        self.assertEqual(list(some.state_dict()), ["0", "1", "2"])
        self.assertEqual(some[-1].shape, (3,))
        named = nn.ParameterDict({"w": td.ones(2)})
        named["v"] = td.zeros(1)
        self.assertEqual(list(named.keys()), ["w", "v"])
        self.assertEqual([n for n, _ in named.named_parameters()], ["w", "v"])
        named.pop("w")
        self.assertEqual(len(list(named.parameters())), 1)


class FirstValues(LayersTest):
    def test_fillers(self):
        self.near(nn.init.eye_(td.empty(2, 2)), [[1.0, 0.0], [0.0, 1.0]])
        self.near(nn.init.constant_(td.empty(2), 3), [3.0, 3.0])
        dirac = nn.init.dirac_(nn.Conv1d(2, 2, 3, bias=False).weight)
        x = td.randn(1, 2, 5)
        self.near(F.conv1d(x, dirac, padding=1), x.tolist())
        q = nn.init.orthogonal_(td.empty(3, 5))
        self.near(q @ q.t(), td.eye(3).tolist(), 4)
        xavier = nn.init.xavier_uniform_(td.empty(30, 60))
        self.assertLessEqual(xavier.abs().max().item(), math.sqrt(6 / 90))
        kaiming = nn.init.kaiming_normal_(td.empty(100, 400), mode="fan_out", nonlinearity="relu")
        self.near(kaiming.std(), math.sqrt(2 / 100), 2)
        sparse = nn.init.sparse_(td.empty(10, 4), 0.3)
        self.assertEqual((sparse == 0).sum(0).tolist(), [3, 3, 3, 3])

    def test_truncated_normal(self):
        for bounds in ((-2.0, 2.0), (1.0, 2.0), (-0.1, 0.1)):
            values = nn.init.trunc_normal_(td.empty(2000), a=bounds[0], b=bounds[1])
            self.assertTrue(bounds[0] <= values.min().item() and values.max().item() <= bounds[1])
        tail = nn.init.trunc_normal_(td.empty(4000), a=1.0, b=2.0).mean().item()
        density = lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        inside = (math.erf(2 / math.sqrt(2)) - math.erf(1 / math.sqrt(2))) / 2
        self.assertAlmostEqual(tail, (density(1) - density(2)) / inside, delta=0.02)

    def test_parameters_record_nothing(self):
        weight = nn.Parameter(td.empty(2, 2))
        self.assertIs(nn.init.kaiming_uniform_(weight), weight)
        self.assertTrue(weight.is_leaf and weight.requires_grad)

    def test_gains_and_errors(self):
        self.assertAlmostEqual(nn.init.calculate_gain("tanh"), 5 / 3)
        self.assertAlmostEqual(nn.init.calculate_gain("leaky_relu", 1), 1.0)
        with self.assertRaisesRegex(ValueError, "Unsupported nonlinearity foo"):
            nn.init.calculate_gain("foo")
        with self.assertRaisesRegex(ValueError, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"):
            nn.init.xavier_uniform_(td.empty(3))


if __name__ == "__main__":
    unittest.main()
