// Parameters of recurrent networks on a GPU: in one piece of memory, in the order that cuDNN wants, which then need not copy them at each
// call. For the library.
#pragma once

#include <vector>

#include "base/site.h"
#include "nn/walk.h"

namespace tandem::nn::detail {

struct RecurrentBase;

/// Puts a network's parameters there; they keep their identity. Nothing on the CPU, with projections, and where parameters are on several
/// devices, of several dtypes, or tied. As torch.nn.LSTM.flatten_parameters.
void flatten_parameters(RecurrentBase& network, Site site);

/// The networks that a walk meets whose parameters get other memory.
class MovedNetworks {
 public:
  void add(const Field& field);
  /// Once the walk has ended.
  void flatten(Site site) const;

 private:
  std::vector<RecurrentBase*> networks_;
};

}  // namespace tandem::nn::detail
