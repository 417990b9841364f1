"""Attention whose scores and mask are functions, as torch.nn.attention.flex_attention.

All scores are computed and held: functions are called once with indices of all of them, which broadcast, so they take what works on tensors of
any sizes. Blocks of a mask tell what could be left out; nothing is.
"""

import math
from dataclasses import dataclass

from tandem import _C

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask", "flex_attention",
    "noop_mask", "or_masks",
]  # fmt: skip

FlexKernelOptions = dict


@dataclass
class AuxRequest:
    """What flex_attention is to give beside its output."""

    lse: bool = False
    max_scores: bool = False


@dataclass
class AuxOutput:
    """What flex_attention gives beside its output."""

    lse: object = None
    max_scores: object = None


def noop_mask(batch, head, token_q, token_kv):
    """True for all."""
    return _C.ones((), dtype=_C.bool, device=batch.device)


def and_masks(*mask_mods):
    """The mask of what all masks have."""
    return _combined(mask_mods, "and_masks", lambda a, b: a & b)


def or_masks(*mask_mods):
    """The mask of what one of the masks has."""
    return _combined(mask_mods, "or_masks", lambda a, b: a | b)


def _combined(mask_mods, name, join):
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b, h, q_idx, kv_idx):
        result = mask_mods[0](b, h, q_idx, kv_idx)
        for one in mask_mods[1:]:
            result = join(result, one(b, h, q_idx, kv_idx))
        return result

    mask.__name__ = name
    return mask


def _indices(batch, heads, rows, columns, device):
    """The indices of all scores along each dimension, which broadcast to them."""
    shapes = ((-1, 1, 1, 1), (-1, 1, 1), (-1, 1), (-1,))
    return [_C.arange(size, device=device).reshape(shape) for size, shape in zip((batch, heads, rows, columns), shapes)]


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The mask that a mask_mod gives, or the scores that a score_mod gives of zeros, of size (B, H, Q_LEN, KV_LEN). None for B and H is 1."""
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    device = _C.get_default_device() if device is None else device
    indices = _indices(*sizes, device)
    if _parameters(mod_fn) == 5:
        return mod_fn(_C.zeros(sizes, device=device), *indices).expand(sizes)
    return mod_fn(*indices).expand(sizes).to(_C.bool)


def _parameters(function):
    import inspect

    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in inspect.signature(function).parameters.values())


def _up(size, block):
    return -(-size // block)


def _ordered(dense):
    """For each row of blocks how many are set, and the numbers of all blocks, those that are set first."""
    order = dense.to(_C.int32).argsort(dim=-1, descending=True, stable=True).to(_C.int32)
    return dense.sum(dim=-1).to(_C.int32), order


class BlockMask:
    """A mask in blocks: which ones are set in part, and which wholly. Made by create_block_mask."""

    def __init__(self, seq_lengths, dense, full, block_size, mask_mod):
        self.seq_lengths = seq_lengths
        self.BLOCK_SIZE = block_size
        self.mask_mod = mask_mod
        self.kv_num_blocks, self.kv_indices = _ordered(dense)
        self.q_num_blocks, self.q_indices = _ordered(dense.mT)
        self.full_kv_num_blocks = self.full_kv_indices = self.full_q_num_blocks = self.full_q_indices = None
        if full is not None:
            self.full_kv_num_blocks, self.full_kv_indices = _ordered(full)
            self.full_q_num_blocks, self.full_q_indices = _ordered(full.mT)

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks, kv_indices, full_kv_num_blocks=None, full_kv_indices=None, BLOCK_SIZE=128, mask_mod=None, seq_lengths=None
    ):
        """A mask of the blocks of keys that each block of queries has."""
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        dense = _dense(kv_num_blocks, kv_indices)
        full = None if full_kv_num_blocks is None else _dense(full_kv_num_blocks, full_kv_indices)
        lengths = seq_lengths or (dense.size(-2) * size[0], dense.size(-1) * size[1])
        return cls(lengths, dense, full, size, mask_mod or noop_mask)

    @property
    def shape(self):
        """(B, H, Q_LEN, KV_LEN)."""
        return (*self.kv_num_blocks.shape[:-1], *self.seq_lengths)

    def numel(self):
        """How many scores it is of."""
        return math.prod(self.shape)

    def to_dense(self):
        """1 for each block that is set, in part or wholly."""
        dense = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None:
            dense = dense | _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return dense.to(_C.int32)

    def sparsity(self):
        """The part of all scores, in percent, that lies in blocks that are not set."""
        dense = self.to_dense()
        return 100 * (1 - dense.sum().item() / dense.numel())

    def to(self, device):
        """The same on another device."""
        made = object.__new__(BlockMask)
        made.__dict__ = {name: value.to(device) if isinstance(value, _C.Tensor) else value for name, value in self.__dict__.items()}
        return made

    def to_string(self, grid_size=(20, 20), limit=4):
        """A picture: a square for each block that is set, or for a group of them where there are many."""
        dense = self.to_dense()
        pictures = []
        for b in range(dense.size(0)):
            for h in range(dense.size(1)):
                if len(pictures) == limit:
                    return "\n\n".join([*pictures, "..."])
                pictures.append(f"({b}, {h})\n" + _picture(dense[b, h], grid_size))
        return "\n\n".join(pictures)

    def __str__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string()}\n)"

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, BLOCK_SIZE={self.BLOCK_SIZE}, mask_mod={self.mask_mod.__name__})"


def _dense(counts, indices):
    """Which blocks are set, of counts and orders."""
    places = _C.arange(indices.size(-1), device=indices.device)
    return _C.zeros(indices.shape, dtype=_C.int32, device=indices.device).scatter(
        -1, indices.long(), (places < counts.unsqueeze(-1)).to(_C.int32)
    ).to(_C.bool)


def _picture(dense, grid_size):
    rows, columns = dense.shape
    if grid_size == -1:
        grid_size = (rows, columns)
    down, across = _up(rows, min(grid_size[0], rows)), _up(columns, min(grid_size[1], columns))
    lines = []
    for i in range(0, rows, down):
        groups = [dense[i : i + down, k : k + across].float().mean().item() for k in range(0, columns, across)]
        lines.append("".join("██" if part == 1 else "░░" if part > 0 else "  " for part in groups))
    return "\n".join(lines)


def create_block_mask(
    mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False, separate_full_blocks=True, compute_dq_write_order=False,
    dq_kv_order=True,
):  # fmt: skip
    """The blocks of a mask of size (B, H, Q_LEN, KV_LEN), None for B and H being 1: mask_mod(b, h, q_idx, kv_idx) says which scores count."""
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    down, across = _up(Q_LEN, rows), _up(KV_LEN, columns)
    padded = _C.zeros((*mask.shape[:2], down * rows, across * columns), dtype=_C.int32, device=mask.device)
    padded[:, :, :Q_LEN, :KV_LEN] = mask.to(_C.int32)
    counts = padded.reshape(*mask.shape[:2], down, rows, across, columns).sum(dim=(3, 5))
    full = counts == rows * columns if separate_full_blocks else None
    dense = (counts > 0) & ~full if separate_full_blocks else counts > 0
    return BlockMask((Q_LEN, KV_LEN), dense, full, (rows, columns), mask_mod)


def flex_attention(
    query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False, kernel_options=None, *,
    return_aux=None,
):  # fmt: skip
    """softmax(score_mod(query key^T scale)) value, for query (B, Hq, L, E), key (B, Hkv, S, E), value (B, Hkv, S, Ev).

    score_mod(score, b, h, q_idx, kv_idx) gives other scores; block_mask says which count. With enable_gqa several heads of query share one
    of key and value. With return_lse the logarithms of the sums of exponentials come too.
    """
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, shared = query.size(1), key.size(1)
    if heads != shared:
        if not enable_gqa:
            raise ValueError(
                f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={shared}. Try setting enable_gqa=True for "
                "GQA."
            )
        if heads % shared:
            raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={shared}.")
        key, value = (x.repeat_interleave(heads // shared, dim=1) for x in (key, value))
    precise = query.dtype if query.dtype is _C.float64 else _C.float32
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query.to(precise) @ key.to(precise).mT) * scale
    indices = _indices(*scores.shape, query.device)
    if score_mod is not None:
        scores = score_mod(scores, *indices).to(precise)
    if block_mask is not None:
        _check_lengths(block_mask, query.size(-2), key.size(-2))
        scores = scores.masked_fill(~block_mask.mask_mod(*indices).to(_C.bool), -math.inf)
    lse = _C.logsumexp(scores, dim=-1)
    empty = (lse == -math.inf).unsqueeze(-1)  # rows that see nothing give zeros
    weights = _C.softmax(scores.masked_fill(empty, 0), dim=-1).masked_fill(empty, 0)
    output = (weights @ value.to(precise)).to(query.dtype)
    if return_aux is not None:
        return output, AuxOutput(lse if return_aux.lse else None, scores.amax(dim=-1) if return_aux.max_scores else None)
    return (output, lse) if return_lse else output


def _check_lengths(block_mask, rows, columns):
    if rows > block_mask.seq_lengths[0] or columns > block_mask.seq_lengths[1]:
        raise ValueError(
            f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={rows} and kv_len={columns}. As the block mask was created for a "
            "smaller length than you're using it for, you likely need to create a new block mask."
        )
    if rows < block_mask.seq_lengths[0] or columns < block_mask.seq_lengths[1]:
        raise RuntimeError(
            "block_mask was created for a larger length than you're using it for, you can either 1. create a new block mask with the correct length, "
            "or 2. 'adjust' the existing block mask to the correct length by calling block_mask._adjust(q_len, kv_len)."
        )
