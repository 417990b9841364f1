#include "nn/layers.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/embedding.h"
#include "ops/random.h"
#include "ops/view.h"

namespace tandem::nn {

Dropout::Dropout(double p) : p(p) {
  if (!(p >= 0 && p <= 1)) fail("[Dropout] dropout probability has to be between 0 and 1, but got ", p);
}
Tensor Dropout::forward(const Tensor& x) { return dropout(x, p, training(), detail::call_site()); }
std::string Dropout::extra_repr() const { return str("p=", p, ", inplace=False"); }

Tensor Flatten::forward(const Tensor& x) { return flatten(x, start_dim, end_dim, detail::call_site()); }
std::string Flatten::extra_repr() const { return str("start_dim=", start_dim, ", end_dim=", end_dim); }

Tensor Identity::forward(const Tensor& x) { return x; }

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options, Site site)
    : padding_idx(options.padding_idx) {
  if (num_embeddings < 0 || embedding_dim < 0)
    fail("[Embedding] num_embeddings and embedding_dim must not be negative, got ", num_embeddings, " and ", embedding_dim);
  if (padding_idx) {
    if (*padding_idx < -num_embeddings || *padding_idx >= num_embeddings)
      fail("[Embedding] padding_idx must be within num_embeddings, ", num_embeddings, ", but is ", *padding_idx);
    if (*padding_idx < 0) *padding_idx += num_embeddings;
  }
  weight = empty({num_embeddings, embedding_dim}, {.dtype = options.dtype, .device = options.device, .requires_grad = true}, site);
  const NoGradGuard no_grad;
  weight.normal_(0, 1, site);
  if (padding_idx) weight.select(0, *padding_idx, site).zero_(site);
}

void Embedding::fields(Fields& f) { f("weight", weight); }
Tensor Embedding::forward(const Tensor& indices) { return embedding(indices, weight, padding_idx, {}, 2, false, detail::call_site()); }
std::string Embedding::extra_repr() const {
  return str(weight.size(0), ", ", weight.size(1), padding_idx ? str(", padding_idx=", *padding_idx) : std::string());
}

}  // namespace tandem::nn
