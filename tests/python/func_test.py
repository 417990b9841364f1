"""torch.func's functions: gradients and Jacobians with known values, nesting, vmap along dimensions, calls of modules with other parameters."""

import unittest

import tandem
from tandem import func, nn

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])


def double(values, device="cpu"):
    return tandem.tensor(values, dtype=tandem.float64, device=device)


class Derivatives(unittest.TestCase):
    def close(self, value, wanted):
        self.assertTrue(tandem.allclose(value.detach().cpu(), double(wanted)), f"{value} is not {wanted}")

    def test_grad_and_its_gradients(self):
        for device in DEVICES:
            x = double(2.0, device)
            cube = func.grad(lambda v: v**3)
            self.close(cube(x), 12.0)
            self.close(func.grad(cube)(x), 12.0)
            self.close(func.grad(func.grad(cube))(x), 6.0)
            self.assertFalse(cube(x).requires_grad)
        gradients, (value, aux) = func.grad_and_value(lambda a, b: ((a * b).sum(), a + 1), argnums=(0, 1), has_aux=True)(
            double([1.0, 2.0]), double([3.0, 4.0])
        )
        self.close(gradients[0], [3.0, 4.0])
        self.close(gradients[1], [1.0, 2.0])
        self.close(value, 11.0)
        self.close(aux, [2.0, 3.0])
        self.assertFalse(value.requires_grad or aux.requires_grad)

    def test_gradients_inside_of_a_map(self):
        x = tandem.arange(3.0, requires_grad=True)
        y = x**2
        rows = tandem.vmap(lambda v: tandem.autograd.grad(y, x, v)[0])(tandem.eye(3))
        self.assertEqual(rows.tolist(), [[0, 0, 0], [0, 2, 0], [0, 0, 4]])
        again = tandem.vmap(lambda v: tandem.autograd.grad(y, x, v, retain_graph=False)[0])(tandem.eye(3))
        self.assertEqual(again.tolist(), rows.tolist())
        tandem.autograd.grad(y.sum(), x)
        with self.assertRaisesRegex(RuntimeError, "second time"):
            tandem.autograd.grad(y.sum(), x)

    def test_trees(self):
        found = func.grad(lambda p, x: (p["w"] * x + p["b"]).sum())({"w": double([2.0]), "b": double([1.0])}, double([5.0]))
        self.close(found["w"], [5.0])
        self.close(found["b"], [1.0])

    def test_histories_of_the_caller_go_on(self):
        w = double(3.0).requires_grad_()
        x = double(2.0).requires_grad_()
        slope = func.grad(lambda v: w * v**2)(x)  # 2 w x
        slope.backward()
        self.close(w.grad, 4.0)
        self.close(x.grad, 6.0)
        self.assertIsNone(func.grad(lambda v: v**2)(double(2.0)).grad_fn)
        with tandem.no_grad():
            self.close(func.grad(lambda v: w * v**2)(x), 12.0)

    def test_products_and_jacobians(self):
        def f(x):
            return tandem.stack([x[0] * x[1], x[1] ** 2])

        x = double([2.0, 3.0])
        value, pull = func.vjp(f, x)
        self.close(value, [6.0, 9.0])
        self.close(pull(double([1.0, 10.0]))[0], [3.0, 62.0])
        value, push = func.jvp(f, (x,), (double([1.0, 10.0]),))
        self.close(push, [23.0, 60.0])
        value, linear = func.linearize(f, x)
        self.close(linear(double([1.0, 10.0])), [23.0, 60.0])
        for jacobian in (func.jacrev(f), func.jacfwd(f)):
            self.close(jacobian(x), [[3.0, 2.0], [0.0, 6.0]])
        self.close(func.hessian(lambda v: v[0] ** 2 * v[1])(x), [[6.0, 4.0], [4.0, 0.0]])
        both = func.jacrev(lambda a, b: a * b, argnums=(0, 1))(double([1.0, 2.0]), double([3.0, 4.0]))
        self.close(both[0], [[3.0, 0.0], [0.0, 4.0]])
        self.close(both[1], [[1.0, 0.0], [0.0, 2.0]])

    def test_refusals(self):
        with self.assertRaisesRegex(RuntimeError, "to return a scalar Tensor, got tensor with 1 dims"):
            func.grad(lambda x: x)(double([1.0]))
        with self.assertRaisesRegex(RuntimeError, "to return a Tensor, got <class"):
            func.grad(lambda x: 1.0)(double(1.0))
        with self.assertRaisesRegex(RuntimeError, "Expected primals to be a tuple"):
            func.jvp(lambda x: x, double(1.0), double(1.0))


class Maps(unittest.TestCase):
    def test_dimensions(self):
        for device in DEVICES:
            a, b = double([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], device), double([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], device)
            self.assertEqual(func.vmap(tandem.dot, in_dims=(0, 1))(a, b).tolist(), [1.0, 4.0, 11.0])
            self.assertEqual(func.vmap(lambda x: x * 2, out_dims=1)(a).tolist(), (a.T * 2).tolist())
            self.assertEqual(func.vmap(lambda x, y: x + y, in_dims=(0, None))(a, b[:, 0]).tolist(), (a + b[:, 0]).tolist())
            found = func.vmap(lambda d, s: {"sum": d["x"].sum() * s}, in_dims=({"x": 0}, None))({"x": a}, 10)
            self.assertEqual(found["sum"].tolist(), [30.0, 70.0, 110.0])
            first, second = func.vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(a)
            self.assertEqual((tuple(first.shape), tuple(second.shape)), ((2, 3), (3,)))

    def test_gradients_of_single_examples(self):
        layer = nn.Linear(2, 1, bias=False)
        parameters = {name: value.detach() for name, value in layer.named_parameters()}
        x = tandem.tensor([[1.0, 2.0], [3.0, 4.0]])
        found = func.vmap(func.grad(lambda p, one: func.functional_call(layer, p, (one,)).sum()), in_dims=(None, 0))(parameters, x)
        self.assertEqual(found["weight"].tolist(), [[[1.0, 2.0]], [[3.0, 4.0]]])
        nested = func.vmap(func.vmap(lambda v: v * v))(x)
        self.assertEqual(nested.tolist(), [[1.0, 4.0], [9.0, 16.0]])
        x.requires_grad_()
        func.vmap(lambda v: v.prod())(x).sum().backward()
        self.assertEqual(x.grad.tolist(), [[2.0, 1.0], [4.0, 3.0]])

    def test_randomness(self):
        tandem.manual_seed(0)
        x = tandem.zeros(5, 3)
        same = func.vmap(lambda v: v + tandem.rand(3), randomness="same")(x)
        self.assertTrue(bool((same == same[0]).all()))
        other = func.vmap(lambda v: v + tandem.rand(3), randomness="different")(x)
        self.assertFalse(bool((other == other[0]).all()))

    def test_refusals(self):
        x = tandem.zeros(2, 3)
        for call, text in (
            (lambda: func.vmap(lambda: x)(), "got no inputs"),
            (lambda: func.vmap(lambda v: v, in_dims=None)(x), "expected `in_dims` to be int or"),
            (lambda: func.vmap(lambda v: v, in_dims=2)(x), "expected in_dim to satisfy -2 <= in_dim < 2"),
            (lambda: func.vmap(lambda v: v)(3), "We cannot vmap over non-Tensor arguments"),
            (lambda: func.vmap(lambda v, w: v)(x, tandem.zeros(3)), "Expected all tensors to have the same size in the mapped dimension"),
            (lambda: func.vmap(lambda v: 1)(x), "must only return Tensors, got type <class 'int'>"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                call()


class Rearranged(unittest.TestCase):
    def test_patterns(self):
        x = tandem.arange(24).reshape(2, 3, 4)
        for pattern, lengths, wanted in (
            ("a b c -> a c b", {}, x.permute(0, 2, 1)),
            ("a b c -> (a b) c", {}, x.reshape(6, 4)),
            ("a b (c d) -> a c b d", {"c": 2}, x.reshape(2, 3, 2, 2).permute(0, 2, 1, 3)),
            ("a b (c d) -> (d b) (a c)", {"d": 2}, x.reshape(2, 3, 2, 2).permute(3, 1, 0, 2).reshape(6, 4)),
            ("a ... -> ... a", {}, x.permute(1, 2, 0)),
            ("a ... -> a (...)", {}, x.reshape(2, 12)),
            ("a b c -> a 1 b c", {}, x.unsqueeze(1)),
            ("... c -> ... 1 c", {}, x.unsqueeze(2)),
        ):
            with self.subTest(pattern):
                found = func.rearrange(x, pattern, **lengths)
                self.assertTrue(tandem.equal(found, wanted))
        self.assertEqual(func.rearrange(tandem.ones(1, 2), "1 a -> a").shape, (2,))

    def test_refusals(self):
        x = tandem.ones(2, 3)
        for pattern, lengths in (("a b", {}), ("a -> a", {}), ("a b -> a c", {}), ("a b -> a", {}), ("(a b) c -> a b c", {"a": 5}), ("a a -> a", {}), ("(a b -> a b", {})):
            with self.subTest(pattern), self.assertRaises(ValueError):
                func.rearrange(x, pattern, **lengths)


class Modules(unittest.TestCase):
    def test_an_ensemble(self):
        tandem.manual_seed(0)
        models = [nn.Linear(2, 3) for _ in range(4)]
        parameters, buffers = func.stack_module_state(models)
        self.assertEqual((tuple(parameters["weight"].shape), buffers), ((4, 3, 2), {}))
        self.assertTrue(parameters["weight"].requires_grad and parameters["weight"].is_leaf)
        x = tandem.rand(5, 2)
        found = func.vmap(lambda p, b: func.functional_call(models[0], (p, b), (x,)))(parameters, buffers)
        self.assertTrue(tandem.equal(found, tandem.stack([model(x) for model in models])))
        with self.assertRaisesRegex(RuntimeError, "Expected at least one model, got 0"):
            func.stack_module_state([])
        with self.assertRaisesRegex(ValueError, "appeared in multiple dictionaries"):
            func.functional_call(models[0], ({"weight": x}, {"weight": x}), (x,))

    def test_batch_norm_without_statistics(self):
        net = func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(2)))
        self.assertEqual((net[0].running_mean, net[0].track_running_stats), (None, False))
        net.eval()
        self.assertTrue(tandem.allclose(net(tandem.tensor([[1.0, 2.0], [3.0, 6.0]])).mean(0), tandem.zeros(2), atol=1e-6))


if __name__ == "__main__":
    unittest.main()
