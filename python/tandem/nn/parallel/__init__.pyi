# Written by python/generate/stubs.py.
from tandem.nn.parallel import (
    comm as comm,
)
from tandem.nn.parallel.data_parallel import (
    DataParallel as DataParallel,
    data_parallel as data_parallel,
)
from tandem.nn.parallel.distributed import (
    DistributedDataParallel as DistributedDataParallel,
)
from tandem.nn.parallel.parallel_apply import (
    parallel_apply as parallel_apply,
)
from tandem.nn.parallel.replicate import (
    replicate as replicate,
)
from tandem.nn.parallel.scatter_gather import (
    gather as gather,
    scatter as scatter,
    scatter_kwargs as scatter_kwargs,
)
