"""What both sides of bench/python.py run: python_cases.py MODULE [--threads N] [--ms MS] [--only NAME]. MODULE is tandem or torch; everything else is the same code."""

import argparse
import importlib
import json
import statistics
import sys
import time


def cases(torch):
    """Functions to time, by name."""
    nn, F = torch.nn, importlib.import_module(f"{torch.__name__}.nn.functional")
    torch.manual_seed(0)

    def add():
        a, b = torch.ones(1), torch.ones(1)
        return lambda: a + b

    def ten_products():
        x = torch.ones(1, requires_grad=True)

        def step():
            y = x
            for _ in range(10):
                y = y * 1.01
            y.sum().backward()
            x.grad = None
        return step

    def training(model, optimizer, loss_of, x, y):
        def step():
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
        return step

    def mlp(batch):
        def make():
            model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
            return training(model, torch.optim.Adam(model.parameters(), lr=1e-3), F.cross_entropy, torch.randn(batch, 784), torch.randint(0, 10, (batch,)))
        return make

    def linear_regression():
        model = nn.Linear(10, 1)
        return training(model, torch.optim.SGD(model.parameters(), lr=0.01), F.mse_loss, torch.randn(32, 10), torch.randn(32, 1))

    def cnn():
        model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                              nn.Linear(32 * 7 * 7, 10))
        return training(model, torch.optim.SGD(model.parameters(), lr=0.01), F.cross_entropy, torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,)))

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.ln1, self.ln2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
            self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            b, t, c = x.size()
            q, k, v = self.attend(self.ln1(x)).split(c, dim=2)
            q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in (q, k, v))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(y.transpose(1, 2).contiguous().view(b, t, c))
            return x + self.mlp(self.ln2(x))

    class Gpt(nn.Module):
        def __init__(self, vocabulary=65, width=64, heads=4, layers=2, length=32):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
            self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, index):
            x = self.tokens(index) + self.places(torch.arange(index.size(1)))
            for block in self.blocks:
                x = block(x)
            return self.head(self.ln(x))

    def gpt():
        model = Gpt()
        x, y = torch.randint(0, 65, (4, 32)), torch.randint(0, 65, (4, 32))
        return training(model, torch.optim.AdamW(model.parameters(), lr=1e-3), lambda out, want: F.cross_entropy(out.view(-1, 65), want.view(-1)), x, y)

    def indexing():
        x = torch.randn(64, 64)
        return lambda: x[3, 5:40]

    def item():
        x = torch.ones(1)
        return lambda: x.item()

    def loader():
        from importlib import import_module
        data = import_module(f"{torch.__name__}.utils.data")
        dataset = data.TensorDataset(torch.randn(4096, 16), torch.randint(0, 10, (4096,)))

        def epoch():
            for _ in data.DataLoader(dataset, batch_size=64, shuffle=True):
                pass
        return epoch

    return {"add": add, "ten_products": ten_products, "item": item, "indexing": indexing, "linear_regression": linear_regression, "mlp_8": mlp(8), "mlp_128": mlp(128), "cnn": cnn,
            "gpt": gpt, "loader": loader}


def nanoseconds(function, ms):
    """The median time of a call, in batches that take a twentieth of the time each."""
    function()
    calls = 1
    while True:
        start = time.perf_counter_ns()
        for _ in range(calls):
            function()
        took = time.perf_counter_ns() - start
        if took >= ms * 1e6 / 20 or calls > 1 << 22:
            break
        calls = max(calls * 2, int(calls * ms * 1e6 / 20 / max(took, 1)))
    batches = []
    end = time.perf_counter_ns() + ms * 1e6
    while not batches or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        for _ in range(calls):
            function()
        batches.append((time.perf_counter_ns() - start) / calls)
    return statistics.median(batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", choices=("tandem", "torch"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ms", type=float, default=300)
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    start = time.perf_counter_ns()
    torch = importlib.import_module(options.module)
    imported = time.perf_counter_ns() - start
    torch.set_num_threads(options.threads)
    results = []
    for name, make in cases(torch).items():
        if not options.only or name in options.only:
            results.append({"name": name, "ns": nanoseconds(make(), options.ms)})
    if not options.only or "import" in options.only:
        results.append({"name": "import", "ns": imported})
    json.dump({"results": results, "version": torch.__version__, "python": sys.version.split()[0]}, sys.stdout)


if __name__ == "__main__":
    main()
