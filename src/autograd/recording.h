// What the calling thread records.
#pragma once

namespace tandem::autograd::detail {

inline thread_local constinit bool grad_enabled = true;
inline thread_local constinit bool inference_mode = false;

}  // namespace tandem::autograd::detail
