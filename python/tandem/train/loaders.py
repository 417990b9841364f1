"""The loaders of a run: where they come from, how many batches of them count, and each rank's part."""

import math
import warnings

from tandem import _C
from tandem.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset, RandomSampler, SequentialSampler


def length_of(loader):
    """How many batches a loader has; None where it does not say."""
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None


def at_most(batches, limit, name):
    """Batches under a limit: a whole number of them, or a share from 0.0 to 1.0. None where there is no end."""
    if isinstance(limit, float):
        if limit == 1.0 or batches is None:
            if limit not in (0.0, 1.0):
                raise ValueError(
                    f"[Trainer] {name}={limit} is a share of the loader's batches, and it does not say how many it has: give a whole number"
                )
            return 0 if limit == 0 else batches
        count = int(batches * limit)
        if count == 0 and limit > 0:
            raise ValueError(
                f"[Trainer] {name}={limit} of {batches} batches is none: give at least "
                f"{1 / batches if batches else 1:.3g}, or a whole number"
            )
        return count
    return limit if batches is None else min(batches, limit)


def loaders_of_datasets(dataset, batch_size, shuffle, num_workers):
    """A loader of a dataset; as many in a list or dict of them."""
    if isinstance(dataset, dict):
        return {name: loaders_of_datasets(one, batch_size, shuffle, num_workers) for name, one in dataset.items()}
    if isinstance(dataset, (list, tuple)):
        return [loaders_of_datasets(one, batch_size, shuffle, num_workers) for one in dataset]
    shuffle = shuffle and not isinstance(dataset, IterableDataset)
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, num_workers=num_workers)


def _is_batch(value):
    return isinstance(value, (_C.Tensor, list, tuple, dict, int, float, str))


def as_list(given):
    """The loaders in what was given: one, several in a list or dict, or none."""
    if given is None:
        return []
    if isinstance(given, dict):
        return list(given.values())
    if isinstance(given, (list, tuple)) and not any(_is_batch(one) for one in given):
        return list(given)
    return [given]


def found(given, datamodule, module, name):
    """What was given, else what the data module's, else the module's method of that name gives."""
    if given is not None:
        return given
    for owner in (datamodule, module):
        method = getattr(owner, name, None)
        if callable(method):
            made = method()
            if made is not None:
                return made
    return None


def training_loader(given, module):
    """The loader to train on. TypeError or ValueError where there is none, or nothing in it."""
    if given is None:
        raise ValueError(
            "[Trainer.fit] there is nothing to train on: give train_dataloaders or datamodule, or define train_dataloader() in "
            f"{type(module).__name__}"
        )
    if isinstance(given, dict) or isinstance(given, (list, tuple)) and given and not _is_batch(given[0]):
        raise TypeError("[Trainer.fit] give one loader to train on; several datasets in one are a ConcatDataset or a StackDataset")
    if not hasattr(given, "__iter__"):
        raise TypeError(
            f"[Trainer.fit] a loader gives batches when it is iterated over, which {type(given).__name__} does not: give a DataLoader"
        )
    if length_of(given) == 0:
        raise ValueError(empty_text(given))
    return given


def empty_text(loader):
    """What to say of a loader without batches."""
    text = "[Trainer.fit] there is nothing to train on: the loader has no batches"
    dataset = getattr(loader, "dataset", None)
    if dataset is not None and length_of(dataset) is not None:
        text += f"; its dataset has {len(dataset)} samples"
        if getattr(loader, "drop_last", False):
            text += f", and drop_last=True leaves out batches of less than {loader.batch_size}: make batch_size smaller"
    return text


def divided(loader, ranks, seed=0):
    """The loader with each rank's part of its samples, where its sampler is one of the usual; another is left as it is."""
    if not ranks.several or not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
        return loader
    sampler = loader.sampler
    if isinstance(sampler, DistributedSampler):
        return loader
    shuffles = type(sampler) is RandomSampler and not sampler.replacement and sampler.num_samples == len(loader.dataset)
    usual = (shuffles or type(sampler) is SequentialSampler) and type(loader.batch_sampler) in (BatchSampler, type(None))
    if not usual:
        warnings.warn(
            "[Trainer] the loader's sampler, "
            f"{type(loader.batch_sampler if loader.batch_size is None else sampler).__name__}, is left as it is, "
            "so every rank reads what it gives: give each its own part by DistributedSampler",
            stacklevel=2,
        )
        return loader
    options = {
        name: getattr(loader, name)
        for name in (
            "batch_size",
            "num_workers",
            "collate_fn",
            "pin_memory",
            "drop_last",
            "timeout",
            "worker_init_fn",
            "multiprocessing_context",
            "generator",
            "prefetch_factor",
            "persistent_workers",
            "pin_memory_device",
            "in_order",
        )
    }
    if loader.num_workers == 0:
        del options["prefetch_factor"], options["multiprocessing_context"]
    return type(loader)(loader.dataset, sampler=DistributedSampler(loader.dataset, ranks.size, ranks.rank, shuffles, seed), **options)


def set_epoch(loader, epoch):
    """Tells the epoch to the samplers that want to know it."""
    for sampler in (
        getattr(loader, "sampler", None),
        getattr(loader, "batch_sampler", None),
        getattr(getattr(loader, "batch_sampler", None), "sampler", None),
    ):
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)


def generators_of(loader):
    """The generators of its own that a loader and its samplers draw from."""
    owners = (loader, getattr(loader, "sampler", None), getattr(getattr(loader, "batch_sampler", None), "sampler", None))
    unique = {id(owner.generator): owner.generator for owner in owners if getattr(owner, "generator", None) is not None}
    return list(unique.values())


class Batches:
    """The batches of a loader, each with whether it is the last: known by the count, or by a look at the next one."""

    def __init__(self, loader, count):
        self._iterator, self._count, self._done = iter(loader), count, 0
        self._next = [] if count is not None else self._look()

    def _look(self):
        try:
            return [next(self._iterator)]
        except StopIteration:
            return []

    def skip(self, batches):
        """Leaves out the next ones."""
        for _ in range(batches):
            self.next()

    def next(self):
        """(batch, whether it is the last); None at the end."""
        if self._count is None:
            if not self._next:
                return None
            (batch,), self._next = self._next, self._look()
            return batch, not self._next
        if self._done >= self._count:
            return None
        found_one = self._look()
        self._done += 1
        return (found_one[0], self._done == self._count) if found_one else None


def batches_between_validations(interval, batches, every_n_epoch):
    """After how many batches validation comes: a share of an epoch or a number of batches; infinity for its end."""
    if isinstance(interval, int) and not isinstance(interval, bool):
        if batches is not None and interval > batches and every_n_epoch is not None:
            raise ValueError(
                f" `val_check_interval` ({interval}) must be less than or equal to the number of the training batches "
                f"({batches}). If you want to "
                "disable validation set `limit_val_batches` to 0.0 instead. If you want to validate based on the total "
                "training batches, set "
                "`check_val_every_n_epoch=None`.".strip()
            )
        return interval
    if interval == 1.0:
        return math.inf
    if batches is None:
        raise ValueError(
            "[Trainer] val_check_interval is a share of an epoch, and the loader does not say how many batches it has: give a whole number"
        )
    return max(1, int(batches * interval))
