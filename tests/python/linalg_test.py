"""Linear algebra written in Python: factorizations multiplied out again, solutions put in, gradients by differences, what is refused."""

import unittest

import tandem
from tandem import linalg

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])


def double(values, device="cpu"):
    return tandem.tensor(values, dtype=tandem.float64, device=device)


def drawn(*shape, device="cpu"):
    return tandem.randn(*shape, dtype=tandem.float64).to(device)


class Factorizations(unittest.TestCase):
    def setUp(self):
        tandem.manual_seed(0)

    def same(self, value, wanted):
        self.assertTrue(tandem.allclose(value, wanted, atol=1e-10), f"{value} is not {wanted}")

    def test_lu(self):
        for device in DEVICES:
            for shape in ((3, 3), (2, 4), (4, 2), (2, 5, 5)):
                A = drawn(*shape, device=device)
                P, L, U = linalg.lu(A)
                self.same(P @ L @ U, A)
                self.same(tandem.lu_unpack(*linalg.lu_factor(A)).L, L)
        LU, pivots = linalg.lu_factor(double([[1.0, 2.0], [4.0, 2.0]]))
        self.same(LU, double([[4.0, 2.0], [0.25, 1.5]]))
        self.assertEqual((pivots.tolist(), pivots.dtype), ([2, 2], tandem.int32))
        self.assertEqual(linalg.lu_factor_ex(double([[1.0, 2.0], [2.0, 4.0]])).info.item(), 2)

    def test_solutions(self):
        A, B = drawn(2, 4, 4), drawn(2, 4, 3)
        factors = linalg.lu_factor(A)
        self.same(A @ linalg.lu_solve(*factors, B), B)
        self.same(A.mT @ linalg.lu_solve(*factors, B, adjoint=True), B)
        self.same(linalg.lu_solve(*factors, B.mT, left=False) @ A, B.mT)
        self.same(tandem.lu_solve(B, *tandem.lu(A)), linalg.solve(A, B))
        symmetric = A + A.mT
        self.same(symmetric @ linalg.ldl_solve(*linalg.ldl_factor(symmetric), B), B)
        LD, pivots = linalg.ldl_factor(double([[0.0, 1.0], [1.0, 0.0]]))
        self.assertEqual((LD.tolist(), pivots.tolist()), ([[0.0, 0.0], [1.0, 0.0]], [-2, -2]))
        self.assertEqual(tandem.triangular_solve(double([[2.0], [3.0]]), double([[1.0, 1.0], [9.0, 3.0]])).solution.tolist(), [[1.0], [1.0]])

    def test_reflections(self):
        A = drawn(2, 5, 3)
        packed, tau = tandem.geqrf(A)
        Q = linalg.householder_product(packed, tau)
        self.same(Q @ packed[:, :3].triu(), A)
        self.same(Q.mT @ Q, tandem.eye(3, dtype=tandem.float64).expand(2, 3, 3))
        other = drawn(2, 5, 2)
        whole = tandem.ormqr(packed, tau, tandem.eye(5, dtype=tandem.float64).expand(2, 5, 5))
        self.same(tandem.ormqr(packed, tau, other, transpose=True), whole.mT @ other)
        self.same(tandem.ormqr(packed, tau, other.mT, left=False), other.mT @ whole)

    def test_polar_and_root(self):
        A = drawn(4, 3)
        U, H = linalg.polar(A)
        self.same(U @ H, A)
        self.same(U.mT @ U, tandem.eye(3, dtype=tandem.float64))
        self.same(linalg.matrix_sqrth(double([[5.0, 4.0], [4.0, 5.0]])), double([[2.0, 1.0], [1.0, 2.0]]))
        twice = (4 * tandem.eye(2, dtype=tandem.float64)).requires_grad_()
        linalg.matrix_sqrth(twice).trace().backward()  # equal eigenvalues: 1 / (2 * 2) on the diagonal
        self.same(twice.grad, 0.25 * tandem.eye(2, dtype=tandem.float64))

    def test_gradients(self):
        check = tandem.autograd.gradcheck
        for shape in ((3, 3), (2, 4), (4, 2)):
            self.assertTrue(check(lambda a: linalg.lu(a)[1:], (drawn(*shape).requires_grad_(),)))
        self.assertTrue(tandem.autograd.gradgradcheck(lambda a: linalg.lu_factor(a)[0], (drawn(3, 3).requires_grad_(),)))
        self.assertTrue(check(lambda a: tuple(linalg.polar(a)), (drawn(4, 3).requires_grad_(),)))
        self.assertTrue(check(linalg.householder_product, (drawn(4, 2).requires_grad_(), drawn(2).requires_grad_())))

    def test_failures_are_told(self):
        singular, negative = tandem.zeros(2, 2), -tandem.eye(2)
        self.assertEqual(linalg.inv_ex(singular).info.item(), 1)
        self.assertEqual(linalg.solve_ex(singular, tandem.ones(2)).info.item(), 1)
        self.assertEqual(linalg.cholesky_ex(double([[1.0, 2.0], [2.0, 1.0]])).info.item(), 2)
        self.same(linalg.cholesky_ex(double([[4.0, 2.0], [2.0, 5.0]])).L, double([[2.0, 0.0], [1.0, 2.0]]))
        for call, kind, text in (
            (lambda: linalg.inv_ex(singular, check_errors=True), linalg.LinAlgError, "The diagonal element 1 is zero"),
            (lambda: linalg.solve_ex(singular, tandem.ones(2), check_errors=True), linalg.LinAlgError, "the input matrix is singular"),
            (lambda: linalg.cholesky_ex(negative, check_errors=True), linalg.LinAlgError, "leading minor of order 1 is not positive-definite"),
            (lambda: linalg.lu_factor(singular), RuntimeError, r"U\[1,1\] is zero"),
            (lambda: linalg.lu(tandem.ones(3)), RuntimeError, "Expected tensor with 2 or more dimensions"),
            (lambda: linalg.polar(tandem.ones(2, 3)), RuntimeError, "at least as many rows as columns"),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


class LowRank(unittest.TestCase):
    def test_approximations_of_what_has_low_rank(self):
        tandem.manual_seed(0)
        A = drawn(7, 2) @ drawn(2, 5)
        U, S, V = tandem.svd_lowrank(A, q=2)
        self.assertTrue(tandem.allclose(U * S @ V.T, A))
        U, S, V = tandem.pca_lowrank(A, q=2)
        self.assertTrue(tandem.allclose(U * S @ V.T, A - A.mean(0)))
        with self.assertRaisesRegex(ValueError, r"q\(=6\) must be non-negative integer and not greater than min\(m, n\)=5"):
            tandem.pca_lowrank(A, q=6)

    def test_eigenvalues(self):
        A = tandem.diag(double([1.0, 5.0, 3.0, 2.0]))
        self.assertEqual(tandem.lobpcg(A, k=2)[0].tolist(), [5.0, 3.0])
        values, vectors = tandem.lobpcg(A, k=1, B=2 * tandem.eye(4, dtype=tandem.float64), largest=False)
        self.assertTrue(tandem.allclose(values, double([0.5])))
        self.assertTrue(tandem.allclose(A @ vectors, 2 * vectors * values))


if __name__ == "__main__":
    unittest.main()
