"""The modules that cells train, with their data."""

import tandem
from tandem import nn
from tandem.utils.checkpoint import checkpoint
from wrappers.cell import ROWS

COLUMNS, WORDS, OUTPUTS = 8, 7, 3  # of rows and images; how many words there are
DTYPE = tandem.float64


class Block(nn.Module):
    """A layer with what comes behind it."""

    def __init__(self, sort, width):
        super().__init__()
        self.sort = sort
        self.linear = nn.Linear(width, width)
        if sort == "batch_norm":
            self.norm = nn.BatchNorm1d(width)
        elif sort == "layer_norm":
            self.norm = nn.LayerNorm(width)

    def forward(self, x):
        y = self.linear(x)
        if self.sort == "relu":
            return tandem.relu(y)
        if self.sort == "residual":
            return x + tandem.tanh(y)
        return tandem.tanh(y if self.sort == "tanh" else self.norm(y))


class Net(nn.Module):
    """A stem for rows, images or words, blocks and a head, as a cell has it."""

    def __init__(self, cell):
        super().__init__()
        draws = cell.draws("net")
        width = draws.choice((6, 10, 24))
        self.stem = draws.choice(("rows", "image") if cell.has("penalty") else ("rows", "image", "words"))
        if self.stem == "image":
            self.image = nn.Conv2d(2, 3, 2)
        self.enter = nn.Embedding(WORDS, width) if self.stem == "words" else nn.Linear(3 if self.stem == "image" else COLUMNS, width)
        count = draws.randint(2, 4)
        sorts = [draws.choice(("tanh", "relu", "residual", "layer_norm")) for _ in range(count)]
        if cell.has("batch_norm", "sync_batch_norm"):
            sorts = ["batch_norm" if i == 1 or draws.random() < 0.3 else sort for i, sort in enumerate(sorts)]
        self.blocks = nn.ModuleList([Block(sort, width) for sort in sorts])
        if cell.has("shared"):
            self.blocks[1].linear.weight = self.blocks[0].linear.weight
        self.twice = draws.randrange(count) if cell.has("twice") else -1
        self.again = cell.has("checkpointed")
        self.some = nn.Linear(width, width) if cell.has("partly_used") else None
        if cell.has("unused"):
            self.never = nn.Linear(width, draws.choice((4, 24)))
        self.head = nn.Linear(width, OUTPUTS)
        self.spike = nn.Parameter(tandem.zeros(1))
        self.spikes = False  # whether the gradient of `spike` is infinite
        self.to(DTYPE)
        self.fill(cell.draws("values").randrange(1 << 30))
        if cell.has("frozen"):
            self.enter.requires_grad_(False)
            self.blocks[draws.randrange(count)].requires_grad_(False)
            if draws.random() < 0.5:
                self.head.bias.requires_grad_(False)

    def fill(self, seed):
        """Other values for all parameters."""
        generator = tandem.Generator().manual_seed(seed)
        with tandem.no_grad():
            for parameter in self.parameters():
                terms = parameter[0].numel() if parameter.dim() > 1 else 4
                parameter.copy_(_random(parameter.shape, generator) / terms**0.5)

    def forward(self, x):
        flag, rest = x.detach()[:, :1], x[:, 1:]
        if self.stem == "image":
            h = self.enter(tandem.tanh(self.image(rest.reshape(-1, 2, 2, 2)).flatten(1)))
        else:
            h = self.enter(rest) if self.stem == "rows" else self.enter(rest.long()).sum(1) * 0.3
        for number, block in enumerate(self.blocks):
            for _ in range(2 if number == self.twice else 1):
                h = checkpoint(block, h, use_reentrant=False) if self.again else block(h)
        if self.some is not None and flag.sum().item() > 0:
            h = h + tandem.tanh(self.some(h)) * flag
        added = self.spike * 1.0
        if self.spikes and added.requires_grad:
            added.register_hook(lambda gradient: tandem.full_like(gradient, float("inf")))
        return self.head(h) + added


def _random(shape, generator):
    return tandem.rand(*shape, generator=generator, dtype=DTYPE) * 2 - 1


def batch(cell, net, step, micro):
    """Inputs and targets of all ranks. The first column of a row says whether `some` is used."""
    generator = tandem.Generator().manual_seed(cell.draws(f"{step} {micro}").randrange(1 << 30))
    x = _random((ROWS, 1 + COLUMNS), generator)
    if net.stem == "words":
        x = ((x + 1) * (0.5 * WORDS)).floor()
    x[:, 0] = 0
    return x, _random((ROWS, OUTPUTS), generator)
