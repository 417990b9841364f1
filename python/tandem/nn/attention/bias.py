"""Masks of attention by name: causal ones, of queries and keys that begin or that end together."""

import enum

from tandem import _C

__all__ = ["causal_upper_left", "causal_lower_right", "CausalVariant", "CausalBias"]


class CausalVariant(enum.IntEnum):
    """Which corner the diagonal of a causal mask goes through."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(_C.Tensor):
    """A causal mask of so many queries and keys, which scaled_dot_product_attention takes as attn_mask."""

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be an instance of CausalVariant, got {type(variant)}")
        diagonal = seq_len_kv - seq_len_q if variant == CausalVariant.LOWER_RIGHT else 0
        return _C.Tensor._make_subclass(cls, _C.ones(seq_len_q, seq_len_kv, dtype=_C.bool).tril(diagonal))

    def __init__(self, variant, seq_len_q, seq_len_kv):
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            import warnings

            warnings.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=3)

    def _materialize(self, device=None):
        """The mask as a tensor of bools."""
        return self.as_subclass(_C.Tensor).to(device or self.device)


def _sizes(size):
    if len(size) != 2:
        raise AssertionError(f"causal_upper_left only supports 2D tensors, got {len(size)}D")
    return size


def causal_upper_left(*size):
    """The mask in which the query i sees the keys up to i."""
    return CausalBias(CausalVariant.UPPER_LEFT, *_sizes(size))


def causal_lower_right(*size):
    """The mask in which the last query sees all keys, and each one before it one less."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *_sizes(size))
