"""Distributions: samples, the logarithms of densities, entropies, and how far two are apart. As torch.distributions."""

from tandem.distributions import constraints
from tandem.distributions.bernoulli import Bernoulli
from tandem.distributions.categorical import Categorical
from tandem.distributions.distribution import Distribution
from tandem.distributions.exponential import Exponential
from tandem.distributions.geometric import Geometric
from tandem.distributions.independent import Independent
from tandem.distributions.kl import kl_divergence, register_kl
from tandem.distributions.laplace import Laplace
from tandem.distributions.log_normal import LogNormal
from tandem.distributions.multivariate_normal import MultivariateNormal
from tandem.distributions.normal import Normal
from tandem.distributions.one_hot_categorical import OneHotCategorical
from tandem.distributions.uniform import Uniform

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Exponential",
    "Geometric",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "Uniform",
    "constraints",
    "kl_divergence",
    "register_kl",
]
