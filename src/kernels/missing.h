// A table in which every entry reports that the backend has no such kernel: what a backend starts from.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels {

template <auto Entry>
struct Missing;
template <class... Args, void (*Table::*Entry)(const Queue&, Args...)>
struct Missing<Entry> {
  static void call(const Queue& queue, Args...) { queue.status->report(Trouble::Unsupported, -1); }
};

/// Calls f.operator()<&Table::entry…>() with every entry that does work; the workspace queries are not among them.
template <class F>
void with_entries(F&& f) {
  // clang-format off
  f.template operator()<
      &Table::fill,
      &Table::copy,
      &Table::arange,
      &Table::linspace,
      &Table::pointwise,
      &Table::random,
      &Table::bernoulli,
      &Table::randperm,
      &Table::dropout,
      &Table::reduce,
      &Table::arg_reduce,
      &Table::variance,
      &Table::scan,
      &Table::scan_extreme,
      &Table::recurrence,
      &Table::sort,
      &Table::sort_part,
      &Table::sort_rows,
      &Table::searchsorted,
      &Table::matmul,
      &Table::decompose,
      &Table::solve,
      &Table::convolution,
      &Table::convolution_input,
      &Table::convolution_weight,
      &Table::unfold,
      &Table::fold,
      &Table::max_pool,
      &Table::avg_pool,
      &Table::avg_pool_backward,
      &Table::pad,
      &Table::pad_backward,
      &Table::softmax,
      &Table::log_softmax,
      &Table::softmax_backward,
      &Table::log_softmax_backward,
      &Table::cross_entropy,
      &Table::cross_entropy_backward,
      &Table::ctc_loss,
      &Table::ctc_loss_backward,
      &Table::index,
      &Table::normalize,
      &Table::normalize_backward,
      &Table::normalize_parameters,
      &Table::resample,
      &Table::grid_sample,
      &Table::grid_sample_backward,
      &Table::embedding_bag,
      &Table::lstm_cell,
      &Table::lstm_cell_backward,
      &Table::gru_cell,
      &Table::gru_cell_backward,
      &Table::recurrent,
      &Table::recurrent_backward,
      &Table::attention,
      &Table::attention_backward,
      &Table::index_put,
      &Table::gather,
      &Table::scatter,
      &Table::embedding,
      &Table::embedding_backward,
      &Table::count_nonzero,
      &Table::nonzero,
      &Table::triangle,
      &Table::sgd,
      &Table::adam,
      &Table::optimizer_step,
      &Table::total_norm,
      &Table::clip>();
  // clang-format on
}

inline Table missing_table() {
  Table table{};
  with_entries([&]<auto... Entries>() { ((table.*Entries = Missing<Entries>::call), ...); });
  table.reduce_workspace = [](const View&, int32_t) -> size_t { return 0; };
  table.sort_workspace = [](const View&) -> size_t { return 0; };
  table.matmul_workspace = [](const View&, const View&, const View&, const View&, const Epilogue&) -> size_t { return 0; };
  table.convolution_workspace = [](ConvolutionPart, const View&, const View&, const View&, const Windows&, int64_t, bool) -> size_t {
    return 0;
  };
  table.decompose_workspace = [](Decomposition, const View&, const View&, const View&) -> size_t { return 0; };
  table.solve_workspace = [](const View&, const View&) -> size_t { return 0; };
  table.recurrent_memory = [](const View&, const View&, const RecurrentLayers&) -> RecurrentMemory { return {}; };
  table.attention_workspace = [](const View&, const View&, const View&, const View&, const Attention&, bool) -> size_t { return 0; };
  table.nonzero_workspace = [](const View&) -> size_t { return 0; };
  table.total_norm_workspace = [](const Span<View>&) -> size_t { return 0; };
  return table;
}

}  // namespace tandem::kernels
