"""Sequences of different lengths: padded in one tensor, packed for recurrent networks, and back."""

from collections import namedtuple
from collections.abc import Iterable

from tandem import _C

_Packed = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(_Packed):
    """A batch of sequences without padding: the rows of the first step, then those of the second, and so on; longer sequences first.

    `batch_sizes` (int64, on the CPU) says how many sequences reach each step. Where the caller's order was another, sequence i here is
    sorted_indices[i] there, and unsorted_indices is the way back."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if isinstance(data, tuple) and batch_sizes is None:
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be "
                "instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn."
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """On another device or of another dtype; batch_sizes stays on the CPU. Arguments as of Tensor.to."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        kwargs = {name: value for name, value in kwargs.items() if name not in ("device", "dtype")}
        indices = [None if i is None else i.to(data.device, **kwargs) for i in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *indices)

    def cuda(self, *args, **kwargs):
        """On a GPU."""
        data = self.data.cuda(*args, **kwargs)
        return self.to(device=data.device)

    def cpu(self, *args, **kwargs):
        """On the CPU."""
        return self.to(device="cpu")

    def pin_memory(self):
        """In memory that GPUs copy from without waiting."""
        indices = [None if i is None else i.pin_memory() for i in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *indices)

    def double(self):
        """As float64."""
        return self.to(dtype=_C.float64)

    def float(self):
        """As float32."""
        return self.to(dtype=_C.float32)

    def half(self):
        """As float16."""
        return self.to(dtype=_C.float16)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation):
    """The permutation that undoes this one."""
    if permutation is None:
        return None
    inverse = _C.empty_like(permutation)
    inverse[permutation] = _C.arange(permutation.numel(), device=permutation.device)
    return inverse


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs (T, N, ...), or (N, T, ...) with batch_first, where sequence i has lengths[i] elements.

    Unless enforce_sorted is false, the longest sequence must come first."""
    given = lengths.tolist() if isinstance(lengths, _C.Tensor) else [int(n) for n in lengths]
    sorted_indices = None
    if not enforce_sorted:
        order = sorted(range(len(given)), key=lambda i: -given[i])
        given = [given[i] for i in order]
        sorted_indices = _C.tensor(order, dtype=_C.int64, device=input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    steps, batch = input.size(0), input.size(1)
    if len(given) != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(given)} (batch_size={batch})")
    if given[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in zip(given, given[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
            "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
        )
    if given[0] > steps:
        raise RuntimeError(f"Expected all lengths to be at most the {steps} steps of the input, but got {given[0]}")
    sizes, active = [], batch
    for step in range(given[0]):
        while given[active - 1] <= step:
            active -= 1
        sizes.append(active)
    if sizes[-1] == batch:
        data = input.narrow(0, 0, given[0]).reshape(-1, *input.shape[2:])
    else:
        rows = [step * batch + i for step, size in enumerate(sizes) for i in range(size)]
        data = input.reshape(-1, *input.shape[2:]).index_select(0, _C.tensor(rows, dtype=_C.int64, device=input.device))
    return PackedSequence(data, _C.tensor(sizes, dtype=_C.int64), sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """Unpacks to (T, N, ...) and the lengths; T is total_length if that is given."""
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    steps, batch = total_length or longest, sizes[0]
    data = sequence.data
    lengths = [sum(1 for size in sizes if size > i) for i in range(batch)]
    if all(size == batch for size in sizes) and steps == longest:
        padded = data.reshape(steps, batch, *data.shape[1:])
    else:
        # Row `padding` of the data and one more stands wherever a sequence has ended.
        padding = data.size(0)
        rows, start = [], 0
        for step in range(steps):
            size = sizes[step] if step < longest else 0
            rows += list(range(start, start + size)) + [padding] * (batch - size)
            start += size
        filler = _C.full((1, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
        index = _C.tensor(rows, dtype=_C.int64, device=data.device)
        padded = _C.cat([data, filler], 0).index_select(0, index).reshape(steps, batch, *data.shape[1:])
    lengths = _C.tensor(lengths, dtype=_C.int64)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stacks sequences (length, ...) as (T, N, ...), or (N, T, ...) with batch_first, the shorter ones padded."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    sequences = list(sequences.unbind(0)) if isinstance(sequences, _C.Tensor) else list(sequences)
    longest = max(sequence.size(0) for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            filler = _C.full((missing, *sequence.shape[1:]), padding_value, dtype=sequence.dtype, device=sequence.device)
            sequence = _C.cat([filler, sequence] if padding_side == "left" else [sequence, filler], 0)
        padded.append(sequence)
    return _C.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor, each cut to its length."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences (length, ...)."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed batch, in the caller's order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
