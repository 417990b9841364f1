"""Distributions: densities, entropies and divergences by their formulas, samples by their moments, gradients, and what is refused."""

import math
import unittest

import tandem
from tandem import distributions as D

tensor = tandem.tensor


def double(values):
    return tandem.tensor(values, dtype=tandem.float64)


DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])


class Formulas(unittest.TestCase):
    def close(self, value, wanted):
        self.assertTrue(tandem.allclose(value.cpu(), tensor(wanted), atol=1e-5), f"{value} is not {wanted}")

    def test_normal(self):
        for device in DEVICES:
            n = D.Normal(tensor([0.0, 1.0], device=device), tensor([1.0, 2.0], device=device))
            at = tensor([0.5, 0.0], device=device)
            self.close(n.log_prob(at), [-0.125 - math.log(math.sqrt(2 * math.pi)), -0.125 - math.log(2 * math.sqrt(2 * math.pi))])
            self.close(n.entropy(), [0.5 * math.log(2 * math.pi * math.e * s * s) for s in (1, 2)])
            self.close(n.cdf(tensor([0.0, 1.0], device=device)), [0.5, 0.5])
            self.close(n.icdf(n.cdf(at)), [0.5, 0.0])
            self.assertEqual(n.sample((5,)).device, tandem.device(device))

    def test_other_continuous_ones(self):
        self.close(D.LogNormal(0.0, 1.0).log_prob(tensor(1.0)), -math.log(math.sqrt(2 * math.pi)))
        self.close(D.Uniform(1.0, 5.0).log_prob(tensor([1.0, 5.0])), [-math.log(4), -math.inf])
        self.close(D.Exponential(2.0).log_prob(tensor(3.0)), math.log(2) - 6)
        self.close(D.Laplace(1.0, 2.0).log_prob(tensor(-1.0)), -math.log(4) - 1)
        covariance = tensor([[2.0, 0.5], [0.5, 1.0]])
        m = D.MultivariateNormal(tandem.zeros(2), covariance)
        value = tensor([0.3, -0.2])
        wanted = -0.5 * (2 * math.log(2 * math.pi) + math.log(1.75) + float(value @ tandem.linalg.inv(covariance) @ value))
        self.close(m.log_prob(value), wanted)
        self.close(D.MultivariateNormal(tandem.zeros(2), precision_matrix=tandem.linalg.inv(covariance)).log_prob(value), wanted)
        self.close(m.entropy(), 0.5 * (2 + 2 * math.log(2 * math.pi) + math.log(1.75)))
        self.assertTrue(tandem.allclose(m.covariance_matrix, covariance))

    def test_discrete_ones(self):
        self.close(D.Bernoulli(tensor([0.3, 0.8])).log_prob(tensor([1.0, 0.0])), [math.log(0.3), math.log(0.2)])
        self.close(D.Bernoulli(logits=tensor(0.0)).probs, 0.5)
        self.close(D.Geometric(tensor(0.25)).log_prob(tensor(2.0)), math.log(0.75 * 0.75 * 0.25))
        c = D.Categorical(tensor([[1.0, 1.0, 2.0], [3.0, 1.0, 0.0]]))
        self.close(c.log_prob(tensor([2, 0])), [math.log(0.5), math.log(0.75)])
        self.close(c.entropy(), [1.5 * math.log(2), -0.75 * math.log(0.75) + 0.25 * math.log(4)])
        self.assertEqual(c.mode.tolist(), [2, 0])
        self.assertEqual(c.sample((4, 5)).shape, (4, 5, 2))
        self.assertEqual(D.Categorical(logits=tensor([0.0, 50.0])).sample((9,)).tolist(), [1] * 9)
        self.close(D.OneHotCategorical(tensor([0.2, 0.8])).log_prob(tensor([0.0, 1.0])), math.log(0.8))
        self.assertEqual(D.Bernoulli(tensor([0.5, 0.5])).enumerate_support().tolist(), [[0, 0], [1, 1]])

    def test_independent_sums_the_last_dimensions(self):
        base = D.Normal(tandem.zeros(3, 2), 1.0)
        both = D.Independent(base, 1)
        self.assertEqual((both.batch_shape, both.event_shape), ((3,), (2,)))
        self.assertTrue(tandem.equal(both.log_prob(tandem.ones(3, 2)), base.log_prob(tandem.ones(3, 2)).sum(-1)))

    def test_divergences(self):
        self.close(D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)), math.log(2) + 2 / 8 - 0.5)
        self.close(
            D.kl_divergence(D.Categorical(tensor([0.5, 0.5])), D.Categorical(tensor([0.25, 0.75]))),
            0.5 * math.log(2) + 0.5 * math.log(2 / 3),
        )
        self.close(D.kl_divergence(D.Uniform(0.0, 1.0), D.Uniform(-1.0, 3.0)), math.log(4))
        self.close(D.kl_divergence(D.Uniform(0.0, 9.0), D.Uniform(-1.0, 3.0)), math.inf)
        self.close(D.kl_divergence(D.Exponential(1.0), D.Exponential(3.0)), 3 - 1 - math.log(3))
        self.close(D.kl_divergence(D.Bernoulli(tensor(0.5)), D.Bernoulli(tensor(0.25))), 0.5 * math.log(2) + 0.5 * math.log(2 / 3))
        self.close(
            D.kl_divergence(D.MultivariateNormal(tandem.zeros(2), tandem.eye(2)), D.MultivariateNormal(tandem.ones(2), 4 * tandem.eye(2))),
            0.5 * (math.log(16) + 2 / 4 + 2 / 4 - 2),
        )
        with self.assertRaisesRegex(NotImplementedError, "p type Normal and q type Cauchy"):
            D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0))


class Samples(unittest.TestCase):
    def test_moments(self):
        tandem.manual_seed(0)
        for d in (
            D.Normal(1.0, 2.0),
            D.Exponential(2.0),
            D.Laplace(1.0, 2.0),
            D.Geometric(0.4),
            D.Uniform(1.0, 3.0),
            D.Bernoulli(0.3),
            D.LogNormal(0.0, 0.5),
        ):
            with self.subTest(d):
                drawn = d.sample((50000,))
                self.assertAlmostEqual(drawn.mean().item(), d.mean.item(), delta=4 * d.stddev.item() / math.sqrt(50000))
                self.assertAlmostEqual(drawn.var().item() / d.variance.item(), 1, delta=0.1)
        frequencies = tandem.bincount(D.Categorical(tensor([2.0, 3.0, 5.0])).sample((50000,))) / 50000
        self.assertTrue(tandem.allclose(frequencies, tensor([0.2, 0.3, 0.5]), atol=0.02))

    def test_gradients_reach_the_parameters(self):
        loc, scale = tensor(0.0, requires_grad=True), tensor(1.0, requires_grad=True)
        normal = D.Normal(loc, scale)
        drawn = normal.rsample((10,))
        drawn.sum().backward()
        self.assertEqual(loc.grad.item(), 10)
        self.assertAlmostEqual(scale.grad.item(), drawn.sum().item(), places=4)
        self.assertFalse(normal.sample().requires_grad)
        logits = tandem.zeros(2, requires_grad=True)
        policy = D.Categorical(logits=logits)
        policy.sample()  # what is made meanwhile is made with gradients
        (-policy.log_prob(tensor(1))).backward()
        self.assertTrue(tandem.allclose(logits.grad, tensor([0.5, -0.5])))


class MoreFormulas(unittest.TestCase):
    """Densities by their formulas in statistics texts, at points where these are short."""

    def close(self, value, wanted, atol=1e-10):
        self.assertTrue(tandem.allclose(value.cpu(), double(wanted), rtol=1e-10, atol=atol), f"{value} is not {wanted}")

    def test_densities(self):
        log, pi = math.log, math.pi
        for d, value, wanted in (
            (D.Beta(double(2.0), double(3.0)), 0.25, log(12 * 0.25 * 0.75**2)),
            (D.Gamma(double(3.0), double(2.0)), 1.5, log(2**3 / 2 * 1.5**2) - 3),
            (D.Chi2(double(4.0)), 3.0, log(3 / 4) - 1.5),
            (D.Cauchy(double(1.0), double(2.0)), 3.0, -log(2 * pi * 2)),
            (D.HalfCauchy(double(2.0)), 2.0, log(2 / (2 * pi * 2))),
            (D.HalfNormal(double(2.0)), 2.0, log(2 / (2 * math.sqrt(2 * pi))) - 0.5),
            (D.InverseGamma(double(2.0), double(3.0)), 1.5, log(9 / 1.5**3) - 2),
            (D.Kumaraswamy(double(2.0), double(3.0)), 0.5, log(6 * 0.5 * 0.75**2)),
            (D.Gumbel(double(1.0), double(2.0)), 1.0, -1 - log(2)),
            (D.Pareto(double(2.0), double(3.0)), 4.0, log(3 * 8 / 4**4)),
            (D.GeneralizedPareto(double(1.0), double(2.0), double(0.5)), 5.0, -3 * log(2) - log(2)),
            (D.GeneralizedPareto(double(1.0), double(2.0), double(0.0)), 5.0, -2 - log(2)),
            (D.StudentT(double(1.0)), 1.0, -log(2 * pi)),
            (D.FisherSnedecor(double(2.0), double(4.0)), 2.0, -3 * log(2)),
            (D.Weibull(double(2.0), double(3.0)), 2.0, log(3 / 2) - 1),
            (D.LogNormal(double(0.5), double(2.0)), math.exp(0.5), -0.5 - log(2 * math.sqrt(2 * pi))),
            (D.Poisson(double(3.0)), 2.0, log(4.5) - 3),
            (D.Binomial(4, double(0.25)), 1.0, log(4 * 0.25 * 0.75**3)),
            (D.NegativeBinomial(double(3.0), double(0.25)), 2.0, log(6 * 0.75**3 * 0.25**2)),
            (D.ContinuousBernoulli(double(0.25)), 0.5, log(math.sqrt(0.1875) * log(3) / 0.5)),
            (D.ContinuousBernoulli(double(0.5)), 0.3, 0.0),
            (D.VonMises(double(0.5), double(1.0)), 0.5, 1 - log(2 * pi * 1.2660658777520084)),  # I0(1), DLMF 10.25
            (D.Laplace(double(1.0), double(2.0)), -1.0, -log(4) - 1),
        ):
            with self.subTest(d):
                self.close(d.log_prob(double(value)), wanted)

    def test_densities_of_vectors_and_matrices(self):
        self.close(D.Dirichlet(double([1.0, 2.0, 3.0])).log_prob(double([0.2, 0.3, 0.5])), math.log(60 * 0.3 * 0.25))
        self.close(D.Multinomial(4, double([1.0, 2.0, 1.0])).log_prob(double([1.0, 2.0, 1.0])), math.log(12 * 0.25 * 0.25 * 0.25))
        mixture = D.MixtureSameFamily(D.Categorical(double([1.0, 3.0])), D.Exponential(double([1.0, 2.0])))
        self.close(mixture.log_prob(double(1.0)), math.log(0.25 * math.exp(-1) + 1.5 * math.exp(-2)))
        self.close(mixture.mean, 0.25 + 0.75 / 2)
        self.close(mixture.cdf(double(1.0)), 0.25 * (1 - math.exp(-1)) + 0.75 * (1 - math.exp(-2)))
        factor, diagonal = double([[1.0], [2.0]]), double([0.5, 1.5])
        low = D.LowRankMultivariateNormal(double([1.0, -1.0]), factor, diagonal)
        full = D.MultivariateNormal(double([1.0, -1.0]), factor @ factor.T + tandem.diag(diagonal))
        self.close(low.log_prob(double([0.3, 0.4])), full.log_prob(double([0.3, 0.4])).item())
        self.close(low.entropy(), full.entropy().item())
        self.close(low.precision_matrix, full.precision_matrix.tolist())
        # In one dimension a Wishart number is a chi-squared one times the variance.
        self.close(D.Wishart(double(3.0), double([[2.0]])).log_prob(double([[5.0]])), D.Chi2(double(3.0)).log_prob(double(2.5)).item() - math.log(2))
        # With concentration 1 all correlations are alike: of two variables the correlation has the density 1/2, its factor too.
        self.close(D.LKJCholesky(2, double(1.0)).log_prob(double([[1.0, 0.0], [0.6, 0.8]])), -math.log(2))
        relaxed = D.RelaxedBernoulli(double(1.0), double(0.5))
        self.close(relaxed.log_prob(double(0.3)), 0.0)  # at temperature 1 it is uniform
        self.close(D.RelaxedOneHotCategorical(double(1.0), double([1.0, 1.0, 1.0])).log_prob(double([0.2, 0.3, 0.5])), math.log(2 * 0.03**-2 / (31 / 3) ** 3))

    def test_facts(self):
        self.close(D.Gamma(double(3.0), double(2.0)).cdf(double(1.5)), 1 - math.exp(-3) * (1 + 3 + 4.5))
        self.close(D.Weibull(double(2.0), double(3.0)).cdf(double(2.0)), 1 - math.exp(-1))
        self.close(D.Weibull(double(2.0), double(3.0)).icdf(double(1 - math.exp(-1))), 2.0)
        self.close(D.Gumbel(double(0.0), double(1.0)).cdf(double(0.0)), math.exp(-1))
        self.close(D.Gumbel(double(0.0), double(1.0)).entropy(), 1 + 0.5772156649015329)
        self.close(D.HalfNormal(double(1.0)).mean, math.sqrt(2 / math.pi))
        self.close(D.Laplace(double(0.0), double(1.0)).icdf(double([0.25, 0.75])), [-math.log(2), math.log(2)])
        self.close(D.StudentT(double(3.0)).variance, 3.0)
        self.close(D.Beta(double(2.0), double(3.0)).entropy(), math.log(1 / 12) + 1 * (1 / 2 + 1 / 3 + 1 / 4) + 2 * (1 / 3 + 1 / 4))
        self.assertEqual(D.Binomial(4, double(0.25)).enumerate_support().tolist(), [0, 1, 2, 3, 4])
        self.assertEqual(D.Dirichlet(double([2.0, 3.0])).mode.tolist(), [1 / 3, 2 / 3])

    def test_divergences_of_many_kinds(self):
        log = math.log
        for p, q, wanted in (
            (D.Gamma(double(2.0), double(1.0)), D.Gamma(double(2.0), double(3.0)), 2 * (3 - 1) - 2 * log(3)),
            (D.Beta(double(1.0), double(1.0)), D.Beta(double(2.0), double(1.0)), 1 - log(2)),
            (D.Dirichlet(double([1.0, 1.0])), D.Dirichlet(double([2.0, 1.0])), 1 - log(2)),
            (D.Poisson(double(2.0)), D.Poisson(double(3.0)), 2 * log(2 / 3) + 1),
            (D.Cauchy(double(0.0), double(1.0)), D.Cauchy(double(2.0), double(1.0)), log(2)),
            (D.Uniform(double(0.0), double(2.0)), D.Normal(double(0.0), double(1.0)), -log(2) + 0.5 * log(2 * math.pi) + 2 / 3),
            (D.Exponential(double(1.0)), D.Gumbel(double(0.0), double(1.0)), -1 + 1 + 0.5),
            (D.Normal(double(0.0), double(1.0)), D.Laplace(double(0.0), double(1.0)),
             -0.5 * log(2 * math.pi * math.e) + log(2) + math.sqrt(2 / math.pi)),
            (D.Normal(double(0.0), double(1.0)), D.Gamma(double(1.0), double(1.0)), math.inf),
            (D.Pareto(double(2.0), double(3.0)), D.Pareto(double(1.0), double(3.0)), 3 * log(2)),
            (D.LogNormal(double(0.0), double(1.0)), D.LogNormal(double(1.0), double(1.0)), 0.5),
            (D.Wishart(double(3.0), double([[2.0]])), D.Wishart(double(3.0), double([[4.0]])), 1.5 * (log(2) - 0.5)),
            (D.Chi2(double(4.0)), D.Chi2(double(2.0)), (1 - 0.5772156649015329) * 1.0 - log(1)),
        ):
            with self.subTest(p=p, q=q):
                self.close(D.kl_divergence(p, q), wanted)
        with self.assertRaises(TypeError):
            D.register_kl(3, D.Normal)


class Transforms(unittest.TestCase):
    def test_inverses_and_determinants(self):
        x = double([[-0.7, 0.2, 1.4], [0.3, -0.1, 0.5]])
        for transform in (
            D.ExpTransform(), D.SigmoidTransform(), D.TanhTransform(), D.SoftplusTransform(), D.AffineTransform(1.0, -2.0),
            D.StickBreakingTransform(), D.CorrCholeskyTransform(), D.ComposeTransform([D.AffineTransform(0.0, 3.0), D.TanhTransform()]),
            D.StackTransform([D.ExpTransform(), D.TanhTransform()]), D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [1, 2]),
            D.CumulativeDistributionTransform(D.Normal(double(0.0), double(1.0))),
        ):
            with self.subTest(transform):
                y = transform(x)
                self.assertTrue(tandem.allclose(transform.inv(y), x, atol=1e-9))
                self.assertTrue(bool(transform.codomain.check(y).all()))
                self.assertTrue(tandem.allclose(transform.inv.log_abs_det_jacobian(y, x), -transform.log_abs_det_jacobian(x, y)))
        at = double([0.3, -0.4])
        free = tandem.autograd.functional.jacobian(lambda v: D.StickBreakingTransform()(v)[:-1], at)
        got = D.StickBreakingTransform().log_abs_det_jacobian(at, D.StickBreakingTransform()(at))
        self.assertAlmostEqual(got.item(), math.log(abs(tandem.linalg.det(free).item())), places=10)

    def test_registries_and_caches(self):
        x = double([[0.3, -0.1], [0.5, 2.0]])
        for constraint in (
            D.constraints.positive, D.constraints.unit_interval, D.constraints.greater_than(3.0), D.constraints.less_than(-1.0),
            D.constraints.interval(-2.0, 5.0), D.constraints.simplex, D.constraints.lower_cholesky, D.constraints.positive_definite,
        ):
            with self.subTest(constraint):
                self.assertTrue(bool(constraint.check(D.transform_to(constraint)(x)).all()))
        with self.assertRaisesRegex(NotImplementedError, "Cannot transform _Boolean constraints"):
            D.transform_to(D.constraints.boolean)
        transform = D.ExpTransform(cache_size=1)
        y = transform(x)
        self.assertIs(transform.inv(y), x)
        self.assertIs(transform.inv.inv, transform)
        self.assertEqual(repr(D.ExpTransform().inv), "_InverseTransform(ExpTransform())")


class SamplesOfManyKinds(unittest.TestCase):
    def check(self, d, count=200_000):
        """Mean and variance of many samples, within 5 standard errors; of every element."""
        drawn = d.sample((count,)).to(tandem.float64)
        mean, variance = d.mean.to(tandem.float64), d.variance.to(tandem.float64)
        self.assertTrue(bool(((drawn.mean(0) - mean).abs() <= 5 * (variance / count).sqrt()).all()), f"{drawn.mean(0)} is not {mean}")
        squares = (drawn - mean).square()
        error = squares.std(0) / math.sqrt(count)
        self.assertTrue(bool(((squares.mean(0) - variance).abs() <= 5 * error).all()), f"{squares.mean(0)} is not {variance}")

    def test_moments(self):
        tandem.manual_seed(1)
        a, b = double([0.3, 1.0, 8.0]), double([2.0, 0.6, 1.5])
        for d in (
            D.Gamma(a, b), D.Beta(a, b), D.Chi2(a), D.Dirichlet(double([0.4, 1.0, 3.0])), D.FisherSnedecor(b, double(12.0)),
            D.StudentT(double(6.0), 1.0, 2.0), D.InverseGamma(double(6.0), double(2.0)), D.Weibull(b, double([1.5, 1.0, 2.0])),
            D.Gumbel(a, b), D.HalfNormal(b), D.Pareto(b, double(6.0)), D.GeneralizedPareto(double(0.0), b, double(-0.3)),
            D.Kumaraswamy(a, b), D.ContinuousBernoulli(double([0.1, 0.5, 0.9])), D.Poisson(double([0.3, 4.0, 9.9, 10.1, 250.0])),
            D.Binomial(double([3.0, 40.0, 40.0, 500.0]), double([0.4, 0.5, 0.9, 0.03])), D.NegativeBinomial(double(3.5), double([0.2, 0.7])),
            D.Multinomial(5, double([0.2, 0.5, 0.3])), D.OneHotCategorical(double([0.2, 0.8])),
            D.MultivariateNormal(double([1.0, 2.0]), double([[2.0, 0.5], [0.5, 1.0]])),
            D.LowRankMultivariateNormal(double([1.0, 2.0]), double([[1.0], [0.5]]), double([0.5, 1.0])),
            D.Wishart(double(4.5), double([[2.0, 0.5], [0.5, 1.0]])),
            D.MixtureSameFamily(D.Categorical(double([0.3, 0.7])), D.Normal(double([-1.0, 2.0]), double([0.5, 1.0]))),
        ):
            with self.subTest(d):
                self.check(d)

    def test_angles_and_correlations(self):
        tandem.manual_seed(2)
        d = D.VonMises(double(0.5), double([0.01, 2.0, 50.0]))
        turned = d.sample((200_000,)) - 0.5
        self.assertTrue(tandem.allclose(turned.cos().mean(0), 1 - d.variance, atol=5 / math.sqrt(200_000)))
        self.assertTrue(tandem.allclose(turned.sin().mean(0), double([0.0, 0.0, 0.0]), atol=5 / math.sqrt(200_000)))
        factors = D.LKJCholesky(3, double(1.5)).sample((50_000,))
        matrices = factors @ factors.mT
        # A correlation is 2x - 1 of a beta number x with both concentrations eta + (n - 2) / 2.
        wanted = 4 * D.Beta(double(2.0), double(2.0)).variance.item()
        for row, column in ((1, 0), (2, 0), (2, 1)):
            self.assertAlmostEqual(matrices[:, row, column].var().item(), wanted, delta=0.01)

    def test_on_devices(self):
        for device in DEVICES:
            tandem.manual_seed(0)
            for d in (
                D.Gamma(tensor([0.5, 3.0], device=device), 1.0), D.Dirichlet(tensor([0.5, 3.0], device=device)),
                D.Poisson(tensor([0.5, 30.0], device=device)), D.VonMises(tensor(0.0, device=device), tensor(2.0, device=device)),
            ):
                drawn = d.sample((7,))
                self.assertEqual((drawn.device.type, drawn.dtype), (tandem.device(device).type, tandem.float32))
                self.assertTrue(bool(d.log_prob(drawn).isfinite().all()))

    def slopes(self, d, parameters, count=40):
        """Samples, and how each moves with each of the parameters."""
        drawn = d.rsample((count,))
        weights = tandem.ones_like(drawn)
        return drawn.detach(), tandem.autograd.grad(drawn, parameters, weights, retain_graph=True)

    def test_gamma_moves_at_its_quantile(self):
        def share(a, x):
            """P(a, x) by its power series."""
            term = total = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
            for n in range(1, 400):
                term *= x / (a + n)
                total += term
            return total

        tandem.manual_seed(3)
        a = double([0.05, 0.4, 1.0, 3.0, 30.0]).repeat(10).requires_grad_()
        drawn = D.Gamma(a, double(1.0)).rsample()
        drawn.sum().backward()
        for shape, x, slope in zip(a.tolist(), drawn.tolist(), a.grad.tolist()):
            if x < 1e-12:
                continue
            h = 1e-5 * shape
            density = math.exp((shape - 1) * math.log(x) - x - math.lgamma(shape))
            wanted = -(share(shape + h, x) - share(shape - h, x)) / (2 * h) / density
            self.assertAlmostEqual(slope / wanted, 1, delta=1e-5, msg=f"{shape}, {x}")

    def test_beta_moves_at_its_quantile(self):
        tandem.manual_seed(4)
        a = double([0.3, 1.0, 7.0]).requires_grad_()
        x, (slope,) = self.slopes(D.Beta(a.expand(20, 3), double(1.0)), [a], 1)  # its distribution function is x^a
        self.assertAlmostEqual(slope.sum().item(), (-x * x.log() / a.detach()).sum().item(), places=8)
        b = double([0.3, 1.0, 7.0]).requires_grad_()
        x, (slope,) = self.slopes(D.Beta(double(1.0), b.expand(20, 3)), [b], 1)  # 1 - (1 - x)^b
        self.assertAlmostEqual(slope.sum().item(), ((1 - x) * (1 - x).log() / b.detach()).sum().item(), places=8)

    def test_gradients_of_means(self):
        """The mean of samples' gradients is the gradient of the mean."""
        tandem.manual_seed(5)
        c = double([0.7, 2.0, 4.0]).requires_grad_()
        drawn = D.Dirichlet(c.expand(50_000, 3)).rsample()
        weights = double([1.0, -2.0, 0.5])
        (found,) = tandem.autograd.grad((drawn * weights).sum() / 50_000, [c])
        wanted = tandem.autograd.grad(((c / c.sum()) * weights).sum(), [c])[0]
        self.assertTrue(tandem.allclose(found, wanted, atol=0.01), f"{found} is not {wanted}")
        df = double(7.0).requires_grad_()
        drawn = D.StudentT(df.expand(100_000)).rsample().square().mean()
        (found,) = tandem.autograd.grad(drawn, [df])
        self.assertAlmostEqual(found.item(), -2 / 25, delta=0.02)  # of df / (df - 2)


class Refusals(unittest.TestCase):
    def test_parameters_and_values_are_checked(self):
        for make, text in (
            (
                lambda: D.Normal(0.0, -1.0),
                r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal\(loc: 0.0, scale: -1.0\) "
                r"to satisfy the constraint "
                r"GreaterThan\(lower_bound=0.0\), but found invalid values:",
            ),
            (lambda: D.Uniform(1.0, 0.0), r"constraint LessThan\(upper_bound=0.0\)"),
            (
                lambda: D.Categorical(tensor([0.5, 0.5])).log_prob(tensor(2)),
                r"within the support \(IntegerInterval\(lower_bound=0, upper_bound=1\)\)",
            ),
            (lambda: D.Bernoulli(), "Either `probs` or `logits` must be specified, but not both."),
            (lambda: D.MultivariateNormal(tandem.zeros(2), -tandem.eye(2)), r"constraint PositiveDefinite\(\)"),
            (lambda: D.Normal(tandem.zeros(2), 1.0).log_prob(tandem.zeros(3)), "Value is not broadcastable with batch_shape"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                make()
        self.assertTrue(math.isnan(D.Normal(0.0, -1.0, validate_args=False).log_prob(tensor(0.0)).item()))

    def test_numbers_that_are_none_end_unchecked_samples(self):
        nan, one = tensor(math.nan), tensor(1.0)
        for made in (
            D.Gamma(nan, one, validate_args=False),
            D.Chi2(nan, validate_args=False),
            D.Beta(nan, one, validate_args=False),
            D.Dirichlet(tandem.stack([nan, one]), validate_args=False),
            D.VonMises(one, nan, validate_args=False),
        ):
            with self.subTest(type(made).__name__):
                self.assertTrue(made.sample().isnan().any())
        self.assertFalse(D.Gamma(tensor(math.inf), one, validate_args=False).sample().isfinite())
        self.assertFalse(D.Poisson(tensor(math.inf), validate_args=False).sample().isfinite())

    def test_texts(self):
        self.assertEqual(repr(D.Normal(0.0, 1.0)), "Normal(loc: 0.0, scale: 1.0)")
        self.assertEqual(D.Normal(tandem.zeros(2), 1.0).expand((3, 2)).batch_shape, (3, 2))


if __name__ == "__main__":
    unittest.main()
