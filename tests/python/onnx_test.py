"""tandem.onnx.export: files that onnxruntime and onnx's checker take, where these are installed."""
import os
import tempfile
import unittest

import tandem as torch
from tandem import nn
from tandem.nn import functional as F

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None


class Attention(nn.Module):
    """A block of a language model, with a table of words that is its last layer, too."""

    def __init__(self, words=50, width=32, heads=4, longest=128):
        super().__init__()
        self.words, self.places, self.heads = nn.Embedding(words, width), nn.Embedding(longest, width), heads
        self.qkv, self.out, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids):
        n, t = ids.shape
        x = self.words(ids) + self.places(torch.arange(t))
        q, k, v = self.qkv(self.norm(x)).split(x.size(-1), dim=2)
        q, k, v = (z.view(n, t, self.heads, -1).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(F.gelu(x + self.out(y.transpose(1, 2).reshape(n, t, -1))))


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(8, 5)
        self.body[1].running_mean.normal_()
        self.body[1].running_var.uniform_(0.5, 2)

    def forward(self, x):
        y = self.body(x)
        return self.fc(torch.flatten(self.pool(y), 1))


class Any(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.linear, self.body = nn.Linear(4, 4), body

    def forward(self, x):
        return self.body(self, x)


class Export(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "net.onnx")

    def tearDown(self):
        self.folder.cleanup()

    def check(self, model, args, others=(), limit=1e-4, **options):
        model.eval()
        args = args if isinstance(args, tuple) else (args,)
        torch.onnx.export(model, args, self.path, **options)
        if onnxruntime is None:
            self.skipTest("onnx, onnxruntime and numpy are not installed: what was written is compared with nothing here")
        onnx.checker.check_model(self.path, full_check=True)
        session = onnxruntime.InferenceSession(self.path)
        names = [each.name for each in session.get_inputs()]
        for given in (args, *others):
            given = given if isinstance(given, tuple) else (given,)
            with torch.no_grad():
                wanted = model(*given)
            found = session.run(None, {name: x.numpy() for name, x in zip(names, given, strict=True)})
            wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
            for a, b in zip(found, wanted, strict=True):
                numpy.testing.assert_allclose(a, b.numpy(), limit, limit)
        return onnx.load(self.path)

    def test_pictures_of_any_batch_and_size(self):
        model = self.check(
            Pictures(), torch.randn(2, 3, 32, 32), [torch.randn(1, 3, 32, 32), torch.randn(5, 3, 17, 45)], dynamic_axes={"x": {0: "batch", 2: "h", 3: "w"}}
        )
        self.assertIn("BatchNormalization", [node.op_type for node in model.graph.node])
        self.assertIn("body.0.weight", [tensor.name for tensor in model.graph.initializer])

    def test_words_of_any_batch_and_length(self):
        n, t = torch.onnx.Dim("n"), torch.onnx.Dim("t", min=1, max=128)
        others = [torch.randint(0, 50, (1, 1)), torch.randint(0, 50, (3, 90))]
        model = self.check(Attention(), torch.randint(0, 50, (2, 12)), others, dynamic_shapes={"ids": {0: n, 1: t}})
        self.assertEqual(sum(tensor.name == "words.weight" for tensor in model.graph.initializer), 1)
        self.assertNotIn("head.weight", [tensor.name for tensor in model.graph.initializer])

    def test_recurrent_networks(self):
        for kind in (nn.LSTM, nn.GRU):
            axes = {"input": {0: "n", 1: "t"}}
            model = Any(lambda self, x: self.network(x)[0])
            model.network = kind(4, 8, 2, bidirectional=True, batch_first=True)
            self.check(model, torch.randn(2, 7, 4), [torch.randn(1, 3, 4), torch.randn(4, 20, 4)], input_names=["input"], dynamic_axes=axes)

    def test_what_forward_makes_and_changes(self):
        def body(self, x):
            y = self.linear(x) + torch.tensor([1.0, 2.0, 3.0, 4.0])
            y[:, 1] = 0
            y[0] += 1
            return torch.cat([y, x[:, ::2], (y > 0) & (x > 0)], 1), y.mean(0)

        self.check(Any(body), torch.randn(3, 4), [torch.randn(1, 4), torch.randn(6, 4)], dynamic_axes={"x": [0]})

    def test_arguments_and_names(self):
        class Two(nn.Module):
            def forward(self, a, b=None, *, scale=1.0):
                return {"product": a @ b, "sum": [a + scale]}

        a, b = torch.randn(2, 3), torch.randn(3, 3)
        torch.onnx.export(Two(), (a,), self.path, kwargs={"scale": 2.0, "b": b}, output_names=["product", "sum"], opset_version=17)
        if onnxruntime is None:
            self.skipTest("onnxruntime is not installed")
        session = onnxruntime.InferenceSession(self.path)
        self.assertEqual([each.name for each in session.get_inputs()], ["a", "b"])
        product, total = session.run(["product", "sum"], {"a": a.numpy(), "b": b.numpy()})
        numpy.testing.assert_allclose(product, (a @ b).numpy(), 1e-5, 1e-5)
        numpy.testing.assert_allclose(total, (a + 2).numpy())

    def test_modes_and_gradients_stay(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
        model[2].eval()
        model(torch.randn(3, 4)).sum().backward()
        before = [p.grad.clone() for p in model.parameters()]
        torch.onnx.export(model, torch.randn(2, 4), self.path)
        for mode in (torch.onnx.TrainingMode.TRAINING, torch.onnx.TrainingMode.PRESERVE):
            with self.assertRaisesRegex(RuntimeError, r"\[dropout\] needs values, or is not the same in each call"):
                torch.onnx.export(model, torch.randn(2, 4), self.path + "2", training=mode)
        self.assertEqual([part.training for part in model.modules()], [True, True, True, False])
        for p, grad in zip(model.parameters(), before, strict=True):
            self.assertTrue(torch.equal(p.grad, grad))
        self.assertEqual(os.listdir(self.folder.name), ["net.onnx"])

    def test_what_cannot_be_written_says_so_and_leaves_no_file(self):
        def refuse(body, text, error=RuntimeError, **options):
            with self.assertRaisesRegex(error, text):
                torch.onnx.export(Any(body), torch.randn(2, 4), self.path, **options)
            self.assertEqual(os.listdir(self.folder.name), [])

        refuse(lambda self, x: torch.erfinv(x), r"erfinv \(onnx_test.py:\d+\): the operation 'erfinv' cannot be written", NotImplementedError)
        refuse(lambda self, x: self.linear(x) if x.sum() > 0 else x, r"\[bool\] needs values.*onnx_test.py:\d+")
        refuse(lambda self, x: x.sum().item(), r"\[item\] needs values")
        refuse(lambda self, x: self.missing(x), "has no attribute 'missing'", AttributeError)
        refuse(lambda self, x: self.missing(x), "AttributeError: .* has no attribute 'missing'", dynamic_axes={"x": {0: "n"}})
        refuse(lambda self, x: self.linear(x) if len(x) % 2 else x * 2, "goes another way for other sizes", NotImplementedError, dynamic_axes={"x": {0: "n"}})
        refuse(lambda self, x: self.linear.weight.data.add_(1) * x.sum(), "changes a tensor that was there before", NotImplementedError)
        with self.assertRaisesRegex(NotImplementedError, "give the file to write as f"):
            torch.onnx.export(nn.Linear(4, 4), torch.randn(2, 4))
        with self.assertRaisesRegex(RuntimeError, "nowhere"):
            torch.onnx.export(nn.Linear(4, 4), torch.randn(2, 4), os.path.join(self.folder.name, "nowhere", "net.onnx"))

    def test_on_a_gpu_and_in_two_files(self):
        model, x = nn.Linear(8, 8).to("cuda:0"), torch.randn(2, 8)
        places = [p.data_ptr() for p in model.parameters()]
        torch.onnx.export(model, x.to("cuda:0"), self.path, external_data=True)
        self.assertEqual(places, [p.data_ptr() for p in model.parameters()])
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["net.onnx", "net.onnx.data"])
        if onnxruntime is None:
            self.skipTest("onnxruntime is not installed")
        found = onnxruntime.InferenceSession(self.path).run(None, {"input": x.numpy()})[0]
        numpy.testing.assert_allclose(found, model.cpu()(x).detach().numpy(), 1e-5, 1e-5)


if __name__ == "__main__":
    unittest.main()
