"""Walks the table of wrappers and options: each cell is trained by ranks, and beside it by one process; they must agree.

    python3 tests/python/walk_wrappers.py --walk --cells 500 --seed 1
    python3 tests/python/walk_wrappers.py --cell "DDP clipping ranks=3 read_by=3 seed=7"

TANDEM_WRAPPERS_OF=torch trains with PyTorch in the place of tandem: what it says of PyTorch checks the table itself."""

import argparse
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import tempfile
import time
import traceback
from datetime import timedelta


class _Torch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives torch's modules under tandem's names."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name.split(".")[0] == "tandem" else None

    def create_module(self, spec):
        return importlib.import_module("torch" + spec.name[len("tandem") :])

    def exec_module(self, module):
        pass


if os.environ.get("TANDEM_WRAPPERS_OF") == "torch":
    sys.meta_path.insert(0, _Torch())

import tandem  # noqa: E402
import tandem.distributed as dist  # noqa: E402
import tandem.multiprocessing as mp  # noqa: E402
from wrappers.cell import HALF, STEPS, cell_of, random_cell, table_cells  # noqa: E402
from wrappers.training import Loop, reference  # noqa: E402
from wrappers.wrapped import wrapped  # noqa: E402

_TIMEOUT = 30  # seconds that a rank waits for the others


def _train(cell, rank, groups, folder):
    """This rank's part of a cell."""
    expected = reference(cell)
    if cell.kind == "DataParallel":
        parts = [cell.ranks, cell.read_by] if cell.has_two_parts else [cell.ranks]
    else:
        parts = [groups[cell.ranks], groups[cell.read_by]] if cell.has_two_parts else [groups[cell.ranks]]
    ranks = [cell.ranks, cell.read_by]
    path = os.path.join(folder, "checkpoint.pt")
    for number, part in enumerate(parts):
        here = rank < ranks[number] if cell.kind != "DataParallel" else rank == 0
        if here:
            last = number == len(parts) - 1
            first, end = HALF if number else 0, STEPS if last else HALF
            trainer = wrapped(cell, ranks[number], None if cell.kind == "DataParallel" else part)
            loop = Loop(cell, rank, trainer, expected)
            if number:
                loop.load(tandem.load(path, weights_only=False))
            loop.run(first, end)
            if not last:
                saved = loop.save()
                if rank == 0:
                    tandem.save(saved, path)
        if len(parts) > 1:
            dist.barrier()


def _enter(rank, world, meeting, cells, first, progress, verbose):
    tandem.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world, timeout=timedelta(seconds=_TIMEOUT))
    if rank < tandem.cuda.device_count():
        tandem.cuda.set_device(rank)
    groups = {count: dist.new_group(list(range(count))) for count in range(1, world + 1)}
    for number in range(first, len(cells)):
        if rank == 0:
            with open(progress, "w") as file:
                file.write(str(number))
            if verbose:
                print(f"{number + 1}/{len(cells)} {cells[number]}", flush=True)
        _train(cells[number], rank, groups, os.path.dirname(meeting))
        dist.barrier()
    dist.destroy_process_group()


def _shown(error):
    """The last lines of an error that a rank ended with."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return "\n    ".join(line.strip() for line in lines[-6:])


def runnable(cells):
    """Those that do not need more GPUs than there are."""
    return [cell for cell in cells if cell.gpus_needed <= tandem.cuda.device_count()]


def walk(cells, world, verbose=False):
    """The cells that failed, with their errors."""
    failed, first = [], 0
    while first < len(cells):
        with tempfile.TemporaryDirectory() as folder:
            progress = os.path.join(folder, "progress")
            try:
                mp.spawn(_enter, (world, os.path.join(folder, "meeting"), cells, first, progress, verbose), nprocs=world)
                break
            except Exception as error:  # noqa: BLE001  whatever a rank ends with
                if not os.path.exists(progress):
                    raise
                with open(progress) as file:
                    at = int(file.read())
                failed.append((cells[at], _shown(error)))
                if verbose:
                    print("FAILED", cells[at], "\n   ", failed[-1][1], flush=True)
                first = at + 1
    return failed


def main():
    """Walks, and says what failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walk", action="store_true", help="every wrapper with every option, once")
    parser.add_argument("--cells", type=int, default=0, metavar="N", help="so many cells of several options")
    parser.add_argument("--cell", action="append", default=[], metavar="TEXT", help="one cell, as it is printed")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is drawn (1)")
    parser.add_argument("--gpus", action="store_true", help="on GPUs, two ranks")
    parser.add_argument("--quiet", action="store_true", help="no line for each cell")
    given = parser.parse_args()
    cells = [cell_of(text) for text in given.cell]
    if given.walk:
        cells += table_cells(given.seed, given.gpus)
    cells += [random_cell(given.seed * 1_000_000 + number, given.gpus) for number in range(given.cells)]
    if not cells:
        parser.error("say --walk, --cells N or --cell TEXT")
    cells = runnable(cells)
    began = time.monotonic()
    failed = walk(cells, 4, not given.quiet)
    for cell, error in failed:
        print(f'--cell "{cell}"\n    {error}')
    print(f"{len(cells)} cells, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        traceback.print_exc(limit=1)
        sys.exit(130)
