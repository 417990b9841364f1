"""How a tensor lies in memory, by PyTorch's names: layouts and memory formats. tandem's tensors are strided ones."""

__all__ = ["channels_last", "channels_last_3d", "contiguous_format", "layout", "memory_format", "preserve_format", "strided"]


class _Named:
    """One of a few values with a name."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return self._name


class layout(_Named):
    """How the elements are stored."""


class memory_format(_Named):
    """In which order the dimensions lie in memory."""


strided = layout("strided")
preserve_format, contiguous_format = memory_format("preserve_format"), memory_format("contiguous_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
