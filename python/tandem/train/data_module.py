"""LightningDataModule: the data of a run, and how it is prepared."""

from tandem import serialization
from tandem.train import loaders
from tandem.train.devices import moved
from tandem.train.hyper_parameters import HyperParameters, made_of_checkpoint


class LightningDataModule(HyperParameters):
    """Derive and give the loaders that are needed. A Trainer calls `prepare_data` on one rank, then `setup(stage)` on each."""

    def __init__(self):
        self.trainer = None

    def prepare_data(self):
        """Fetches and writes what all ranks read; on one rank of each machine."""

    def setup(self, stage):
        """Makes the datasets. `stage` is "fit", "validate", "test" or "predict"."""

    def teardown(self, stage):
        """The run has ended."""

    def train_dataloader(self):
        """The data to learn from."""

    def val_dataloader(self):
        """The data to be judged by while it learns."""

    def test_dataloader(self):
        """The data of Trainer.test."""

    def predict_dataloader(self):
        """The data of Trainer.predict."""

    def on_exception(self, exception):
        """An error ends the run."""

    def on_before_batch_transfer(self, batch, dataloader_idx):
        """A batch before it is moved; returns it, changed or not."""
        return batch

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        """The batch on the device."""
        return moved(batch, device)

    def on_after_batch_transfer(self, batch, dataloader_idx):
        """A batch after it is moved; returns it, changed or not."""
        return batch

    def state_dict(self):
        """What checkpoints hold of it."""
        return {}

    def load_state_dict(self, state_dict):
        """Goes on from what state_dict gave."""

    @classmethod
    def from_datasets(
        cls, train_dataset=None, val_dataset=None, test_dataset=None, predict_dataset=None, batch_size=1, num_workers=0, **init_kwargs
    ):
        """Loaders of datasets; the first is shuffled. A dataset may be several, in a list or dict."""
        made = cls(**init_kwargs)

        def give(name, dataset, shuffle=False):
            if dataset is not None:
                setattr(made, name, lambda: loaders.loaders_of_datasets(dataset, batch_size, shuffle, num_workers))

        give("train_dataloader", train_dataset, shuffle=True)
        give("val_dataloader", val_dataset)
        give("test_dataloader", test_dataset)
        give("predict_dataloader", predict_dataset)
        return made

    @classmethod
    def load_from_checkpoint(cls, checkpoint_path, map_location=None, weights_only=None, **kwargs):
        """An object of the hyper parameters that a checkpoint holds."""
        checkpoint = serialization.load(checkpoint_path, map_location or "cpu", weights_only=weights_only)
        kept = {
            "hyper_parameters": checkpoint.get("datamodule_hyper_parameters", {}),
            "hparams_name": checkpoint.get("datamodule_hparams_name"),
        }
        made = made_of_checkpoint(cls, kept, kwargs)
        made.load_state_dict(checkpoint.get("datamodule", {}))
        return made
