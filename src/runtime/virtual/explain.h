// When the host touches a virtual GPU's memory, say which GPU and tensor it was before the program ends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::runtime::virtual_gpu {

/// Tells the handler about a GPU's user addresses and where the kernels' ones begin. Installs it at the first call; where there is a
/// handler already, of a sanitizer or of the program's, only if `before_others`, and that one is called next.
void explain_faults(int device, uintptr_t user_base, uintptr_t kernels_base, size_t span, bool before_others);

}  // namespace tandem::runtime::virtual_gpu
