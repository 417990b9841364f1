"""Every module of tandem.nn as an ONNX file: it gives the same in onnxruntime, where that is installed, or is refused by name."""
import itertools
import os
import tempfile
import unittest

import tandem as torch
from tandem import nn

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None

ROWS, ONE, TWO, THREE = (6, 4), (2, 4, 9), (2, 4, 8, 10), (2, 4, 5, 6, 7)
STEPS = (3, 5, 8)


def positive(*sizes):
    return torch.rand(*sizes) * 0.8 + 0.1


def layer(**more):
    return {"dim_feedforward": 12, "batch_first": True, **more}


# What a module is made with, and what it is called with: sizes of normal numbers, or tensors. Several for one module that has kinds of it.
WRITTEN = {
    "AdaptiveAvgPool1d": [((3,), {}, ONE)],
    "AdaptiveAvgPool2d": [((1,), {}, TWO), (((4, 5),), {}, TWO)],
    "AdaptiveAvgPool3d": [((1,), {}, THREE)],
    "AdaptiveMaxPool1d": [((3,), {}, ONE)],
    "AdaptiveMaxPool2d": [((1,), {}, TWO), (((4, 5),), {}, TWO)],
    "AdaptiveMaxPool3d": [((1,), {}, THREE)],
    "AlphaDropout": [((0.5,), {}, ROWS)],
    "AvgPool1d": [((3,), {"stride": 2, "padding": 1}, ONE)],
    "AvgPool2d": [((3,), {"stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False}, TWO), (((2, 3),), {}, TWO)],
    "AvgPool3d": [((2,), {"padding": 1}, THREE)],
    "BCELoss": [((), {}, positive(6, 4), positive(6, 4)), ((), {"reduction": "none"}, positive(6, 4), positive(6, 4))],
    "BCEWithLogitsLoss": [((), {}, ROWS, positive(6, 4)), ((), {"pos_weight": positive(4), "reduction": "sum"}, ROWS, positive(6, 4))],
    "BatchNorm1d": [((4,), {}, ONE), ((4,), {"affine": False}, ROWS)],
    "BatchNorm2d": [((4,), {"eps": 0.1}, TWO)],
    "BatchNorm3d": [((4,), {}, THREE)],
    "Bilinear": [((4, 4, 3), {}, ROWS, ROWS), ((4, 4, 3), {"bias": False}, ROWS, ROWS)],
    "CELU": [((0.5,), {}, ROWS)],
    "ChannelShuffle": [((2,), {}, TWO)],
    "CircularPad1d": [((2,), {}, ONE)],
    "CircularPad2d": [(((1, 2, 0, 3),), {}, TWO)],
    "CircularPad3d": [((1,), {}, THREE)],
    "ConstantPad1d": [((2, 1.5), {}, ONE)],
    "ConstantPad2d": [(((1, -1, 0, 3), 2.0), {}, TWO)],
    "ConstantPad3d": [((1, 0.5), {}, THREE)],
    "Conv1d": [((4, 6, 3), {"stride": 2, "padding": 1}, ONE), ((4, 6, 3), {"padding": "same", "dilation": 2, "padding_mode": "reflect"}, ONE)],
    "Conv2d": [((4, 6, (2, 3)), {"groups": 2, "bias": False}, TWO), ((4, 6, 3), {"padding": 1, "padding_mode": "circular"}, TWO)],
    "Conv3d": [((4, 3, 2), {"dilation": 2}, THREE)],
    "ConvTranspose1d": [((4, 6, 3), {"stride": 2, "output_padding": 1}, ONE)],
    "ConvTranspose2d": [((4, 6, 3), {"stride": 2, "padding": 1, "groups": 2}, TWO)],
    "ConvTranspose3d": [((4, 3, 2), {"bias": False}, THREE)],
    "CosineEmbeddingLoss": [((), {"margin": 0.3}, ROWS, ROWS, torch.tensor([1, -1, 1, 1, -1, -1]))],
    "CosineSimilarity": [((), {}, ROWS, ROWS), ((0, 0.1), {}, ROWS, ROWS)],
    "CrossEntropyLoss": [
        ((), {}, ROWS, torch.arange(6) % 4),
        ((), {"weight": positive(4), "ignore_index": 2, "label_smoothing": 0.1}, ROWS, torch.arange(6) % 4),
        ((), {"reduction": "none", "label_smoothing": 0.2}, TWO, torch.arange(160).view(2, 8, 10) % 4),
        ((), {"reduction": "sum"}, ROWS, torch.softmax(torch.randn(6, 4), 1)),
    ],
    "CrossMapLRN2d": [((3,), {}, TWO)],
    "Dropout": [((), {}, ROWS)],
    "Dropout1d": [((), {}, ONE)],
    "Dropout2d": [((), {}, TWO)],
    "Dropout3d": [((), {}, THREE)],
    "ELU": [((0.5,), {}, ROWS)],
    "Embedding": [((9, 4), {}, torch.arange(8).view(2, 4)), ((9, 4), {"padding_idx": 2}, torch.arange(8).view(2, 4))],
    "FeatureAlphaDropout": [((), {}, TWO)],
    "Flatten": [((), {}, TWO), ((2, 3), {}, THREE)],
    "Fold": [(((4, 5), (2, 2)), {}, (1, 8, 12))],
    "GELU": [((), {}, ROWS), (("tanh",), {}, ROWS)],
    "GLU": [((), {}, ROWS), ((0,), {}, ROWS)],
    "GRU": [((8, 6), {"num_layers": 2, "batch_first": True}, STEPS), ((8, 6), {"bidirectional": True, "bias": False}, STEPS)],
    "GRUCell": [((4, 3), {}, ROWS)],
    "GroupNorm": [((2, 4), {}, TWO), ((1, 4), {"affine": False}, ONE)],
    "Hardshrink": [((), {}, ROWS)],
    "Hardsigmoid": [((), {}, ROWS)],
    "Hardswish": [((), {}, ROWS)],
    "Hardtanh": [((-0.5, 0.3), {}, ROWS)],
    "HingeEmbeddingLoss": [((), {}, ROWS, torch.tensor([1, -1, 1, 1, -1, -1]).view(6, 1).expand(6, 4).contiguous())],
    "HuberLoss": [((), {"delta": 0.3}, ROWS, ROWS)],
    "Identity": [((), {}, ROWS)],
    "InstanceNorm1d": [((4,), {}, ONE)],
    "InstanceNorm2d": [((4,), {"affine": True}, TWO), ((4,), {"track_running_stats": True}, TWO)],
    "InstanceNorm3d": [((4,), {}, THREE)],
    "KLDivLoss": [((), {"reduction": "batchmean"}, ROWS, positive(6, 4)), ((), {"log_target": True, "reduction": "sum"}, ROWS, ROWS)],
    "L1Loss": [((), {}, ROWS, ROWS)],
    "LPPool1d": [((2, 3), {"stride": 2}, ONE)],
    "LPPool2d": [((2, 3), {}, TWO)],
    "LPPool3d": [((1, 2), {}, THREE)],
    "LSTM": [((8, 6), {"num_layers": 2, "batch_first": True}, STEPS), ((8, 6), {"bidirectional": True}, STEPS)],
    "LSTMCell": [((4, 3), {}, ROWS)],
    "LayerNorm": [((4,), {}, ROWS), (((8, 10),), {"elementwise_affine": False}, TWO)],
    "LeakyReLU": [((0.3,), {}, ROWS)],
    "Linear": [((4, 3), {}, ROWS), ((4, 3), {"bias": False}, (2, 3, 4))],
    "LinearCrossEntropyLoss": [((4, 5), {}, ROWS, torch.arange(6) % 5)],
    "LocalResponseNorm": [((3,), {"k": 2}, TWO)],
    "LogSigmoid": [((), {}, ROWS)],
    "LogSoftmax": [((1,), {}, ROWS)],
    "MSELoss": [((), {}, ROWS, ROWS), ((), {"reduction": "none"}, ROWS, ROWS)],
    "MarginRankingLoss": [((0.2,), {}, (6,), (6,), torch.tensor([1, -1, 1, 1, -1, -1]))],
    "MaxPool1d": [((3,), {"stride": 2, "padding": 1}, ONE)],
    "MaxPool2d": [((3,), {"stride": 2, "dilation": 2, "ceil_mode": True}, TWO)],
    "MaxPool3d": [((2,), {}, THREE)],
    "Mish": [((), {}, ROWS)],
    "MultiLabelMarginLoss": [((), {}, ROWS, torch.tensor([[3, 0, -1, 1]]).expand(6, 4).contiguous())],
    "MultiLabelSoftMarginLoss": [((), {}, ROWS, positive(6, 4).round())],
    "MultiMarginLoss": [((), {}, ROWS, torch.arange(6) % 4), ((), {"p": 2, "margin": 0.5}, ROWS, torch.arange(6) % 4)],
    "MultiheadAttention": [((8, 2), {"batch_first": True}, STEPS, STEPS, STEPS), ((8, 2), {"add_bias_kv": True, "bias": False}, STEPS, STEPS, STEPS)],
    "NLLLoss": [((), {}, ROWS, torch.arange(6) % 4), ((), {"weight": positive(4), "ignore_index": 2, "reduction": "sum"}, ROWS, torch.arange(6) % 4)],
    "PReLU": [((), {}, ROWS), ((4,), {}, TWO)],
    "PairwiseDistance": [((), {}, ROWS, ROWS), ((1,), {"keepdim": True}, ROWS, ROWS)],
    "PixelShuffle": [((2,), {}, TWO)],
    "PixelUnshuffle": [((2,), {}, TWO)],
    "PoissonNLLLoss": [((), {}, ROWS, positive(6, 4)), ((), {"log_input": False, "full": True}, positive(6, 4), positive(6, 4) * 4)],
    "RMSNorm": [((4,), {}, ROWS)],
    "RNN": [((8, 6), {"nonlinearity": "relu", "batch_first": True}, STEPS)],
    "RNNCell": [((4, 3), {}, ROWS)],
    "RReLU": [((), {}, ROWS)],
    "ReLU": [((), {}, ROWS)],
    "ReLU6": [((), {}, ROWS)],
    "ReflectionPad1d": [((2,), {}, ONE)],
    "ReflectionPad2d": [(((1, 2, 0, 3),), {}, TWO)],
    "ReflectionPad3d": [((1,), {}, THREE)],
    "ReplicationPad1d": [((2,), {}, ONE)],
    "ReplicationPad2d": [(((1, 2, 0, 3),), {}, TWO)],
    "ReplicationPad3d": [((1,), {}, THREE)],
    "SELU": [((), {}, ROWS)],
    "Sequential": [((nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)), {}, ROWS)],
    "SiLU": [((), {}, ROWS)],
    "Sigmoid": [((), {}, ROWS)],
    "SmoothL1Loss": [((), {"beta": 0.3}, ROWS, ROWS)],
    "SoftMarginLoss": [((), {}, ROWS, ROWS)],
    "Softmax": [((1,), {}, ROWS)],
    "Softmax2d": [((), {}, TWO)],
    "Softmin": [((1,), {}, ROWS)],
    "Softplus": [((2, 1.0), {}, ROWS)],
    "Softshrink": [((0.2,), {}, ROWS)],
    "Softsign": [((), {}, ROWS)],
    "SyncBatchNorm": [((4,), {}, TWO)],
    "Tanh": [((), {}, ROWS)],
    "Tanhshrink": [((), {}, ROWS)],
    "Threshold": [((0.1, 20.0), {}, ROWS)],
    "Transformer": [((8, 2, 1, 1), layer(), STEPS, STEPS)],
    "TransformerDecoder": [((nn.TransformerDecoderLayer(8, 2, **layer()), 2), {}, STEPS, STEPS)],
    "TransformerDecoderLayer": [((8, 2), layer(norm_first=True), STEPS, STEPS)],
    "TransformerEncoder": [((nn.TransformerEncoderLayer(8, 2, **layer()), 2), {}, STEPS)],
    "TransformerEncoderLayer": [((8, 2), layer(activation="gelu"), STEPS), ((8, 2), layer(norm_first=True), STEPS)],
    "TripletMarginLoss": [((), {}, ROWS, ROWS, ROWS), ((), {"swap": True, "p": 1}, ROWS, ROWS, ROWS)],
    "TripletMarginWithDistanceLoss": [((), {}, ROWS, ROWS, ROWS)],
    "Unflatten": [((1, (2, 2)), {}, ROWS)],
    "Unfold": [((3,), {"stride": 2, "padding": 1}, TWO)],
    "Upsample": [((), {"scale_factor": 2}, TWO), ((), {"size": (5, 7), "mode": "bilinear", "align_corners": True}, TWO), ((), {"scale_factor": 2, "mode": "bicubic"}, TWO)],
    "UpsamplingBilinear2d": [((), {"scale_factor": 2}, TWO)],
    "UpsamplingNearest2d": [((), {"size": (4, 5)}, TWO)],
    "ZeroPad1d": [((2,), {}, ONE)],
    "ZeroPad2d": [(((1, 2, 0, 3),), {}, TWO)],
    "ZeroPad3d": [((1,), {}, THREE)],
}
# Modules of what ONNX has no operator for here: the operation that the error names.
REFUSED = {
    "AdaptiveLogSoftmaxWithLoss": (((4, 9, [3]), {}, ROWS, torch.arange(6)), ""),
    "CTCLoss": (((), {}, (5, 2, 4), torch.tensor([[1, 2], [2, 3]]), torch.tensor([5, 5]), torch.tensor([2, 2])), "ctc_loss"),
    "EmbeddingBag": (((9, 4), {}, torch.arange(8).view(2, 4)), "embedding_bag"),
    "FractionalMaxPool2d": (((2,), {"output_size": 3}, TWO), ""),
    "FractionalMaxPool3d": (((2,), {"output_size": 3}, THREE), ""),
    "GaussianNLLLoss": (((), {}, ROWS, ROWS, positive(6, 4)), "needs values"),
    "MaxUnpool1d": (((2,), {}, (1, 2, 3), torch.tensor([[[0, 2, 5], [1, 3, 4]]])), ""),
    "MaxUnpool2d": (((2,), {}, (1, 1, 1, 2), torch.tensor([[[[0, 3]]]])), ""),
    "MaxUnpool3d": (((2,), {}, (1, 1, 1, 1, 2), torch.tensor([[[[[0, 3]]]]])), ""),
}
# Bases, containers without a forward, and other names of a module; lazy ones are the plain ones once they have been called.
NO_FORWARD = {"Container", "Module", "ModuleDict", "ModuleList", "NLLLoss2d", "ParameterDict", "ParameterList", "RNNBase", "RNNCellBase"}


def made(case):
    arguments, options, *inputs = case
    return arguments, options, tuple(x if isinstance(x, torch.Tensor) else torch.randn(*x) for x in inputs)


def first_tensors(result):
    if isinstance(result, (tuple, list)):
        return [tensor for each in result for tensor in first_tensors(each)]
    return [] if result is None else [result]


class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "net.onnx")

    def tearDown(self):
        self.folder.cleanup()

    def test_every_module_has_a_row(self):
        there = {name for name in dir(nn) if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)}
        lazy = {name for name in there if name.startswith("Lazy")}
        self.assertEqual(there - lazy, set(WRITTEN) | set(REFUSED) | NO_FORWARD)
        self.assertFalse(set(WRITTEN) & set(REFUSED))
        self.assertLessEqual({name.removeprefix("Lazy") for name in lazy}, set(WRITTEN))

    def test_what_is_written_gives_the_same(self):
        for name, cases in WRITTEN.items():
            for case, device in itertools.product(cases, ("cpu", "cuda:0")):
                arguments, options, inputs = made(case)
                with self.subTest(module=name, arguments=arguments, options=options, device=device):
                    module = getattr(nn, name)(*arguments, **options).eval()
                    for buffer in module.buffers():  # figures of batch normalization that are not the first ones
                        if buffer.is_floating_point() and "Norm" in name:
                            buffer.uniform_(0.5, 2)
                    with torch.no_grad():
                        wanted = first_tensors(module(*inputs))
                    torch.onnx.export(module.to(device), tuple(x.to(device) for x in inputs), self.path)
                    if onnxruntime is None:
                        continue
                    onnx.checker.check_model(self.path, full_check=True)
                    session = onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"])
                    named = zip([each.name for each in session.get_inputs()], inputs)
                    found = session.run(None, {name: x.numpy() for name, x in named})
                    for a, b in zip(found, wanted, strict=True):
                        numpy.testing.assert_allclose(a, b.numpy(), 1e-5, 1e-5)

    def test_lazy_ones_are_written_once_they_were_called(self):
        module, x = nn.LazyLinear(3), torch.randn(2, 4)
        module(x)
        torch.onnx.export(module, x, self.path)
        self.assertEqual(os.listdir(self.folder.name), ["net.onnx"])

    def test_what_is_refused_says_so_and_leaves_no_file(self):
        for name, (case, operation) in REFUSED.items():
            arguments, options, inputs = made(case)
            with self.subTest(module=name):
                module = getattr(nn, name)(*arguments, **options).eval()
                with self.assertRaisesRegex((NotImplementedError, RuntimeError), operation or "."):
                    torch.onnx.export(module, inputs, self.path)
                self.assertEqual(os.listdir(self.folder.name), [])


if __name__ == "__main__":
    unittest.main()
