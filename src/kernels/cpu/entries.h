// The CPU's kernels, one declaration per entry of kernels/table.h, in its order. table.cpp makes the table from them.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cpu {

// Filling and moving: fill.cpp, copy.cpp
void fill(const Queue& queue, Out out, Value value);
void copy(const Queue& queue, Out out, View in);
void arange(const Queue& queue, Out out, Value start, Value step);
void linspace(const Queue& queue, Out out, double start, double end);

// Pointwise: pointwise.cpp
void pointwise(const Queue& queue, Pointwise call);

// Random numbers: random.cpp
void random(const Queue& queue, Out out, Random kind, double a, double b, uint64_t seed, uint64_t offset);
void bernoulli(const Queue& queue, Out out, View probability, uint64_t seed, uint64_t offset);
void randperm(const Queue& queue, Out out, uint64_t seed, uint64_t offset);
void dropout(const Queue& queue, Out out, Out mask, View in, double p, uint64_t seed, uint64_t offset);

// Reductions: reduce.cpp, arg_reduce.cpp, variance.cpp, scan.cpp
void reduce(const Queue& queue, Reduce op, Out out, View in, int32_t reduced);
void arg_reduce(const Queue& queue, bool largest, Out values, Out indices, View in, int32_t reduced);
void variance(const Queue& queue, Out variance, Out mean, View in, int32_t reduced, double correction);
void scan(const Queue& queue, Scan op, Out out, View in);
void scan_extreme(const Queue& queue, bool largest, Out values, Out indices, View in);
void recurrence(const Queue& queue, Out out, View factor, View in);

// Sorting: sort.cpp, search.cpp
void sort(const Queue& queue, Out values, Out indices, View in, bool descending, void* workspace);
size_t sort_workspace(const View& in);
void sort_part(const Queue& queue, Out values, Out indices, View in, bool descending, int64_t first, void* workspace);
void sort_rows(const Queue& queue, Out order, View in);
void searchsorted(const Queue& queue, Out out, View sorted, View values, View order, bool right);

// Products
void matmul(const Queue& queue, Out out, View a, View b, View bias, Epilogue epilogue, void* workspace);
size_t matmul_workspace(const View& out, const View& a, const View& b, const View& bias, const Epilogue& epilogue);

// Windows: convolution.cpp, fold.cpp, pooling.cpp, padding.cpp
void convolution(const Queue& queue, Out out, View in, View weight, View bias, Windows windows, int64_t groups, void* workspace);
void convolution_input(const Queue& queue, Out in, View out, View weight, Windows windows, int64_t groups, void* workspace);
void convolution_weight(const Queue& queue, Out weight, View out, View in, Windows windows, int64_t groups, void* workspace);
size_t convolution_workspace(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows,
                             int64_t groups, bool bias);
void unfold(const Queue& queue, Out out, View in, Windows windows);
void fold(const Queue& queue, Out out, View in, Windows windows);
void max_pool(const Queue& queue, Out out, Out indices, View in, Pooling pooling);
void avg_pool(const Queue& queue, Out out, View in, Pooling pooling);
void avg_pool_backward(const Queue& queue, Out out, View grad, Pooling pooling);
void pad(const Queue& queue, Out out, View in, Span<int64_t> before, Padding mode, Value value);
void pad_backward(const Queue& queue, Out out, View grad, Span<int64_t> before, Padding mode);

// Linear algebra: linalg.cpp
void decompose(const Queue& queue, Decomposition kind, Out a, Out b, Out c, View in, bool strict, void* workspace);
size_t decompose_workspace(Decomposition kind, const View& a, const View& c, const View& in);
void solve(const Queue& queue, Solver kind, Out out, View a, View pivots, View b, void* workspace);
size_t solve_workspace(const View& a, const View& b);

// Softmax and cross-entropy
void softmax(const Queue& queue, Out out, View in);
void log_softmax(const Queue& queue, Out out, View in);
void softmax_backward(const Queue& queue, Out out, View grad, View y);
void log_softmax_backward(const Queue& queue, Out out, View grad, View y);
void cross_entropy(const Queue& queue, Out losses, Out weights, Out log_probabilities, View logits, View target, View weight,
                   int64_t ignore, double smoothing);
void cross_entropy_backward(const Queue& queue, Out out, View scale, View log_probabilities, View target, View weight, int64_t ignore,
                            double smoothing);
void ctc_loss(const Queue& queue, Out losses, Out alpha, View log_probs, View targets, View rows, int64_t blank);
void ctc_loss_backward(const Queue& queue, Out grad, Out beta, View scale, View log_probs, View targets, View rows, View alpha,
                       int64_t blank, bool zero_infinity);

// Normalization
void normalize(const Queue& queue, Out out, Out mean, Out variance, View in, View weight, View bias, double eps);
void normalize_backward(const Queue& queue, Out out, View grad, View in, View mean, View variance, View weight, double eps);
void normalize_parameters(const Queue& queue, Out weight, Out bias, View grad, View in, View mean, View variance, double eps);

// Resampling and looking up: resample.cpp, grid_sample.cpp, embedding_bag.cpp
void resample(const Queue& queue, Out out, View in, View starts, View indices, View weights);
void grid_sample(const Queue& queue, Out out, View in, View grid, GridSample how);
void grid_sample_backward(const Queue& queue, Out in_grad, Out grid_grad, View grad, View in, View grid, GridSample how);
void embedding_bag(const Queue& queue, Out out, Out bag_of, Out counts, Out chosen, View table, View indices, View offsets, View weights,
                   BagMode mode, int64_t padding);

// Recurrent cells
void lstm_cell(const Queue& queue, Out h, Out c, Out active, View gates, View previous);
void lstm_cell_backward(const Queue& queue, Out gates, Out previous_grad, View h_grad, View c_grad, View active, View c, View previous);
void gru_cell(const Queue& queue, Out h, Out active, View from_input, View from_hidden, View previous);
void gru_cell_backward(const Queue& queue, Out input_grad, Out hidden_grad, Out previous_grad, View grad, View active, View previous);

// Indexing
void index(const Queue& queue, Out out, View in, Span<View> indices, bool negative);
void index_put(const Queue& queue, Out out, View values, Span<View> indices, bool accumulate, bool negative);
void gather(const Queue& queue, Out out, View in, View index, int32_t dim);
void scatter(const Queue& queue, Scatter mode, Out out, View index, View source, int32_t dim);
void embedding(const Queue& queue, Out out, View table, View indices);
void embedding_backward(const Queue& queue, Out out, View grad, View indices, int64_t padding);
void count_nonzero(const Queue& queue, Out count, View in);
void nonzero(const Queue& queue, Out out, View in);
void triangle(const Queue& queue, Out out, View in, int64_t diagonal, bool upper);

// Optimizers
void sgd(const Queue& queue, Span<SgdParameter> parameters, SgdSettings settings);
void adam(const Queue& queue, Span<AdamParameter> parameters, AdamSettings settings);
void optimizer_step(const Queue& queue, OptimizerStep step, Span<StepParameter> parameters);
void total_norm(const Queue& queue, Out out, Span<View> tensors);
void clip(const Queue& queue, Span<View> tensors, View norm, double max_norm);

}  // namespace tandem::kernels::cpu
