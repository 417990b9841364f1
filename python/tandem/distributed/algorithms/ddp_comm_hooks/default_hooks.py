"""Hooks for DistributedDataParallel.register_comm_hook: how a bucket of gradients is averaged."""

from tandem import _C
from tandem.distributed.collectives import all_reduce
from tandem.distributed.work import ReduceOp


def allreduce_hook(process_group, bucket):
    """The average over the ranks."""
    return all_reduce(bucket.buffer(), ReduceOp.AVG, process_group, async_op=True).get_future().then(lambda future: future.value()[0])


def _compressed(dtype, process_group, bucket):
    buffer = bucket.buffer()
    small = buffer.to(dtype)
    future = all_reduce(small, ReduceOp.AVG, process_group, async_op=True).get_future()
    return future.then(lambda sent: buffer.copy_(sent.value()[0]))


def fp16_compress_hook(process_group, bucket):
    """The same, sent as float16."""
    return _compressed(_C.float16, process_group, bucket)


def bf16_compress_hook(process_group, bucket):
    """The same, sent as bfloat16."""
    return _compressed(_C.bfloat16, process_group, bucket)


def _compressing(dtype, hook):
    def compressed(hook_state, bucket):
        """`hook` with the bucket's values rounded to a smaller dtype."""
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(hook_state, bucket)
    return compressed


def fp16_compress_wrapper(hook):
    """A hook whose bucket's values are rounded to float16 first."""
    return _compressing(_C.float16, hook)


def bf16_compress_wrapper(hook):
    """A hook whose bucket's values are rounded to bfloat16 first."""
    return _compressing(_C.bfloat16, hook)
