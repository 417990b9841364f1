// var, std, var_mean and std_mean.
#pragma once

namespace tandem::python {

/// Tells add_to of them.
void register_reductions();

}  // namespace tandem::python
