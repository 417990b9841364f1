"""Forward mode: dual tensors and their tangents against known derivatives, functions with jvp of their own, gradients through tangents, refusals."""

import unittest

import tandem
import tandem.autograd.forward_ad as forward_ad
from tandem import nn
from tandem.autograd import Function, gradcheck

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])


class Exponential(Function):
    """Has jvp and no backward."""

    @staticmethod
    def forward(ctx, x):
        result = tandem.exp(x)
        ctx.result = result
        return result

    @staticmethod
    def jvp(ctx, tangent):
        found = tangent * ctx.result
        del ctx.result
        return found


class Wrong(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * x  # not 2 * x


class Duals(unittest.TestCase):
    def close(self, value, wanted):
        wanted = wanted if isinstance(wanted, tandem.Tensor) else tandem.tensor(wanted, dtype=tandem.float64)
        self.assertTrue(tandem.allclose(value.detach().cpu().double(), wanted.detach().cpu().double()), f"{value} is not {wanted}")

    def test_tangents(self):
        for device in DEVICES:
            with self.subTest(device), forward_ad.dual_level():
                x = tandem.tensor([1.0, 2.0, 3.0], device=device)
                dual = forward_ad.make_dual(x, tandem.tensor([1.0, 0.0, 2.0], device=device))
                self.close(forward_ad.unpack_dual(dual).tangent, [1.0, 0.0, 2.0])
                value, tangent = forward_ad.unpack_dual((dual * dual).sum())
                self.close(value, 14.0)
                self.close(tangent, 14.0)  # 2 x . v
                self.assertFalse(value.requires_grad or tangent.requires_grad)
                self.close(forward_ad.unpack_dual(dual.sin()).tangent, x.cos() * tandem.tensor([1.0, 0.0, 2.0], device=device))
                self.close(forward_ad.unpack_dual(dual + 1).tangent, [1.0, 0.0, 2.0])
                self.close(forward_ad.unpack_dual(dual[1:]).tangent, [0.0, 2.0])

    def test_several_directions_add_up(self):
        with forward_ad.dual_level():
            a = forward_ad.make_dual(tandem.tensor([2.0]), tandem.tensor([1.0]))
            b = forward_ad.make_dual(tandem.tensor([3.0]), tandem.tensor([10.0]))
            self.close(forward_ad.unpack_dual(a * b).tangent, [23.0])
            self.assertIsNone(forward_ad.unpack_dual(tandem.ones(2)).tangent)
            self.assertIsNone(forward_ad.unpack_dual(a.detach() * 2).tangent)

    def test_a_module(self):
        tandem.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        x = tandem.rand(5, 3)
        parameters = {name: p for name, p in model.named_parameters()}
        tangents = {name: tandem.rand_like(p) for name, p in parameters.items()}
        _, wanted = tandem.func.jvp(
            lambda p: tandem.func.functional_call(model, p, (x,)),
            ({name: p.detach() for name, p in parameters.items()},),
            ({name: t.detach() for name, t in tangents.items()},),
        )
        with forward_ad.dual_level():
            duals = {name: forward_ad.make_dual(p, tangents[name]) for name, p in parameters.items()}
            found = forward_ad.unpack_dual(tandem.func.functional_call(model, duals, (x,)))
            self.close(found.tangent, wanted)
            self.assertTrue(found.primal.requires_grad)
            found.tangent.sum().backward()
        self.assertIsNotNone(model[0].weight.grad)

    def test_gradients_of_tangents(self):
        x = tandem.tensor([2.0], requires_grad=True)
        direction = tandem.tensor([3.0], requires_grad=True)
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(forward_ad.make_dual(x, direction) ** 3).tangent  # 3 x^2 v
            tangent.sum().backward()
        self.close(x.grad, [36.0])  # 6 x v
        self.close(direction.grad, [12.0])

    def test_functions_of_ones_own(self):
        x = tandem.tensor([0.5, 1.0], dtype=tandem.float64)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, tandem.tensor([2.0, 3.0], dtype=tandem.float64))
            self.close(forward_ad.unpack_dual(Exponential.apply(dual) * 2).tangent, 2 * x.exp() * tandem.tensor([2.0, 3.0], dtype=tandem.float64))
        x.requires_grad_()
        self.assertTrue(gradcheck(Exponential.apply, (x,), check_forward_ad=True, check_backward_ad=False))
        self.assertFalse(gradcheck(Wrong.apply, (x,), check_forward_ad=True, check_backward_ad=False, raise_exception=False))
        self.assertTrue(gradcheck(lambda v: (v * v.sin()).cumsum(0), (x,), check_forward_ad=True))
        with self.assertRaisesRegex(NotImplementedError, "You must implement either the backward or vjp method"):
            Exponential.apply(x).sum().backward()

    def test_levels(self):
        x = tandem.ones(3)
        self.assertIsNone(forward_ad.unpack_dual(x).tangent)
        with forward_ad.dual_level():
            result = forward_ad.make_dual(x, x) * 2
            with self.assertRaisesRegex(RuntimeError, "^Nested forward mode AD is not supported at the moment$"):
                forward_ad.enter_dual_level()
        self.assertIsNone(forward_ad.unpack_dual(result).tangent)
        with self.assertRaisesRegex(RuntimeError, "^Dual level must be a positive number.$"):
            forward_ad.exit_dual_level()
        with self.assertRaisesRegex(RuntimeError, "no level exists, make sure to enter_dual_level"):
            forward_ad.make_dual(x, x)

    def test_refusals(self):
        x = tandem.ones(3)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, x)
            for error, call, text in (
                (ValueError, lambda: forward_ad.make_dual(x.long(), x), r"Expected primal to be floating point or complex, but got: \w+\.int64"),
                (ValueError, lambda: forward_ad.make_dual(x, x.long()), r"Expected tangent to be floating point or complex, but got: \w+\.int64"),
                (RuntimeError, lambda: forward_ad.make_dual(x, tandem.ones(4)), r"Tensor is of size \[3\] while the given forward gradient is of size \[4\]"),
                (RuntimeError, lambda: forward_ad.make_dual(dual, x), "already has a forward gradient at the same level 0"),
            ):
                with self.subTest(text), self.assertRaisesRegex(error, text):
                    call()


if __name__ == "__main__":
    unittest.main()
