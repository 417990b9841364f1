"""Distribution, the base of all."""

import warnings

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributions.utils import broadcast_all, clamp_probs, lazy_property, sum_rightmost  # noqa: F401  the names programs import from here

__all__ = ["Distribution"]


class Distribution:
    """A distribution: batch_shape are the sizes of independent ones, event_shape that of one sample."""

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    support = None
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether parameters and values are checked from now on."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = _C.Size(batch_shape), _C.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                # What is computed when it is first asked for follows from what is checked.
                derived = name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property)
                value = None if derived else getattr(self, name, None)
                if isinstance(value, _C.Tensor) and not bool(constraint.check(value).all()):
                    raise ValueError(
                        f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} "
                        f"to satisfy the constraint {constraint!r}, "
                        f"but found invalid values:\n{value}"
                    )

    batch_shape = property(lambda self: self._batch_shape, doc="The sizes of independent distributions.")
    event_shape = property(lambda self: self._event_shape, doc="The sizes of one sample.")
    stddev = property(lambda self: self.variance.sqrt(), doc="The root of the variance.")

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The value of the highest density."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    def expand(self, batch_shape, _instance=None):
        """The same distribution for a larger batch_shape, without copies."""
        made = self._copy(_instance)
        for name in self.arg_constraints:
            value = self.__dict__.get(name)
            if isinstance(value, _C.Tensor):
                own = value.shape[len(self._batch_shape) :]
                made.__dict__[name] = value.expand(_C.Size([*batch_shape, *own]))
        made._batch_shape = _C.Size(batch_shape)
        return made

    def _copy(self, instance=None):
        """Another of the same class with the same attributes, for expand to change."""
        made = type(self).__new__(type(self)) if instance is None else instance
        made.__dict__.update(self.__dict__)
        return made

    def sample(self, sample_shape=()):
        """A sample, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """A sample whose gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """n samples; the old form of sample((n,))."""
        warnings.warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of the value or less."""
        raise NotImplementedError

    def icdf(self, value):
        """The value with this probability of itself or less."""
        raise NotImplementedError

    def entropy(self):
        """The entropy, in nats."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values."""
        raise NotImplementedError

    def perplexity(self):
        """exp of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()):
        return _C.Size([*sample_shape, *self._batch_shape, *self._event_shape])

    def _validate_sample(self, value):
        """ValueError unless the value is one that log_prob can take."""
        if not self._validate_args:
            return
        if not isinstance(value, _C.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        if self._event_shape and tuple(value.shape[-len(self._event_shape) :]) != tuple(self._event_shape):
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        for have, want in zip(reversed(value.shape), reversed(self._extended_shape())):
            if have != 1 and want != 1 and have != want:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {self._extended_shape()}.")
        support = self.support
        if support is not None and not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support ({support!r}) "
                f"of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def __repr__(self):
        parts = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        return f"{type(self).__name__}({', '.join(f'{name}: {value if value.numel() == 1 else value.size()}' for name, value in parts)})"
