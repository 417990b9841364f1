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
  table.randperm = randperm;
  table.dropout = dropout;
  table.reduce = reduce;
  table.arg_reduce = arg_reduce;
  table.variance = variance;
  table.reduce_workspace = reduce_workspace;
  table.scan = scan;
  table.scan_extreme = scan_extreme;
  table.recurrence = recurrence;
  table.sort_rows = sort_rows;
  table.searchsorted = searchsorted;
  table.matmul = matmul;
  table.matmul_workspace = matmul_workspace;
  table.convolution = convolution;
  table.convolution_input = convolution_input;
  table.convolution_weight = convolution_weight;
  table.convolution_workspace = convolution_workspace;
  table.unfold = unfold;
  table.fold = fold;
  table.max_pool = max_pool;
  table.avg_pool = avg_pool;
  table.avg_pool_backward = avg_pool_backward;
  table.pad = pad;
  table.pad_backward = pad_backward;
  table.solve = solve;
  table.solve_workspace = solve_workspace;
  table.softmax = softmax;
  table.log_softmax = log_softmax;
  table.softmax_backward = softmax_backward;
  table.log_softmax_backward = log_softmax_backward;
  table.cross_entropy = cross_entropy;
  table.cross_entropy_backward = cross_entropy_backward;
  table.ctc_loss = ctc_loss;
  table.ctc_loss_backward = ctc_loss_backward;
  table.normalize = normalize;
  table.normalize_backward = normalize_backward;
  table.normalize_parameters = normalize_parameters;
  table.resample = resample;
  table.grid_sample = grid_sample;
  table.grid_sample_backward = grid_sample_backward;
  table.embedding_bag = embedding_bag;
  table.lstm_cell = lstm_cell;
  table.lstm_cell_backward = lstm_cell_backward;
  table.gru_cell = gru_cell;
  table.gru_cell_backward = gru_cell_backward;
  table.index = index;
  table.index_put = index_put;
  table.gather = gather;
  table.scatter = scatter;
  table.embedding = embedding;
  table.embedding_backward = embedding_backward;
  table.count_nonzero = count_nonzero;
  table.nonzero = nonzero;
  table.nonzero_workspace = nonzero_workspace;
  table.triangle = triangle;
  table.sgd = sgd;
  table.adam = adam;
  table.optimizer_step = optimizer_step;
  table.total_norm = total_norm;
  table.total_norm_workspace = total_norm_workspace;
  table.clip = clip;
}

}  // namespace tandem::kernels::cuda
