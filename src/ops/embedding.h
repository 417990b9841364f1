// Rows of a table, one by one or bags of them summed up.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace tandem {

/// Rows of `weight` (n, d) at `indices` (…), to (…, d). An index outside [0, n) is an error. As torch.nn.functional.embedding.
/// Rows at `padding_idx` get no gradient; rows in use whose `norm_type`-norm is over `max_norm` are scaled down to it in place first;
/// `scale_grad_by_freq` divides a row's gradient by how often its index occurs.
[[nodiscard]] Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx = {},
                               std::optional<double> max_norm = {}, double norm_type = 2, Flag scale_grad_by_freq = false,
                               Site site = Site::here());

struct EmbeddingBagOptions {
  Tensor offsets = {};                  // where each bag begins, for a list of indices
  std::optional<double> max_norm = {};  // as for embedding
  double norm_type = 2;
  bool scale_grad_by_freq = false;
  std::string mode = "mean";                // sum, mean or max of a bag's rows
  Tensor per_sample_weights = {};           // of indices' sizes: factors of the rows, for sums only
  bool include_last_offset = false;         // offsets ends with the number of indices
  std::optional<int64_t> padding_idx = {};  // indices that don't count
};
/// For each bag the sum, mean or maximum of the rows of `weight` (n, d) at its indices, to (bags, d); empty bags give zeros. Bags are the
/// rows of 2-D indices, or the parts of a list of them. As torch.nn.functional.embedding_bag.
[[nodiscard]] Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const EmbeddingBagOptions& options = {},
                                   Site site = Site::here());

}  // namespace tandem
