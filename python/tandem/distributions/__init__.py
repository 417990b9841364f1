"""Distributions: samples, the logarithms of densities, entropies, and how far two are apart. As torch.distributions."""

from tandem.distributions import constraints, kl_pairs, transforms  # noqa: F401  kl_pairs tells kl_divergence of its pairs
from tandem.distributions.bernoulli import Bernoulli
from tandem.distributions.beta import Beta
from tandem.distributions.binomial import Binomial
from tandem.distributions.categorical import Categorical
from tandem.distributions.cauchy import Cauchy
from tandem.distributions.chi2 import Chi2
from tandem.distributions.constraint_registry import biject_to, transform_to
from tandem.distributions.continuous_bernoulli import ContinuousBernoulli
from tandem.distributions.dirichlet import Dirichlet
from tandem.distributions.distribution import Distribution
from tandem.distributions.exp_family import ExponentialFamily
from tandem.distributions.exponential import Exponential
from tandem.distributions.fishersnedecor import FisherSnedecor
from tandem.distributions.gamma import Gamma
from tandem.distributions.generalized_pareto import GeneralizedPareto
from tandem.distributions.geometric import Geometric
from tandem.distributions.gumbel import Gumbel
from tandem.distributions.half_cauchy import HalfCauchy
from tandem.distributions.half_normal import HalfNormal
from tandem.distributions.independent import Independent
from tandem.distributions.inverse_gamma import InverseGamma
from tandem.distributions.kl import kl_divergence, register_kl
from tandem.distributions.kumaraswamy import Kumaraswamy
from tandem.distributions.laplace import Laplace
from tandem.distributions.lkj_cholesky import LKJCholesky
from tandem.distributions.log_normal import LogNormal
from tandem.distributions.logistic_normal import LogisticNormal
from tandem.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from tandem.distributions.mixture_same_family import MixtureSameFamily
from tandem.distributions.multinomial import Multinomial
from tandem.distributions.multivariate_normal import MultivariateNormal
from tandem.distributions.negative_binomial import NegativeBinomial
from tandem.distributions.normal import Normal
from tandem.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from tandem.distributions.pareto import Pareto
from tandem.distributions.poisson import Poisson
from tandem.distributions.relaxed_bernoulli import RelaxedBernoulli
from tandem.distributions.relaxed_categorical import RelaxedOneHotCategorical
from tandem.distributions.studentT import StudentT
from tandem.distributions.transformed_distribution import TransformedDistribution
from tandem.distributions.transforms import (AbsTransform, AffineTransform, CatTransform, ComposeTransform, CorrCholeskyTransform,
                                             CumulativeDistributionTransform, ExpTransform, IndependentTransform, LowerCholeskyTransform,
                                             PositiveDefiniteTransform, PowerTransform, ReshapeTransform, SigmoidTransform,
                                             SoftmaxTransform, SoftplusTransform, StackTransform, StickBreakingTransform, TanhTransform,
                                             Transform, identity_transform)
from tandem.distributions.uniform import Uniform
from tandem.distributions.von_mises import VonMises
from tandem.distributions.weibull import Weibull
from tandem.distributions.wishart import Wishart

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform", "Dirichlet", "Distribution",
    "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel",
    "HalfCauchy", "HalfNormal", "Independent", "IndependentTransform", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson",
    "PositiveDefiniteTransform", "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform", "StudentT",
    "TanhTransform", "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to", "constraints",
    "identity_transform", "kl_divergence", "register_kl", "transform_to", "transforms",
]

# Modules of this folder that torch.distributions does not have.
_OWN_MODULES = {"_folded", "kl_pairs", "probs_or_logits", "sampling", "transform_base", "transform_parts"}


def __dir__():
    """What torch.distributions shows."""
    return sorted(set(globals()) - _OWN_MODULES - {"_OWN_MODULES", "__dir__"})
