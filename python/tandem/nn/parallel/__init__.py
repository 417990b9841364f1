"""One module on several GPUs of this process, and on several ranks of a program. As torch.nn.parallel."""

from tandem.nn.parallel import comm  # noqa: F401
from tandem.nn.parallel.data_parallel import DataParallel, data_parallel  # noqa: F401
from tandem.nn.parallel.distributed import DistributedDataParallel  # noqa: F401
from tandem.nn.parallel.parallel_apply import parallel_apply  # noqa: F401
from tandem.nn.parallel.replicate import replicate  # noqa: F401
from tandem.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs  # noqa: F401
