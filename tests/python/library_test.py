"""torch.library: operations of one's own, their schemas, kernels, gradients, checks, and torch.ops; and the devices that are not there."""

import unittest
from collections.abc import Sequence
from typing import Optional

import tandem as torch
from tandem import Tensor
from tandem.library import Library, custom_op, define, impl, infer_schema, opcheck, register_autograd, register_fake

DEVICES = ["cpu"] + (["cuda:0"] if torch.cuda.is_available() else [])


@custom_op("mylib::scaled_sine", mutates_args=())
def scaled_sine(x: Tensor, factor: float = 1.0) -> Tensor:
    assert not x.requires_grad or not torch.is_grad_enabled()
    return x.sin() * factor


@scaled_sine.register_fake
def _(x, factor=1.0):
    return torch.empty_like(x)


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


scaled_sine.register_autograd(lambda ctx, grad: (grad * ctx.saved_tensors[0].cos() * ctx.factor, None), setup_context=keep)


class Operations(unittest.TestCase):
    def test_calls(self):
        for device in DEVICES:
            x = torch.tensor([0.0, 1.0], device=device, requires_grad=True)
            y = scaled_sine(x, 2.0)
            self.assertTrue(torch.allclose(y, 2 * x.sin()))
            y.sum().backward()
            self.assertTrue(torch.allclose(x.grad, 2 * x.detach().cos()))
            self.assertTrue(torch.equal(torch.ops.mylib.scaled_sine(x), scaled_sine(x)))
            self.assertTrue(torch.equal(torch.ops.mylib.scaled_sine.default(x, factor=3.0), scaled_sine(x, 3.0)))
        self.assertIn("GeneratedBackwardFor_mylib_scaled_sine", y.grad_fn.name())
        self.assertEqual(repr(scaled_sine), "<CustomOpDef(mylib::scaled_sine)>")
        self.assertEqual(str(torch.ops.mylib.scaled_sine), "mylib.scaled_sine")
        self.assertTrue(torch.equal(torch.ops.aten.relu(torch.tensor([-1.0, 2.0])), torch.tensor([0.0, 2.0])))
        with self.assertRaisesRegex(AttributeError, "'_OpNamespace' 'mylib' object has no attribute 'nothing'"):
            torch.ops.mylib.nothing

    def test_in_place(self):
        @custom_op("mylib::add_one_", mutates_args={"x"})
        def add_one_(x: Tensor) -> None:
            x.add_(1)

        x = torch.zeros(2)
        self.assertIsNone(add_one_(x))
        self.assertEqual(x.tolist(), [1, 1])
        with self.assertRaisesRegex(RuntimeError, "Cannot register autograd formula for non-functional operator"):
            add_one_.register_autograd(lambda ctx, grad: grad)

    def test_kernels_of_devices(self):
        @custom_op("mylib::where_am_i", mutates_args=(), device_types="cpu")
        def where_am_i(x: Tensor) -> Tensor:
            return x + 1

        x = torch.zeros(1)
        self.assertEqual(where_am_i(x).item(), 1)
        if torch.cuda.is_available():
            with self.assertRaisesRegex(NotImplementedError, "'mylib::where_am_i' with arguments from the 'CUDA' backend"):
                where_am_i(x.cuda())
        where_am_i.register_kernel("cuda", lambda x: x + 2)
        if torch.cuda.is_available():
            self.assertEqual(where_am_i(x.cuda()).item(), 2)

    def test_old_forms(self):
        define("mylib::twice", "(Tensor x) -> Tensor")
        with self.assertRaisesRegex(NotImplementedError, "Could not run 'mylib::twice'"):
            torch.ops.mylib.twice(torch.ones(1))
        impl("mylib::twice", "default")(lambda x: x * 2)
        register_autograd("mylib::twice", lambda ctx, grad: grad * 2)
        register_fake("mylib::twice", lambda x: torch.empty_like(x))
        x = torch.ones(1, requires_grad=True)
        torch.ops.mylib.twice(x).backward()
        self.assertEqual(x.grad.item(), 2)
        library = Library("other", "DEF")
        library.define("thrice(Tensor x) -> Tensor")
        library.impl("thrice", lambda x: x * 3, "CPU")
        self.assertEqual(torch.ops.other.thrice(torch.ones(1)).item(), 3)

    def test_schemas(self):
        def f(x: Tensor, sizes: Sequence[int], y: Optional[Tensor] = None, *, name: str = "a") -> tuple[Tensor, int]: ...

        self.assertEqual(infer_schema(f, mutates_args=("x",)), "(Tensor(a0!) x, SymInt[] sizes, Tensor? y=None, *, str name=\"a\") -> (Tensor, SymInt)")
        with self.assertRaisesRegex(ValueError, "Parameter x must have a type annotation. Got func with signature"):
            infer_schema(lambda x: x, mutates_args=())

    def test_refusals(self):
        with self.assertRaisesRegex(RuntimeError, r"mylib::scaled_sine\(\) Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'"):
            scaled_sine(3)

        @custom_op("mylib::same", mutates_args=())
        def same(x: Tensor) -> Tensor:
            return x

        with self.assertRaisesRegex(RuntimeError, "must not also be an input to this custom operator"):
            same(torch.ones(1))

        @custom_op("mylib::forward_only", mutates_args=())
        def forward_only(x: Tensor) -> Tensor:
            return x + 1

        with self.assertRaisesRegex(RuntimeError, "Trying to backward through mylib.forward_only.default but no autograd formula was registered"):
            forward_only(torch.ones(1, requires_grad=True)).backward()
        with self.assertRaises(ValueError):
            custom_op("bad", forward_only, mutates_args=())

    def test_checks(self):
        x = torch.rand(3, requires_grad=True)
        tests = ("test_schema", "test_autograd_registration", "test_faketensor")
        self.assertEqual(opcheck(scaled_sine, (x,), test_utils=tests), dict.fromkeys(tests, "SUCCESS"))

        @custom_op("mylib::wrong_fake", mutates_args=())
        def wrong_fake(x: Tensor) -> Tensor:
            return x.sum()

        wrong_fake.register_fake(lambda x: torch.empty_like(x))
        with self.assertRaises(Exception):
            opcheck(wrong_fake, (torch.rand(3),), test_utils="test_faketensor")


class Devices(unittest.TestCase):
    def test_what_is_there(self):
        self.assertEqual([torch.xpu.is_available(), torch.mps.is_available(), torch.cpu.is_available()], [False, False, True])
        self.assertEqual((torch.xpu.device_count(), torch.cpu.device_count(), torch.cpu.current_device()), (0, 1, "cpu"))
        torch.cpu.synchronize()
        with torch.cpu.stream(torch.cpu.current_stream()):
            pass


if __name__ == "__main__":
    unittest.main()
