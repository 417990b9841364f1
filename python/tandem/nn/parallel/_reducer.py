"""Averages the ranks' gradients while backward runs: in buckets, each of which is sent when its last gradient is there."""

import threading
import weakref

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.distributed.groups import handle_of
from tandem.distributed.work import ReduceOp

_c = _C._distributed


class GradBucket:
    """What a communication hook is given: a bucket's gradients, in one flat tensor."""

    def __init__(self, bucket, is_last):
        self._bucket, self._is_last = bucket, is_last

    def index(self):
        """The number of the bucket."""
        return self._bucket.index

    def buffer(self):
        """All its gradients."""
        return self._bucket.flat

    def set_buffer(self, buffer):
        """Puts other values into it."""
        self._bucket.flat.copy_(buffer)

    def gradients(self):
        """A view of the buffer for each parameter."""
        return list(self._bucket.views)

    def parameters(self):
        """Whose gradients they are."""
        return list(self._bucket.parameters)

    def is_last(self):
        """Whether no other bucket comes after it."""
        return self._is_last


class Hooked:
    """The work of a communication hook."""

    def __init__(self, hook, bucket, is_last):
        self._bucket = bucket
        self._future = hook(GradBucket(bucket, is_last))

    def wait(self):
        """Waits for the hook's result, and puts it into the bucket."""
        result = self._future.wait()
        result = result[0] if isinstance(result, (list, tuple)) else result
        if result is not self._bucket.flat:
            self._bucket.flat.copy_(result)


class Bucket:
    """Some parameters of one dtype and device, whose gradients travel together."""

    def __init__(self, index, numbers, parameters):
        self.index = index
        self.numbers = numbers
        self.parameters = parameters
        self.flat = self.views = None
        self.waiting = len(numbers)  # for so many gradients
        self.work = None

    def make_room(self, group):
        """The flat tensor that is sent, with a view of it for each gradient. On the CPU all ranks of the machine reach it."""
        if self.flat is not None:
            return
        first = self.parameters[0]
        count = sum(parameter.numel() for parameter in self.parameters)
        if first.is_cpu:
            self.flat = _c.symmetric_zeros(group, (count,), first.dtype)
        else:
            self.flat = _C.empty(count, dtype=first.dtype, device=first.device)
        parts = _C.split(self.flat, [parameter.numel() for parameter in self.parameters])
        self.views = [part.reshape(parameter.shape) for part, parameter in zip(parts, self.parameters)]

    def send(self, group, label, hook, is_last):
        """Begins to average its gradients, by `hook` where one is given; a parameter without one counts as zeros."""
        self.make_room(group)
        for parameter, view in zip(self.parameters, self.views):
            if parameter.grad is None:
                view.zero_()
            elif parameter.grad.data_ptr() != view.data_ptr():
                view.copy_(parameter.grad.detach())
        self.work = _c.all_reduce(group, self.flat, ReduceOp.AVG, True, label) if hook is None else Hooked(hook, self, is_last)


def assign(parameters, first_bytes, bucket_bytes, delayed=()):
    """Buckets of parameters, the last parameters first, since backward comes to them first; those of the `delayed` numbers come last.

    The first bucket is small, so that it starts early."""
    buckets, open_buckets, sizes = [], {}, {}
    for number in sorted(reversed(range(len(parameters))), key=lambda number: number in delayed):
        parameter = parameters[number]
        key = (parameter.dtype, str(parameter.device), number in delayed)
        open_buckets.setdefault(key, []).append(number)
        sizes[key] = sizes.get(key, 0) + parameter.numel() * parameter.element_size()
        if sizes[key] >= (bucket_bytes if buckets else first_bytes):
            buckets.append(open_buckets.pop(key))
            del sizes[key]
    buckets.extend(open_buckets[key] for key in sorted(open_buckets, key=lambda key: key[2]))
    return [Bucket(index, numbers, [parameters[number] for number in numbers]) for index, numbers in enumerate(buckets)]


class Reducer:
    """Listens to the gradients of some parameters, and averages them over the ranks of a group."""

    def __init__(self, label, names, parameters, group, first_bytes, bucket_bytes, find_unused, gives_views=False, delayed=()):
        self.label, self.names, self.parameters, self.group = label, names, parameters, group
        self.find_unused, self.gives_views = find_unused, gives_views
        self.buckets = assign(parameters, first_bytes, bucket_bytes, delayed)
        self.bucket_of = {number: bucket for bucket in self.buckets for number in bucket.numbers}
        self.comm_hook = None  # what averages a bucket, in place of all_reduce
        self.averages = False  # whether the gradients of the last forward are to be averaged
        self.unused = []  # parameters to which the last forward's outputs do not lead
        self.factor = None  # what averages are multiplied by, where not all ranks have samples
        self._lock = threading.RLock()
        self._begin()
        self._handles = [self._listen(number) for number in range(len(parameters))]

    def _listen(self, number):
        # A hook lives as long as the parameter, and must not keep the reducer.
        this = weakref.ref(self)

        def hook(parameter):
            reducer = this()
            if reducer is not None and reducer.averages:
                reducer.on_gradient(number)

        return self.parameters[number].register_post_accumulate_grad_hook(hook)

    def _begin(self):
        self.ready = set()
        self.next_bucket = 0
        for bucket in self.buckets:
            bucket.waiting, bucket.work = len(bucket.numbers), None

    def prepare(self, averages):
        """Before a forward. Error where the last backward has left parameters without gradients."""
        with self._lock:
            if averages and self.ready:
                missing = [self.names[number] for number in range(len(self.parameters)) if number not in self.ready]
                self._begin()
                raise RuntimeError(
                    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your "
                    "module has parameters that were not used in producing loss. You can enable unused parameter detection by passing the "
                    "keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making sure all "
                    "`forward` function outputs participate in calculating loss. \nParameters which did not receive grad for rank "
                    f"{handle_of(None).rank()}: {', '.join(missing)}"
                )
            self.averages = averages

    def look_for_unused(self, outputs):
        """After a forward: finds the parameters that backward from these tensors will not reach."""
        if self.find_unused:
            used = _C._parallel.used_leaves(outputs, self.parameters)
            self.unused = [number for number, is_used in enumerate(used) if not is_used]

    def on_gradient(self, number):
        """The gradient of a parameter is there."""
        with self._lock, no_grad():
            if number in self.ready:
                raise RuntimeError(
                    f"Expected to mark a variable ready only once. Parameter '{self.names[number]}' has got a gradient twice in one "
                    "backward: it is used in several reentrant backward passes, such as those of checkpoint(use_reentrant=True), or "
                    "outputs of the module that find_unused_parameters does not see lead to it"
                )
            if not self.ready:
                for unused in self.unused:
                    if unused != number:
                        self._mark(unused)
            self._mark(number)
            self._send_ready()
            if len(self.ready) == len(self.parameters):
                self._finish()

    def take_part(self):
        """In a backward of the other ranks, with zeros. Their average becomes the gradients here, too."""
        with self._lock, no_grad():
            self._begin()
            for number, parameter in enumerate(self.parameters):
                parameter.grad = None
                self._mark(number)
            self.unused = list(range(len(self.parameters)))
            self._send_ready()
            self._finish()
            self.unused = []

    def _mark(self, number):
        self.ready.add(number)
        self.bucket_of[number].waiting -= 1

    def _send_ready(self):
        """Sends buckets in their order, which is the same on all ranks."""
        while self.next_bucket < len(self.buckets) and self.buckets[self.next_bucket].waiting == 0:
            index = self.next_bucket
            self.next_bucket += 1
            is_last = self.next_bucket == len(self.buckets)
            self.buckets[index].send(handle_of(self.group), f"{self.label}: bucket {index}", self.comm_hook, is_last)

    def _finish(self):
        """All buckets are on their way: waits for them, and puts the averages into the parameters' gradients."""
        used_somewhere = self._used_somewhere()
        for bucket in self.buckets:
            bucket.work.wait()
            if self.factor is not None:
                bucket.flat.mul_(self.factor)
            for number, parameter, view in zip(bucket.numbers, bucket.parameters, bucket.views):
                if number not in used_somewhere:
                    continue
                if self.gives_views:
                    parameter.grad = view
                elif parameter.grad is None:
                    parameter.grad = view.clone()
                else:
                    parameter.grad.detach().copy_(view)
        self._begin()

    def _used_somewhere(self):
        """The parameters that some rank has a gradient for: the others keep what they have."""
        if not self.find_unused:
            return range(len(self.parameters))
        unused = set(self.unused)
        used = _C.tensor([number not in unused for number in range(len(self.parameters))], dtype=_C.int32)
        _c.all_reduce(handle_of(self.group), used, ReduceOp.SUM, False, f"{self.label}: used")
        return {number for number, count in enumerate(used.tolist()) if count > 0}
