// Tensors as back ends take them, dense and where the back end can reach them; and calls of them.
#pragma once

#include <utility>
#include <vector>

#include "comm/group.h"
#include "tensor/tensor.h"

namespace tandem::comm {

/// A call whose ranks each give or get a tensor like `t`, without its buffers.
[[nodiscard]] Call call_of(Collective kind, const Tensor& t, Site site, ReduceOp op = ReduceOp::SUM, int root = -1);

/// Tensors that stand in for others during a collective, and whose values go back to them when it is done.
class CopiesBack {
 public:
  CopiesBack(const Group& group, Site site) : group_(group), site_(site) {}

  /// `t`, or a dense copy of it on a device that the group's back end takes.
  [[nodiscard]] Tensor readable(const Tensor& t) const;
  /// The same; what the collective writes there comes to `t` too.
  [[nodiscard]] Tensor writable(const Tensor& t);
  /// `stand_in`, a dense tensor, gives its values to `t` when the collective is done.
  void add(const Tensor& t, const Tensor& stand_in) { pairs_.emplace_back(t, stand_in); }
  /// The handle of the whole: where there is something to copy, at once after a collective that is not asynchronous, else in the Work's
  /// wait.
  [[nodiscard]] Work finish(Work work, bool async_op) &&;

 private:
  const Group& group_;
  Site site_;
  std::vector<std::pair<Tensor, Tensor>> pairs_;
};

}  // namespace tandem::comm
