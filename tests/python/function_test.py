"""Differentiable functions of one's own: all their forms, what they save, their errors, and how long what they hold lives."""

import gc
import traceback
import unittest

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


class Functions(unittest.TestCase):
    def test_with_ctx(self):
        for device in DEVICES:
            x = leaf(3.0, device=device)
            y = Square.apply(x)
            self.assertEqual((y.item(), y.requires_grad, y.grad_fn.name()), (9.0, True, "SquareBackward"))
            y.sum().backward()
            self.assertEqual(x.grad.item(), 6.0)
            with tandem.no_grad():
                self.assertFalse(Square.apply(x).requires_grad)
            self.assertFalse(Square.apply(tandem.ones(1, device=device)).requires_grad)

    def test_with_setup_context(self):
        class Scale(Function):
            @staticmethod
            def forward(x, factor):
                return x * factor

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.factor = inputs[1]

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.factor, None

        x = leaf(3.0)
        y = Scale.apply(x, 4)
        y.backward()
        self.assertEqual((y.item(), x.grad.item()), (12.0, 4.0))

    def test_vjp(self):
        class Twice(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def vjp(ctx, grad):
                return grad * 2

        x = leaf(1.0)
        Twice.apply(x).sum().backward()
        self.assertEqual(x.grad.item(), 2.0)

    def test_several_inputs_and_outputs(self):
        class SumAndProduct(Function):
            @staticmethod
            def forward(ctx, x, y, name):
                ctx.save_for_backward(x, None, y)
                ctx.name = name
                return x + y, x * y, "text"

            @staticmethod
            def backward(ctx, of_sum, of_product, of_text):
                x, none, y = ctx.saved_tensors
                assert none is None and of_text is None
                seen.append((ctx.needs_input_grad, of_sum.item(), of_product.item()))
                return of_sum + of_product * y, None if not ctx.needs_input_grad[1] else of_sum + of_product * x, None

        seen = []
        x, y = leaf(2.0), tandem.tensor([5.0])
        total, product, text = SumAndProduct.apply(x, y, "name")
        self.assertEqual((total.item(), product.item(), text), (7.0, 10.0, "text"))
        product.sum().backward()  # no gradient of the sum: zeros come for it
        self.assertEqual((seen, x.grad.item()), ([((True, False, False), 0.0, 1.0)], 5.0))

    def test_gradients_that_are_not_made_up(self):
        class First(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(False)
                return x * 1, x * 2

            @staticmethod
            def backward(ctx, a, b):
                seen.append((a is None, b is None))
                return a if b is None else b

        seen = []
        x = leaf(1.0)
        First.apply(x)[0].sum().backward()
        self.assertEqual((seen, x.grad.item()), ([(False, True)], 1.0))

    def test_not_differentiable_and_dirty(self):
        class Sorted(Function):
            @staticmethod
            def forward(ctx, x):
                order = x > 0
                values = x * 1
                ctx.mark_non_differentiable(values)
                return values, order, x * 3

            @staticmethod
            def backward(ctx, of_values, of_order, grad):
                return grad * 3

        x = leaf(1.0)
        values, order, tripled = Sorted.apply(x)
        self.assertEqual((values.requires_grad, order.requires_grad, tripled.requires_grad), (False, False, True))

        class AddOne(Function):
            @staticmethod
            def forward(ctx, x):
                x.add_(1)
                ctx.mark_dirty(x)
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad * 1

        y = leaf(1.0) * 1
        z = AddOne.apply(y)
        self.assertIs(z, y)
        self.assertEqual((z.item(), z.grad_fn.name()), (2.0, "AddOneBackward"))
        w = leaf(3.0)
        base = w * 1
        AddOne.apply(base)
        (base * base).sum().backward()
        self.assertEqual(w.grad.item(), 8.0)
        with self.assertRaisesRegex(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation"):
            AddOne.apply(leaf(1.0))

    def test_an_input_that_comes_back(self):
        class Same(Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, grad):
                return -grad

        x = leaf(2.0)
        y = Same.apply(x)
        self.assertIsNot(y, x)
        y.sum().backward()
        self.assertEqual((x.grad.item(), x.is_leaf), (-1.0, True))

    def test_double_backward(self):
        for device in DEVICES:
            x = leaf(3.0, device=device)

            class Cube(Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)
                    return x**3

                @staticmethod
                def backward(ctx, grad):
                    return 3 * ctx.saved_tensors[0] ** 2 * grad

            (first,) = autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
            (second,) = autograd.grad(first.sum(), x)
            self.assertEqual((first.item(), second.item()), (27.0, 18.0))

        class Once(Cube):
            @staticmethod
            @autograd.function.once_differentiable
            def backward(ctx, grad):
                return 3 * ctx.saved_tensors[0] ** 2 * grad

        (first,) = autograd.grad(Once.apply(x).sum(), x, create_graph=True)
        self.assertEqual(first.item(), 27.0)
        with self.assertRaises(RuntimeError):
            autograd.grad(first.sum(), x)

    def test_saved_outputs(self):
        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.saved_tensors[0]

        x = leaf(0.0)
        y = Exp.apply(x)
        y.sum().backward()
        self.assertEqual(x.grad.item(), 1.0)
        with self.assertRaises(RuntimeError):
            y.sum().backward()
        z = Exp.apply(x)
        z.data.add_(0)
        with tandem.no_grad():
            z.add_(1)
        with self.assertRaises(RuntimeError):
            z.sum().backward()  # what was saved has changed

    def test_exceptions(self):
        class Broken(Function):
            @staticmethod
            def forward(ctx, x, where):
                ctx.where = where
                if where == "forward":
                    raise Lost("forward")
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                raise Lost("backward")

        for device in DEVICES:
            x = leaf(1.0, device=device)
            with self.assertRaises(Lost):
                Broken.apply(x, "forward")
            self.assertTrue(tandem.is_grad_enabled())
            y = Broken.apply(x, "backward").sum()
            try:
                y.backward()
                self.fail("nothing was raised")
            except Lost as error:
                self.assertEqual((names_of(error)[0], names_of(error)[-1]), ("test_exceptions", "backward"))
            (x * 2).sum().backward()
            self.assertEqual(x.grad.item(), 2.0)

    def test_wrong_answers(self):
        def made(answer, inputs=1):
            class Wrong(Function):
                @staticmethod
                def forward(ctx, *xs):
                    return xs[0] * 1

                @staticmethod
                def backward(ctx, grad):
                    return answer

            return Wrong.apply(*[leaf(1.0, 2.0) for _ in range(inputs)]).sum()

        with self.assertRaisesRegex(
            RuntimeError, r"function WrongBackward returned an incorrect number of gradients \(expected 2, got 1\)"
        ):
            made(tandem.ones(2), 2).backward()
        with self.assertRaisesRegex(RuntimeError, r"expected 1, got 2"):
            made((tandem.ones(2), tandem.ones(2))).backward()
        with self.assertRaises(RuntimeError):
            made(tandem.ones(5)).backward()
        with self.assertRaises(TypeError):
            made("text").backward()
        made((tandem.ones(2), None)).backward()

    def test_what_is_missing(self):
        with self.assertRaises(NotImplementedError):
            Function.apply(leaf(1.0))

        class Half(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

        with self.assertRaises(NotImplementedError):
            Half.apply(leaf(1.0)).sum().backward()

    def test_nothing_is_kept_after_backward(self):
        import weakref

        class Big:
            pass

        class Keeps(Function):
            @staticmethod
            def forward(ctx, x, thing):
                ctx.thing = thing
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                return grad, None

        thing = Big()
        ended = weakref.ref(thing)
        y = Keeps.apply(leaf(1.0), thing).sum()
        del thing
        gc.collect()
        self.assertIsNotNone(ended())
        y.backward()
        del y
        gc.collect()
        self.assertIsNone(ended())


if __name__ == "__main__":
    unittest.main()
