"""Mixtures of distributions of one kind."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions import constraints
from tandem.distributions.categorical import Categorical
from tandem.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component, drawn by mixture_distribution, of component_distribution, whose last batch dimension are the components."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        batch, of_components = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(batch), reversed(of_components)):
            if one != 1 and other != 1 and one != other:
                raise ValueError(f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                                 f"`component_distribution.batch_shape`({of_components})")
        count, of_mixture = component_distribution.batch_shape[-1], mixture_distribution.param_shape[-1]
        if count != of_mixture:
            raise ValueError(
                f"`mixture_distribution component` ({of_mixture}) does not equal `component_distribution.batch_shape[-1]` ({count})"
            )
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(of_components, component_distribution.event_shape, validate_args)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape, _instance)
        made._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        made._component_distribution = self._component_distribution.expand(_C.Size([*batch_shape, self._num_component]))
        return made

    @constraints.dependent_property
    def support(self):
        """What the components may have."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _weights(self):
        """The probabilities of the components, with dimensions for the event."""
        probs = self._mixture_distribution.probs
        return probs.reshape((*probs.shape, *[1] * self._event_ndims))

    @property
    def mean(self):
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self):
        weights, of_components = self._weights(), self._component_distribution
        dim = -1 - self._event_ndims
        within = (weights * of_components.variance).sum(dim)
        apart = of_components.mean - self.mean.unsqueeze(dim)
        return within + (weights * apart.pow(2)).sum(dim)

    def cdf(self, value):
        below = self._component_distribution.cdf(value.unsqueeze(-1 - self._event_ndims))
        return (below * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        of_components = self._component_distribution.log_prob(value.unsqueeze(-1 - self._event_ndims))
        log_weights = _C.log_softmax(self._mixture_distribution.logits, dim=-1)
        return _C.logsumexp(of_components + log_weights, dim=-1)

    def sample(self, sample_shape=()):
        with no_grad():
            dim = len(sample_shape) + len(self._batch_shape)
            drawn = self._component_distribution.sample(sample_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            missing = dim - chosen.dim()
            chosen = chosen.reshape((*chosen.shape[: len(sample_shape)], *[1] * missing, *chosen.shape[len(sample_shape) :]))
            chosen = chosen.reshape((*chosen.shape, 1, *[1] * self._event_ndims))
            chosen = chosen.expand((*drawn.shape[:dim], 1, *self._event_shape))
            return drawn.gather(dim, chosen.contiguous()).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
