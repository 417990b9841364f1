"""Averages of weights over training: AveragedModel, the averages it can take, and the learning rates that go with them."""
import copy
import itertools
import math

import tandem
from tandem import nn
from tandem.optim.lr_scheduler.base import LRScheduler, one_a_group


def _check_decay(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay=0.999):
    """The function (averages, values, count) that makes averages = decay * averages + (1 - decay) * values."""
    _check_decay(decay)

    def ema_update(ema_param_list, current_param_list, _):
        with tandem.no_grad():
            for average, value in zip(ema_param_list, current_param_list):
                if average.is_floating_point():
                    average.lerp_(value, 1 - decay)
                else:
                    average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """The function (averages, values, count) that takes the mean over all updates."""

    def swa_update(averaged_param_list, current_param_list, num_averaged):
        count = float(num_averaged) + 1
        with tandem.no_grad():
            for average, value in zip(averaged_param_list, current_param_list):
                if average.is_floating_point():
                    average.lerp_(value, 1 / count)
                else:
                    average.copy_(average + (value - average) / count)

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """The function (average, value, count) that gives decay * average + (1 - decay) * value."""
    _check_decay(decay)

    def ema_update(ema_param, current_param, num_averaged):
        with tandem.no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The function (average, value, count) that gives the mean over all updates."""

    def swa_update(averaged_param, current_param, num_averaged):
        with tandem.no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(nn.Module):
    """A copy of `model` whose parameters, and with `use_buffers` its buffers, are averages over the calls of `update_parameters`.

    The mean, unless `avg_fn(average, value, count)` gives another or `multi_avg_fn(averages, values, count)` updates all in place.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tandem.tensor(0, dtype=tandem.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Takes the values of `model` into the averages."""
        averages, values = self._tensors(self.module), [value.detach() for value in self._tensors(model)]
        averages = [average.detach() for average in averages]
        values = [value.to(average.device) for value, average in zip(values, averages)]
        if self.n_averaged == 0:
            for average, value in zip(averages, values):
                average.copy_(value)
        elif self.avg_fn is not None:
            for average, value in zip(averages, values):
                average.copy_(self.avg_fn(average, value, self.n_averaged.to(average.device)))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(averages, values, self.n_averaged)
        if not self.use_buffers:
            # Counts of batches and running means are the model's own.
            for average, value in zip(self.module.buffers(), model.buffers()):
                average.detach().copy_(value.detach().to(average.device))
        self.n_averaged += 1

    def _tensors(self, model):
        if self.use_buffers:
            return list(itertools.chain(model.parameters(), model.buffers()))
        return list(model.parameters())


def update_bn(loader, model, device=None):
    """Computes the running statistics of the model's batch norms anew, over one pass of `loader`.

    Of batches that are lists or tuples the first element is the model's input.
    """
    momenta = {}
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    with tandem.no_grad():
        for batch in loader:
            if isinstance(batch, (list, tuple)):
                batch = batch[0]
            if device is not None:
                batch = batch.to(device)
            model(batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Brings the learning rates to `swa_lr`, a number or one for each group, in `anneal_epochs` epochs, and leaves them there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        for rate, group in zip(one_a_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch):
        """How far the rates are on their way at `epoch`, from 0 to 1."""
        done = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * done)) / 2 if self._anneal_strategy == "cos" else done

    def get_lr(self):
        self._warn_unless_in_step()
        # A first rate that the last step came from is not kept: it follows from the rate of now.
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            swa_lr = group["swa_lr"]
            first = swa_lr if before == 1 else (group["lr"] - before * swa_lr) / (1 - before)
            rates.append(swa_lr * now + first * (1 - now))
        return rates
