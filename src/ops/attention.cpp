#include "ops/attention.h"

#include <cmath>
#include <optional>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/attention_weights.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/fused_attention.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "ops/view.h"
#include "runtime/capture.h"

namespace tandem {
namespace {

int64_t heads_of(const Tensor& x) { return x.dim() > 2 ? x.size(-3) : 1; }

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  const char* op = "scaled_dot_product_attention";
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2)
    fail("[", op, "] Expected query, key, and value to all be at least 2 dimensional, but got ", query.dim(), ", ", key.dim(), " and ",
         value.dim());
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype())
    fail("[", op, "] Expected query, key, and value to have the same dtype, but got ", query.dtype(), ", ", key.dtype(), " and ",
         value.dtype());
  if (!is_floating(query.dtype())) fail<NotImplementedError>("[", op, "] is not implemented for '", scalar_name(query.dtype()), "'");
  if (query.size(-1) != key.size(-1) || key.size(-2) != value.size(-2))
    fail("[", op, "] sizes do not fit: query ", query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
  if (options.attn_mask.defined() && options.is_causal) fail("[", op, "] Explicit attn_mask should not be set when is_causal=True");
  if (options.dropout_p < 0 || options.dropout_p > 1)
    fail("[", op, "] dropout probability has to be between 0 and 1, but got ", options.dropout_p);
  if (options.attn_mask.defined() && options.attn_mask.dtype() != kBool && !is_floating(options.attn_mask.dtype()))
    fail("[", op, "] Expected attn_mask dtype to be bool or float, but got ", options.attn_mask.dtype());
  if (!options.enable_gqa) return;
  for (const Tensor* x : {&key, &value})
    if (const int64_t own = heads_of(*x), heads = heads_of(query); own != heads && (own == 0 || heads % own != 0))
      fail("[", op, "] Number of heads in key and value must divide the number of heads in query, but got ", own, " and ", heads);
}

/// The operands as the kernel takes them: (b, h, m, d), (b, g, n, d), (b, g, n, e), and (b, h, m, n) or undefined.
struct Heads {
  Tensor query, key, value, mask;
};

/// Whether products of such sizes, with weights that stay in the cache, are faster on the CPU than a kernel that makes the weights again
/// for the gradient.
bool composed_is_faster(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  const auto between = [](int64_t size) { return size >= 16 && size <= 64; };
  return query.is_cpu() && !is_half(query.dtype()) && !options.is_causal && !options.attn_mask.defined() && query.dim() == key.dim() &&
         query.dim() == value.dim() && between(query.size(-2)) && between(key.size(-2));
}

/// As heads, where that is what they are once batches are joined; nothing where the attention has to be composed: of nothing, of batches
/// that the query's does not cover, of masks that need a gradient or do not fit.
std::optional<Heads> as_heads(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool grouped, Site site) {
  if (query.numel() == 0 || key.numel() == 0 || value.numel() == 0 || autograd::needs_grad(mask)) return {};
  const Shape& sizes = query.sizes();
  const size_t dims = std::max<size_t>(4, sizes.size());
  const auto covers = [&](const Tensor& x, bool free_heads) {
    if (x.device() != query.device() || x.sizes().size() > sizes.size()) return false;
    for (size_t d = 3; d <= x.sizes().size(); ++d)
      if (const int64_t size = x.size(-static_cast<int64_t>(d)); size != 1 && size != sizes[sizes.size() - d] && !(free_heads && d == 3))
        return false;
    return true;
  };
  if (!covers(key, grouped) || !covers(value, grouped)) return {};
  const int64_t heads = heads_of(query), own = heads_of(key);
  if (own != heads_of(value) || heads % own != 0) return {};
  const auto with_heads = [&](const Tensor& x, int64_t count, int64_t rows, int64_t columns) {
    Shape wide = sizes;
    while (wide.size() < dims) wide.insert(0, 1);
    wide[dims - 3] = count;
    wide[dims - 2] = rows;
    wide[dims - 1] = columns;
    const Tensor whole = x.sizes() == wide ? x : x.expand(wide, site);
    return dims == 4 ? whole : whole.flatten(0, static_cast<int64_t>(dims) - 4, site);
  };
  const auto dense = [&](const Tensor& x) { return x.stride(-1) == 1 || x.size(-1) == 1 ? x : x.contiguous(site); };
  Heads all{dense(with_heads(query, heads, query.size(-2), query.size(-1))), dense(with_heads(key, own, key.size(-2), key.size(-1))),
            dense(with_heads(value, own, value.size(-2), value.size(-1))), Tensor()};
  if (!mask.defined()) return all;
  const int64_t rows = query.size(-2), columns = key.size(-2);
  const auto fits = [](int64_t size, int64_t whole) { return size == 1 || size == whole; };
  if (!covers(mask, false) || (mask.dim() > 1 && !fits(mask.size(-2), rows)) || (mask.dim() > 0 && !fits(mask.size(-1), columns)))
    return {};
  all.mask = with_heads(mask, heads, rows, columns);
  return all;
}

/// The attention as products, a softmax and dropout.
Tensor composed(const Tensor& query, Tensor key, Tensor value, const AttentionOptions& options, const kernels::Attention& how, Site site) {
  if (options.enable_gqa) {
    const int64_t heads = heads_of(query);
    const auto shared = [&](const Tensor& x) { return heads_of(x) == heads ? x : ops::shared_heads(x, heads / heads_of(x), site); };
    key = shared(key);
    value = shared(value);
  }
  Tensor weights = ops::attention_weights(query, key, options.attn_mask, how, site);
  if (options.dropout_p > 0) weights = dropout(weights, options.dropout_p, true, site);
  return matmul(weights, value, site);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options,
                                    Site site) {
  if (const ops::Cast cast("scaled_dot_product_attention", site, query, key, value); cast)
    return scaled_dot_product_attention(cast(query), cast(key), cast(value), cast(options), site);
  check_attention(query, key, value, options);
  const kernels::Attention how{.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))),
                               .causal = options.is_causal,
                               .dropout = options.dropout_p};
  // The kernel's gradient draws the same numbers again, but in a graph of its own it would not know what forward's replay began with.
  const bool draws_in_graph = options.dropout_p > 0 && query.is_cuda() && runtime::capture_of_current_stream(query.device());
  const bool composes = draws_in_graph || composed_is_faster(query, key, value, options);
  if (const auto heads = composes ? std::nullopt : as_heads(query, key, value, options.attn_mask, options.enable_gqa, site)) {
    const Tensor y = ops::fused_attention(heads->query, heads->key, heads->value, heads->mask, how, site);
    Shape sizes = query.sizes();
    sizes[sizes.size() - 1] = value.size(-1);
    return y.reshape(sizes, site);
  }
  if (is_half(query.dtype()))  // scores are not rounded
    return composed(query.to(kFloat32, {}, site), key.to(kFloat32, {}, site), value.to(kFloat32, {}, site), options, how, site)
        .to(query.dtype(), {}, site);
  return composed(query, key, value, options, how, site);
}

MultiHeadAttentionResult multi_head_attention_forward(const Tensor& query_in, const Tensor& key_in, const Tensor& value_in,
                                                      int64_t embed_dim_to_check, int64_t num_heads,
                                                      const MultiHeadAttentionOptions& options, Site site) {
  const char* op = "multi_head_attention_forward";
  const bool batched = query_in.dim() == 3;
  if (!batched && query_in.dim() != 2)
    fail("[", op, "] query should be unbatched 2D or batched 3D tensor but received ", query_in.dim(), "-D query tensor");
  if (key_in.dim() != query_in.dim() || value_in.dim() != query_in.dim())
    fail("[", op, "] For ", batched ? "batched (3-D)" : "unbatched (2-D)", " `query`, expected `key` and `value` to be ", query_in.dim(),
         "-D but found ", key_in.dim(), "-D and ", value_in.dim(), "-D tensors respectively");
  const int64_t time = options.batch_first && batched ? 1 : 0;  // the dimension of the sequence; the other one is the batch
  const auto with_batch = [&](const Tensor& x) { return batched ? x : x.unsqueeze(1, site); };
  const Tensor query = with_batch(query_in), key = with_batch(key_in), value = with_batch(value_in);
  const int64_t length = query.size(time), batch = query.size(1 - time), width = query.size(2);
  const int64_t head = num_heads > 0 ? width / num_heads : 0;
  if (width != embed_dim_to_check) fail("[", op, "] was expecting embedding dimension of ", embed_dim_to_check, ", but got ", width);
  if (head * num_heads != width) fail("[", op, "] embed_dim ", width, " not divisible by num_heads ", num_heads);
  if (options.is_causal && !options.attn_mask.defined()) fail("[", op, "] Need attn_mask if specifying the is_causal hint.");

  // Query, key and value in the heads' space.
  const auto bias = [&](int64_t part) {
    return options.in_proj_bias.defined() ? options.in_proj_bias.narrow(0, part * width, width, site) : Tensor();
  };
  const auto weight = [&](int64_t part, const Tensor& separate) {
    return options.use_separate_proj_weight ? separate : options.in_proj_weight.narrow(0, part * width, width, site);
  };
  Tensor q = linear(query, weight(0, options.q_proj_weight), bias(0), site);
  Tensor k = linear(key, weight(1, options.k_proj_weight), bias(1), site);
  Tensor v = linear(value, weight(2, options.v_proj_weight), bias(2), site);

  Tensor mask = options.attn_mask.defined() ? ops::as_scores(options.attn_mask, false, q.dtype(), site) : Tensor();
  if (mask.defined() && mask.dim() == 2) mask = mask.unsqueeze(0, site);
  Tensor padding = options.key_padding_mask.defined() ? ops::as_scores(options.key_padding_mask, false, q.dtype(), site) : Tensor();
  if (padding.defined() && padding.dim() == 1) padding = padding.unsqueeze(0, site);
  const auto widened = [&](const Tensor& scores) {  // by a key that is always seen
    if (!scores.defined()) return scores;
    Shape sizes = scores.sizes();
    sizes[sizes.size() - 1] = 1;
    return cat({scores, zeros(sizes, {.dtype = scores.dtype(), .device = scores.device()}, site)}, -1, site);
  };
  if (options.bias_k.defined() && options.bias_v.defined()) {
    const Shape one = time ? Shape{batch, 1, width} : Shape{1, batch, width};
    k = cat({k, options.bias_k.expand(one, site)}, time, site);
    v = cat({v, options.bias_v.expand(one, site)}, time, site);
    mask = widened(mask);
    padding = widened(padding);
  }
  const auto heads = [&](const Tensor& x) {  // (S, N, E) to (N, heads, S, head)
    return x.reshape({x.size(0), x.size(1), num_heads, head}, site).permute({1 - time, 2, time, 3}, site);
  };
  const auto given = [&](const Tensor& x) { return x.reshape({batch, num_heads, x.size(1), head}, site); };
  q = heads(q);
  k = options.static_k.defined() ? given(options.static_k) : heads(k);
  v = options.static_v.defined() ? given(options.static_v) : heads(v);
  if (options.add_zero_attn) {
    const Tensor nothing = zeros({batch, num_heads, 1, head}, {.dtype = k.dtype(), .device = k.device()}, site);
    k = cat({k, nothing}, 2, site);
    v = cat({v, nothing}, 2, site);
    mask = widened(mask);
    padding = widened(padding);
  }
  const int64_t keys = k.size(2);
  if (mask.defined()) {
    const bool per_head = mask.size(0) != 1;
    if (mask.size(-2) != length || mask.size(-1) != keys || (per_head && mask.size(0) != batch * num_heads))
      fail("[", op, "] The size of attn_mask is not correct: ", options.attn_mask.sizes(), " for ", length, " queries and ", keys, " keys");
    mask = per_head ? mask.reshape({batch, num_heads, length, keys}, site) : mask.unsqueeze(0, site);
  }
  if (padding.defined()) {
    if (padding.size(0) != batch || padding.size(1) != keys)
      fail("[", op, "] Expected key_padding_mask's shape to be [", batch, ", ", keys, "], but got ", options.key_padding_mask.sizes());
    const Tensor each = padding.reshape({batch, 1, 1, keys}, site);
    mask = mask.defined() ? add(mask, each, site) : each;
  }

  const double dropout_p = options.training ? options.dropout_p : 0;
  MultiHeadAttentionResult result;
  Tensor y;
  if (options.need_weights) {
    Tensor scores = matmul(mul(q, 1 / std::sqrt(static_cast<double>(head)), site), k.transpose(-2, -1, site), site);
    if (mask.defined()) scores = add(scores, mask, site);
    Tensor weights = softmax(scores, -1, site);
    if (dropout_p > 0) weights = dropout(weights, dropout_p, true, site);
    y = matmul(weights, v, site);
    if (options.average_attn_weights) weights = weights.mean(1, false, {}, site);
    result.attn_output_weights = batched ? weights : weights.squeeze(0, site);
  } else {
    const bool causal = options.is_causal && !padding.defined() && keys == length;  // the mask need not be looked at
    y = scaled_dot_product_attention(q, k, v, {.attn_mask = causal ? Tensor() : mask, .dropout_p = dropout_p, .is_causal = causal}, site);
  }
  y = time ? y.transpose(1, 2, site) : y.permute({2, 0, 1, 3}, site);
  y = linear(y.flatten(2, 3, site), options.out_proj_weight, options.out_proj_bias, site);
  result.attn_output = batched ? y : y.squeeze(1, site);
  return result;
}

}  // namespace tandem
