"""What all iterators of a DataLoader share, and the one that fetches batches in the loader's own process."""
import warnings

from tandem import _C
from tandem.utils.data.collate import pin_memory
from tandem.utils.data.dataset import IterableDataset
from tandem.utils.data.fetch import make_fetcher


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader):
        self._loader = loader
        self._dataset = loader.dataset
        self._num_workers = loader.num_workers
        self._sampler_iter = iter(loader._index_sampler)
        # Drawn before the sampler draws its seed.
        self._base_seed = _C.empty((), dtype=_C.int64).random_(generator=loader.generator).item()
        self._pin_memory = loader._pins_memory()
        self._num_yielded = 0

    def _reset(self, loader):
        self._sampler_iter = iter(loader._index_sampler)
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader._index_sampler)

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        length = self._loader._IterableDataset_len_called
        if length is not None and self._num_yielded > length and isinstance(self._dataset, IterableDataset):
            self._warn_of_length(length)
        return data

    def _warn_of_length(self, length):
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {length} (when accessing len(dataloader)), but "
            f"{self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += "With several workers, each has to give its own part of the dataset: see get_worker_info()."
        warnings.warn(text, stacklevel=3)

    def _next_data(self):
        raise NotImplementedError


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Fetches a batch when it is asked for."""

    def __init__(self, loader):
        super().__init__(loader)
        self._fetcher = make_fetcher(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _next_data(self):
        data = self._fetcher.fetch(next(self._sampler_iter))
        return pin_memory(data) if self._pin_memory else data
