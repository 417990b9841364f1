"""Exponential families: distributions whose density is exp of a product of natural parameters and statistics, less a normalizer."""

import tandem
from tandem.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Subclasses give _natural_params, a tuple, _log_normalizer of them, and _mean_carrier_measure, from which entropies follow."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """The entropy, from the gradient of the normalizer, which is the mean of the statistics."""
        carrier = self._mean_carrier_measure
        params = [one.detach().requires_grad_() for one in self._natural_params]
        with tandem.enable_grad():
            normalizer = self._log_normalizer(*params)
            means = tandem.autograd.grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - carrier
        for param, mean in zip(params, means):
            result = result - (param * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return result
