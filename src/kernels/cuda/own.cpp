#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {

void fill_own(Table& table) {
  table.fill = fill;
  table.copy = copy;
  table.arange = arange;
  table.linspace = linspace;
  table.pointwise = pointwise;
  table.random = random;
  table.bernoulli = bernoulli;
  table.dropout = dropout;
  table.sort_rows = sort_rows;
  table.unfold = unfold;
  table.fold = fold;
  table.max_pool = max_pool;
  table.avg_pool = avg_pool;
  table.avg_pool_backward = avg_pool_backward;
  table.pad = pad;
  table.pad_backward = pad_backward;
  table.solve = solve;
  table.solve_workspace = solve_workspace;
  table.resample = resample;
  table.embedding_bag = embedding_bag;
  table.triangle = triangle;
}

}  // namespace tandem::kernels::cuda
