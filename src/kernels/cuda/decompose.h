// Decompositions of many small matrices by our own kernels: NVIDIA's libraries are asked for one matrix at a time.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cuda {

/// Whether our kernels do it: Cholesky, LU and QR of matrices so many and so small that a group of threads for each fills a GPU better.
[[nodiscard]] bool is_of_many(Decomposition kind, const View& in);

/// The entry `decompose` for these, and the bytes of workspace that it wants.
void decompose_many(const Queue& queue, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in, bool strict,
                    void* workspace);
[[nodiscard]] size_t decompose_many_workspace(const View& in);

}  // namespace tandem::kernels::cuda
