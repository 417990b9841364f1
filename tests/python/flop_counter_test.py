"""FlopCounterMode: counts by operation and module against those of PyTorch, backward's too, and the table."""

import contextlib
import io
import unittest

import tandem as torch
import tandem.nn.functional as F
from tandem import nn
from tandem.utils.flop_counter import FlopCounterMode

DEVICES = ["cpu"] + (["cuda:0"] if torch.cuda.is_available() else [])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.fc = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4, bias=False))

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))


def named(counts):
    """The counts with names of operations as text."""
    return {module: {str(op): count for op, count in of_module.items()} for module, of_module in counts.items()}


class Counts(unittest.TestCase):
    def test_forward(self):
        for device in DEVICES:
            net, x = Net().to(device), torch.rand(2, 3, 8, 8, device=device)
            with self.subTest(device), FlopCounterMode(display=False) as counter:
                net(x)
            convolution, addmm, mm = {"aten.convolution": 55296}, {"aten.addmm": 512}, {"aten.mm": 256}
            self.assertEqual(named(counter.get_flop_counts()), {
                "Global": convolution | addmm | mm, "Net": convolution | addmm | mm, "Net.conv": convolution, "Net.fc": addmm | mm,
                "Net.fc.0": addmm, "Net.fc.2": mm,
            })  # fmt: skip
            self.assertEqual(counter.get_total_flops(), 56064)

    def test_backward(self):
        for device in DEVICES:
            net, x = Net().to(device), torch.rand(2, 3, 8, 8, device=device)
            with self.subTest(device), FlopCounterMode(display=False) as counter:
                net(x).sum().backward()
            counts = named(counter.get_flop_counts())
            self.assertEqual(counts["Global"], {
                "aten.convolution": 55296, "aten.addmm": 512, "aten.mm": 1792, "aten.convolution_backward": 55296,
            })  # fmt: skip
            self.assertEqual(counts["Net"], counts["Global"])
            self.assertEqual(counts["Net.fc.0"], {"aten.addmm": 512, "aten.mm": 1024})
            self.assertEqual(counts["Net.fc.2"], {"aten.mm": 768})
            self.assertEqual(counts["Net.conv"], {"aten.convolution": 55296, "aten.convolution_backward": 55296})

    def test_products(self):
        a, b = torch.rand(4, 5, 6), torch.rand(6, 7)
        for function, wanted in (
            (lambda: a @ b, {"aten.mm": 1680}),
            (lambda: torch.bmm(a, torch.rand(4, 6, 2)), {"aten.bmm": 480}),
            (lambda: F.linear(a, torch.rand(3, 6), torch.ones(3)), {"aten.addmm": 720}),
            (lambda: F.linear(a, torch.rand(3, 6)), {"aten.mm": 720}),
            (lambda: torch.einsum("bij,jk->bik", a, b), {"aten.bmm": 1680}),
            (lambda: torch.baddbmm(torch.ones(1), a, torch.rand(4, 6, 2)), {"aten.baddbmm": 480}),
            (lambda: torch.rand(2, 4, 5, 6) @ torch.rand(2, 4, 6, 3), {"aten.bmm": 1440}),
            (lambda: torch.outer(b[0], b[0]), {}),
            (lambda: nn.ConvTranspose2d(3, 8, 3, stride=2)(torch.rand(2, 3, 8, 8)), {"aten.convolution": 55296}),
        ):
            with FlopCounterMode(display=False) as counter:
                function()
            self.assertEqual(named(counter.get_flop_counts()).get("Global", {}), wanted)

    def test_attention(self):
        q = torch.rand(2, 4, 8, 16, requires_grad=True)
        with FlopCounterMode(display=False) as counter:
            F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
        self.assertEqual(counter.get_total_flops(), 32768 + 81920)
        layer, x = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), torch.rand(2, 5, 16)
        with FlopCounterMode(display=False) as counter:
            layer(x).sum().backward()
        counts = {name: sum(of_module.values()) for name, of_module in counter.get_flop_counts().items()}
        self.assertEqual(counts["TransformerEncoderLayer.linear1"], 30720)
        self.assertEqual(counts["TransformerEncoderLayer.linear2"], 30720)
        self.assertEqual(counts["Global"], counts["TransformerEncoderLayer"])

    def test_while_it_counts(self):
        net, x = Net(), torch.rand(2, 3, 8, 8)
        with FlopCounterMode(display=False) as counter:
            torch.rand(2, 2) @ torch.rand(2, 2)
            net(x)
            self.assertEqual(counter.get_total_flops(), 56064 + 16)
            net(x)
        self.assertEqual(counter.get_total_flops(), 2 * 56064 + 16)
        self.assertEqual(sum(counter.get_flop_counts()["Net"].values()), 2 * 56064)
        with counter:
            pass
        self.assertEqual(counter.get_total_flops(), 0)

    def test_tables(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text), FlopCounterMode():
            Net()(torch.rand(2, 3, 8, 8))
        rows = [line.split() for line in text.getvalue().splitlines()]
        self.assertEqual(rows[0], ["Module", "FLOP", "%", "Total"])
        self.assertEqual(rows[2:5], [["Net", "56.064K", "100.00%"], ["-", "aten.convolution", "55.296K", "98.63%"], ["-", "aten.addmm", "0.512K", "0.91%"]])
        self.assertEqual([row[0] for row in rows if row[0].startswith("Net")], ["Net", "Net.conv", "Net.fc"])
        with FlopCounterMode(display=False) as counter:
            torch.rand(20, 20) @ torch.rand(20, 20)
            Net()(torch.rand(2, 3, 8, 8))
        rows = [line.split() for line in counter.get_table(depth=1).splitlines()]
        self.assertEqual(rows[2], ["Global", "72.064K", "100.00%"])
        self.assertEqual([row[0] for row in rows if row[0].startswith("Net")], ["Net"])


if __name__ == "__main__":
    unittest.main()
