// Attention of few queries, as when a text is generated word by word: it has kernels of its own.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cuda {

/// Whether there are so few queries to a head that tiles of them would be mostly empty.
inline bool has_few_queries(const View& q) { return q.sizes[2] <= 4; }

/// The entry `attention` where there are few queries, and the bytes of workspace that it wants.
void attention_of_few(const Queue& queue, const Out& out, const Out& normalizer, const View& q, const View& k, const View& v,
                      const View& mask, const Attention& how, void* workspace);
[[nodiscard]] size_t attention_of_few_workspace(const View& q, const View& k, const View& v);

}  // namespace tandem::kernels::cuda
