"""ShardedGradScaler: a GradScaler whose ranks take or leave out a step together."""

from tandem.amp.grad_scaler import GradScaler
from tandem.distributed.fsdp._norms import found_anywhere
from tandem.distributed.groups import handle_of


class ShardedGradScaler(GradScaler):
    """As GradScaler, for gradients in shards: an infinite one on any rank of the group counts on all. Every rank calls it."""

    def __init__(
        self, device="cuda", init_scale=2.0**16, backoff_factor=0.5, growth_factor=2.0, growth_interval=2000, enabled=True,
        process_group=None
    ):
        super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        self.process_group = process_group

    def _unscale(self, optimizer, done):
        super()._unscale(optimizer, done)
        device = optimizer.param_groups[0]["params"][0].device
        done.found_inf = [found_anywhere(handle_of(self.process_group), device, done.found_inf)]
