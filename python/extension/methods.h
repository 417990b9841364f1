// The methods of Tensor that are written by hand.
#pragma once

namespace tandem::python {

/// Tells add_to of them.
void register_methods();

}  // namespace tandem::python
