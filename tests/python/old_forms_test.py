"""Scalars in front of the tensors, as old programs have them: what they give, and the one warning about them."""

import unittest
import warnings

import tandem
from tandem import _old_forms



def called(name, *args, method=False, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _old_forms.call(name, method, args, kwargs)


class Values(unittest.TestCase):
    def setUp(self):
        self.a, self.b = tandem.tensor([[1.0, 2.0], [3.0, 4.0]]), tandem.tensor([[4.0, 2.0], [1.0, 5.0]])
        self.v, self.w = tandem.tensor([1.0, -1.0]), tandem.tensor([2.0, 3.0])

    def test_one_scalar(self):
        a, b = self.a, self.b
        self.assertEqual(called("add", a, 0.5, b).tolist(), [[3, 3], [3.5, 6.5]])
        self.assertEqual(called("sub", a, 2, b).tolist(), [[-7, -2], [1, -6]])
        self.assertEqual(called("add", a, 0.5, other=b).tolist(), [[3, 3], [3.5, 6.5]])
        self.assertEqual(called("addcmul", a, 2, b, b).tolist(), [[33, 10], [5, 54]])
        self.assertEqual(called("addcdiv", a, 4, a, tandem.full((2, 2), 2.0)).tolist(), [[3, 6], [9, 12]])
        out = tandem.empty(2, 2)
        self.assertIs(called("add", a, 0.5, b, out=out), out)
        self.assertEqual(out.tolist(), [[3, 3], [3.5, 6.5]])

    def test_methods_change_their_tensor(self):
        a = self.a.clone()
        self.assertIs(called("add_", a, 0.5, self.b, method=True), a)
        self.assertEqual(a.tolist(), [[3, 3], [3.5, 6.5]])
        called("addcmul_", a, -1, self.b, self.b, method=True)
        self.assertEqual(a.tolist(), [[-13, -1], [2.5, -18.5]])
        on_gpu = self.a.to("cuda:0")
        called("sub_", on_gpu, 2, self.b.to("cuda:0"), method=True)
        self.assertEqual(on_gpu.tolist(), [[-7, -2], [1, -6]])

    def test_products(self):
        a, v, w = self.a, self.v, self.w
        outer = [[2.0, 3.0], [-2.0, -3.0]]
        self.assertEqual(called("addr", 2, a, 3, v, w).tolist(), [[2 * x + 3 * y for x, y in zip(*rows)] for rows in zip(a.tolist(), outer)])
        self.assertEqual(called("addr", a, 2, v, w, method=True).tolist(), [[2 * x + y for x, y in zip(*rows)] for rows in zip(a.tolist(), outer)])
        eye = tandem.eye(2)
        self.assertEqual(called("addmm", 0, a, 3, a, eye).tolist(), [[3, 6], [9, 12]])
        self.assertEqual(called("addmm_", a.clone(), 2, 3, a, eye, method=True).tolist(), [[5, 10], [15, 20]])
        self.assertEqual(called("addmv", 2, v, a, w).tolist(), [2 + 8, -2 + 18])
        batch = tandem.stack([eye, eye])
        self.assertEqual(called("baddbmm", 2, batch, 3, batch, batch).tolist(), (5 * batch).tolist())
        self.assertEqual(called("addbmm", 2, eye, 3, batch, batch).tolist(), (8 * eye).tolist())

    def test_what_is_no_old_form(self):
        a = self.a
        for name, args in (("add", (a, 0.5)), ("addmm", (a, 0.5, a, a)), ("mul", (a, 0.5, a)), ("add", (0.5, a, a))):
            self.assertIs(called(name, *args), NotImplemented)
        self.assertIs(called("add", a, 0.5, a, alpha=2), NotImplemented)
        self.assertIs(called("add_", a, 0.5, a, method=True, out=a), NotImplemented)


class Warned(unittest.TestCase):
    def seen(self, name, *args, method=False):
        _old_forms._told = False
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            _old_forms.call(name, method, args, {})
            _old_forms.call(name, method, args, {})
        self.assertEqual([one.category for one in seen], [UserWarning])
        return str(seen[0].message)

    def test_words(self):
        a = tandem.ones(2, 2)
        self.assertEqual(self.seen("add_", a, 0.5, a, method=True), (
            "This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\n"
            "Consider using one of the following signatures instead:\n\tadd_(Tensor other, *, Number alpha = 1)"))
        self.assertEqual(self.seen("addr", 1, a, a[0], a[0]), (
            "This overload of addr is deprecated:\n\taddr(Number beta, Tensor input, Tensor vec1, Tensor vec2, *, Tensor out = None)\n"
            "Consider using one of the following signatures instead:\n"
            "\taddr(Tensor input, Tensor vec1, Tensor vec2, *, Number beta = 1, Number alpha = 1, Tensor out = None)"))


class Calls(unittest.TestCase):
    def test_as_programs_have_them(self):
        a, b = tandem.ones(2), tandem.full((2,), 4.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(a.add_(0.5, b).tolist(), [3, 3])
            self.assertEqual(tandem.addcmul(a, 0.5, b, b).tolist(), [11, 11])
        with self.assertRaisesRegex(TypeError, r"mul\(\) takes"):
            a.mul(0.5, b)


if __name__ == "__main__":
    unittest.main()
