#include "nn/embedding.h"

#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/repr.h"
#include "ops/creation.h"
#include "ops/embedding.h"
#include "ops/random.h"
#include "ops/view.h"

namespace tandem::nn {
namespace {

using detail::repr;

// A negative padding_idx counts from the end.
std::optional<int64_t> in_range(const char* op, std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return {};
  if (*padding_idx < -rows || *padding_idx >= rows)
    fail("[", op, "] padding_idx must be within num_embeddings, ", rows, ", but is ", *padding_idx);
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

Tensor make_table(const char* op, int64_t rows, int64_t columns, const Options& options, Site site) {
  if (rows < 0 || columns < 0) fail("[", op, "] num_embeddings and embedding_dim must not be negative, got ", rows, " and ", columns);
  return empty({rows, columns}, options, site);
}

void draw_table(const Tensor& weight, std::optional<int64_t> padding_idx, Site site) {
  const NoGradGuard no_grad;
  weight.normal_(0, 1, site);
  if (padding_idx) weight.select(0, *padding_idx, site).zero_(site);
}

/// A table or bags of these rows, and which of them is the padding.
template <class M, class O>
std::pair<M, std::optional<int64_t>> with_rows(const char* op, const Tensor& embeddings, bool freeze, const O& options, Site site) {
  if (embeddings.dim(site) != 2) fail("[", op, "] Embeddings parameter is expected to be 2-dimensional, got ", embeddings.sizes());
  O own = options;
  own.dtype = embeddings.dtype();
  own.padding_idx.reset();  // there is no such row yet
  M table(0, embeddings.size(1), own, site);
  table.weight = embeddings.detach().requires_grad_(!freeze);
  return {std::move(table), in_range(op, options.padding_idx, embeddings.size(0))};
}

}  // namespace

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options, Site site)
    : padding_idx(in_range("Embedding", options.padding_idx, num_embeddings)),
      max_norm(options.max_norm),
      norm_type(options.norm_type),
      scale_grad_by_freq(options.scale_grad_by_freq) {
  weight = make_table("Embedding", num_embeddings, embedding_dim, {.dtype = options.dtype, .device = options.device, .requires_grad = true},
                      site);
  reset_parameters(site);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings, Flag freeze, const EmbeddingOptions& options, Site site) {
  auto [table, padding_idx] = with_rows<Embedding>("Embedding.from_pretrained", embeddings, freeze, options, site);
  table.padding_idx = padding_idx;
  return std::move(table);
}

void Embedding::reset_parameters(Site site) { draw_table(weight, padding_idx, site); }
void Embedding::fields(Fields& f) { f("weight", weight); }
Tensor Embedding::forward(const Tensor& indices) {
  return embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, detail::call_site());
}

std::string Embedding::extra_repr() const {
  std::string text = str(weight.size(0), ", ", weight.size(1));
  if (padding_idx) text += str(", padding_idx=", *padding_idx);
  if (max_norm) text += ", max_norm=" + repr(*max_norm);
  if (norm_type != 2) text += ", norm_type=" + repr(norm_type);
  if (scale_grad_by_freq) text += ", scale_grad_by_freq=True";
  return text;
}

EmbeddingBag::EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, EmbeddingBagOptions options, Site site)
    : options(std::move(options)) {
  this->options.padding_idx = in_range("EmbeddingBag", this->options.padding_idx, num_embeddings);
  weight = make_table("EmbeddingBag", num_embeddings, embedding_dim,
                      {.dtype = this->options.dtype, .device = this->options.device, .requires_grad = true}, site);
  reset_parameters(site);
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, Flag freeze, const EmbeddingBagOptions& options, Site site) {
  auto [table, padding_idx] = with_rows<EmbeddingBag>("EmbeddingBag.from_pretrained", embeddings, freeze, options, site);
  table.options.padding_idx = padding_idx;
  return std::move(table);
}

void EmbeddingBag::reset_parameters(Site site) { draw_table(weight, options.padding_idx, site); }
void EmbeddingBag::fields(Fields& f) { f("weight", weight); }
Tensor EmbeddingBag::forward(const Tensor& indices) { return forward(indices, {}, {}, detail::call_site()); }
Tensor EmbeddingBag::forward(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights, Site site) {
  return embedding_bag(indices, weight,
                       {.offsets = offsets,
                        .max_norm = options.max_norm,
                        .norm_type = options.norm_type,
                        .scale_grad_by_freq = options.scale_grad_by_freq,
                        .mode = options.mode,
                        .per_sample_weights = per_sample_weights,
                        .include_last_offset = options.include_last_offset,
                        .padding_idx = options.padding_idx},
                       site);
}

Tensor EmbeddingBag::operator()(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights, Site site) {
  return hooked_forward(*this, site, indices, offsets, per_sample_weights);
}

std::string EmbeddingBag::extra_repr() const {
  std::string text = str(weight.size(0), ", ", weight.size(1));
  if (options.max_norm) text += ", max_norm=" + repr(*options.max_norm);
  if (options.norm_type != 2) text += ", norm_type=" + repr(options.norm_type);
  if (options.scale_grad_by_freq) text += ", scale_grad_by_freq=True";
  text += ", mode='" + options.mode + "'";
  if (options.padding_idx) text += str(", padding_idx=", *options.padding_idx);
  return text;
}

}  // namespace tandem::nn
