"""Graphs of GPUs: work that is recorded once and queued again as a whole."""

from .. import _C

_c = _C.cuda
CUDAGraph = _c.CUDAGraph


def graph_pool_handle():
    """A pool that several graphs take their memory from."""
    return _c.graph_pool_handle()


def is_current_stream_capturing():
    """Whether work is being recorded, not run."""
    return _c.is_current_stream_capturing()


class graph:
    """with graph(g): what this block queues is recorded in g, on a stream of its own unless one is given."""

    default_capture_stream = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = _c.Stream()
            stream = graph.default_capture_stream
        self.cuda_graph, self.pool, self.capture_stream = cuda_graph, pool, stream

    def __enter__(self):
        from . import stream as on_stream
        _c.synchronize(None)
        self._block = on_stream(self.capture_stream)
        self._block.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool)
        except BaseException:
            self._block.__exit__(None, None, None)
            raise
        return self.cuda_graph

    def __exit__(self, *error):
        try:
            self.cuda_graph.capture_end()
        finally:
            self._block.__exit__(*error)


def make_graphed_callables(
    callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None, capture_error_mode="global", enable_annotations=False
):
    """Captures forward and backward of a module or function, or of a tuple of them, and gives what replays them in their place.

    `sample_args` are the tensors of a call, or a tuple of them for each callable; they become the graphs' inputs, and calls have their
    shapes. A module is changed in place: in the mode that it is in now it replays. Results are overwritten by the next call."""
    from . import graphed
    return graphed.make(callables, sample_args, num_warmup_iters, allow_unused_input, pool, capture_error_mode)
