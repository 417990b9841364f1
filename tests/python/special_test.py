"""Special functions: values of tables and closed forms (Abramowitz and Stegun, DLMF), identities, gradients, edges."""

import math
import unittest

import tandem
from tandem import special

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])
inf, nan = math.inf, math.nan


def double(values, device="cpu"):
    return tandem.tensor(values, dtype=tandem.float64, device=device)


class Values(unittest.TestCase):
    def close(self, value, wanted, rtol=1e-12, atol=1e-14):
        self.assertTrue(tandem.allclose(value.cpu(), double(wanted), rtol=rtol, atol=atol, equal_nan=True), f"{value.tolist()} is not {wanted}")

    def test_bessel_functions_of_tables(self):
        for name, x, wanted in (
            ("bessel_j0", [0.0, 1.0, 10.0, inf], [1.0, 0.7651976865579666, -0.2459357644513483, 0.0]),
            ("bessel_j1", [0.0, 1.0, -1.0, 10.0], [0.0, 0.44005058574493355, -0.44005058574493355, 0.04347274616886144]),
            ("bessel_y0", [0.0, 1.0, 10.0, -1.0], [-inf, 0.08825696421567696, 0.055671167283599395, nan]),
            ("bessel_y1", [0.0, 1.0, 10.0], [-inf, -0.7812128213002887, 0.2490154242069538]),
            ("i0", [0.0, 1.0, -1.0], [1.0, 1.2660658777520084, 1.2660658777520084]),
            ("i1", [0.0, 1.0, -1.0], [0.0, 0.565159103992485, -0.565159103992485]),
            ("modified_bessel_k0", [0.0, 1.0, -1.0], [inf, 0.42102443824070834, nan]),
            ("modified_bessel_k1", [0.0, 1.0, 2.0], [inf, 0.6019072301972346, 0.13986588181652243]),
            ("airy_ai", [0.0, 1.0, -1.0], [0.3550280538878172, 0.13529241631288141, 0.5355608832923521]),
            ("spherical_bessel_j0", [0.0, math.pi / 2, inf], [1.0, 2 / math.pi, 0.0]),
            ("erfcx", [0.0, 1.0, -1.0, inf, -inf], [1.0, 0.427583576155807, 2 * math.e - 0.427583576155807, 0.0, inf]),
            ("ndtri", [0.5, 0.975, 0.0, 1.0, 1e-20, 2.0], [0.0, 1.959963984540054, -inf, inf, -9.262340089798409, nan]),
        ):
            with self.subTest(name):
                for device in DEVICES:
                    self.close(getattr(special, name)(double(x, device)), wanted)
                single = getattr(special, name)(tandem.tensor(x))
                self.assertEqual(single.dtype, tandem.float32)
                self.close(single.double(), wanted, 2e-6, 1e-7)

    def test_identities(self):
        x = double([1e-3, 0.3, 1.0, 1.99, 2.01, 4.99, 5.01, 12.0, 29.9, 30.1, 80.0])
        ones = tandem.ones_like(x)
        wronskian = special.bessel_j1(x) * special.bessel_y0(x) - special.bessel_j0(x) * special.bessel_y1(x)  # DLMF 10.5.2
        self.close(wronskian * x * math.pi / 2, ones.tolist())
        mixed = special.i0e(x) * special.scaled_modified_bessel_k1(x) + special.i1e(x) * special.scaled_modified_bessel_k0(x)  # 10.28.2
        self.close(mixed * x, ones.tolist())
        p = double([1e-300, 1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9])
        self.close(special.ndtr(special.ndtri(p)), p.tolist(), 1e-10)

    def test_zeta(self):
        self.close(special.zeta(double([2.0, 4.0, 2.0, 3.0]), double([1.0, 1.0, 0.5, 2.0])),
                   [math.pi**2 / 6, math.pi**4 / 90, math.pi**2 / 2, 0.2020569031595943])
        self.close(special.zeta(double([1.0, 0.5, 2.0, 2.5]), double([2.0, 2.0, -1.0, -0.5])), [inf, nan, inf, nan])
        q = double([0.3, 2.0]).requires_grad_()
        special.zeta(double([2.0, 3.0]), q).sum().backward()
        self.close(q.grad, (-double([2.0, 3.0]) * special.zeta(double([3.0, 4.0]), q.detach())).tolist())

    def test_incomplete_gamma_functions(self):
        x = double([0.1, 1.0, 3.0, 30.0])
        self.close(special.gammainc(double([1.0]), x), (-tandem.expm1(-x)).tolist())
        self.close(special.gammaincc(double([3.0]), x), ((-x).exp() * (1 + x + x * x / 2)).tolist())
        self.close(special.gammainc(double([0.5]), x), tandem.erf(x.sqrt()).tolist())
        self.close(special.gammaincc(double([0.5]), x), tandem.erfc(x.sqrt()).tolist())
        self.close(special.gammainc(double([0.0, 1.0, 1.0, -1.0, 0.0]), double([1.0, 0.0, inf, 1.0, 0.0])), [1.0, 0.0, 1.0, nan, nan])
        # Near the mean of a large shape the share is 1/2 and a third of a density: P(a, a) = 1/2 + 1 / (3 sqrt(2 pi a)).
        self.close(special.gammainc(double([1e8]), double([1e8])), [0.5 + 1 / (3 * math.sqrt(2 * math.pi * 1e8))], 1e-10)
        y = x.clone().requires_grad_()
        special.gammainc(double([2.0]), y).sum().backward()
        self.close(y.grad, (x * (-x).exp()).tolist())
        self.assertTrue(tandem.autograd.gradcheck(special.gammainc, (double([0.7, 5.0]).requires_grad_(), double([1.3, 4.0]).requires_grad_())))

    def test_polynomials(self):
        x = 0.3
        angle = math.acos(x)
        for name, n, wanted in (
            ("chebyshev_polynomial_t", 5, math.cos(5 * angle)),
            ("chebyshev_polynomial_u", 5, math.sin(6 * angle) / math.sin(angle)),
            ("chebyshev_polynomial_v", 5, math.cos(5.5 * angle) / math.cos(angle / 2)),
            ("chebyshev_polynomial_w", 5, math.sin(5.5 * angle) / math.sin(angle / 2)),
            ("hermite_polynomial_h", 3, 8 * x**3 - 12 * x),
            ("hermite_polynomial_he", 4, x**4 - 6 * x**2 + 3),
            ("laguerre_polynomial_l", 2, (x * x - 4 * x + 2) / 2),
            ("legendre_polynomial_p", 3, (5 * x**3 - 3 * x) / 2),
            ("shifted_chebyshev_polynomial_t", 2, 8 * x * x - 8 * x + 1),
        ):
            with self.subTest(name):
                found = getattr(special, name)(double([x, x, x]), tandem.tensor([n, 0, -1]))
                self.close(found, [wanted, 1.0, 0.0])
                self.close(getattr(special, name)(double([x]), n), [wanted])

    def test_gradients(self):
        x = double([-3.0, 0.2, 1.0, 7.0])
        for name in ("bessel_j0", "bessel_j1", "i0", "i1", "i0e", "i1e", "erfcx"):
            with self.subTest(name):
                self.assertTrue(tandem.autograd.gradcheck(getattr(special, name), (x.clone().requires_grad_(),)))
                self.assertTrue(tandem.autograd.gradgradcheck(getattr(special, name), (double([0.3, 2.0]).requires_grad_(),)))
        for name in ("bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"):
            with self.subTest(name):
                self.assertTrue(tandem.autograd.gradcheck(getattr(special, name), (double([0.4, 1.5, 8.0]).requires_grad_(),)))
        self.assertTrue(tandem.autograd.gradcheck(special.ndtri, (double([0.02, 0.5, 0.8]).requires_grad_(),)))
        zero = double([0.0]).requires_grad_()
        special.i1(zero).backward()
        self.assertEqual(zero.grad.item(), 0.5)

    def test_dtypes_and_out(self):
        self.assertEqual(special.i0(tandem.tensor([1, 2])).dtype, tandem.float32)
        self.assertEqual(special.i0e(tandem.tensor([0.5], dtype=tandem.float16)).dtype, tandem.float16)
        place = tandem.zeros(1, dtype=tandem.float64)
        self.assertIs(special.erfcx(double([0.0]), out=place), place)
        self.assertEqual(place.item(), 1.0)
        with self.assertRaisesRegex(TypeError, r"special_gammainc\(\): argument 'other' \(position 2\) must be Tensor, not float"):
            special.gammainc(double([1.0]), 1.0)


if __name__ == "__main__":
    unittest.main()
