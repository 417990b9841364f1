"""What values a parameter or a sample may have: each constraint has check(value), true where an element is allowed, and a text."""

from tandem import _C


class Constraint:
    """What values are allowed. event_dim: how many of the last dimensions belong to one value."""

    event_dim = 0
    is_discrete = False

    def __init__(self, **bounds):
        self.__dict__.update(bounds)
        self._bounds = bounds

    def check(self, value):
        """True where a value is allowed."""
        raise NotImplementedError

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={bound}' for name, bound in self._bounds.items())})"


class Real(Constraint):
    """No nan."""

    def check(self, value):
        return value == value


class GreaterThan(Constraint):
    """Above lower_bound."""

    def check(self, value):
        return value > self.lower_bound


class LessThan(Constraint):
    """Below upper_bound."""

    def check(self, value):
        return value < self.upper_bound


class GreaterThanEq(Constraint):
    """lower_bound or above."""

    def check(self, value):
        return value >= self.lower_bound


class Interval(Constraint):
    """From lower_bound to upper_bound, both included."""

    def check(self, value):
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class IntegerInterval(Interval):
    """Whole numbers from lower_bound to upper_bound."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & super().check(value)


class IntegerGreaterThan(Constraint):
    """Whole numbers, lower_bound or above."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class Simplex(Constraint):
    """Vectors of numbers that are not negative, with the sum 1."""

    event_dim = 1

    def check(self, value):
        return _C.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class OneHot(Constraint):
    """Vectors with a single 1, else 0."""

    event_dim = 1
    is_discrete = True

    def check(self, value):
        return _C.all((value == 0) | (value == 1), dim=-1) & (value.sum(-1) == 1)


class RealVector(Constraint):
    """Vectors without nan."""

    event_dim = 1

    def check(self, value):
        return _C.all(value == value, dim=-1)


class LowerCholesky(Constraint):
    """Lower triangular matrices whose diagonal is positive."""

    event_dim = 2

    def check(self, value):
        return _C.all(_C.all(value.tril() == value, dim=-1), dim=-1) & _C.all(_C.diagonal(value, dim1=-2, dim2=-1) > 0, dim=-1)


class PositiveDefinite(Constraint):
    """Symmetric matrices whose eigenvalues are positive."""

    event_dim = 2

    def check(self, value):
        symmetric = _C.all(_C.all((value - value.mT).abs() < 1e-6, dim=-1), dim=-1)
        return symmetric & _C.all(_C._linalg["eigvalsh"](value.detach()) > 0, dim=-1)


real = Real()
real_vector = RealVector()
positive = GreaterThan(lower_bound=0.0)
nonnegative = GreaterThanEq(lower_bound=0.0)
unit_interval = Interval(lower_bound=0.0, upper_bound=1.0)
nonnegative_integer = IntegerGreaterThan(lower_bound=0)
boolean = Boolean()
simplex = Simplex()
one_hot = OneHot()
lower_cholesky = LowerCholesky()
positive_definite = PositiveDefinite()
greater_than, greater_than_eq, less_than, interval, integer_interval = GreaterThan, GreaterThanEq, LessThan, Interval, IntegerInterval
