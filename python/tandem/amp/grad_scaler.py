"""GradScaler: loss scaling for float16, where small gradients would be rounded to 0."""
import math
import warnings
from enum import Enum

import tandem
from tandem import _C


class _Stage(Enum):
    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Done:
    """What was done with an optimizer since the last update. `found_inf` is a tensor for each device, or a bool once they are read."""

    def __init__(self):
        self.stage = _Stage.READY
        self.found_inf = []


class GradScaler:
    """Scales losses, divides gradients by the scale, and leaves out steps whose gradients are infinite or nan.

    The scale grows by `growth_factor` after `growth_interval` steps without an infinite gradient, and shrinks by `backoff_factor` after a
    step with one. `step` waits for the device, once; `scale`, `unscale_` and `update` do not.
    """

    def __init__(
        self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True
    ):
        self._device = device
        if enabled and device == "cuda" and not tandem.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            enabled = False
        self._enabled = enabled
        if not enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._used = False  # a loss was scaled
        self._done = {}  # by optimizer's id

    def scale(self, outputs):
        """The outputs, a tensor or lists of tensors, times the scale."""
        if not self._enabled:
            return outputs
        self._used = True
        return self._scaled(outputs)

    def _scaled(self, outputs):
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        try:
            scaled = [self._scaled(one) for one in outputs]
        except TypeError:
            raise ValueError("outputs must be a Tensor or an iterable of Tensors") from None
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def _check_used(self, what):
        if not self._used:
            raise AssertionError(
                f"Attempted {what} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier "
                "in the iteration."
            )

    def _done_with(self, optimizer):
        return self._done.setdefault(id(optimizer), _Done())

    def unscale_(self, optimizer):
        """Divides the gradients of the optimizer's parameters by the scale, for who looks at them before the step."""
        if not self._enabled:
            return
        self._check_used("unscale_")
        done = self._done_with(optimizer)
        if done.stage is _Stage.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if done.stage is _Stage.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._unscale(optimizer, done)

    def _unscale(self, optimizer, done):
        gradients = {}
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None or parameter.grad.numel() == 0:
                    continue
                if parameter.grad.dtype == _C.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                gradients.setdefault(parameter.grad.device, []).append(parameter.grad)
        inverse = 1.0 / self._scale
        with tandem.no_grad():
            for of_device in gradients.values():
                largest = _C.stack([gradient.abs().max().float() for gradient in of_device])
                done.found_inf.append(largest.isfinite().logical_not().any())
                for gradient in of_device:
                    gradient.mul_(inverse)
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if any("_unit" in parameter.__dict__ for parameter in parameters):  # in shards: one rank's finding is all ranks'
            from tandem.distributed.fsdp._norms import found_anywhere, handle_of_shards

            handle = handle_of_shards(parameters)
            if handle is not None:
                done.found_inf = [found_anywhere(handle, parameters[0].device, done.found_inf)]
        done.stage = _Stage.UNSCALED

    @staticmethod
    def _found_inf(done):
        """Whether a gradient is infinite. Waits for the devices where they were not asked yet."""
        if isinstance(done.found_inf, list):
            done.found_inf = any([found.item() for found in done.found_inf])
        return done.found_inf

    def step(self, optimizer, *args, **kwargs):
        """unscale_ where it was not called, and the optimizer's step unless a gradient is infinite or nan; gives what that returns."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_used("step")
        done = self._done_with(optimizer)
        if done.stage is _Stage.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if done.stage is _Stage.READY:
            self._unscale(optimizer, done)
        if done.found_inf == []:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if self._found_inf(done) else optimizer.step(*args, **kwargs)
        done.stage = _Stage.STEPPED
        return result

    def update(self, new_scale=None):
        """The scale of the next iteration, or `new_scale`, a number or a tensor of one. After all steps of an iteration."""
        if not self._enabled:
            return
        self._check_used("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            checked = [done for done in self._done.values() if done.found_inf != []]
            if not checked:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any([self._found_inf(done) for done in checked]):
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = self._scale * self._growth_factor
                    if math.isfinite(_C.tensor(grown, dtype=_C.float32).item()):
                        self._scale = grown
                    self._growth_tracker = 0
        self._done = {}

    def get_scale(self):
        """What losses are multiplied by; 1.0 where it is not enabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def is_enabled(self):
        """Whether it does anything."""
        return self._enabled

    def state_dict(self):
        """The scale, its factors and the steps since it last changed; empty where it is not enabled. After update."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict):
        """Takes over what state_dict gave. Does nothing where it is not enabled."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self):
        if self._enabled and self._done:
            raise RuntimeError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update()."
            )
        return self.__dict__.copy()
