#include "libtorch/holder.h"

#include "base/error.h"

namespace torch::nn::detail {

void fail_empty_holder() { tandem::fail("[ModuleHolder] Accessing empty ModuleHolder: give it a module first"); }

}  // namespace torch::nn::detail
