// Flat memory for gradients: parameters' gradients are views of it, and a collective takes a whole bucket. For the library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/api/distributed.h"
#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// A parameter, and where its gradient lies.
struct Parameter {
  std::string name;
  Tensor tensor;
  Tensor view;  // of a bucket, for the gradient
  size_t bucket = 0, slot = 0;
  bool ready = false;        // its gradient is in the bucket
  bool without_grad = true;  // ready, but this rank has no gradient for it
};

struct Bucket {
  Tensor flat;                  // gradients, then, where they are wanted, flags
  Tensor gradients, flags;      // its parts; a flag for each member, above zero once some rank has a gradient
  std::vector<size_t> members;  // numbers of parameters
  size_t waiting = 0;           // members that are not ready
  comm::Work work;
  std::function<Tensor()> averaged;  // where a CommHook averages
};

/// The buckets of a plan, for collectives of `group`. Gradients that lie in buckets of before are copied over.
[[nodiscard]] std::vector<Bucket> make_buckets(std::vector<Parameter>& parameters, const std::vector<std::vector<size_t>>& plan,
                                               bool with_flags, const distributed::ProcessGroup& group, Site site);

/// Puts the parameter's gradient, times `scale`, into its bucket, and with `as_view` the view in the gradient's place; zeros where it has
/// none.
void put_into_bucket(Parameter& parameter, double scale, bool as_view, Site site);

}  // namespace tandem::parallel::detail
