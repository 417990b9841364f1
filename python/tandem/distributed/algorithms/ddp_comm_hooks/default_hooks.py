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
