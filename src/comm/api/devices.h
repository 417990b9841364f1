// Collectives of the devices of one process, one tensor each, all called by one thread. As torch.cuda.comm and torch.cuda.nccl.
#pragma once

#include <vector>

#include "comm/types.h"
#include "tensor/tensor.h"

namespace tandem::comm {

// Each is ordered with the work of the current stream of every device it touches, and returns at once. Nothing is recorded for gradients:
// see parallel/. Errors: no tensors; tensors of different sizes or dtypes, or two on one device where each needs its own.

/// In place: every tensor becomes the reduction of all of them, in their order.
void all_reduce(const std::vector<Tensor>& tensors, ReduceOp op = ReduceOp::SUM, Site site = Site::here());
/// The same for every tensors[i] = the tensors of device i, in few calls: tensors[device][number].
void all_reduce_coalesced(const std::vector<std::vector<Tensor>>& tensors, ReduceOp op = ReduceOp::SUM, Site site = Site::here());
/// A copy of `t` on each of the devices; on its own, `t` itself.
[[nodiscard]] std::vector<Tensor> broadcast(const Tensor& t, const std::vector<Device>& devices, Site site = Site::here());
/// The sum of the tensors, on `device`.
[[nodiscard]] Tensor reduce_add(const std::vector<Tensor>& tensors, Device device, Site site = Site::here());
/// All tensors joined along dimension 0, on each one's device.
[[nodiscard]] std::vector<Tensor> all_gather(const std::vector<Tensor>& tensors, Site site = Site::here());
/// Part i of the sum, dimension 0 cut into as many equal parts as there are tensors, on device i.
[[nodiscard]] std::vector<Tensor> reduce_scatter(const std::vector<Tensor>& tensors, ReduceOp op = ReduceOp::SUM, Site site = Site::here());
/// Chunks of `t` along `dim`, the i-th on device i.
[[nodiscard]] std::vector<Tensor> scatter(const Tensor& t, const std::vector<Device>& devices, int64_t dim = 0, Site site = Site::here());
/// The tensors joined along `dim`, on `device`.
[[nodiscard]] Tensor gather(const std::vector<Tensor>& tensors, Device device, int64_t dim = 0, Site site = Site::here());

}  // namespace tandem::comm
