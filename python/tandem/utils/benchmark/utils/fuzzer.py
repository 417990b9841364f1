"""Inputs of random sizes for measurements: Fuzzer draws parameters, and makes tensors of the sizes that they give."""

import math
import random

import tandem

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias", "dtype_size"]

_TRIES = 1000  # for parameters that fit


def dtype_size(dtype):
    """Bytes of an element."""
    return dtype.itemsize


class ParameterAlias:
    """Stands for the value of another parameter, in the distribution of one."""

    def __init__(self, alias_to):
        self.alias_to = alias_to

    def __repr__(self):
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number that is drawn: 'uniform' or 'loguniform' between minval and maxval, or from a dict of values and how probable they are."""

    def __init__(self, name, minval=None, maxval=None, distribution=None, strict=False):
        self._name = name
        self._minval, self._maxval = minval, maxval
        self.strict = strict
        if isinstance(distribution, dict):
            if minval is not None or maxval is not None:
                raise AssertionError("minval and maxval must not be given together with a dict of values")
            total = sum(distribution.values())
            if total <= 0 or any(value < 0 for value in distribution.values()) or (strict and abs(total - 1) > 1e-6):
                raise ValueError(f"the probabilities of parameter {name} must not be negative, and their sum is to be 1, not {total}")
        elif distribution not in ("uniform", "loguniform"):
            raise AssertionError(f"Unknown distribution: {distribution}")
        elif minval is None or maxval is None or minval > maxval or (distribution == "loguniform" and minval <= 0):
            raise ValueError(f"parameter {name} needs a minval up to its maxval, above 0 for 'loguniform', not {minval} and {maxval}")
        self._distribution = distribution

    @property
    def name(self):
        """Its name."""
        return self._name

    def sample(self, state):
        """A value, drawn from a random.Random."""
        low, high, whole = self._minval, self._maxval, isinstance(self._minval, int) and isinstance(self._maxval, int)
        if isinstance(self._distribution, dict):
            return state.choices(list(self._distribution), list(self._distribution.values()))[0]
        if self._distribution == "uniform":
            return state.randint(low, high) if whole else state.uniform(low, high)
        value = 2 ** state.uniform(math.log2(low), math.log2(high))
        return min(max(round(value), low), high) if whole else value


class FuzzedTensor:
    """A tensor whose sizes, and steps between its elements, are numbers or names of parameters.

    Where it is not contiguous, which it is with probability_contiguous, its dimensions lie in another order in memory.
    """

    def __init__(
        self, name, size, steps=None, probability_contiguous=0.5, min_elements=None, max_elements=None, max_allocation_bytes=None,
        dim_parameter=None, roll_parameter=None, dtype=None, cuda=False, tensor_constructor=None,
    ):  # fmt: skip
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous = probability_contiguous
        self._min_elements, self._max_elements, self._max_allocation_bytes = min_elements, max_elements, max_allocation_bytes
        self._dim_parameter, self._roll_parameter = dim_parameter, roll_parameter
        self._dtype, self._cuda, self._tensor_constructor = tandem.float32 if dtype is None else dtype, cuda, tensor_constructor

    @property
    def name(self):
        """Its name."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size, dtype, **kwargs):
        """Random elements: of floating dtypes between 0 and 1, of others up to 126."""
        if dtype.is_floating_point:
            return tandem.rand(size=size, dtype=dtype, device="cpu")
        return tandem.randint(0, 2 if dtype is tandem.bool else 127, size=size, dtype=dtype, device="cpu")

    def _sizes(self, params):
        """The sizes, the steps, and the sizes of the memory."""

        def values(given):
            chosen = [params.get(one, one) if isinstance(one, str) else one for one in given]
            return chosen if self._dim_parameter is None else chosen[: params[self._dim_parameter]]

        size = values(self._size)
        steps = values(self._steps or [1] * len(self._size))
        if self._roll_parameter is not None:
            turn = params[self._roll_parameter] % len(size)
            size, steps = size[-turn:] + size[:-turn], steps[-turn:] + steps[:-turn]
        return tuple(size), tuple(steps), tuple(one * step for one, step in zip(size, steps))

    def satisfies_constraints(self, params):
        """Whether these parameters give a number of elements, and of bytes, that is wanted."""
        size, _, allocation = self._sizes(params)
        count, taken = math.prod(size), math.prod(allocation) * self._dtype.itemsize
        return (
            (self._max_allocation_bytes is None or taken <= self._max_allocation_bytes)
            and (self._max_elements is None or count <= self._max_elements)
            and (self._min_elements is None or count >= self._min_elements)
        )

    def _make_tensor(self, params, state):
        size, steps, allocation = self._sizes(params)
        order = list(range(len(size)))
        if len(size) > 1 and state.random() > self._probability_contiguous:
            state.shuffle(order)
        construct = self._tensor_constructor or self.default_tensor_constructor
        made = construct(size=tuple(allocation[dim] for dim in order), dtype=self._dtype, **params)
        made = made.cuda() if self._cuda else made
        made = made.permute(tuple(sorted(range(len(order)), key=order.__getitem__)))[tuple(slice(0, one * step, step) for one, step in zip(size, steps))]
        return made, {
            "numel": made.numel(), "order": order, "steps": steps, "is_contiguous": made.is_contiguous(), "dtype": str(self._dtype),
        }  # fmt: skip


class Fuzzer:
    """take(n) gives n times tensors, what is known of them, and the parameters, each as a dict by names. The same seed draws the same ones."""

    def __init__(self, parameters, tensors, constraints=None, seed=None):
        def flat(given):
            return [one for part in given for one in (part if isinstance(part, (list, tuple)) else [part])]

        self._seed = random.randrange(2**31) if seed is None else seed
        self._parameters, self._tensors, self._constraints = flat(parameters), flat(tensors), constraints or ()
        names = [one.name for one in self._parameters + self._tensors]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"Parameter names overlap: {', '.join(twice)}")
        self._rejections = self._total_generated = 0

    def take(self, n):
        """n sets of inputs."""
        state = random.Random(self._seed)
        for _ in range(n):
            params = self._generate(state)
            made = {tensor.name: tensor._make_tensor(params, state) for tensor in self._tensors}
            yield {name: one for name, (one, _) in made.items()}, {name: facts for name, (_, facts) in made.items()}, params

    @property
    def rejection_rate(self):
        """Which part of what was drawn did not fit."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state):
        for _ in range(_TRIES):
            params = {one.name: one.sample(state) for one in self._parameters}
            for name, value in params.items():
                while isinstance(value, ParameterAlias):
                    value = params[value.alias_to]
                params[name] = value
            self._total_generated += 1
            fits = all(constraint(params) for constraint in self._constraints)
            if fits and all(tensor.satisfies_constraints(params) for tensor in self._tensors):
                return params
            self._rejections += 1
        raise ValueError(f"{_TRIES} sets of parameters in a row did not fit: give other sizes or constraints")
