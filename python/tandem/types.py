"""torch.types: the names of kinds of values in annotations."""

import builtins
import os
from collections.abc import Sequence
from typing import Union

from tandem import Size, Tensor, device, dtype

_dtype, _device, _bool, _int, _float = dtype, device, builtins.bool, builtins.int, builtins.float
_size = Union[Size, list[int], tuple[int, ...]]
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
Number = Union[int, float, bool]
Device = Union[device, str, int, None]
FileLike = Union[str, os.PathLike, object]
