"""Fetchers: from the indices that a sampler gave to the batch that the loader returns. They run in the loader's process or in a worker."""
import itertools

from tandem import _C
from tandem.utils.data.collate import default_collate
from tandem.utils.data.dataset import IterableDataset, Subset, TensorDataset, samples_of


def make_fetcher(dataset, auto_collation, collate_fn, drop_last):
    """The fetcher for this kind of dataset; `auto_collation` where the indices are lists, a batch each."""
    kind = IterableFetcher if isinstance(dataset, IterableDataset) else MapFetcher
    return kind(dataset, auto_collation, collate_fn, drop_last)


def _rows(dataset, indices):
    """What default_collate makes of a TensorDataset's samples, by one indexing a tensor; None for other datasets."""
    while type(dataset) is Subset:
        indices = [dataset.indices[index] for index in indices]
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset:
        return None
    index = _C.tensor(indices, dtype=_C.int64)
    return [tensor[index] for tensor in dataset.tensors]


class MapFetcher:
    """For datasets with indices: the sampler has left out what `drop_last` leaves out."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn

    def fetch(self, indices):
        if not self.auto_collation:
            return self.collate_fn(self.dataset[indices])
        if self.collate_fn is default_collate and (batch := _rows(self.dataset, indices)) is not None:
            return batch
        return self.collate_fn(samples_of(self.dataset, indices))


class IterableFetcher:
    """For datasets that are iterated over; of the indices only their number counts. StopIteration at the end."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.samples = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, indices):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.samples))
        batch = list(itertools.islice(self.samples, len(indices)))
        self.ended = len(batch) < len(indices)
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)


_MapDatasetFetcher, _IterableDatasetFetcher = MapFetcher, IterableFetcher  # PyTorch's names
