"""References: nothing that a program repeats leaves some behind. A debug build of Python counts all of them, others the objects."""

import gc
import io
import sys
import unittest
import warnings

import tandem as torch
from tandem import nn

count = sys.gettotalrefcount if hasattr(sys, "gettotalrefcount") else lambda: len(gc.get_objects())


def growth(body, times=40):
    """How many references or objects a call of `body` leaves behind, on average."""
    for _ in range(10):
        body()
    gc.collect()
    before = count()
    for _ in range(times):
        body()
    gc.collect()
    return (count() - before) / times


def refused(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception:
        return
    raise AssertionError(f"{call} took {args} {kwargs}")


class ReferencesTest(unittest.TestCase):
    def check(self, bodies):
        for name, body in bodies.items():
            with self.subTest(name):
                self.assertLess(growth(body), 0.5)

    def test_tensors_and_operators(self):
        x, w = torch.ones(3, 4), torch.ones(3, 4, requires_grad=True)

        def attributes():
            x.shape, x.dtype, x.device, x.T, x.data, w.grad_fn, x.is_cuda, x.ndim, x.stride(), x.size(0), x.tolist()

        def in_place():
            y = x.clone()
            y += 1
            y[0] = 2
            y[1, 2] = 3.0
            y[y > 2] = 0
            y.mul_(2).clamp_(0, 1)

        self.check(
            {
                "make": lambda: (torch.tensor([[1, 2], [3, 4]]), torch.zeros(2, 3), torch.arange(3), torch.randn(2, 2, dtype=torch.float64)),
                "operators": lambda: (x + x, x * 2, 2 - x, x @ x.T, -x, x > 0, x**2, x // 2, ~(x > 0), x == x),
                "indices": lambda: (x[0], x[:, 1], x[..., None], x[[0, 2]], x[torch.tensor([0, 1])], x[x > 0], x[1:3, ::2]),
                "in place": in_place,
                "attributes": attributes,
                "functions": lambda: (torch.cat([x, x]), torch.max(x, 1), torch.sort(x), torch.stack((x, x), dim=1), x.split(1), x.sum(dim=(0, 1))),
                "keywords": lambda: (torch.sum(input=x, dim=1, keepdim=True), x.std(dim=0, unbiased=False), torch.full(size=(2,), fill_value=1.0)),
                "out": lambda: (torch.add(x, 1, out=torch.empty(3, 4)), torch.max(x, 1, out=(torch.empty(3), torch.empty(3, dtype=torch.int64)))),
                "text": lambda: (repr(x), str(x.dtype), f"{x.sum():.2f}", repr(x.shape), repr(x.device)),
                "iteration": lambda: [row.sum().item() for row in x],
                "numbers": lambda: (float(x.sum()), int(x.sum()), bool(x.sum()), len(x), x.sum().item()),
            }
        )

    def test_errors(self):
        x = torch.ones(3, 4)
        self.check(
            {
                "sizes": lambda: refused(torch.mm, x, x),
                "types": lambda: refused(torch.mm, x, "a"),
                "missing": lambda: refused(torch.mm, x),
                "keywords": lambda: refused(torch.sum, x, dims=3),
                "index": lambda: refused(lambda: x[5]),
                "assignment": lambda: refused(x.__setitem__, 0, "a"),
                "device": lambda: refused(torch.ones, 2, device="cuda:99"),
                "dtype": lambda: refused(torch.ones, 2, dtype="float"),
                "backward": lambda: refused(x.sum().backward),
                "nested": lambda: refused(torch.tensor, [[1, 2], [3]]),
                "named": lambda: refused(torch.max, x, 1, out=(x, "b")),
            }
        )

    def test_autograd(self):
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.note = [1, 2]
                return x * x

            @staticmethod
            def backward(ctx, gradient):
                return 2 * ctx.saved_tensors[0] * gradient

        w = torch.ones(3, requires_grad=True)

        def step():
            w.grad = None
            (w * w).sum().backward()

        def hooks():
            y = w * 2
            handle = y.register_hook(lambda gradient: gradient * 2)
            y.sum().backward()
            handle.remove()

        def raising():
            y = w * 2
            y.register_hook(lambda gradient: 1 / 0)
            refused(y.sum().backward)

        def twice():
            (first,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
            first.sum().backward()

        self.check(
            {
                "step": step,
                "grad": lambda: torch.autograd.grad((w * 2).sum(), w),
                "hooks": hooks,
                "hook that raises": raising,
                "function": lambda: Square.apply(w).sum().backward(),
                "of gradients": twice,
                "no_grad": lambda: torch.no_grad()(lambda: w * 2)(),
                "graph dropped": lambda: ((w * 2).exp().sum(), None),
                "nodes": lambda: (w * 2).sum().grad_fn.next_functions[0][0].next_functions,
            }
        )

    def test_modules_and_optimizers(self):
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        fast = torch.compile(net)
        x = torch.randn(3, 4)
        adam = torch.optim.Adam(net.parameters(), lr=0.01)

        def step(model):
            adam.zero_grad()
            nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 1])).backward()
            adam.step()

        def saved():
            buffer = io.BytesIO()
            torch.save(net.state_dict(), buffer)
            buffer.seek(0)
            net.load_state_dict(torch.load(buffer))

        self.check(
            {
                "step": lambda: step(net),
                "compiled": lambda: step(fast),
                "make": lambda: (nn.Linear(2, 2), nn.Conv2d(1, 2, 3), nn.BatchNorm1d(2)),
                "state": lambda: adam.load_state_dict(adam.state_dict()),
                "moved": lambda: nn.Linear(2, 2).double().to("cuda:0").cpu(),
            }
        )
        self.assertLess(growth(saved, 50), 0.5)

    def test_gpus(self):
        x = torch.ones(4, device="cuda:0")

        def streams():
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                y = x * 2
            event = stream.record_event()
            event.synchronize()
            y.cpu()

        def recorded():
            with torch.ledger.Recorder() as recorder:
                x.sum().item()
            str(recorder.report())

        self.check(
            {
                "copies": lambda: (x.cpu(), x.to("cuda:1"), x.sum().item()),
                "streams": streams,
                "device": lambda: torch.cuda.get_device_properties(0).name,
                "ledger": recorded,
            }
        )

    def test_exchange(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs numpy")
        if hasattr(sys, "gettotalrefcount"):
            self.skipTest("NumPy is not built for a debug Python: the references that it takes are not counted")
        array, x = numpy.ones((2, 3), dtype=numpy.float32), torch.ones(2, 3)
        self.check(
            {
                "from_numpy": lambda: torch.from_numpy(array) + 1,
                "numpy": lambda: x.numpy().sum(),
                "operators": lambda: (x + array, array + x.numpy(), torch.tensor(array)),
                "dlpack": lambda: torch.from_dlpack(torch.ones(2)),
                "buffer": lambda: memoryview(x).tolist(),
            }
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
