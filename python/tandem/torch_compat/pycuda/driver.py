"""pycuda.driver: which GPUs there are and what they are."""

import enum

from tandem import _C

_c = _C.cuda


class Error(RuntimeError):
    """What pycuda's errors are below."""


class LogicError(Error):
    """A call that cannot be right, such as a GPU that is not there."""


class device_attribute(enum.IntEnum):
    """The facts that get_attributes tells, by CUDA's numbers."""

    MAX_THREADS_PER_BLOCK = 1
    WARP_SIZE = 10
    MULTIPROCESSOR_COUNT = 16
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76


def init(flags=0):
    """Nothing: GPUs are set up when they are first used."""


class Device:
    """A GPU by its number."""

    def __init__(self, number):
        if not 0 <= number < _c.device_count():
            raise LogicError(f"cuDeviceGet failed: invalid device ordinal (device {number} of {_c.device_count()})")
        self._number = number
        self._facts = _c.device_properties(number)

    @staticmethod
    def count():
        """How many GPUs there are."""
        return _c.device_count()

    def name(self):
        """Its name."""
        return self._facts["name"]

    def total_memory(self):
        """The bytes of its memory."""
        return self._facts["total_memory"]

    def compute_capability(self):
        """(major, minor); (0, 0) of a virtual GPU."""
        return self._facts["major"], self._facts["minor"]

    def get_attributes(self):
        """Its facts, by device_attribute."""
        return {
            device_attribute.MAX_THREADS_PER_BLOCK: 1024,
            device_attribute.WARP_SIZE: 32,
            device_attribute.MULTIPROCESSOR_COUNT: self._facts["multi_processor_count"],
            device_attribute.COMPUTE_CAPABILITY_MAJOR: self._facts["major"],
            device_attribute.COMPUTE_CAPABILITY_MINOR: self._facts["minor"],
        }

    def get_attribute(self, attribute):
        """One of the facts; LogicError for one that is not told."""
        facts = self.get_attributes()
        if attribute not in facts:
            raise LogicError(f"cuDeviceGetAttribute failed: tandem's stand-in does not tell {attribute!r}")
        return facts[attribute]

    def make_context(self, flags=0):
        """Makes it the current GPU."""
        _c.set_device(self._number)
        return Context(self)

    retain_primary_context = make_context

    def __eq__(self, other):
        return isinstance(other, Device) and self._number == other._number

    def __hash__(self):
        return hash(self._number)

    def __repr__(self):
        return f"<pycuda.driver.Device {self._number}: {self.name()}>"


class Context:
    """A device in use. tandem has one context for each, which lives as long as the program."""

    def __init__(self, device):
        self._device = device

    @staticmethod
    def get_device():
        """The current GPU."""
        return Device(_c.current_device())

    @staticmethod
    def synchronize():
        """Waits until the current GPU has done all its work."""
        _c.synchronize(None)

    def push(self):
        """Makes its GPU the current one."""
        _c.set_device(self._device._number)

    @staticmethod
    def pop():
        """Nothing."""

    def detach(self):
        """Nothing."""


def mem_get_info():
    """The free and the whole memory of the current GPU, in bytes."""
    return _c.mem_get_info(None)


def get_version():
    """The release of CUDA whose calls tandem makes."""
    return (12, 0, 0)


def get_driver_version():
    """The same as CUDA's driver says it."""
    return 12000


def __getattr__(name):
    """AttributeError that says what this is."""
    raise AttributeError(f"module 'pycuda.driver' has no attribute '{name}': tandem's stand-in tells the facts of devices only", name=name)
