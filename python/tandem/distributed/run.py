"""python -m tandem.distributed.run: starts a program as several ranks of this machine, as torchrun does."""

import argparse
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import uuid

from tandem import _C

_GRACE_SECONDS = 10.0
_POLL_SECONDS = 0.05
_DEFAULT_PORT = 29500
_PR_SET_PDEATHSIG = 1


def _parser():
    parser = argparse.ArgumentParser(prog="tandem.distributed.run", description="Start a program as several ranks of this machine.")

    def add(name, **options):
        parser.add_argument(name, *([name.replace("-", "_").replace("__", "--", 1)] if "-" in name[2:] else []), **options)

    add("--nnodes", default="1", help="how many machines take part, each by this command")
    add("--nproc-per-node", default="1", help="ranks on this machine: a number, gpu, cpu or auto")
    add("--node-rank", type=int, default=0, help="the number of this machine")
    add("--master-addr", default=None, help="address of machine 0")
    add("--master-port", type=int, default=None, help="a free port there")
    add("--standalone", action="store_true", help="one machine, with a free port")
    add("--rdzv-backend", default="static", help="accepted")
    add("--rdzv-endpoint", default="", help="HOST[:PORT], in place of --master-addr and --master-port")
    add("--rdzv-id", default=None, help="a name of the job that all machines give")
    add("--rdzv-conf", default="", help="accepted")
    add("--max-restarts", type=int, default=0, help="how often all ranks are started again when one has failed")
    add("--monitor-interval", type=float, default=0.1, help="accepted")
    add("--start-method", default="spawn", choices=["spawn", "fork", "forkserver"], help="accepted")
    add("--role", default="default", help="ROLE_NAME of the ranks")
    add("--local-addr", default=None, help="accepted")
    add("--log-dir", default=None, help="accepted: what ranks write is passed on")
    parser.add_argument("-r", "--redirects", default="0", help="accepted")
    parser.add_argument("-t", "--tee", default="0", help="accepted")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module, as of python -m")
    add("--no-python", action="store_true", help="the program is run itself, not by Python")
    add("--use-env", action="store_true", help="accepted: ranks read the environment in any case")
    parser.add_argument("program", help="a script, a module with -m, or a program with --no-python")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def _processes(text):
    """How many ranks --nproc-per-node means."""
    if text in ("gpu", "auto"):
        count = _C.cuda.device_count()
        if count > 0:
            return count
        if text == "gpu":
            raise ValueError("Cuda is not available.")
    if text in ("cpu", "auto"):
        return os.cpu_count()
    try:
        count = int(text)
    except ValueError:
        raise ValueError(f"Unsupported nproc_per_node value: {text}") from None
    if count < 1:
        raise ValueError(f"--nproc-per-node must be 1 or more, but is {count}")
    return count


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _endpoint(options, machines):
    """Where the ranks meet: address and port."""
    host, _, port = options.rdzv_endpoint.partition(":")
    host = host or options.master_addr or "127.0.0.1"
    port = int(port) if port else options.master_port
    if options.standalone or (port is None and machines == 1):
        return "127.0.0.1", _free_port()
    return host, _DEFAULT_PORT if port in (None, 0) else port


def _command(options):
    if options.no_python:
        if options.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
        return [options.program, *options.arguments]
    return [sys.executable, "-u", *(["-m"] if options.module else []), options.program, *options.arguments]


def _environments(options, restart):
    """The variables of each rank of this machine."""
    machines = int(options.nnodes.split(":")[-1])
    if not 0 <= options.node_rank < machines:
        raise ValueError(f"--node-rank must be 0 to {machines - 1}, but is {options.node_rank}")
    count = _processes(options.nproc_per_node)
    host, port = _endpoint(options, machines)
    world_size, first = machines * count, options.node_rank * count
    shared = {
        "WORLD_SIZE": world_size,
        "LOCAL_WORLD_SIZE": count,
        "ROLE_WORLD_SIZE": world_size,
        "GROUP_RANK": options.node_rank,
        "GROUP_WORLD_SIZE": machines,
        "ROLE_NAME": options.role,
        "MASTER_ADDR": host,
        "MASTER_PORT": port,
        "TORCHELASTIC_RUN_ID": options.rdzv_id or ("none" if machines > 1 else uuid.uuid4().hex),
        "TORCHELASTIC_RESTART_COUNT": restart,
        "TORCHELASTIC_MAX_RESTARTS": options.max_restarts,
    }
    for local in range(count):
        own = {"RANK": first + local, "LOCAL_RANK": local, "ROLE_RANK": first + local}
        yield {**os.environ, **{name: str(value) for name, value in {**shared, **own}.items()}}


def _end_with_launcher():
    """In a rank, before its program: it gets SIGTERM when this launcher is gone, however that ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal_all(ranks, number):
    for rank in ranks:
        if rank.poll() is None:
            rank.send_signal(number)


def _wait_all(ranks, seconds):
    deadline = time.monotonic() + seconds
    while any(rank.poll() is None for rank in ranks) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _end_all(ranks):
    """SIGTERM, and SIGKILL for those that still run some seconds later."""
    _signal_all(ranks, signal.SIGTERM)
    _wait_all(ranks, _GRACE_SECONDS)
    _signal_all(ranks, signal.SIGKILL)
    for rank in ranks:
        rank.wait()


def _first_failure(ranks):
    """Waits until all ranks have ended well, None, or one has failed: its number here."""
    while True:
        running = False
        for local, rank in enumerate(ranks):
            code = rank.poll()
            if code:
                return local
            running |= code is None
        if not running:
            return None
        time.sleep(_POLL_SECONDS)


def _run_once(options, command, restart):
    """Starts all ranks and waits for them: the exit status."""
    ranks = []
    try:
        environments = list(_environments(options, restart))
        for environment in environments:
            ranks.append(subprocess.Popen(command, env=environment, preexec_fn=_end_with_launcher))
        failed = _first_failure(ranks)
        if failed is None:
            return 0
        code = ranks[failed].returncode
        how = f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"
        print(
            f"tandem.distributed.run: rank {environments[failed]['RANK']} (pid {ranks[failed].pid}) ended with {how}; the others are ended",
            file=sys.stderr,
            flush=True,
        )
        return 128 - code if code < 0 else code
    except KeyboardInterrupt:
        # From a terminal the ranks have it too.
        _wait_all(ranks, _GRACE_SECONDS)
        return 128 + signal.SIGINT
    finally:
        _end_all(ranks)


def _on_terminate(number, frame):
    raise SystemExit(128 + number)


def main(args=None):
    """Runs what the command line says; the exit status is 0, or that of the first rank that failed."""
    options = _parser().parse_args(args)
    signal.signal(signal.SIGTERM, _on_terminate)
    try:
        command = _command(options)
        for restart in range(options.max_restarts + 1):
            status = _run_once(options, command, restart)
            if status in (0, 128 + signal.SIGINT):
                break
    except ValueError as error:
        print(f"tandem.distributed.run: {error}", file=sys.stderr)
        status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
