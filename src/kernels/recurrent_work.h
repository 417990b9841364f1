// What the forward and the backward pass over recurrent layers share: their sizes, steps as matrices, what forward keeps for backward,
// calls of a table's entries, and how the batch is cut.
#pragma once

#include <algorithm>

#include "base/align.h"
#include "base/parallel.h"
#include "kernels/pointwise_of.h"
#include "kernels/recurrent_layers.h"

namespace tandem::kernels {

struct RecurrentSizes {
  RecurrentSizes(const View& in, const View& h0, const RecurrentLayers& how)
      : cell(how.cell),
        dtype(in.dtype),
        steps(in.sizes[0]),
        batch(in.sizes[1]),
        input(in.sizes[2]),
        hidden(h0.sizes[2]),
        layers(how.layers),
        directions(how.bidirectional ? 2 : 1),
        gates(gates_of(how.cell)),
        biases(how.biases) {}

  /// Columns of a layer's output, and of its input.
  [[nodiscard]] int64_t width() const { return directions * hidden; }
  [[nodiscard]] int64_t input_of(int64_t layer) const { return layer ? width() : input; }
  [[nodiscard]] int64_t element() const { return static_cast<int64_t>(size_of(dtype)); }
  /// Bytes of (steps, batch, columns) and of so many elements, aligned as matrices on any device want it.
  [[nodiscard]] size_t sequence(int64_t columns) const { return bytes(steps * batch * columns); }
  [[nodiscard]] size_t bytes(int64_t elements) const { return align_up(static_cast<size_t>(elements * element()), 256); }

  RecurrentCell cell;
  DType dtype;
  int64_t steps, batch, input, hidden, layers, directions, gates;
  bool biases;
};

/// A matrix with rows `stride` elements apart.
inline Out matrix_at(void* data, DType dtype, int64_t rows, int64_t columns, int64_t stride) {
  Out m{};
  m.data = data;
  m.dtype = dtype;
  m.ndim = 2;
  m.sizes[0] = rows;
  m.sizes[1] = columns;
  m.strides[0] = stride;
  m.strides[1] = 1;
  return m;
}
inline View transposed(View m) {
  std::swap(m.sizes[0], m.sizes[1]);
  std::swap(m.strides[0], m.strides[1]);
  return m;
}

/// n rows of a matrix, from `first` on; where it has no data, there is still none.
inline Out rows_of(Out m, int64_t first, int64_t n) {
  if (m.data) m.data = m.as<char>() + first * m.strides[0] * static_cast<int64_t>(size_of(m.dtype));
  m.sizes[0] = n;
  return m;
}

/// What every step has of something: (steps, batch, columns), rows `stride` elements apart, steps `step`.
struct Steps {
  char* data;
  DType dtype;
  int64_t count, batch, columns, stride;
  int64_t step = batch * stride;

  /// That of step t, (batch, columns).
  [[nodiscard]] Out operator[](int64_t t) const { return matrix_at(at(t * step), dtype, batch, columns, stride); }
  /// Those of n steps as the rows of one matrix; of the whole batch.
  [[nodiscard]] Out range(int64_t first, int64_t n) const { return matrix_at(at(first * step), dtype, n * batch, columns, stride); }
  [[nodiscard]] Out all() const { return range(0, count); }
  /// `n` columns from `first` on.
  [[nodiscard]] Steps part(int64_t first, int64_t n) const { return {at(first), dtype, count, batch, n, stride, step}; }
  /// `n` rows of each step from `first` on.
  [[nodiscard]] Steps rows(int64_t first, int64_t n) const { return {at(first * stride), dtype, count, n, columns, stride, step}; }

  [[nodiscard]] char* at(int64_t element) const { return data + element * static_cast<int64_t>(size_of(dtype)); }
};

/// What forward keeps for backward, or that there is none of it: for each layer and direction the activated gates (a GRU's with the hidden
/// part of the new one) and an LSTM's cells; the outputs of all layers but the last.
class RecurrentReserve {
 public:
  RecurrentReserve(const RecurrentSizes& sizes, void* data) : sizes_(sizes), data_(static_cast<char*>(data)) {
    const bool lstm = sizes.cell == RecurrentCell::Lstm, gru = sizes.cell == RecurrentCell::Gru;
    gates_bytes_ = lstm || gru ? sizes.sequence(4 * sizes.hidden) : 0;
    part_bytes_ = gates_bytes_ + (lstm ? sizes.sequence(sizes.hidden) : 0);
  }

  [[nodiscard]] bool kept() const { return data_ != nullptr; }
  [[nodiscard]] size_t bytes() const { return lower(sizes_.layers - 1); }
  [[nodiscard]] Steps gates(int64_t part) const { return at(static_cast<size_t>(part) * part_bytes_, 4 * sizes_.hidden); }
  [[nodiscard]] Steps cells(int64_t part) const { return at(static_cast<size_t>(part) * part_bytes_ + gates_bytes_, sizes_.hidden); }
  [[nodiscard]] Steps outputs(int64_t layer) const { return at(lower(layer), sizes_.width()); }

 private:
  [[nodiscard]] size_t lower(int64_t layer) const {
    return static_cast<size_t>(sizes_.layers * sizes_.directions) * part_bytes_ +
           static_cast<size_t>(layer) * sizes_.sequence(sizes_.width());
  }
  [[nodiscard]] Steps at(size_t offset, int64_t columns) const {
    return {data_ + offset, sizes_.dtype, sizes_.steps, sizes_.batch, columns, columns};
  }

  const RecurrentSizes& sizes_;
  char* data_;
  size_t gates_bytes_, part_bytes_;
};

/// Calls a table's entries. Without a queue nothing is called: only the scratch memory that the calls want is measured.
class RecurrentCalls {
 public:
  RecurrentCalls(const Table& table, const Queue* queue, void* scratch) : table_(table), queue_(queue), scratch_(scratch) {}

  /// Known after the calls have been made without a queue.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  /// Steps to walk: when measuring, the first two stand for all.
  [[nodiscard]] int64_t walked(int64_t steps) const { return queue_ ? steps : std::min<int64_t>(steps, 2); }

  /// out = activation(a b + bias).
  void product(const Out& out, const View& a, const View& b, const View& bias = {}, Activation activation = Activation::None) {
    const Epilogue epilogue{activation};
    if (queue_) table_.matmul(*queue_, out, a, b, bias, epilogue, scratch_);
    else bytes_ = std::max(bytes_, table_.matmul_workspace(out, a, b, bias, epilogue));
  }
  /// out (rows) = the sums of the rows of `in`.
  void sum(const Out& out, const View& in) {
    if (queue_) table_.reduce(*queue_, Reduce::Sum, out, in, 1, scratch_);
    else bytes_ = std::max(bytes_, table_.reduce_workspace(in, 1));
  }
  void pointwise(PointwiseOp op, const Out& out, std::initializer_list<View> in) {
    if (queue_) table_.pointwise(*queue_, pointwise_of(op, out, in));
  }
  void copy(const Out& out, const View& in) {
    if (queue_) table_.copy(*queue_, out, in);
  }
  /// An entry without a workspace.
  template <class Entry, class... Args>
  void call(Entry entry, const Args&... args) {
    if (queue_) (table_.*entry)(*queue_, args...);
  }

 private:
  const Table& table_;
  const Queue* queue_;
  void* scratch_;
  size_t bytes_ = 0;
};

/// The memory of a pass over recurrent layers, and how the batch is cut into blocks that go through the steps side by side.
class RecurrentWork {
 public:
  /// Workspace for all calls. Known after they have been made without a queue.
  [[nodiscard]] size_t bytes() const { return taken_ + scratch_; }

 protected:
  RecurrentWork(const Table& table, const Queue* queue, const RecurrentSizes& sizes, int64_t parts, void* workspace)
      : sizes_(sizes), table_(table), queue_(queue), block_(block_of(sizes, parts)), workspace_(static_cast<char*>(workspace)) {}

  /// Memory from the workspace, before the first call.
  char* take(size_t bytes) {
    char* const from = workspace_ + taken_;
    taken_ += bytes;
    return from;
  }
  Steps take_steps(int64_t columns) { return {take(sizes_.sequence(columns)), sizes_.dtype, sizes_.steps, sizes_.batch, columns, columns}; }
  Out take_matrix(int64_t rows, int64_t columns) {
    return matrix_at(take(sizes_.bytes(rows * columns)), sizes_.dtype, rows, columns, columns);
  }
  /// (steps, batch, columns) of the caller's.
  [[nodiscard]] Steps steps_of(const View& v, int64_t columns) const {
    return {v.as<char>(), sizes_.dtype, sizes_.steps, sizes_.batch, columns, columns};
  }
  /// The state of a layer and direction; no data where `v` has none.
  [[nodiscard]] Out state(const View& v, int64_t part) const {
    char* const data = v.data ? v.as<char>() + part * sizes_.batch * sizes_.hidden * sizes_.element() : nullptr;
    return matrix_at(data, sizes_.dtype, sizes_.batch, sizes_.hidden, sizes_.hidden);
  }

  /// Calls f(calls) with the whole workspace for scratch, on all threads.
  template <class F>
  void together(F f) {
    RecurrentCalls calls(table_, queue_, scratch());
    f(calls);
    scratch_ = std::max(scratch_, calls.bytes());
  }
  /// Calls f(calls, first, rows) for each block of the batch: a thread takes its rows through all steps, and waits for no other.
  template <class F>
  void each_block(F f) {
    const int64_t blocks = (sizes_.batch + block_ - 1) / block_, last = (blocks - 1) * block_;
    if (blocks == 1) return together([&](RecurrentCalls& calls) { f(calls, int64_t{0}, sizes_.batch); });
    RecurrentCalls measured(table_, nullptr, nullptr);
    f(measured, int64_t{0}, block_);
    f(measured, last, sizes_.batch - last);
    const size_t each = align_up(measured.bytes(), 256);
    scratch_ = std::max(scratch_, each * static_cast<size_t>(blocks));
    if (!queue_) return;
    parallel_for(blocks, 1, queue_->threads, [&](int64_t begin, int64_t end) {
      Queue own = *queue_;
      own.threads = 1;
      for (int64_t i = begin; i < end; ++i) {
        RecurrentCalls calls(table_, &own, scratch() + static_cast<size_t>(i) * each);
        f(calls, i * block_, std::min(block_, sizes_.batch - i * block_));
      }
    });
  }

  const RecurrentSizes& sizes_;

 private:
  [[nodiscard]] char* scratch() const { return workspace_ + taken_; }
  /// Rows of a block: all, unless several `parts` can compute side by side, each with the state's weight in its cache.
  [[nodiscard]] static int64_t block_of(const RecurrentSizes& sizes, int64_t parts) {
    constexpr int64_t kMostWeight = 1 << 20, kMostRows = 64, kWorthwhile = 200'000;  // bytes; rows; multiplications for another thread
    const int64_t weight = sizes.gates * sizes.hidden * sizes.hidden;
    parts = std::min(parts, sizes.steps * sizes.batch * weight / kWorthwhile);
    if (parts <= 1 || weight * sizes.element() > kMostWeight) return sizes.batch;
    const int64_t even = ((sizes.batch + parts - 1) / parts + 3) / 4 * 4;  // products take rows by four
    return std::min({even, kMostRows, sizes.batch});
  }

  const Table& table_;
  const Queue* queue_;
  int64_t block_;
  char* workspace_;
  size_t taken_ = 0, scratch_ = 0;
};

}  // namespace tandem::kernels
