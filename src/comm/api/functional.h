// Collectives that give new tensors and record gradients. As torch.distributed.nn.functional.
#pragma once

#include <vector>

#include "comm/api/distributed.h"

namespace tandem::distributed::nn {

/// All ranks' `x`, reduced. The gradient of a sum or an average is the same reduction of the ranks' gradients. Error where another op is to
/// be differentiated.
[[nodiscard]] Tensor all_reduce(const Tensor& x, ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {}, Site site = Site::here());
/// Every rank's `x`. The gradient is the sum of what all ranks have for it.
[[nodiscard]] std::vector<Tensor> all_gather(const Tensor& x, const ProcessGroup& group = {}, Site site = Site::here());
/// This rank's part of all ranks' `x`, reduced; see distributed::reduce_scatter. The gradient is gathered from all ranks.
[[nodiscard]] Tensor reduce_scatter(const Tensor& x, ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {}, Site site = Site::here());
/// Rank `src`'s `x`. Its gradient is the sum over all ranks; the others' is zero.
[[nodiscard]] Tensor broadcast(const Tensor& x, int src, const ProcessGroup& group = {}, Site site = Site::here());
/// inputs[r] goes to rank r; the gradients come back the same way.
[[nodiscard]] std::vector<Tensor> all_to_all(const std::vector<Tensor>& inputs, const ProcessGroup& group = {}, Site site = Site::here());

}  // namespace tandem::distributed::nn
