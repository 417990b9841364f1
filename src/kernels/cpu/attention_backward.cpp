// The gradients of attention. The weights of a block are made again from the scores and the logarithm of their sum. A task takes the keys
// of one head, or, where there are few heads, a run of them that sizes alone decide; it has the gradients of its keys and values, and its
// share of the queries', which are added up in order. So results don't depend on threads.
#include "kernels/cpu/attention_blocks.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kWantedTasks = 16;

template <class T>
class Backward {
 public:
  Backward(const View& q, const View& k, const View& v)
      : sizes_(q, k, v), q_{q}, k_{k}, v_{v}, key_blocks_(blocks_of(sizes_.n, kKeyBlock)) {
    runs_ = std::clamp<int64_t>(kWantedTasks / (sizes_.b * sizes_.g), 1, key_blocks_);
    shares_queries_ = runs_ > 1 || !q_.own();
    parts_ = attention_parts(tasks(), 2.5 * sizes_.products());
    common_bytes_ = lay_out_common(nullptr);
    part_bytes_ = Part(*this, nullptr).bytes;
  }
  [[nodiscard]] size_t workspace() const { return common_bytes_ + static_cast<size_t>(parts_) * part_bytes_; }

  void run(const Queue& queue, const View& q_grad, const View& k_grad, const View& v_grad, const View& grad, const View& mask,
           const View& out, const View& normalizer, const Attention& how, void* workspace) {
    lay_out_common(workspace);
    char* const parts = static_cast<char*>(workspace) + common_bytes_;
    const Call call{{grad}, {out}, {mask, how.causal}, AttentionDropout<T>(how), normalizer.as<T>(), how.scale, how.dropout > 0};
    if (!shares_queries_) q_grads_ = q_grad.as<T>();
    for_attention_tasks(queue, parts_, tasks(), [&](int64_t task, int64_t number) {
      const Part part(*this, parts + number * static_cast<int64_t>(part_bytes_));
      const int64_t run = task % runs_, b = task / runs_ / sizes_.g, shared = task / runs_ % sizes_.g;
      for (int64_t head = shared * sizes_.group(); head < (shared + 1) * sizes_.group(); ++head)
        std::fill_n(q_grads(run, b, head), sizes_.m * sizes_.d, T(0));
      for (int64_t block = key_blocks_ * run / runs_; block < key_blocks_ * (run + 1) / runs_; ++block)
        take_keys(call, part, Heads<T>{k_grad}, Heads<T>{v_grad}, run, b, shared, block * kKeyBlock);
    });
    if (shares_queries_) add_up(queue, Heads<T>{q_grad}, how.scale);
    else for_queries(queue, [&](int64_t head) { scale(q_grads_ + head * sizes_.m * sizes_.d, sizes_.m * sizes_.d, how.scale); });
  }

 private:
  struct Call {
    Heads<T> grad, out;
    AttentionMask<T> mask;
    AttentionDropout<T> dropout;
    const T* normalizer;
    double scale;
    bool drops;
  };

  /// What a part of the work has for itself: a block of keys and values, as they are and in panels, their gradients, a block of queries
  /// with the gradient and the values of its result, and the weights and their gradients.
  struct Part {
    T *keys, *values, *key_panels, *value_panels, *key_grads, *value_grads, *queries, *grads, *outs, *weights, *weight_grads;
    size_t bytes;

    Part(const Backward& f, void* memory) {
      WorkspaceParts scratch(memory);
      const int64_t d = f.sizes_.d, e = f.sizes_.e;
      for (T** at : {&keys, &key_panels, &key_grads}) *at = scratch.take<T>(kKeyBlock * d);
      for (T** at : {&values, &value_panels, &value_grads}) *at = scratch.take<T>(kKeyBlock * e);
      queries = scratch.take<T>(kQueryBlock * d);
      for (T** at : {&grads, &outs}) *at = scratch.take<T>(kQueryBlock * e);
      for (T** at : {&weights, &weight_grads}) *at = scratch.take<T>(kQueryBlock * kKeyBlock);
      bytes = scratch.bytes();
    }
  };

  [[nodiscard]] int64_t tasks() const { return sizes_.b * sizes_.g * runs_; }
  size_t lay_out_common(void* memory) {
    WorkspaceParts scratch(memory);
    q_grads_ = scratch.take<T>(shares_queries_ ? runs_ * sizes_.b * sizes_.h * sizes_.m * sizes_.d : 0);
    return scratch.bytes();
  }
  /// The (m, d) share that a run has of the gradients of a head's queries, without the scale.
  [[nodiscard]] T* q_grads(int64_t run, int64_t b, int64_t head) const {
    return q_grads_ + ((run * sizes_.b + b) * sizes_.h + head) * sizes_.m * sizes_.d;
  }

  void take_keys(const Call& call, const Part& part, const Heads<T>& k_grad, const Heads<T>& v_grad, int64_t run, int64_t b, int64_t shared,
                 int64_t j) const {
    const int64_t count = std::min(kKeyBlock, sizes_.n - j), d = sizes_.d, e = sizes_.e;
    const T* const keys = k_.at(b, shared, j, count, part.keys);
    const T* const values = v_.at(b, shared, j, count, part.values);
    if (!sizes_.few_queries()) {
      to_panels(part.key_panels, keys, count, d);
      to_panels(part.value_panels, values, count, e);
    }
    std::fill_n(part.key_grads, count * d, T(0));
    std::fill_n(part.value_grads, count * e, T(0));
    for (int64_t head = shared * sizes_.group(); head < (shared + 1) * sizes_.group(); ++head)
      for (int64_t i = 0; i < sizes_.m; i += kQueryBlock)
        if (const int64_t rows = std::min(kQueryBlock, sizes_.m - i); call.mask.seen(i + rows - 1, sizes_.n) > j)
          take_queries(call, part, keys, values, q_grads(run, b, head) + i * d, b, head, i, rows, j, count);
    k_grad.write(part.key_grads, b, shared, j, count);
    v_grad.write(part.value_grads, b, shared, j, count);
  }

  void take_queries(const Call& call, const Part& part, const T* keys, const T* values, T* q_grad, int64_t b, int64_t head, int64_t i,
                    int64_t rows, int64_t j, int64_t count) const {
    const int64_t d = sizes_.d, e = sizes_.e;
    q_.read(part.queries, b, head, i, rows);
    scale(part.queries, rows * d, call.scale);
    const bool whole = key_blocks_ == 1;  // rows
    const T* const grads = call.grad.at(b, head, i, rows, part.grads);
    const T* const outs = whole ? nullptr : call.out.at(b, head, i, rows, part.outs);
    if (sizes_.few_queries()) {
      times_columns(part.weights, kKeyBlock, part.queries, keys, rows, count, d);
      times_columns(part.weight_grads, kKeyBlock, grads, values, rows, count, e);
    } else {
      times_panels(part.weights, kKeyBlock, part.queries, part.key_panels, rows, count, d);
      times_panels(part.weight_grads, kKeyBlock, grads, part.value_panels, rows, count, e);
    }
    for (int64_t r = 0; r < rows; ++r) {
      T *const weights = part.weights + r * kKeyBlock, *const weight_grads = part.weight_grads + r * kKeyBlock;
      const int64_t row = (b * sizes_.h + head) * sizes_.m + i + r;
      call.mask(weights, b, head, i + r, j, count);
      const double sum = call.normalizer[row];  // -inf where nothing is seen: all weights are 0
      const double total =
          row_functions<T>().exp_with_sum(weights, weights, count, sum == -std::numeric_limits<double>::infinity() ? -sum : sum);
      alignas(64) T factors[kKeyBlock];
      if (call.drops) {
        call.dropout(factors, row * sizes_.n + j, count);
        apply(PointwiseOp::mul, weight_grads, factors, count);
      }
      double mean;  // of the gradients, by the weights
      if (whole) {  // a row's own sums are closer than what the logarithm and the result have kept of them
        if (total != 0) scale(weights, count, 1 / total);
        mean = row_functions<T>().dot(weights, weight_grads, count);
      } else {
        mean = row_functions<T>().dot(grads + r * e, outs + r * e, e);
      }
      row_functions<T>().softmax_gradient(weight_grads, weight_grads, weights, count, mean);
      if (call.drops) apply(PointwiseOp::mul, weights, factors, count);
    }
    // The gradients of values and keys take the transposed blocks.
    const auto add = [&](T* to, int64_t m, int64_t k, int64_t n, const T* a, int64_t a_row, int64_t a_column, const T* from) {
      product_functions<T>().add_rows({.out = to,
                                       .a = a,
                                       .b = from,
                                       .m = m,
                                       .n = n,
                                       .k = k,
                                       .out_row = n,
                                       .a_row = a_row,
                                       .a_column = a_column,
                                       .b_row = n,
                                       .b_column = 1});
    };
    add(part.value_grads, count, rows, e, part.weights, 1, kKeyBlock, grads);
    add(part.key_grads, count, rows, d, part.weight_grads, 1, kKeyBlock, part.queries);
    add(q_grad, rows, count, d, part.weight_grads, kKeyBlock, 1, keys);
  }

  template <class F>
  void for_queries(const Queue& queue, F f) const {
    parallel_for(sizes_.b * sizes_.h, row_grain(runs_ * sizes_.m * sizes_.d), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; ++head) f(head);
    });
  }
  void add_up(const Queue& queue, const Heads<T>& q_grad, double factor) const {
    for_queries(queue, [&](int64_t head) {
      T* const total = q_grads(0, 0, head);
      for (int64_t run = 1; run < runs_; ++run) apply(PointwiseOp::add, total, q_grads(run, 0, head), sizes_.m * sizes_.d);
      scale(total, sizes_.m * sizes_.d, factor);
      q_grad.write(total, head / sizes_.h, head % sizes_.h, 0, sizes_.m);
    });
  }

  AttentionSizes sizes_;
  Heads<T> q_, k_, v_;
  int64_t key_blocks_, runs_, parts_;
  bool shares_queries_;  // the gradients of queries are not summed where they belong
  size_t common_bytes_, part_bytes_;
  T* q_grads_ = nullptr;
};

}  // namespace

void attention_backward(const Queue& queue, Out q_grad, Out k_grad, Out v_grad, View grad, View q, View k, View v, View mask, View out,
                        View normalizer, Attention how, void* workspace) {
  visit_floating_compute(
      q.dtype, [&]<class T>(T) { Backward<T>(q, k, v).run(queue, q_grad, k_grad, v_grad, grad, mask, out, normalizer, how, workspace); });
}

size_t attention_backward_workspace(const View& q, const View& k, const View& v) {
  size_t bytes = 0;
  visit_floating_compute(q.dtype, [&]<class T>(T) { bytes = Backward<T>(q, k, v).workspace(); });
  return bytes;
}

}  // namespace tandem::kernels::cpu
