"""Steps of optimizers: the loss and its gradients, clipping, mixed precision, and several batches for one step."""

import contextlib

import tandem
from tandem import _C
from tandem.nn.utils import clip_grad_norm_, clip_grad_value_

_PRECISIONS = {
    "32": None,
    "32-true": None,
    "bf16-mixed": _C.bfloat16,
    "bf16": _C.bfloat16,
    "16-mixed": _C.float16,
    "16": _C.float16,
}


class Precision:
    """What a run computes in: "32", or autocast in "bf16-mixed" and "16-mixed", the latter with a GradScaler."""

    def __init__(self, name, device):
        dtype = _PRECISIONS[str(name)]
        self._dtype, self._device = dtype, device.type
        self.scaler = tandem.GradScaler(self._device) if dtype == _C.float16 else None

    @staticmethod
    def check(name):
        """Error for what is no precision."""
        if str(name) not in _PRECISIONS:
            raise ValueError(f"[Trainer] precision must be '32', 'bf16-mixed' or '16-mixed', but is {name!r}")

    def scope(self):
        """Where steps are computed."""
        return contextlib.nullcontext() if self._dtype is None else tandem.autocast(self._device, dtype=self._dtype)


class ManagedOptimizer:
    """An optimizer of a run: its steps are counted, and scaled where the precision needs it. All else is the optimizer's own."""

    def __init__(self, optimizer, run):
        self.__dict__.update(optimizer=optimizer, _run=run)

    def step(self, closure=None, **kwargs):
        """A step of the optimizer."""
        scaler, optimizer = self._run.precision.scaler, self.optimizer
        if scaler is None:
            result = optimizer.step(**kwargs) if closure is None else optimizer.step(closure, **kwargs)
        else:
            result = None if closure is None else closure()
            scaler.step(optimizer, **kwargs)
            scaler.update()
        self._run.trainer.global_step += 1
        return result

    def __getattr__(self, name):
        return getattr(self.optimizer, name)

    def __setattr__(self, name, value):
        setattr(self.optimizer, name, value)

    def __repr__(self):
        return repr(self.optimizer)


class _Closure:
    """Loss and gradients of a batch, for an optimizer's step. They are there when it is first called; then it computes them again."""

    def __init__(self, compute, loss):
        self._compute, self._loss, self._is_first = compute, loss, True

    def __call__(self):
        is_first, self._is_first = self._is_first, False
        return self._loss if is_first else self._compute()


def _without_graph(value):
    return value.detach() if isinstance(value, _C.Tensor) else value


def _loss_of(module, output):
    """The loss in what training_step gave; None where there is none."""
    loss = output
    if isinstance(output, dict):
        if "loss" not in output:
            raise TypeError(
                f"{type(module).__name__}.training_step gave a dict without 'loss', but with {', '.join(map(str, output)) or 'nothing'}: "
                "put the loss in it under 'loss'"
            )
        loss = output["loss"]
    if loss is None:
        return None
    if not isinstance(loss, _C.Tensor):
        raise TypeError(
            f"{type(module).__name__}.training_step gave {loss!r} of type {type(loss).__name__}: return the loss, a tensor of one element, "
            "a dict with it under 'loss', or None to skip the batch"
        )
    if loss.numel() != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs: {type(module).__name__}.training_step gave a loss "
            f"of shape {tuple(loss.shape)}; "
            "return its mean()"
        )
    if not loss.requires_grad:
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn: the loss that "
            f"{type(module).__name__}.training_step gave leads to no "
            "parameter. Compute it from the model's output without detach(), item() and no_grad(), of parameters that require gradients"
        )
    return loss.reshape(())


class Optimization:
    """How a module learns from batches. `run` has trainer, model, runner, precision, results."""

    def __init__(self, run):
        self._run = run
        self._automatic = getattr(run.model, "automatic_optimization", True)
        self._accumulated = 0  # batches whose gradients wait for a step
        if not self._automatic:
            for what, is_set in (
                ("gradient_clip_val", run.trainer.gradient_clip_val),
                ("accumulate_grad_batches", run.trainer.accumulate_grad_batches > 1),
            ):
                if is_set:
                    raise ValueError(
                        f"[Trainer] {what} is for automatic optimization, and {type(run.model).__name__} has manual: do it in training_step"
                    )
            if len(run.runner.devices) > 1:
                raise ValueError(
                    f"[Trainer] {type(run.model).__name__} has manual optimization, which several GPUs of one process cannot share: "
                    "use num_gpus=1, or one rank a GPU by `tandem launch`"
                )

    def train_batch(self, batch, batch_idx, is_last):
        """Learns from a batch. (what training_step gave without graph, loss or None)."""
        run = self._run
        if not self._automatic:
            with run.precision.scope():
                ((output, _),) = run.step("training_step", batch, batch_idx)
            loss = output.get("loss") if isinstance(output, dict) else output
            return _outputs(output, loss), _without_graph(loss) if isinstance(loss, _C.Tensor) else None
        wanted = run.trainer.accumulate_grad_batches
        steps = is_last or (batch_idx + 1) % wanted == 0
        loss, output = self._gradients(batch, batch_idx, steps)
        if loss is not None:
            self._accumulated += 1
        if steps and self._accumulated:
            self._accumulated = 0
            self._step(batch, batch_idx, loss)
            run.step_schedulers()
        return _outputs(output, loss), loss

    def _gradients(self, batch, batch_idx, steps, first=None):
        """(loss without graph, what training_step gave), after its gradients have been added."""
        run, trainer, optimizer = self._run, self._run.trainer, self._run.managed[0]
        with run.precision.scope():
            outputs = run.step("training_step", batch, batch_idx, averages=steps)
            losses = [(_loss_of(run.model, output), size) for output, size in outputs]
            if any(loss is None for loss, _ in losses):
                if run.ranks.several:
                    raise RuntimeError(
                        "training_step gave None, but the other ranks wait for this one's gradients: return a loss, such as one times 0"
                    )
                return None, outputs[0][0]
            loss = self._together(losses)
        if first if first is not None else self._accumulated == 0:
            trainer._call("on_before_zero_grad", optimizer)
            run.method("optimizer_zero_grad")(trainer.current_epoch, batch_idx, optimizer)
        scaled = loss if trainer.accumulate_grad_batches == 1 else loss / trainer.accumulate_grad_batches
        self.backward(scaled)
        return loss.detach(), outputs[0][0] if len(outputs) == 1 else {"loss": loss}

    def _together(self, losses):
        """The mean over the whole batch of losses that are means over its parts."""
        if len(losses) == 1:
            return losses[0][0]
        device, total = self._run.runner.devices[0], sum(size for _, size in losses)
        return sum(loss.to(device) * (size / total) for loss, size in losses)

    def backward(self, loss, *args, **kwargs):
        """The gradients of a loss, scaled where the precision needs it."""
        run = self._run
        run.trainer._call("on_before_backward", loss)
        scaled = loss if run.precision.scaler is None else run.precision.scaler.scale(loss)
        run.method("backward")(scaled, *args, **kwargs)
        run.trainer._call("on_after_backward")

    def _step(self, batch, batch_idx, loss):
        run, trainer, optimizer = self._run, self._run.trainer, self._run.managed[0]
        clips = trainer.gradient_clip_val is not None and trainer.gradient_clip_val > 0
        if run.precision.scaler is not None and (clips or run.listens_to("on_before_optimizer_step")):
            run.precision.scaler.unscale_(optimizer.optimizer)
        trainer._call("on_before_optimizer_step", optimizer)
        clip = getattr(run.model, "configure_gradient_clipping", None)
        if clip is not None:
            clip(optimizer, trainer.gradient_clip_val, trainer.gradient_clip_algorithm)
        else:
            clip_gradients(optimizer, trainer.gradient_clip_val, trainer.gradient_clip_algorithm)
        closure = _Closure(lambda: self._gradients(batch, batch_idx, True, first=True)[0], loss)
        run.method("optimizer_step")(trainer.current_epoch, batch_idx, optimizer, closure)


def _outputs(output, loss):
    """What on_train_batch_end is given."""
    if isinstance(output, dict):
        return {name: _without_graph(value) for name, value in output.items()}
    return {"loss": _without_graph(loss)} if loss is not None else None


def clip_gradients(optimizer, value, algorithm):
    """Brings the gradients of an optimizer's parameters within a norm together, or each within a value."""
    if not value:
        return
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if algorithm == "value":
        clip_grad_value_(parameters, value)
    else:
        clip_grad_norm_(parameters, value)
