"""Trains a cell: by one process that plays all ranks, and by one of the ranks beside it, which is compared with it after every step."""

import contextlib
from types import SimpleNamespace

import tandem
from tandem.optim import lr_scheduler
from tandem.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from wrappers.cell import HALF, ROWS, STEPS
from wrappers.net import batch
from wrappers.wrapped import Wrapped, plain

INFINITE_STEP = 1  # in which one rank's gradient is infinite, where there is a scaler


def compare(what, got, wanted):
    """Error where a number differs from another, or a tensor of a dict from the one of the same name."""
    if isinstance(wanted, dict):
        if got.keys() != wanted.keys():
            raise AssertionError(f"{what}: {sorted(got.keys() ^ wanted.keys())} are on one side only")
        for name in wanted:
            compare(f"{what} '{name}'", got[name], wanted[name])
        return
    got, wanted = (tandem.as_tensor(value, dtype=tandem.float64) for value in (got, wanted))
    if got.shape != wanted.shape:
        raise AssertionError(f"{what} has size {tuple(got.shape)}, and {tuple(wanted.shape)} in one process")
    # Of the largest element: the others were added up from numbers of its size.
    largest = tandem.nan_to_num(wanted, 0, 0, 0).abs().max().item() if wanted.numel() else 0
    limit = 1e-7 * (1 + largest)
    near = (got == wanted) | (got.isnan() & wanted.isnan()) | ((got - wanted).abs() <= limit)
    if not near.all():
        place = int((~near).reshape(-1).long().argmax())
        a, b = got.reshape(-1)[place].item(), wanted.reshape(-1)[place].item()
        raise AssertionError(f"{what} differs at element {place}: {a}, and {b} in one process")


class Figures:
    """Of one process that plays all ranks: each one's running figures, as they are at each of its forwards.

    Under DistributedDataParallel ranks take those of one, rank 0 or in join the last that has samples, before a forward that follows one
    whose gradients were averaged; in DataParallel the first device's are kept; in shards each rank has its own."""

    def __init__(self, cell, net):
        self.cell, self.net = cell, net
        self.are_one = not cell.has("batch_norm")
        self.shared = cell.kind in ("DataParallel", "DDP", "ZeRO")
        self.start(cell.ranks)

    def start(self, ranks):
        """The values that the net has now, on so many ranks."""
        self.own = [[self.copied()] for _ in range(ranks)]  # of a rank: those before its first forward, and behind each of them
        self.synchronizes = [True] * ranks

    def copied(self):
        return {name: buffer.detach().clone() for name, buffer in self.net.named_buffers()}

    def load(self, values):
        with tandem.no_grad():
            for name, buffer in self.net.named_buffers():
                buffer.copy_(values[name])

    def enter(self, rank, source=0):
        """Plays a rank from here on, where those of `source` are taken."""
        self.rank, self.source = rank, source
        if not self.are_one:
            self.load(self.own[rank][-1])

    def forward(self, call, quiet):
        own = self.own[self.rank]
        if not self.are_one and self.shared and self.synchronizes[self.rank]:
            self.load(self.own[self.source][len(own) - 1])
        self.synchronizes[self.rank] = self.cell.kind == "DataParallel" or (tandem.is_grad_enabled() and not quiet)
        out = call()
        own.append(self.copied())
        return out

    def of(self, rank):
        """Those that a rank has after all."""
        return self.copied() if self.are_one else self.own[0 if self.cell.kind == "DataParallel" else rank][-1]


class Loop:
    """Steps of a cell. `rank` None: one process that plays all ranks."""

    def __init__(self, cell, rank, wrapped, expected=None):
        self.cell, self.rank, self.wrapped, self.expected = cell, rank, wrapped, expected
        self.steps = []  # what each had in the end
        self.figures = Figures(cell, wrapped.net) if rank is None else None
        self.schedule = self.average = None
        if cell.has("schedule"):
            draws = cell.draws("schedule")
            optimizer = wrapped.optimizer
            self.schedule = draws.choice((
                lambda: lr_scheduler.StepLR(optimizer, 2, 0.3),
                lambda: lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=STEPS + 1, cycle_momentum=not cell.has("unused") and cell.kind != "ZeRO"),
                lambda: lr_scheduler.CosineAnnealingLR(optimizer, 4),
            ))()  # fmt: skip
        if cell.has("average"):
            self.average = AveragedModel(wrapped.averaged(), multi_avg_fn=get_ema_multi_avg_fn(0.9))

    def run(self, first, end):
        joins = self.cell.has("join") and self.rank is not None
        with self.wrapped.join(self.cell.divides_by_all) if joins else contextlib.nullcontext():
            for step in range(first, end):
                if joins and self.cell.shares(step)[self.rank] == 0:
                    break
                self.take(step)

    def take(self, step):
        """One step: its micro-batches, the optimizer, and a comparison."""
        cell, wrapped = self.cell, self.wrapped
        draws = cell.draws(f"step {step}")
        now = SimpleNamespace(losses=[])
        wrapped.optimizer.zero_grad(set_to_none=draws.random() < 0.7)
        shares = cell.shares(step)
        chunks = [(rank, sum(shares[:rank]), count) for rank, count in enumerate(shares) if count]
        for micro in range(cell.micro_batches):
            quiet = cell.has("no_sync") and micro < cell.micro_batches - 1
            seed = draws.randrange(1 << 30)
            x, y = batch(cell, wrapped.net, step, micro)
            if cell.has("partly_used"):
                x[:, 0] = tandem.cat([tandem.full((count,), float(rank != cell.seed % len(shares))) for rank, count in enumerate(shares)]
                                     + [tandem.zeros(ROWS - sum(shares))])  # fmt: skip
            losses = tandem.zeros(ROWS, dtype=tandem.float64)
            if cell.kind == "DataParallel" and self.rank is not None or cell.has("sync_batch_norm") and self.rank is None:
                parts = [(0, 0, sum(shares))]  # in one call
            elif self.rank is None:
                parts = chunks
            else:
                parts = [chunk for chunk in chunks if chunk[0] == self.rank]
            for rank, begin, count in parts:
                with wrapped.no_sync() if quiet else contextlib.nullcontext():
                    losses[begin : begin + count] = self.differentiate(x, y, step, rank, begin, count, quiet, seed)
            mine = slice(parts[0][1], parts[-1][1] + parts[-1][2])
            if self.expected:
                compare(self.where(step, f"micro-batch {micro}: losses"), losses[mine], self.expected.steps[step].losses[micro][mine])
            now.losses.append(losses)
        self.end(step, now)

    def factor(self, step):
        """What a rank's sum of losses is multiplied by."""
        cell = self.cell
        if self.rank is None or cell.kind == "DataParallel":
            return 1 / ROWS
        return (cell.ranks_at(step) if cell.divides_by_all else sum(1 for count in cell.shares(step) if count)) / ROWS

    def differentiate(self, x, y, step, rank, begin, count, quiet, seed):
        """Forward and backward of some rows; each row's loss."""
        cell, net = self.cell, self.wrapped.net
        draws = cell.draws(seed)
        device = net.spike.device if self.rank is None or not cell.gpus else f"cuda:{self.rank}"
        x, y = (value[begin : begin + count].to(device) for value in (x, y))
        alone = cell.kind == "DataParallel" or (self.rank is None and cell.has("sync_batch_norm"))
        net.spikes = cell.has("scaler") and step == INFINITE_STEP and (alone or rank == cell.seed % cell.ranks)
        if self.figures:
            self.figures.enter(rank, max(r for r, rows in enumerate(cell.shares(step)) if rows) if cell.has("join") else 0)

        def forward(rows):
            call = lambda: self.wrapped.module(rows)  # noqa: E731
            return self.figures.forward(call, quiet) if self.figures else call()

        def look(target):
            if not cell.has("between") or draws.random() < 0.3:
                return target
            with tandem.no_grad():
                self.wrapped.module.train(draws.random() < 0.5)
                target = target + 0.1 * forward(x)
                self.wrapped.module.train()
            return target

        target = look(y)
        x = x.requires_grad_() if cell.has("penalty") else x
        out = forward(x)
        target = look(target)
        rows = (out - target).square().sum(1)
        if cell.has("penalty"):
            (slope,) = tandem.autograd.grad(out.square().sum(), x, create_graph=True)
            rows = rows + 0.1 * slope.square().sum(1)
        self.wrapped.scaler.scale(rows.sum() * self.factor(step)).backward()
        look(target)
        net.spikes = False
        return rows.detach().cpu()

    def end(self, step, now):
        cell, wrapped = self.cell, self.wrapped
        scaler, optimizer = wrapped.scaler, wrapped.optimizer
        scaler.unscale_(optimizer)
        now.finite = not (cell.has("scaler") and step == INFINITE_STEP)
        now.gradients = wrapped.gradients()
        if cell.has("clipping"):
            now.norm = plain(wrapped.clip(0.5))
        scaler.step(optimizer)
        scaler.update()
        now.scale = scaler.get_scale()
        if self.schedule:
            self.schedule.step()
        now.rate = optimizer.param_groups[0]["lr"]
        if self.average:
            self.average.update_parameters(wrapped.averaged())
            now.average = {name: value.detach().cpu().clone() for name, value in self.average.module.named_parameters()}
        now.state = self.state()
        self.steps.append(now)
        if self.expected:
            self.check(step, now)

    def state(self):
        """Parameters, and the figures of every rank where one process plays them."""
        state = self.wrapped.state()
        buffers = {name.replace("_fsdp_wrapped_module.", "") for name, _ in self.wrapped.net.named_buffers()}
        parameters = {name: value for name, value in state.items() if name not in buffers}
        figures = [self.figures.of(rank) for rank in range(len(self.figures.own))] if self.figures else None
        return SimpleNamespace(parameters=parameters, figures=figures, own={name: state[name] for name in state if name in buffers})

    def where(self, step, what):
        return f"rank {self.rank}, step {step}: {what}"

    def check(self, step, now):
        then = self.expected.steps[step]
        if now.finite and now.gradients is not None:
            compare(self.where(step, "gradient"), now.gradients, then.gradients)
        if now.finite and self.cell.has("clipping"):
            compare(self.where(step, "the gradients' norm"), now.norm, then.norm)
        compare(self.where(step, "the scale"), now.scale, then.scale)
        compare(self.where(step, "the learning rate"), now.rate, then.rate)
        if self.average:
            compare(self.where(step, "average"), now.average, then.average)
        parameters = then.state.parameters
        if self.cell.has("shared"):  # a state names a shared one twice, a list of parameters once
            parameters = {name: value for name, value in parameters.items() if name in now.state.parameters}
        compare(self.where(step, "parameter"), now.state.parameters, parameters)
        compare(self.where(step, "buffer"), now.state.own, then.state.figures[self.rank])

    def save(self):
        """What the second part of a cell goes on with; every rank calls it, and rank 0's counts."""
        saved = self.wrapped.save() | {"scaler": self.wrapped.scaler.state_dict()}
        return saved | ({"schedule": self.schedule.state_dict()} if self.schedule else {})

    def load(self, saved):
        """Goes on with what was saved."""
        self.wrapped.load(saved)
        self.wrapped.scaler.load_state_dict(saved["scaler"])
        if self.schedule:
            self.schedule.load_state_dict(saved["schedule"])

    def begin_second_part(self):
        """As if a checkpoint had been read: all ranks have rank 0's figures."""
        self.figures.enter(0)
        self.figures.start(self.cell.read_by)
        self.wrapped.optimizer.zero_grad()


def reference(cell):
    """Trains by one process that plays all ranks."""
    loop = Loop(cell, None, Wrapped(cell))
    loop.run(0, HALF)
    if cell.has_two_parts:
        loop.begin_second_part()
    loop.run(HALF, STEPS)
    return loop
