"""Linear maps, convolutions, normalization, tables, attention and distances."""

import warnings

from tandem import _C
from tandem._arguments import into

linear = _C.linear
bilinear = _C.bilinear
conv1d = _C.conv1d
conv2d = _C.conv2d
conv3d = _C.conv3d
conv_transpose1d = _C.conv_transpose1d
conv_transpose2d = _C.conv_transpose2d
conv_transpose3d = _C.conv_transpose3d
unfold = _C.unfold
fold = _C.fold

layer_norm = _C.layer_norm
group_norm = _C.group_norm
rms_norm = _C.rms_norm
local_response_norm = _C.local_response_norm
instance_norm = _C.instance_norm

one_hot = _C.one_hot
cosine_similarity = _C.cosine_similarity
pairwise_distance = _C.pairwise_distance
scaled_dot_product_attention = _C.scaled_dot_product_attention

_embedding = _C.embedding


def _verify_batch_size(size):
    """Error where training would take a variance of one value."""
    count = size[0]
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """Normalizes each channel by the batch's statistics in training, and by the running ones otherwise."""
    if training:
        _verify_batch_size(input.size())
    return _C.batch_norm(
        input, running_mean, running_var, weight=weight, bias=bias, training=training, momentum=momentum, eps=eps
    )


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divides by the p-norm along `dim`, which counts as at least eps."""
    return into(out, _C.normalize(input, p, () if dim is None else dim, eps), "normalize", same_dtype=False)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of weight that input names. Gradients are dense: `sparse` is accepted and has no effect."""
    if padding_idx is not None:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += rows
    return _embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or maximum of the rows of weight that each bag names: a row of input, or what lies between offsets."""
    if weight.dtype == _C.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and "
            "should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        input, weight = weight, input
    if input.dim() == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    return _C.embedding_bag(
        input,
        weight,
        offsets=offsets,
        max_norm=max_norm,
        norm_type=norm_type,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=mode,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )


def pdist(input, p=2.0):
    """The distances between all pairs of rows, the upper triangle row by row."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    first, second = _C.triu_indices(input.size(0), input.size(0), 1, device=input.device)
    return _C._linalg["vector_norm"](input[first] - input[second], p, -1)


def check_embedding_dim(query, embed_dim):
    """AssertionError where the vectors of a query of attention have another length."""
    if isinstance(query, _C.Tensor) and query.dim() in (2, 3) and query.size(-1) != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {query.size(-1)}")


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Attention of several heads: query (L, N, E), key and value (S, N, E), to the output and, if wanted, the weights (N, L, S)."""
    check_embedding_dim(query, embed_dim_to_check)
    result = _C.multi_head_attention_forward(
        query,
        key,
        value,
        embed_dim_to_check,
        num_heads,
        in_proj_weight=in_proj_weight,
        in_proj_bias=in_proj_bias,
        bias_k=bias_k,
        bias_v=bias_v,
        add_zero_attn=add_zero_attn,
        dropout_p=dropout_p,
        out_proj_weight=out_proj_weight,
        out_proj_bias=out_proj_bias,
        training=training,
        key_padding_mask=key_padding_mask,
        need_weights=need_weights,
        attn_mask=attn_mask,
        use_separate_proj_weight=use_separate_proj_weight,
        q_proj_weight=q_proj_weight,
        k_proj_weight=k_proj_weight,
        v_proj_weight=v_proj_weight,
        static_k=static_k,
        static_v=static_v,
        average_attn_weights=average_attn_weights,
        is_causal=is_causal,
    )
    return result[0], result[1] if need_weights else None
