"""The states of all random numbers that a run draws: tandem's on CPU and GPUs, Python's, NumPy's, and those of loaders' generators."""

import random
import sys

import tandem


def _gpus(devices):
    return [device for device in devices if device.type == "cuda"]


def capture(devices, generators=()):
    """The states of now, as what a checkpoint can hold."""
    states = {
        "cpu": tandem.get_rng_state(),
        "cuda": [tandem.cuda.get_rng_state(device) for device in _gpus(devices)],
        "python": random.getstate(),
        "generators": [generator.get_state() for generator in generators],
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        name, keys, *rest = numpy.random.get_state()
        states["numpy"] = (name, keys.tolist(), *rest)
    return states


def restore(states, devices, generators=()):
    """Goes on from what `capture` gave; devices and generators that it does not know keep theirs."""
    tandem.set_rng_state(states["cpu"])
    for device, state in zip(_gpus(devices), states["cuda"]):
        tandem.cuda.set_rng_state(state, device)
    random.setstate(states["python"])
    for generator, state in zip(generators, states["generators"]):
        generator.set_state(state)
    if "numpy" in states:
        import numpy

        name, keys, *rest = states["numpy"]
        numpy.random.set_state((name, numpy.array(keys, dtype=numpy.uint32), *rest))


def seed_everything(seed=None, workers=False, verbose=True):
    """Seeds the random numbers of tandem, Python and NumPy, and returns the seed; one is drawn where none is given.

    `workers` is accepted: workers of a DataLoader draw their seeds from tandem's numbers in any case."""
    if seed is None:
        seed = random.SystemRandom().randrange(2**32)
    if not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ValueError(f"seed_everything takes a whole number from 0 to 4294967295, not {seed!r}")
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
    tandem.manual_seed(seed)
    return seed
