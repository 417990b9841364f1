"""Datasets, samplers, and the loader that makes batches of them."""
from tandem.utils.data.collate import default_collate, default_convert
from tandem.utils.data.dataloader import DataLoader
from tandem.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from tandem.utils.data.distributed import DistributedSampler
from tandem.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from tandem.utils.data.worker import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset", "RandomSampler",
    "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "WorkerInfo", "default_collate", "default_convert", "get_worker_info", "random_split",
]


def __getattr__(name):
    """`_utils`, which is loaded when it is asked for."""
    if name == "_utils":
        import importlib

        return importlib.import_module(f"{__name__}._utils")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
