// What all ranks must have alike before they can work on one model: the same tensors, with the same values. For the library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "comm/api/distributed.h"
#include "tensor/tensor.h"

namespace tandem::parallel::detail {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Error, the same on every rank, unless all ranks of the group have tensors of the same names, sizes, dtypes and requires_grad, in the
/// same order. `what`: "parameter" or "buffer"; names the first that differs.
void check_alike(const char* op, const char* what, const NamedTensors& tensors, const distributed::ProcessGroup& group, Site site);

/// In place: the values of the rank with number `root` in the group, on every rank. All on one device; small ones travel in one parcel. The
/// root's own tensors count as unchanged. `label`: of the collectives.
void broadcast_values(const std::vector<Tensor>& tensors, int root, const distributed::ProcessGroup& group, Site site,
                      const std::string& label = {});

/// A module's buffers, which follow one rank's.
class SharedBuffers {
 public:
  SharedBuffers() = default;
  explicit SharedBuffers(std::vector<Tensor> buffers) : buffers_(std::move(buffers)) {}

  [[nodiscard]] const std::vector<Tensor>& all() const { return buffers_; }
  /// Before a forward: the values of rank `root` of the group, in training, and once more before the first forward after it.
  void send(bool training, int root, const distributed::ProcessGroup& group, Site site, const std::string& label);
  /// A forward has changed them that was not told of here.
  void changed() { stale_ = true; }

 private:
  std::vector<Tensor> buffers_;
  bool stale_ = false;
};

}  // namespace tandem::parallel::detail
