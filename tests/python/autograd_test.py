"""Gradients from Python: backward and grad, hooks, errors that come through C++, modes, and the graph as an object."""

import copy
import gc
import threading
import traceback
import unittest
import warnings

import tandem
from tandem import autograd
from tandem.autograd import Function

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])


class Lost(Exception):
    """An error that the library cannot know."""


def leaf(*values, device="cpu", dtype=tandem.float32):
    return tandem.tensor(values, device=device, dtype=dtype, requires_grad=True)


def names_of(error):
    """The functions that its traceback goes through."""
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class Backward(unittest.TestCase):
    def test_gradients(self):
        for device in DEVICES:
            x = leaf(1.0, 2.0, device=device)
            y = (x * x * 3).sum()
            y.backward()
            self.assertEqual((x.grad.tolist(), x.grad.device, x.grad.requires_grad), ([6.0, 12.0], x.device, False))
            (x * 2).sum().backward()
            self.assertEqual(x.grad.tolist(), [8.0, 14.0])
            x.grad = None
            (x * 2).backward(tandem.tensor([1.0, 10.0], device=device))
            self.assertEqual(x.grad.tolist(), [2.0, 20.0])

    def test_grad(self):
        for device in DEVICES:
            x, y = leaf(2.0, device=device), leaf(3.0, device=device)
            a, b = autograd.grad((x * x * y).sum(), (x, y))
            self.assertEqual((a.item(), b.item(), x.grad, y.grad), (12.0, 4.0, None, None))
            (first,) = autograd.grad((x**3).sum(), x, create_graph=True)
            (second,) = autograd.grad(first.sum(), [x], create_graph=True)
            (third,) = autograd.grad(second.sum(), x)
            self.assertEqual((first.item(), second.item(), third.item()), (12.0, 12.0, 6.0))
            (unused,) = autograd.grad(x.sum(), y, allow_unused=True)
            self.assertIsNone(unused)
            (zeros,) = autograd.grad(x.sum(), y, materialize_grads=True)
            self.assertEqual(zeros.tolist(), [0.0])
            self.assertEqual(
                autograd.grad([x * 1, y * 2], [x, y], [tandem.ones(1, device=device), tandem.ones(1, device=device)])[1].item(), 2.0
            )

    def test_backward_of_several_and_to_some(self):
        x, y = leaf(2.0), leaf(3.0)
        autograd.backward([(x * y).sum(), x.sum()])
        self.assertEqual((x.grad.item(), y.grad.item()), (4.0, 2.0))
        z, w = leaf(2.0), leaf(3.0)
        (z * w).sum().backward(inputs=[z])
        self.assertEqual((z.grad.item(), w.grad), (3.0, None))

    def test_what_is_refused(self):
        def refuses(text, call, error=RuntimeError):
            with self.assertRaises(error) as raised:
                call()
            self.assertTrue(str(raised.exception).startswith(text), raised.exception)

        x = leaf(1.0, 2.0)
        refuses("grad can be implicitly created only for scalar outputs", (x * 2).backward)
        refuses("element 0 of tensors does not require grad and does not have a grad_fn", tandem.ones(1).sum().backward)
        y = (x * x).sum()
        y.backward()
        refuses("Trying to backward through the graph a second time", y.backward)
        with self.assertRaisesRegex(
            RuntimeError, "appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior"
        ):
            autograd.grad(x.sum(), leaf(1.0))
        with self.assertRaisesRegex(RuntimeError, "does not require grad"):
            autograd.grad(x.sum(), tandem.ones(2))
        refuses("`inputs` argument to `grad()` cannot be empty.", lambda: autograd.grad(x.sum(), []))
        refuses("'inputs' argument to backward() cannot be empty.", lambda: x.sum().backward(inputs=[]))
        refuses("a leaf Variable that requires grad is being used in an in-place operation", lambda: x.add_(1))
        refuses("only Tensors of floating point", lambda: tandem.ones(1, dtype=tandem.int64).requires_grad_())
        refuses("you can only change requires_grad flags of leaf variables", lambda: (x * 2).requires_grad_(False))
        z = x.exp()
        z.add_(1)
        refuses("one of the variables needed for gradient computation has been modified by an inplace operation", z.sum().backward)
        refuses("attempting to assign a gradient of size '[3]' to a tensor of size '[2]'", lambda: setattr(x, "grad", tandem.ones(3)))
        refuses("", lambda: setattr(x, "grad", 3), TypeError)
        with self.assertRaises(RuntimeError):
            (x * 2).backward(tandem.ones(3))

    def test_retain(self):
        x = leaf(2.0)
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        self.assertEqual(x.grad.item(), 8.0)
        middle = x * 3
        middle.retain_grad()
        (middle * middle).sum().backward()
        self.assertEqual(middle.grad.item(), 12.0)

    def test_leaves(self):
        x = leaf(1.0)
        y = x * 2
        self.assertEqual(
            (x.is_leaf, y.is_leaf, y.requires_grad, y.detach().requires_grad, y.detach().is_leaf), (True, False, True, False, True)
        )
        self.assertIs(x.requires_grad_(False), x)
        self.assertFalse((x * 2).requires_grad)
        y = leaf(1.0) * 2
        y.detach_()
        self.assertTrue(y.is_leaf)

    def test_what_a_gradient_may_be(self):
        x = leaf(1.0, 2.0)
        for value, text in (
            (tandem.ones(3), "attempting to assign a gradient of size '.3.' to a tensor of size '.2.'"),
            (tandem.ones(2, dtype=tandem.float64), "attempting to assign a gradient with dtype 'float64' to a tensor with dtype 'float32'"),
            (x, "can't assign Variable as its own grad"),
        ):
            with self.assertRaisesRegex(RuntimeError, text):
                x.grad = value
        x.grad = tandem.ones(2)
        with self.assertRaisesRegex(RuntimeError, "requires_grad must be a bool"):
            x.requires_grad = 1
        y = x * 2
        with self.assertWarnsRegex(UserWarning, "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
            self.assertIsNone(y.grad)
        y.retain_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIsNone(y.grad)
            self.assertIsNotNone(x.grad)

    def test_anomaly_mode_finds_nan(self):
        x = leaf(0.0, 1.0)
        with tandem.autograd.detect_anomaly():
            self.assertTrue(tandem.is_anomaly_enabled() and tandem.is_anomaly_check_nan_enabled())
            with self.assertRaisesRegex(RuntimeError, "Function 'SqrtBackward0' returned nan values in its 0th output."):
                (x.sqrt() * 0).sum().backward()
            with tandem.autograd.detect_anomaly(check_nan=False):
                self.assertFalse(tandem.is_anomaly_check_nan_enabled())
                (x.sqrt() * 0).sum().backward()
        self.assertFalse(tandem.is_anomaly_enabled())
        with tandem.autograd.set_detect_anomaly(True):
            self.assertTrue(tandem.is_anomaly_enabled())
        self.assertFalse(tandem.is_anomaly_enabled())

    def test_values_behind_the_back(self):
        x = leaf(1.0, 2.0)
        y = (x * x).sum()
        x.data[0] = 5
        y.backward()  # data has a version of its own
        self.assertEqual((x.grad[0].item(), x._version), (10, 0))
        x.grad = None
        self.assertEqual(x.tolist(), [5.0, 2.0])
        x.data = tandem.tensor([7.0])
        self.assertEqual((x.tolist(), x.requires_grad), ([7.0], True))
        with tandem.no_grad():
            x.mul_(2)
        self.assertEqual(x.item(), 14.0)

    def test_in_other_threads(self):
        results = {}

        def work(i):
            x = leaf(float(i))
            for _ in range(50):
                x.grad = None
                (Square.apply(x) * 2).sum().backward()
            results[i] = x.grad.item()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, {i: 4.0 * i for i in range(4)})


class Hooks(unittest.TestCase):
    def test_they_see_and_change_the_gradient(self):
        for device in DEVICES:
            x = leaf(2.0, device=device)
            seen = []
            first = x.register_hook(seen.append)
            second = x.register_hook(lambda grad: grad * 10)
            (x * 3).sum().backward()
            self.assertEqual(([g.item() for g in seen], x.grad.item()), ([3.0], 30.0))
            second.remove()
            second.remove()
            x.grad = None
            (x * 3).sum().backward()
            self.assertEqual((len(seen), x.grad.item()), (2, 3.0))
            with first:
                pass
            (x * 3).sum().backward()
            self.assertEqual(len(seen), 2)

    def test_of_results(self):
        x = leaf(2.0)
        y = x * 3
        y.register_hook(lambda grad: grad + 1)
        (y * 5).sum().backward()
        self.assertEqual(x.grad.item(), 18.0)

    def test_after_the_sum(self):
        p = leaf(1.0)
        seen = []

        def step(param):
            seen.append((param is p, param.grad.item()))
            param.grad = None

        handle = p.register_post_accumulate_grad_hook(step)
        (p * 3).sum().backward()
        (p * 4).sum().backward()
        handle.remove()
        (p * 5).sum().backward()
        self.assertEqual((seen, p.grad.item()), ([(True, 3.0), (True, 4.0)], 5.0))

    def test_of_several(self):
        a, b = leaf(1.0), leaf(2.0)
        calls = []
        handle = autograd.graph.register_multi_grad_hook(
            [a, b], lambda grads: calls.append([None if g is None else g.item() for g in grads])
        )
        (a * b).sum().backward()
        (a * 3).sum().backward()
        handle.remove()
        (a * b).sum().backward()
        self.assertEqual(calls, [[2.0, 1.0], [3.0, None]])

    def test_what_is_refused(self):
        for call, text in (
            (tandem.ones(1).register_hook, "cannot register a hook on a tensor that doesn't require gradient"),
            ((leaf(1.0) * 2).register_post_accumulate_grad_hook, "post accumulate grad hooks cannot be registered on non-leaf tensors"),
        ):
            with self.assertRaises(RuntimeError) as raised:
                call(print)
            self.assertEqual(str(raised.exception), text)
        x = leaf(1.0)
        x.register_hook(lambda grad: "text")
        with self.assertRaises(TypeError):
            x.sum().backward()

    def test_an_exception_comes_through_as_it_is(self):
        for device in DEVICES:
            x = leaf(1.0, device=device)

            def broken(grad):
                raise Lost("in the hook")

            handle = x.register_hook(broken)
            try:
                (x * 2).sum().backward()
                self.fail("nothing was raised")
            except Lost as error:
                self.assertEqual(
                    (str(error), names_of(error)[0], names_of(error)[-1]),
                    ("in the hook", "test_an_exception_comes_through_as_it_is", "broken"),
                )
            handle.remove()
            (x * 2).sum().backward()  # nothing is left of it
            self.assertEqual(x.grad.item(), 2.0)

    def test_a_hook_lives_as_long_as_it_is_registered(self):
        import weakref

        class Hook:
            def __call__(self, grad):
                return None

        hook = Hook()
        ended = weakref.ref(hook)
        x = leaf(1.0)
        handle = x.register_hook(hook)
        del hook
        gc.collect()
        self.assertIsNotNone(ended())
        handle.remove()
        del handle
        gc.collect()
        self.assertIsNone(ended())


class Modes(unittest.TestCase):
    def test_blocks(self):
        x = leaf(1.0)
        with tandem.no_grad():
            self.assertFalse((x * 2).requires_grad)
            with tandem.enable_grad():
                self.assertTrue((x * 2).requires_grad)
            self.assertFalse(tandem.is_grad_enabled())
        with tandem.set_grad_enabled(False):
            self.assertFalse(tandem.is_grad_enabled())
        self.assertTrue(tandem.is_grad_enabled())
        with self.assertRaises(Lost), tandem.no_grad():
            raise Lost
        self.assertTrue(tandem.is_grad_enabled())
        with tandem.inference_mode():
            self.assertEqual((tandem.is_grad_enabled(), tandem.is_inference_mode_enabled()), (False, True))
            other = []
            thread = threading.Thread(target=lambda: other.append((tandem.is_grad_enabled(), tandem.is_inference_mode_enabled())))
            thread.start()
            thread.join()
            self.assertEqual(other, [(True, False)])
        self.assertFalse(tandem.is_inference_mode_enabled())

    def test_inference_mode(self):
        w = tandem.ones(3, requires_grad=True)
        with tandem.inference_mode():
            made, view = tandem.ones(3), w.view(3)
            self.assertEqual([x.is_inference() for x in (made, made[:2], w * 2, view, w)], [True, True, True, False, False])
            self.assertTrue(tandem.is_inference(made))
            made.mul_(2)
            with tandem.inference_mode(False):
                self.assertTrue(tandem.is_grad_enabled())
                self.assertFalse(tandem.ones(1).is_inference())
        refused = "Inplace update to inference tensor outside InferenceMode is not allowed"
        for change in (lambda: made.add_(1), lambda: made.__setitem__(0, 1), lambda: made[0].zero_(), lambda: tandem.mul(w.detach(), 2, out=made)):
            with self.assertRaisesRegex(RuntimeError, refused):
                change()
        with self.assertRaisesRegex(RuntimeError, "Inference tensors cannot be saved for backward"):
            w * made
        with self.assertRaisesRegex(RuntimeError, "Inference tensors do not track version counter"):
            made._version
        with self.assertRaisesRegex(RuntimeError, "Setting requires_grad=True on inference tensor"):
            made.requires_grad_()
        with self.assertRaisesRegex(RuntimeError, "A view was created in inference mode and is being modified inplace in normal mode"):
            view.add_(1)
        self.assertFalse(made.clone().is_inference())
        (w * made.clone()).sum().backward()
        self.assertEqual(w.grad.tolist(), [2, 2, 2])
        self.assertTrue(tandem.inference_mode()(lambda: tandem.ones(1))().is_inference())

    def test_decorators(self):
        def now(a, *, b=2):
            """What it says."""
            return a, b, tandem.is_grad_enabled()

        for decorate in (
            tandem.no_grad(),
            tandem.no_grad,
            tandem.inference_mode(),
            lambda function: tandem.set_grad_enabled(False)(function),
        ):
            self.assertEqual(decorate(now)(1, b=3), (1, 3, False))
            self.assertEqual((decorate(now).__name__, decorate(now).__doc__), ("now", "What it says."))
            self.assertTrue(tandem.is_grad_enabled())

        @tandem.no_grad()
        def countdown(n):
            return n if n == 0 else countdown(n - 1)

        self.assertEqual(countdown(5), 0)
        self.assertTrue(tandem.is_grad_enabled())

    def test_generators(self):
        @tandem.no_grad()
        def numbers():
            log.append(tandem.is_grad_enabled())
            got = yield 1
            log.append((got, tandem.is_grad_enabled()))
            try:
                yield 2
            except Lost as error:
                log.append((str(error), tandem.is_grad_enabled()))
            try:
                yield 3
            except Lost:
                pass
            try:
                yield 4
            finally:
                log.append(("closed", tandem.is_grad_enabled()))
            return "end"

        log = []
        running = numbers()
        self.assertEqual((next(running), tandem.is_grad_enabled()), (1, True))
        self.assertEqual((running.send("sent"), tandem.is_grad_enabled()), (2, True))
        self.assertEqual((running.throw(Lost("thrown")), tandem.is_grad_enabled()), (3, True))
        self.assertEqual(running.throw(Lost("again")), 4)
        with self.assertRaises(StopIteration) as end:
            next(running)
        self.assertEqual((end.exception.value, log), ("end", [False, ("sent", False), ("thrown", False), ("closed", False)]))
        log.clear()
        running = numbers()
        next(running)
        running.close()
        self.assertEqual((log, tandem.is_grad_enabled()), ([False], True))

        @tandem.no_grad()
        def ends_when_thrown_at():
            try:
                yield 1
            except Lost:
                return

        running = ends_when_thrown_at()
        next(running)
        with self.assertRaises(StopIteration):
            running.throw(Lost())
        self.assertEqual(list(numbers()), [1, 2, 3, 4])


class Graphs(unittest.TestCase):
    def test_losses_have_the_names_of_pytorchs(self):
        x, y = tandem.tensor([0.3, 0.6], requires_grad=True), tandem.tensor([0.0, 1.0])
        for name in ("binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss", "smooth_l1_loss", "mse_loss"):
            words = {"binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogits", "smooth_l1_loss": "SmoothL1Loss"}
            expected = words.get(name, "".join(part.capitalize() for part in name.split("_")))
            for reduction in ("mean", "sum", "none"):
                loss = getattr(tandem.nn.functional, name)(x, y, reduction=reduction)
                self.assertEqual(loss.grad_fn.name(), f"{expected}Backward0")
                (loss.sum() if reduction == "none" else loss).backward()

    def test_nodes(self):
        x = leaf(2.0)
        y = (x.exp() * 3).sum()
        self.assertEqual(
            (y.grad_fn.name(), type(y.grad_fn).__name__, repr(y.grad_fn).split(" object")[0]),
            ("SumBackward0", "SumBackward0", "<SumBackward0"),
        )
        self.assertIsInstance(y.grad_fn, autograd.graph.Node)
        self.assertIs(type(y.grad_fn), type((x * 1).sum().grad_fn))
        product, number = y.grad_fn.next_functions[0]
        self.assertEqual((product.name(), number), ("MulBackward0", 0))
        exp = product.next_functions[0][0]
        accumulate = exp.next_functions[0][0]
        self.assertEqual((exp.name(), accumulate.name().rsplit("::", 1)[-1]), ("ExpBackward0", "AccumulateGrad"))
        self.assertIs(accumulate.variable, x)
        self.assertEqual(y.grad_fn, y.grad_fn)
        self.assertEqual(len({y.grad_fn, y.grad_fn, product}), 2)
        self.assertNotEqual(y.grad_fn, product)
        self.assertIsNone(x.grad_fn)
        with self.assertRaises(AttributeError):
            product.variable
        del x, y, product, exp
        gc.collect()
        self.assertEqual(accumulate.variable.tolist(), [2.0])

    def test_a_long_graph_ends(self):
        x = leaf(1.0)
        y = x
        for _ in range(20000):
            y = y + 1
        y.sum().backward()
        self.assertEqual(x.grad.item(), 1.0)
        z = x
        for _ in range(20000):
            z = z * 1
        del z  # without a backward: the chain is let go of without a deep recursion

    def test_gradcheck(self):
        x = tandem.tensor([0.5, -1.5], dtype=tandem.float64, requires_grad=True)
        self.assertTrue(autograd.gradcheck(lambda a: (a.sin() * a).sum(), (x,)))
        self.assertTrue(autograd.gradcheck(Square.apply, x))
        self.assertTrue(autograd.gradgradcheck(lambda a: a**3, x))
        self.assertTrue(autograd.gradcheck(lambda a, b: (a * b, a.detach() * 2, b.exp()), (x, x.detach().clone().requires_grad_())))

        class Wrong(Square):
            @staticmethod
            def backward(ctx, grad):
                return 3 * ctx.saved_tensors[0] * grad

        with self.assertRaises(autograd.GradcheckError):
            autograd.gradcheck(Wrong.apply, x)
        self.assertFalse(autograd.gradcheck(Wrong.apply, x, raise_exception=False))

    def test_functional(self):
        x = tandem.tensor([1.0, 2.0])
        self.assertEqual(autograd.functional.jacobian(lambda a: a**2, x).tolist(), [[2.0, 0.0], [0.0, 4.0]])
        self.assertEqual(autograd.functional.hessian(lambda a: (a**3).sum(), x).tolist(), [[6.0, 0.0], [0.0, 12.0]])

    def test_deepcopy_of_parts(self):
        model = tandem.nn.Linear(2, 1)
        twin = copy.deepcopy(model)
        model(tandem.ones(1, 2)).sum().backward()
        self.assertIsNone(twin.weight.grad)


if __name__ == "__main__":
    unittest.main()
