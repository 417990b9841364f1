"""tandem.cuda.make_graphed_callables: modules and functions by replay give what they give when they are called, gradients too."""

import copy
import unittest

import tandem
from tandem import cuda, nn, races
from tandem.nn import functional as F


def on_gpu(*size, requires_grad=False):
    return tandem.randn(*size, device="cuda", requires_grad=requires_grad)


def perceptron():
    tandem.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()


@unittest.skipIf(cuda.device_count() < 1, "needs a GPU, such as TANDEM_VIRTUAL_GPUS=1")
class GraphedCallables(unittest.TestCase):
    def same(self, first, second, atol=1e-6):
        for a, b in zip(first, second):
            self.assertTrue(tandem.allclose(a, b, rtol=0, atol=atol), (a, b))

    def test_a_module_trains_as_when_it_is_called(self):
        net, eager = perceptron(), perceptron()
        self.assertIs(cuda.make_graphed_callables(net, (on_gpu(6, 4),)), net)
        optimizers = [tandem.optim.Adam(one.parameters(), lr=0.05) for one in (net, eager)]
        for _ in range(5):
            x, y = on_gpu(6, 4), on_gpu(6, 2)
            for one, optimizer in zip((net, eager), optimizers):
                optimizer.zero_grad()
                F.mse_loss(one(x), y).backward()
                F.l1_loss(one(2 * x), y).backward()  # adds up
                optimizer.step()
            self.same([p.grad for p in net.parameters()], [p.grad for p in eager.parameters()])
        self.same(net.parameters(), eager.parameters())
        with tandem.no_grad():
            self.same([net(x)], [eager(x)])
        self.assertFalse(net(x).detach().requires_grad)

    def test_the_other_mode_is_not_replayed(self):
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5)).cuda()
        eager = copy.deepcopy(net)
        for one in (net, eager):
            one[2].p = 0.0
        calls = []
        forward = net.forward
        net.forward = lambda *args: (calls.append(1), forward(*args))[1]
        figures = [buffer.clone() for buffer in net.buffers()]
        cuda.make_graphed_callables(net, (on_gpu(6, 4),), num_warmup_iters=1)
        with tandem.no_grad():
            for buffer, figure in zip(net.buffers(), figures):
                buffer.copy_(figure)
        count = len(calls)
        x = on_gpu(6, 4)
        for _ in range(2):
            self.same([net(x)], [eager(x)])
        self.assertEqual(len(calls), count)
        self.same(net.buffers(), eager.buffers())
        self.assertEqual(net[1].num_batches_tracked.item(), 2)
        net.eval(), eager.eval()
        x = on_gpu(9, 4)  # of any size, since it is computed
        self.same([net(x)], [eager(x)])
        self.assertEqual(len(calls), count + 1)

    def test_dropout_is_drawn_anew(self):
        net = cuda.make_graphed_callables(nn.Dropout(0.5).cuda(), (tandem.ones(1000, device="cuda"),))
        x = tandem.ones(1000, device="cuda")
        first = net(x).clone()
        second = net(x)
        self.assertFalse(tandem.equal(first, second))
        self.assertEqual(sorted(set(first.tolist())), [0.0, 2.0])

    def test_several_callables_share_a_pool(self):
        tandem.manual_seed(0)
        first, last = nn.Linear(4, 5).cuda(), nn.Linear(5, 2).cuda()
        eager = copy.deepcopy(nn.ModuleList([first, last]))

        def middle(x):
            return x.tanh() * 2

        def steps(first, middle, last, x):
            x.grad = None
            last(middle(first(x))).square().sum().backward()
            return x.grad

        made = cuda.make_graphed_callables(
            (first, middle, last), ((on_gpu(3, 4, requires_grad=True),), (on_gpu(3, 5, requires_grad=True),),
                                    (on_gpu(3, 5, requires_grad=True),))
        )
        self.assertEqual(len(made), 3)
        self.assertIs(made[0], first)
        for _ in range(2):
            x = on_gpu(3, 4, requires_grad=True)
            self.same([steps(*made, x)], [steps(eager[0], middle, eager[1], x)], 1e-5)
        self.same([p.grad for one in (first, last) for p in one.parameters()], [p.grad for p in eager.parameters()], 1e-5)

    def test_a_function_of_several_tensors_in_any_form(self):
        def function(a, b):
            return {"sum": a + b, "plain": b.detach() + 1}, (a * b).sum()

        graphed = cuda.make_graphed_callables(function, (on_gpu(3, requires_grad=True), on_gpu(3)))
        a = tandem.tensor([1.0, 2.0, 3.0], device="cuda", requires_grad=True)
        b = tandem.tensor([4.0, 5.0, 6.0], device="cuda")
        both, product = graphed(a, b)
        self.assertEqual(both["sum"].tolist(), [5, 7, 9])
        self.assertEqual(both["plain"].tolist(), [5, 6, 7])
        self.assertEqual(product.item(), 32)
        self.assertFalse(both["plain"].requires_grad)
        (both["sum"].sum() * 10 + product).backward()
        self.assertEqual(a.grad.tolist(), [14, 15, 16])
        # Only one of the results is used: the other counts as zero.
        a.grad = None
        graphed(a, b)[1].backward()
        self.assertEqual(a.grad.tolist(), [4, 5, 6])

    def test_nothing_to_train(self):
        graphed = cuda.make_graphed_callables(lambda x: x * 3, (on_gpu(2),))
        self.assertEqual(graphed(tandem.ones(2, device="cuda")).tolist(), [3, 3])
        self.assertFalse(graphed(tandem.ones(2, device="cuda")).requires_grad)

    def test_unused_parameters(self):
        class Partly(nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

            def forward(self, x):
                return self.used(x)

        with self.assertRaises(RuntimeError):
            cuda.make_graphed_callables(Partly().cuda(), (on_gpu(3, 2),))
        net = cuda.make_graphed_callables(Partly().cuda(), (on_gpu(3, 2),), allow_unused_input=True)
        net(on_gpu(3, 2)).sum().backward()
        self.assertIsNone(net.unused.weight.grad)
        self.assertEqual(net.used.bias.grad.tolist(), [3, 3])

    def test_memory_of_a_first_pass_that_fails_is_used_again_in_order(self):
        def fails(x):
            x * 2
            raise ValueError

        with races.Checker() as checker:
            with self.assertRaises(ValueError):
                cuda.make_graphed_callables(fails, (on_gpu(1000),))
            on_gpu(1000)  # takes the memory that the input had
            cuda.synchronize()
        self.assertEqual(str(checker), "no races")

    def test_calls_that_do_not_fit(self):
        net = cuda.make_graphed_callables(nn.Linear(4, 2).cuda(), (on_gpu(3, 4),))
        with self.assertRaisesRegex(RuntimeError, r"input 0 has shape \(5, 4\).* captured with \(3, 4\)"):
            net(on_gpu(5, 4))
        with self.assertRaisesRegex(RuntimeError, "captured with .* on cuda:0"):
            net(tandem.randn(3, 4))
        with self.assertRaisesRegex(RuntimeError, "input 0 requires a gradient, but its sample did not"):
            net(on_gpu(3, 4, requires_grad=True))
        with self.assertRaisesRegex(RuntimeError, "takes 1 tensors, but was given 2"):
            net(on_gpu(3, 4), on_gpu(3, 4))
        first = net(on_gpu(3, 4))
        net(on_gpu(3, 4))
        with self.assertRaisesRegex(RuntimeError, "backward of a call that is not the last"):
            first.sum().backward()
        net.weight.data = net.weight.data.clone()
        with self.assertRaisesRegex(RuntimeError, "was given other memory since the graph was captured"):
            net(on_gpu(3, 4))
        frozen = nn.Linear(4, 2).cuda()
        frozen.weight.requires_grad_(False)
        frozen = cuda.make_graphed_callables(frozen, (on_gpu(3, 4),))
        frozen.weight.requires_grad_(True)
        with self.assertRaisesRegex(RuntimeError, "requires a gradient now"):
            frozen(on_gpu(3, 4))

    def test_what_is_not_taken(self):
        hooked = nn.Linear(2, 2).cuda()
        hooked.register_forward_hook(lambda *args: None)
        with self.assertRaisesRegex(AssertionError, "Modules must not have hooks registered"):
            cuda.make_graphed_callables(hooked, (on_gpu(3, 2),))
        with self.assertRaisesRegex(TypeError, "must contain only Tensors"):
            cuda.make_graphed_callables(lambda x, n: x * n, (on_gpu(3), 2))
        with self.assertRaisesRegex(RuntimeError, "must be on a GPU"):
            cuda.make_graphed_callables(nn.Linear(2, 2), (tandem.ones(3, 2),))
        with self.assertRaises(RuntimeError):
            cuda.make_graphed_callables(lambda x: x * x.sum().item(), (on_gpu(3),))
        self.assertFalse(cuda.is_current_stream_capturing())


if __name__ == "__main__":
    unittest.main()
