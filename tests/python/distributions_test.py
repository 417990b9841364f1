"""Distributions: densities, entropies and divergences by their formulas, samples by their moments, gradients, and what is refused."""

import math
import unittest

import tandem
from tandem import distributions as D

tensor = tandem.tensor
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
        with self.assertRaisesRegex(NotImplementedError, "p type Normal and q type Uniform"):
            D.kl_divergence(D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0))


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

    def test_texts(self):
        self.assertEqual(repr(D.Normal(0.0, 1.0)), "Normal(loc: 0.0, scale: 1.0)")
        self.assertEqual(D.Normal(tandem.zeros(2), 1.0).expand((3, 2)).batch_shape, (3, 2))


if __name__ == "__main__":
    unittest.main()
