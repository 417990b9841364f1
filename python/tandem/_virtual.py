"""Virtual GPUs by Python's own words."""

from . import _C

_asked = None


def virtual_gpus(count=2, *, memory=None, link=None, delay_seed=None, **settings):
    """From now on this program has `count` virtual GPUs: virtual_gpus(2, memory="256MiB", link="25GB/s"). Before the first use of a GPU; RuntimeError afterwards.

    memory: the memory of each; link: what copies between them take; other settings as the environment variable TANDEM_VIRTUAL_GPUS has them.
    """
    global _asked
    parts = [f"{count}x{memory}" if memory else str(count)]
    if link is not None:
        parts.append(f"link={link}")
    if delay_seed is not None:
        parts.append(f"delay_seed={delay_seed}")
    parts += [f"{name}={value}" for name, value in settings.items()]
    asked = ",".join(parts)
    if asked != _asked:  # a notebook's first cell may run twice
        _C.cuda.use_virtual_gpus(asked)
        _asked = asked
