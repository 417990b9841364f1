// Attention by blocks of queries and keys, with the largest score and the sum of exponentials so far (FlashAttention: Dao et al., 2022):
// the scores of all keys never lie in memory. Keys are transposed into panels first, and values laid dense, once for all blocks of queries;
// for a few queries neither is worth it.
#include "kernels/cpu/attention_blocks.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

template <class T>
class Forward {
 public:
  Forward(const View& q, const View& k, const View& v, const View& mask, const Attention& how)
      : sizes_(q, k, v), q_{q}, k_{k}, v_{v}, mask_{mask, how.causal}, dropout_(how), scale_(how.scale), drops_(how.dropout > 0) {
    few_ = sizes_.few_queries();
    lays_values_ = !few_ && !v_.dense_rows();
    parts_ = attention_parts(std::max(tasks(), keys_to_lay()), sizes_.products());
    common_bytes_ = lay_out_common(nullptr);
    part_bytes_ = Part(*this, nullptr).bytes;
  }
  [[nodiscard]] size_t workspace() const { return common_bytes_ + static_cast<size_t>(parts_) * part_bytes_; }

  void run(const Queue& queue, const View& out, const View& normalizer, void* workspace) {
    lay_out_common(workspace);
    char* const parts = static_cast<char*>(workspace) + common_bytes_;
    const auto part = [&](int64_t number) { return Part(*this, parts + number * static_cast<int64_t>(part_bytes_)); };
    if (!few_) for_attention_tasks(queue, parts_, keys_to_lay(), [&](int64_t task, int64_t number) { lay_keys(task, part(number)); });
    for_attention_tasks(queue, parts_, tasks(), [&](int64_t task, int64_t number) {
      const int64_t blocks = sizes_.query_blocks(), row = task / blocks;
      attend(part(number), Heads<T>{out}, normalizer, row / sizes_.h, row % sizes_.h, (blocks - 1 - task % blocks) * kQueryBlock);
    });
  }

 private:
  /// What a part of the work has for itself.
  struct Part {
    T *queries, *scores, *sums, *keys, *values;
    size_t bytes;

    Part(const Forward& f, void* memory) {
      WorkspaceParts scratch(memory);
      queries = scratch.take<T>(kQueryBlock * f.sizes_.d);
      scores = scratch.take<T>(kQueryBlock * kKeyBlock);
      sums = scratch.take<T>(kQueryBlock * f.sizes_.e);
      keys = scratch.take<T>(f.few_ && !f.k_.dense_rows() ? kKeyBlock * f.sizes_.d : 0);
      values = scratch.take<T>(f.few_ && !f.v_.dense_rows() ? kKeyBlock * f.sizes_.e : 0);
      bytes = scratch.bytes();
    }
  };

  [[nodiscard]] int64_t tasks() const { return sizes_.b * sizes_.h * sizes_.query_blocks(); }
  [[nodiscard]] int64_t panels() const { return blocks_of(sizes_.n, kKeyPanel); }
  [[nodiscard]] int64_t keys_to_lay() const { return few_ ? 0 : sizes_.b * sizes_.g * panels(); }
  size_t lay_out_common(void* memory) {
    WorkspaceParts scratch(memory);
    keys_ = scratch.take<T>(keys_to_lay() * sizes_.d * kKeyPanel);
    values_ = scratch.take<T>(lays_values_ ? sizes_.b * sizes_.g * sizes_.n * sizes_.e : 0);
    return scratch.bytes();
  }

  /// One panel of keys, and the values beside it.
  void lay_keys(int64_t task, const Part& part) const {
    const int64_t head = task / panels(), j = task % panels() * kKeyPanel, count = std::min(kKeyPanel, sizes_.n - j);
    const T* const keys = k_.at(head / sizes_.g, head % sizes_.g, j, count, part.queries);
    to_panels(keys_ + task * sizes_.d * kKeyPanel, keys, count, sizes_.d);
    if (lays_values_) v_.read(values_ + (head * sizes_.n + j) * sizes_.e, head / sizes_.g, head % sizes_.g, j, count);
  }

  void attend(const Part& part, const Heads<T>& out, const View& normalizer, int64_t b, int64_t head, int64_t i) const {
    const int64_t rows = std::min(kQueryBlock, sizes_.m - i), shared = head / sizes_.group(), at = b * sizes_.g + shared;
    const int64_t seen = mask_.seen(i + rows - 1, sizes_.n);
    T* const sums = out.own() ? reinterpret_cast<T*>(out.row(b, head, i)) : part.sums;
    double running_max[kQueryBlock], totals[kQueryBlock];
    std::fill_n(running_max, rows, -std::numeric_limits<double>::infinity());
    std::fill_n(totals, rows, 0.0);
    q_.read(part.queries, b, head, i, rows);
    scale(part.queries, rows * sizes_.d, scale_);
    for (int64_t j = 0; j < seen; j += kKeyBlock) {
      const int64_t count = std::min(kKeyBlock, seen - j);
      if (few_) {
        times_columns(part.scores, kKeyBlock, part.queries, k_.at(b, shared, j, count, part.keys), rows, count, sizes_.d);
      } else {
        times_panels(part.scores, kKeyBlock, part.queries, keys_ + (at * panels() + j / kKeyPanel) * sizes_.d * kKeyPanel, rows, count,
                     sizes_.d);
      }
      for (int64_t r = 0; r < rows; ++r)
        to_weights(part.scores + r * kKeyBlock, b, head, i + r, j, count, running_max[r], totals[r], j > 0 ? sums + r * sizes_.e : nullptr);
      const T* const values = lays_values_ ? values_ + (at * sizes_.n + j) * sizes_.e : v_.at(b, shared, j, count, part.values);
      const DenseProduct<T> product{.out = sums,
                                    .a = part.scores,
                                    .b = values,
                                    .m = rows,
                                    .n = sizes_.e,
                                    .k = count,
                                    .out_row = sizes_.e,
                                    .a_row = kKeyBlock,
                                    .a_column = 1,
                                    .b_row = sizes_.e,
                                    .b_column = 1};
      (j > 0 ? product_functions<T>().add_rows : product_functions<T>().rows)(product);
    }
    for (int64_t r = 0; r < rows; ++r) {
      scale(sums + r * sizes_.e, sizes_.e, totals[r] == 0 ? 0 : 1 / totals[r]);
      if (normalizer.data) normalizer.as<T>()[(b * sizes_.h + head) * sizes_.m + i + r] = T(running_max[r] + std::log(totals[r]));
    }
    if (!out.own()) out.write(sums, b, head, i, rows);
  }

  /// Turns the scores of a row into exponentials from the largest score so far, and brings what earlier keys gave down to it.
  void to_weights(T* scores, int64_t b, int64_t head, int64_t i, int64_t j, int64_t count, double& running_max, double& total,
                  T* sums) const {
    mask_(scores, b, head, i, j, count);
    const double before = running_max;
    running_max = std::max(running_max, row_functions<T>().max(scores, count));
    const double shift = running_max == -std::numeric_limits<double>::infinity() ? 0 : running_max;  // nothing seen yet, or nothing but nan
    const double factor = std::exp(before - shift);
    total = total * factor + row_functions<T>().exp_with_sum(scores, scores, count, shift);
    if (sums && factor != 1) scale(sums, sizes_.e, factor);
    if (!drops_) return;
    alignas(64) T factors[kKeyBlock];
    dropout_(factors, ((b * sizes_.h + head) * sizes_.m + i) * sizes_.n + j, count);
    apply(PointwiseOp::mul, scores, factors, count);
  }

  AttentionSizes sizes_;
  Heads<T> q_, k_, v_;
  AttentionMask<T> mask_;
  AttentionDropout<T> dropout_;
  double scale_;
  bool drops_, few_, lays_values_;
  int64_t parts_;
  size_t common_bytes_, part_bytes_;
  T *keys_ = nullptr, *values_ = nullptr;  // in panels, and dense
};

}  // namespace

void attention(const Queue& queue, Out out, Out normalizer, View q, View k, View v, View mask, Attention how, void* workspace) {
  visit_floating_compute(q.dtype, [&]<class T>(T) { Forward<T>(q, k, v, mask, how).run(queue, out, normalizer, workspace); });
}

size_t attention_workspace(const View& q, const View& k, const View& v, const View& mask, const Attention& how, bool backward) {
  if (backward) return attention_backward_workspace(q, k, v);
  size_t bytes = 0;
  visit_floating_compute(q.dtype, [&]<class T>(T) { bytes = Forward<T>(q, k, v, mask, how).workspace(); });
  return bytes;
}

}  // namespace tandem::kernels::cpu
