"""Where the ranks of a program find each other, and which of them this process is."""

import hashlib
import os
import secrets
import socket
from urllib.parse import parse_qs, urlparse

_STARTED_BY_MPI = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
_KEY = "tandem/meeting"


def _name(text):
    """A short name that all ranks make of the same text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _environment(what, scheme="env://"):
    value = os.environ.get(what)
    if value is None:
        raise ValueError(
            f"Error initializing torch.distributed using {scheme} rendezvous: environment variable {what} expected, but not set"
        )
    return value


def _check_address(host):
    """Error for an address of another machine, where the ranks would look for each other in vain."""
    try:
        address = socket.gethostbyname(host)
    except OSError:
        return
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            raise RuntimeError(
                f"the ranks are to meet at {host}, which is another machine: ranks on several machines are started by "
                "`tandem launch --hosts`, or by mpirun, and speak over MPI"
            ) from None


def _from_environment(world_size, rank):
    rank = int(_environment("RANK")) if rank < 0 else rank
    world_size = int(_environment("WORLD_SIZE")) if world_size < 0 else world_size
    host, port = _environment("MASTER_ADDR"), _environment("MASTER_PORT")
    if "TANDEM_LAUNCH_TOKEN" in os.environ:
        return rank, world_size, ""  # the launcher has told C++ where
    _check_address(host)
    return rank, world_size, _name(f"tcp {host} {port} {os.environ.get('TORCHELASTIC_RUN_ID', '')}")


def _from_store(store, world_size, rank, seconds):
    if world_size < 0 or rank < 0:
        raise ValueError("world_size and rank must be given where a store is")
    if rank == 0:
        store.set(_KEY, secrets.token_hex(16))
    return rank, world_size, store.get(_KEY).decode()


def _numbers(url, world_size, rank):
    query = parse_qs(url.query)
    rank = int(query["rank"][0]) if rank < 0 and "rank" in query else rank
    world_size = int(query["world_size"][0]) if world_size < 0 and "world_size" in query else world_size
    for what, value in (("rank", rank), ("world size", world_size)):
        if value < 0:
            raise ValueError(f"Error initializing torch.distributed using {url.scheme}:// rendezvous: {what} parameter missing")
    return rank, world_size


def find_ranks(back_end, init_method, world_size, rank, store, seconds):
    """(rank, world_size, name of the meeting) of what init_process_group was given; -1 and "" where MPI knows."""
    if store is not None:
        return _from_store(store, world_size, rank, seconds)
    if init_method is None or init_method.startswith("env://"):
        if back_end == "mpi" or any(variable in os.environ for variable in _STARTED_BY_MPI):
            return rank, world_size, ""
        return _from_environment(world_size, rank)
    url = urlparse(init_method)
    if url.scheme == "tcp":
        rank, world_size = _numbers(url, world_size, rank)
        if url.port is None:
            raise ValueError("Error initializing torch.distributed using tcp:// rendezvous: port number missing")
        _check_address(url.hostname)
        return rank, world_size, _name(f"tcp {url.hostname} {url.port} ")
    if url.scheme == "file":
        rank, world_size = _numbers(url, world_size, rank)
        if not url.path:
            raise ValueError("Error initializing torch.distributed using file:// rendezvous: path missing")
        return rank, world_size, _name(f"file {os.path.realpath(url.path)}")
    raise RuntimeError(f"No rendezvous handler for {url.scheme}://")
