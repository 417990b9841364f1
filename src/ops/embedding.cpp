#include "ops/embedding.h"

#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/accumulate.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/linalg/norms.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using autograd::SavedTensor;
using kernels::BagMode;

void check_table(const char* op, const Tensor& indices, const Tensor& weight) {
  if (weight.dim() != 2) fail("[", op, "] 'weight' must be 2-D, but has sizes ", weight.sizes());
  if (indices.dtype() != kInt64 && indices.dtype() != kInt32)
    fail("[", op, "] Expected tensor for argument 'indices' to have scalar type Long or Int, but got ", scalar_name(indices.dtype()),
         " instead; convert with to(kInt64)");
  ops::check_same_device(op, weight, "weight", indices, "indices");
}

/// The row that doesn't count, or -1.
int64_t padding_row(const char* op, std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  const int64_t padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  if (padding < 0 || padding >= rows) fail("[", op, "] padding_idx ", *padding_idx, " must be within the ", rows, " rows of weight");
  return padding;
}

/// How often each of `rows` rows is used.
Tensor frequencies(const Tensor& indices, int64_t rows, Site site) {
  const Options options{.dtype = kInt64, .device = indices.device()};
  const Tensor list = indices.reshape({-1}, site);
  return scatter_add(zeros({rows}, options, site), 0, list, ones(list.sizes(), options, site), site);
}

/// The gradient of a table from those of the rows read.
Tensor table_gradient(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding, bool by_frequency, Site site) {
  if (by_frequency) {
    const Tensor used = frequencies(indices, rows, site).clamp(1, {}, site).unsqueeze(1), wide = g.to(ops::sum_type(g.dtype()), {}, site);
    return (table_gradient(wide, indices, rows, padding, false, site) / used).to(g.dtype(), {}, site);
  }
  const Options like{.dtype = g.dtype(), .device = g.device()};
  Tensor whole;
  if (is_half(g.dtype())) {
    const NoGradGuard no_grad;
    whole = zeros({rows, g.size(-1)}, like, site);
    ops::add_at("embedding_backward", whole, g, {indices}, false, site);
    if (padding >= 0) whole.select(0, padding, site).zero_(site);
  } else {
    whole = empty({rows, g.size(-1)}, like, site);
    ops::launch(g, "embedding_backward", site, &kernels::Table::embedding_backward, whole, g, indices, padding);
  }
  if (!needs_grad(g)) return whole;
  return record("EmbeddingDenseBackward0", whole, {g}, site, [indices = autograd::saved(indices), padding](const Tensor& gg) {
    const Tensor at = indices.get();
    Tensor y = embedding(at, gg);
    return padding >= 0 ? y * (at != padding).unsqueeze(-1) : y;
  });
}

/// Shortens the rows in use to `max_norm`.
void shorten(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type, Site site) {
  const NoGradGuard no_grad;
  const Tensor length = norm(weight, norm_type, {1}, true, {}, site);
  const Tensor used = frequencies(indices, weight.size(0), site).unsqueeze(1);
  weight.copy_(where(logical_and(used > 0, length > max_norm), weight * (max_norm / (length + 1e-7)), weight, site), false, site);
}

BagMode bag_mode(const std::string& mode) {
  if (mode == "sum") return BagMode::Sum;
  if (mode == "mean") return BagMode::Mean;
  if (mode == "max") return BagMode::Max;
  fail("[embedding_bag] mode has to be one of sum, mean or max, not '", mode, "'");
}

/// What one call of the kernel leaves for the gradient.
struct Bags {
  Tensor y, bag_of, counts, chosen;
};

Bags fill_bags(const Tensor& indices, const Tensor& weight, const Tensor& offsets, const Tensor& factors, int64_t bags, BagMode mode,
               int64_t padding, Site site) {
  const Options options{.dtype = weight.dtype(), .device = weight.device()}, numbers{.dtype = kInt64, .device = weight.device()};
  const Shape sizes{bags, weight.size(1)};
  Bags result{zeros(sizes, options, site), zeros(indices.sizes(), numbers, site), zeros({bags}, numbers, site),
              mode == BagMode::Max ? zeros(sizes, numbers, site) : Tensor()};
  if (bags > 0)
    ops::launch(weight, "embedding_bag", site, &kernels::Table::embedding_bag, result.y, result.bag_of, result.counts, result.chosen,
                weight, indices, offsets, factors, mode, padding);
  return result;
}

}  // namespace

Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx, std::optional<double> max_norm,
                 double norm_type, Flag scale_grad_by_freq, Site site) {
  check_table("embedding", indices, weight);
  const Tensor at = indices.to(kInt64, {}, site);
  const int64_t padding = padding_row("embedding", padding_idx, weight.size(0));
  if (max_norm) shorten(weight, at, *max_norm, norm_type, site);
  Shape sizes = indices.sizes();
  sizes.push_back(weight.size(1));
  Tensor y = empty(sizes, {.dtype = weight.dtype(), .device = weight.device()}, site);
  ops::launch(weight, "embedding", site, &kernels::Table::embedding, y, weight, at);
  if (!needs_grad(weight)) return y;
  return record("EmbeddingBackward0", y, {weight}, site,
                [at = autograd::saved(at), rows = weight.size(0), padding, by_frequency = scale_grad_by_freq, site](const Tensor& g) {
                  return table_gradient(g, at.get(), rows, padding, by_frequency, site);
                });
}

Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& options, Site site) {
  const char* op = "embedding_bag";
  check_table(op, indices, weight);
  if (!is_floating(weight.dtype())) fail<NotImplementedError>("[embedding_bag] is not implemented for '", scalar_name(weight.dtype()), "'");
  const BagMode mode = bag_mode(options.mode);
  const Tensor& factors = options.per_sample_weights;
  if (factors.defined()) {
    if (!(factors.sizes() == indices.sizes()))
      fail("[embedding_bag] If per_sample_weights (", factors.sizes(), ") is not None, then it must have the same shape as the ", "input (",
           indices.sizes(), ")");
    if (factors.dtype() != weight.dtype())
      fail("[embedding_bag] Expected per_sample_weights to have the type of weight, ", weight.dtype(), ", not ", factors.dtype());
    if (mode != BagMode::Sum)
      fail("[embedding_bag] per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='", options.mode,
           "')");
    ops::check_same_device(op, weight, "weight", factors, "per_sample_weights");
  }
  const int64_t padding = padding_row(op, options.padding_idx, weight.size(0));
  const Tensor list = indices.to(kInt64, {}, site).reshape({-1}, site);
  Tensor offsets;
  int64_t bags;
  if (indices.dim() == 2) {
    if (options.offsets.defined())
      fail("[embedding_bag] if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length ",
           "sequences");
    bags = indices.size(0);
    offsets = mul(arange(bags, {.dtype = kInt64, .device = weight.device()}, site), indices.size(1), site);
  } else if (indices.dim() == 1) {
    if (!options.offsets.defined()) fail("[embedding_bag] offsets has to be a 1D Tensor but got None");
    if (options.offsets.dim() != 1) fail("[embedding_bag] offsets has to be a 1D Tensor, not ", options.offsets.sizes());
    if (is_floating(options.offsets.dtype()) || options.offsets.dtype() == kBool)
      fail("[embedding_bag] Expected offsets to be integers, not ", options.offsets.dtype());
    ops::check_same_device(op, weight, "weight", options.offsets, "offsets");
    offsets = options.offsets.to(kInt64, {}, site);
    bags = offsets.numel();
    if (options.include_last_offset && --bags < 0) fail("[embedding_bag] include_last_offset: number of offsets should be at least 1");
  } else {
    fail("[embedding_bag] input has to be 1D or 2D Tensor, but got Tensor of dimension ", indices.dim());
  }
  if (options.max_norm) shorten(weight, list, *options.max_norm, options.norm_type, site);
  const Tensor weights = factors.defined() ? factors.reshape({-1}, site) : Tensor();
  const Bags filled = fill_bags(list, weight, offsets, weights, bags, mode, padding, site);
  if (!needs_grad(weight, weights)) return filled.y;

  const int64_t rows = weight.size(0);
  if (mode == BagMode::Max)
    return record("EmbeddingBagBackward0", filled.y, {weight}, site, [chosen = autograd::saved(filled.chosen), rows](const Tensor& g) {
      const Tensor from = chosen.get();
      const Tensor table = zeros({rows, g.size(1)}, {.dtype = g.dtype(), .device = g.device()});
      return scatter_add(table, 0, from.clamp(0), g * (from >= 0));
    });
  const auto kept = [](const Tensor& t) { return t.defined() ? autograd::saved(t) : SavedTensor(); };
  return record("EmbeddingBagBackward0", filled.y, {weight, weights}, site,
                [list = autograd::saved(list), bag_of = autograd::saved(filled.bag_of), counts = autograd::saved(filled.counts),
                 weight = autograd::saved(weight), weights = kept(weights), mode, rows, padding, by_frequency = options.scale_grad_by_freq,
                 site](const Tensor& g, autograd::Wanted wanted) {
                  const Tensor at = list.get(), of = bag_of.get();
                  const DType wide = ops::sum_type(g.dtype());  // only the gradients are rounded, not what is summed up in them
                  Tensor each = embedding(of, g);
                  if (mode == BagMode::Mean) each = each.to(wide) / embedding(of, counts.get().clamp(1).unsqueeze(1));
                  std::array<Tensor, 2> gradients;
                  if (wanted[1]) {
                    gradients[1] = (each.to(wide) * embedding(at, weight.get())).sum(1).to(g.dtype());
                    if (padding >= 0) gradients[1] = gradients[1] * (at != padding);
                  }
                  if (wanted[0]) {
                    if (weights.defined()) each = each.to(wide) * weights.get().unsqueeze(1);
                    gradients[0] = table_gradient(each, at, rows, padding, by_frequency, site).to(g.dtype());
                  }
                  return gradients;
                });
}

}  // namespace tandem
