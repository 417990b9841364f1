"""A cell of the table of wrappers and options: what trains, how, on what, and a number that the module and the data are made of."""

import random
from dataclasses import dataclass, replace

KINDS = ("DataParallel", "DDP", "ZeRO", "FSDP", "fully_shard")
OPTIONS = (
    "accumulation",  # several backwards a step
    "no_sync",  # the same, without averages but in the last
    "clipping",
    "scaler",  # with an infinity on one rank
    "frozen",
    "shared",  # two layers with one weight
    "unused",  # parameters that no rank uses
    "partly_used",  # parameters that some ranks use
    "twice",  # a layer that is called twice
    "between",  # forwards without gradients in between
    "uneven",  # the last batch, with fewer samples on one rank
    "join",  # ranks without a last batch
    "batch_norm",
    "sync_batch_norm",
    "schedule",
    "average",  # of the parameters
    "penalty",  # of gradients with respect to the input
    "checkpointed",  # activations that are computed again
    "checkpoint",  # saved by some ranks, read by another number of them
    "resume",
)
STEPS, HALF = 5, 3  # and the step before which a checkpoint is read
ROWS = 12  # of a micro-batch, of all ranks together


@dataclass(frozen=True)
class Cell:
    """`read_by`: how many ranks go on after a checkpoint."""

    kind: str
    options: frozenset
    ranks: int = 2
    read_by: int = 2
    gpus: bool = False
    adam: bool = False
    seed: int = 1

    def has(self, *options):
        """Whether it has one of these options."""
        return any(option in self.options for option in options)

    @property
    def has_two_parts(self):
        return self.has("checkpoint", "resume")

    @property
    def micro_batches(self):
        return 3 if self.has("accumulation", "no_sync") else 1

    def ranks_at(self, step):
        return self.read_by if self.has_two_parts and step >= HALF else self.ranks

    @property
    def gpus_needed(self):
        return max(self.ranks, self.read_by) if self.gpus else 0

    @property
    def divides_by_all(self):
        """In join: whether averages are over all ranks, not those that have samples."""
        return not self.has("join") or self.draws("join").random() < 0.5

    def draws(self, what):
        """Random numbers that are the same on all ranks, for one subject."""
        return random.Random(f"{self.seed} {what}")

    def shares(self, step):
        """How many rows of a micro-batch each rank has."""
        ranks = self.ranks_at(step)
        counts = [ROWS // ranks] * ranks
        if step == STEPS - 1 and self.has("join"):
            counts = [0 if rank % 2 else count for rank, count in enumerate(counts)]
        elif step == STEPS - 1 and self.has("uneven"):
            if self.kind == "DataParallel":
                counts[-1] -= 1  # chunks are of one size, but for the last
            else:
                counts[-1] = 2 if self.has("batch_norm", "sync_batch_norm") else 1
        return counts

    def __str__(self):
        words = [self.kind, *(option for option in OPTIONS if option in self.options), f"ranks={self.ranks}", f"read_by={self.read_by}"]
        words += ["gpus"] * self.gpus + ["adam"] * self.adam + [f"seed={self.seed}"]
        return " ".join(words)


def cell_of(text):
    """The cell that str() has written."""
    kind, *words = text.split()
    cell = Cell(kind, frozenset(word for word in words if word in OPTIONS))
    for word in words:
        name, is_number, number = word.partition("=")
        if is_number:
            cell = replace(cell, **{name: int(number)})
        elif word in ("gpus", "adam"):
            cell = replace(cell, **{word: True})
        elif word not in OPTIONS:
            raise ValueError(f"there is no option '{word}'")
    return cell


def is_there(kind, option):
    """Whether a wrapper has such an option at all."""
    if option == "no_sync":
        return kind != "DataParallel"
    if option == "join":
        return kind in ("DDP", "ZeRO")
    if option == "sync_batch_norm":
        return kind != "DataParallel"
    if option == "average":
        return kind in ("DataParallel", "DDP", "ZeRO")
    if option == "penalty":  # shards are gathered and let go of in one backward
        return kind in ("DataParallel", "DDP", "ZeRO")
    if option == "partly_used":  # ranks that call other units than the others do
        return kind in ("DataParallel", "DDP", "ZeRO")
    return True


def _fits(kind, options):
    """Whether the options go together."""
    if any(not is_there(kind, option) for option in options):
        return False
    # In join a rank that is done adds nothing to gradients that have been averaged before: they must add up in no_sync, as PyTorch's do.
    refused = (
        {"join", "uneven"}, {"batch_norm", "sync_batch_norm"}, {"penalty", "sync_batch_norm"}, {"penalty", "checkpointed"},
        {"join", "sync_batch_norm"}, {"partly_used", "sync_batch_norm"}, {"join", "checkpoint"}, {"join", "resume"},
        {"checkpointed", "batch_norm"}, {"checkpointed", "sync_batch_norm"}, {"twice", "batch_norm"}, {"no_sync", "accumulation"},
        {"join", "between"}, {"join", "accumulation"}, {"average", "checkpoint"}, {"average", "resume"},
        {"average", "sync_batch_norm"},  # a copy of a module with a group is refused, as in PyTorch
    )  # fmt: skip
    if kind == "ZeRO" and {"join", "no_sync"} <= options:
        return False  # a rank that is done makes one step for each forward of the others, as PyTorch's does
    return not any(pair <= options for pair in refused)


def _cell(kind, options, draws, seed, gpus):
    ranks = 2 if gpus else draws.choice((2, 2, 3, 4))
    read_by = draws.choice([n for n in (1, 2, 3, 4) if n != ranks]) if "checkpoint" in options else ranks
    read_by = min(read_by, 2) if gpus else read_by
    return Cell(kind, frozenset(options), ranks, read_by, gpus or kind == "DataParallel", draws.random() < 0.5, seed)


def table_cells(seed, gpus=False):
    """Every wrapper with every option that it has."""
    for kind in KINDS:
        for option in OPTIONS:
            if is_there(kind, option):
                draws = random.Random(f"{seed} {kind} {option}")
                yield _cell(kind, {option}, draws, seed, gpus)


def random_cell(seed, gpus=False):
    """Some options that go together."""
    draws = random.Random(seed)
    kind, wanted = draws.choice(KINDS), draws.randint(2, 6)
    options = set()
    for option in draws.sample(OPTIONS, len(OPTIONS)):
        if len(options) < wanted and _fits(kind, options | {option}):
            options.add(option)
    return _cell(kind, options, draws, seed, gpus and draws.random() < 0.3)
