// Attention, and the positions of its rows.
#include <cmath>
#include <limits>

#include "onnx/call.h"
#include "ops/arithmetic.h"
#include "ops/attention.h"
#include "ops/creation.h"
#include "ops/embedding.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/scatter.h"
#include "ops/softmax.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

/// (batch, rows, heads * size) as (batch, heads, rows, size).
Tensor in_heads(const Tensor& x, int64_t heads, Site site) {
  if (x.dim() == 4) return x;
  if (x.dim() != 3 || heads < 1 || x.size(2) % heads != 0) fail("an input has the sizes ", x.sizes(), ", for ", heads, " heads");
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}, site).transpose(1, 2, site);
}

void attention(Call& call) {
  const Site site = call.site();
  const Tensor given_q = call.in(0), given_k = call.in(1), given_v = call.in(2);
  const int64_t q_heads = call.integer("q_num_heads", given_q.dim() == 4 ? given_q.size(1) : 0);
  const int64_t kv_heads = call.integer("kv_num_heads", given_k.dim() == 4 ? given_k.size(1) : 0);
  const Tensor q = in_heads(given_q, q_heads, site);
  Tensor k = in_heads(given_k, kv_heads, site), v = in_heads(given_v, kv_heads, site);
  const Tensor past_k = call.in_or_none(4), past_v = call.in_or_none(5);
  const int64_t past = past_k.defined() ? past_k.size(2) : 0;
  if (past_k.defined()) k = cat({past_k, k}, 2, site);
  if (past_v.defined()) v = cat({past_v, v}, 2, site);
  const Tensor present_k = k, present_v = v;
  if (q.size(1) % std::max<int64_t>(k.size(1), 1) != 0) fail("it has ", q.size(1), " heads of queries for ", k.size(1), " of keys");
  if (const int64_t shared = q.size(1) / std::max<int64_t>(k.size(1), 1); shared > 1) {
    k = k.repeat_interleave(shared, 1, {}, site);
    v = v.repeat_interleave(shared, 1, {}, site);
  }
  const int64_t rows = q.size(2), keys = k.size(2);
  const double scale = call.real("scale", 1 / std::sqrt(static_cast<double>(q.size(3)))), softcap = call.real("softcap", 0);
  const int64_t output_mode = call.integer("qk_matmul_output_mode", 0);
  const Device device = q.device();

  // What is added to the scores; -inf hides a key.
  Tensor bias;
  const double hidden = -std::numeric_limits<double>::infinity();
  const auto add_bias = [&](const Tensor& more) { bias = bias.defined() ? add(bias, more, site) : more; };
  const auto hide = [&](const Tensor& shown) {
    add_bias(where(shown, zeros({}, {.dtype = q.dtype(), .device = device}, site), Scalar(hidden), site));
  };
  if (Tensor mask = call.in_or_none(3); mask.defined()) {
    // A mask of fewer keys hides the others.
    if (mask.size(-1) < keys && mask.size(-1) > 1)
      mask = mask.dtype() == kBool ? constant_pad_nd(mask, {0, keys - mask.size(-1)}, false, site)
                                   : constant_pad_nd(mask, {0, keys - mask.size(-1)}, hidden, site);
    if (mask.dtype() == kBool) hide(mask);
    else add_bias(mask);
  }
  const Tensor column = arange(keys, {.dtype = kInt64, .device = device}, site);
  const Tensor lengths = call.in_or_none(6);
  const bool causal = call.integer("is_causal", 0) != 0;
  const int64_t left = call.integer("left_window_size", -1), right = call.integer("right_window_size", -1);
  if (causal || left >= 0 || right >= 0) {
    Tensor row = arange(rows, {.dtype = kInt64, .device = device}, site).unsqueeze(1, site);
    // Rows come after what there was before.
    row = lengths.defined() && !past_k.defined()
              ? add(row, sub(lengths.to(kInt64, {}, site).reshape({-1, 1, 1, 1}, site), rows, site), site)
              : add(row, past, site);
    if (causal) hide(le(column, row, site));
    if (left >= 0) hide(le(sub(row, column, site), left, site));
    if (right >= 0) hide(le(sub(column, row, site), right, site));
  }
  if (lengths.defined()) hide(lt(column, lengths.to(kInt64, {}, site).reshape({-1, 1, 1, 1}, site), site));

  Tensor y, scores;
  if (softcap == 0 && !call.wants(3) && !bias.defined()) {
    y = scaled_dot_product_attention(q, k, v, {.scale = scale}, site);
  } else {
    const double half = std::sqrt(scale);
    Tensor now = matmul(mul(q, half, site), mul(k, half, site).transpose(2, 3, site), site);
    if (output_mode == 0) scores = now;
    if (softcap > 0) now = mul(tanh(div(now, softcap, site), site), softcap, site);
    if (output_mode == 1) scores = now;
    if (bias.defined()) now = add(now, bias.to(now.dtype(), {}, site), site);
    if (output_mode == 2) scores = now;
    const DType precision = call.dtype("softmax_precision", now.dtype());
    Tensor weights = softmax(now.to(precision, {}, site), -1, site).to(now.dtype(), {}, site);
    // A row that sees no key gives zeros.
    if (bias.defined()) weights = where(isnan(weights, site), zeros({}, {.dtype = weights.dtype(), .device = device}, site), weights, site);
    if (output_mode == 3) scores = weights;
    y = matmul(weights, v, site);
  }
  if (given_q.dim() == 3) y = y.transpose(1, 2, site).reshape({y.size(0), rows, y.size(1) * y.size(3)}, site);
  call.give(y.to(given_q.dtype(), {}, site));
  call.give(present_k);
  call.give(present_v);
  if (scores.defined()) call.give(scores);
  else call.skip();
}

void rotary_embedding(Call& call) {
  const Site site = call.site();
  const Tensor given = call.in(0);
  Tensor cosine = call.in(1), sine = call.in(2);
  const bool interleaved = call.integer("interleaved", 0) != 0;
  // As (batch, rows, heads, size).
  const Tensor x = given.dim() == 4 ? given.transpose(1, 2, site)
                                    : given.reshape({given.size(0), given.size(1), call.integer("num_heads", 1), -1}, site);
  const int64_t size = x.size(3);
  int64_t rotated = call.integer("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0) fail("it turns ", rotated, " of ", size, " elements");
  if (const Tensor positions = call.in_or_none(3); positions.defined()) {
    cosine = embedding(positions.to(kInt64, {}, site), cosine, {}, {}, 2, false, site);
    sine = embedding(positions.to(kInt64, {}, site), sine, {}, {}, 2, false, site);
  }
  cosine = cosine.narrow(-1, 0, rotated / 2, site).unsqueeze(2, site);
  sine = sine.narrow(-1, 0, rotated / 2, site).unsqueeze(2, site);
  const Tensor part = x.narrow(3, 0, rotated, site);
  const Tensor a = interleaved ? part.slice(3, 0, {}, 2, site) : part.narrow(3, 0, rotated / 2, site);
  const Tensor b = interleaved ? part.slice(3, 1, {}, 2, site) : part.narrow(3, rotated / 2, rotated / 2, site);
  const Tensor real = sub(mul(cosine, a, site), mul(sine, b, site), site), imaginary = add(mul(sine, a, site), mul(cosine, b, site), site);
  Tensor turned = interleaved ? stack({real, imaginary}, -1, site).flatten(3, -1, site) : cat({real, imaginary}, 3, site);
  if (rotated < size) turned = cat({turned, x.narrow(3, rotated, size - rotated, site)}, 3, site);
  call.give(given.dim() == 4 ? turned.transpose(1, 2, site) : turned.reshape(given.sizes(), site));
}

constexpr OperatorRow kRows[] = {
    {"Attention", 23, attention},
    {"RotaryEmbedding", 23, rotary_embedding},
};

}  // namespace

std::span<const OperatorRow> attention_operators() { return kRows; }

}  // namespace tandem::onnx
