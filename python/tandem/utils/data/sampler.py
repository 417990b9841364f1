"""Samplers: the order in which a loader asks a dataset for its samples."""
import itertools

from tandem import _C


def _seeded_generator():
    """A generator whose seed is drawn from the default one."""
    generator = _C.Generator()
    generator.manual_seed(int(_C.empty((), dtype=_C.int64).random_().item()))
    return generator


def _check_positive(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class Sampler:
    """Gives indices, or lists of them: subclasses implement `__iter__`, and mostly `__len__`."""

    def __class_getitem__(cls, _):
        return cls

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """Indices in random order, `num_samples` of them; with `replacement` an index may come again at once."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_positive("num_samples", self.num_samples)

    @property
    def num_samples(self):
        """How many indices a pass gives: as many as there are samples, unless given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        generator = self.generator or _seeded_generator()
        size, count = len(self.data_source), self.num_samples
        if self.replacement:
            for _ in range(count // 32):
                yield from _C.randint(0, size, (32,), dtype=_C.int64, generator=generator).tolist()
            yield from _C.randint(0, size, (count % 32,), dtype=_C.int64, generator=generator).tolist()
        else:
            for _ in range(count // size):
                yield from _C.randperm(size, generator=generator).tolist()
            yield from _C.randperm(size, generator=generator).tolist()[: count % size]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """`indices` in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for index in _C.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[index]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` indices, each drawn as often as its weight says. Weights need not sum to 1."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        weights = _C.as_tensor(weights, dtype=_C.float64)
        if weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from _C.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """The indices of `sampler` in lists of `batch_size`; a last shorter one is left out with `drop_last`."""

    def __init__(self, sampler, batch_size, drop_last):
        _check_positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self):
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) + self.batch_size - 1) // self.batch_size
