"""Modules and data that the tests of tandem.train share."""

import tandem
import tandem.train as pl
from tandem import nn
from tandem.utils.data import DataLoader, TensorDataset

QUIET = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
FILES = {"logger": False, "enable_progress_bar": False}


def line_data(count=32):
    """Points of y = 2 a - 3 b + 0.5."""
    generator = tandem.Generator().manual_seed(3)
    x = tandem.randn(count, 2, generator=generator)
    return x, x @ tandem.tensor([[2.0], [-3.0]]) + 0.5


def line_loader(batch_size=8, count=32, **options):
    return DataLoader(TensorDataset(*line_data(count)), batch_size=batch_size, **options)


class Line(pl.LightningModule):
    """Linear regression that notes which hooks are called."""

    def __init__(self, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.layer = nn.Linear(2, 1)
        nn.init.zeros_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)
        self.calls = []

    def forward(self, x):
        return self.layer(x)

    def loss(self, batch):
        return nn.functional.mse_loss(self(batch[0]), batch[1])

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("loss", loss, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch), prog_bar=True)

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def predict_step(self, batch, batch_idx):
        return self(batch[0])

    def configure_optimizers(self):
        return tandem.optim.SGD(self.parameters(), lr=self.hparams.lr)


def fitted(model=None, loader=None, validation=None, **options):
    """(model, trainer) after a fit."""
    model = Line() if model is None else model
    trainer = pl.Trainer(**{**QUIET, "max_epochs": 1, **options})
    trainer.fit(model, line_loader() if loader is None else loader, validation)
    return model, trainer


def weights(model):
    return [value.cpu() for value in model.state_dict().values()]


def loader(batch_size=4, count=16, **options):
    generator = tandem.Generator().manual_seed(3)
    x = tandem.randn(count, 2, generator=generator)
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=batch_size, **options)


class Net(pl.LightningModule):
    """Draws random numbers at every step, so that a run that goes on elsewhere than it stopped would show."""

    def __init__(self, width=4, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.BatchNorm1d(width), nn.Dropout(0.25), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)

    def loss(self, batch):
        return nn.functional.mse_loss(self(batch[0]), batch[1])

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("loss", loss, on_epoch=True, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch), prog_bar=True)

    test_step = validation_step

    def configure_optimizers(self):
        optimizer = tandem.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [
            {"scheduler": tandem.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=100), "interval": "step"},
            {"scheduler": tandem.optim.lr_scheduler.StepLR(optimizer, 1, 0.9), "interval": "epoch"},
        ]


class Script(pl.LightningModule):
    """Logs the figures that it is given, one an epoch."""

    def __init__(self, figures):
        super().__init__()
        self.figures = figures
        self.weight = nn.Parameter(tandem.zeros(1))

    def training_step(self, batch, batch_idx):
        return (self.weight * batch[0].sum()).sum()

    def validation_step(self, batch, batch_idx):
        self.log("score", self.figures[self.current_epoch])

    def configure_optimizers(self):
        return tandem.optim.SGD(self.parameters(), lr=0.1)


class StopsAt(pl.Callback):
    """Stops after so many steps."""

    def __init__(self, step):
        self.step = step

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step == self.step:
            trainer.should_stop = True


def bits(model):
    return {name: value.cpu().tolist() for name, value in model.state_dict().items()}


def run_of(model, folder, *, ckpt_path=None, train=None, callbacks=(), **options):
    tandem.manual_seed(5)
    trainer = pl.Trainer(**{**FILES, "default_root_dir": folder, "callbacks": list(callbacks), "max_epochs": 4, **options})
    trainer.fit(model, loader(shuffle=True) if train is None else train, loader(8), ckpt_path=ckpt_path)
    return trainer
