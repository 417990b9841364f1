"""Measuring how long code takes: Timer runs a statement, Measurement is what it found, Compare sets several side by side, Fuzzer makes inputs."""

from tandem.utils.benchmark.utils.common import (  # noqa: F401
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from tandem.utils.benchmark.utils.compare import Colorize, Compare  # noqa: F401
from tandem.utils.benchmark.utils.fuzzer import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias, dtype_size  # noqa: F401
from tandem.utils.benchmark.utils.timer import Language, Timer, timer  # noqa: F401
