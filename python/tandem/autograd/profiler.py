"""The old place of the profiler."""

from .. import profiler as _profiler
from ..profiler import record_function

__all__ = ["profile", "record_function"]


class profile(_profiler.profile):
    """with profile() as prof: tandem.profiler.profile by its old parameters; with `enabled=False` nothing is recorded."""

    def __init__(self, enabled=True, *, use_cpu=True, use_cuda=False, use_device=None, record_shapes=False, with_flops=False, profile_memory=False, with_stack=False,
                 with_modules=False, use_kineto=False, experimental_config=None, acc_events=False, custom_trace_id_callback=None):
        super().__init__(record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory, with_stack=with_stack)
        self.enabled = enabled

    def __enter__(self):
        return super().__enter__() if self.enabled else self

    def __exit__(self, *error):
        return super().__exit__(*error) if self.enabled else None
