// The CPU's table: every entry of entries.h in its place.
#include "kernels/table.h"

#include "kernels/cpu/entries.h"

namespace tandem::kernels {

const Table& cpu_table() {
  static constexpr Table table = {
      .fill = cpu::fill,
      .copy = cpu::copy,
      .arange = cpu::arange,
      .linspace = cpu::linspace,
      .pointwise = cpu::pointwise,
      .random = cpu::random,
      .bernoulli = cpu::bernoulli,
      .randperm = cpu::randperm,
      .dropout = cpu::dropout,
      .reduce = cpu::reduce,
      .arg_reduce = cpu::arg_reduce,
      .variance = cpu::variance,
      .scan = cpu::scan,
      .scan_extreme = cpu::scan_extreme,
      .recurrence = cpu::recurrence,
      .sort = cpu::sort,
      .sort_workspace = cpu::sort_workspace,
      .sort_part = cpu::sort_part,
      .sort_rows = cpu::sort_rows,
      .searchsorted = cpu::searchsorted,
      .matmul = cpu::matmul,
      .matmul_workspace = cpu::matmul_workspace,
      .convolution = cpu::convolution,
      .convolution_input = cpu::convolution_input,
      .convolution_weight = cpu::convolution_weight,
      .convolution_workspace = cpu::convolution_workspace,
      .unfold = cpu::unfold,
      .fold = cpu::fold,
      .max_pool = cpu::max_pool,
      .avg_pool = cpu::avg_pool,
      .avg_pool_backward = cpu::avg_pool_backward,
      .pad = cpu::pad,
      .pad_backward = cpu::pad_backward,
      .decompose = cpu::decompose,
      .decompose_workspace = cpu::decompose_workspace,
      .solve = cpu::solve,
      .solve_workspace = cpu::solve_workspace,
      .softmax = cpu::softmax,
      .log_softmax = cpu::log_softmax,
      .softmax_backward = cpu::softmax_backward,
      .log_softmax_backward = cpu::log_softmax_backward,
      .cross_entropy = cpu::cross_entropy,
      .cross_entropy_backward = cpu::cross_entropy_backward,
      .ctc_loss = cpu::ctc_loss,
      .ctc_loss_backward = cpu::ctc_loss_backward,
      .index = cpu::index,
      .index_put = cpu::index_put,
      .gather = cpu::gather,
      .scatter = cpu::scatter,
      .embedding = cpu::embedding,
      .embedding_backward = cpu::embedding_backward,
      .count_nonzero = cpu::count_nonzero,
      .nonzero = cpu::nonzero,
      .triangle = cpu::triangle,
      .sgd = cpu::sgd,
      .adam = cpu::adam,
      .optimizer_step = cpu::optimizer_step,
      .total_norm = cpu::total_norm,
      .clip = cpu::clip,
  };
  return table;
}

}  // namespace tandem::kernels
