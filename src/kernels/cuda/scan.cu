// Running totals along rows. Where neighbouring threads can take neighbouring rows, or rows are short, a thread goes along each. Else a
// group goes along a row, some elements a thread at a time: a thread adds up its own, the group scans these sums, and what came before is
// carried. A few long rows are cut into pieces for many groups, each scanned by itself; then the last elements of the pieces are, and at
// last all others are joined to the piece before theirs. The result serves as scratch; where it is not precise enough for that
// (recurrences, sums of half types) a group goes along the whole row.
#include <algorithm>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/rows.cuh"

namespace tandem::kernels::cuda {
namespace {

// A body says what is scanned:
//   using Total = …, of plain numbers; static constexpr int kArrays, whose places are told apart
//   Total load(at, i)          element i of a row, at these places
//   Total combine(a, b)        a comes first
//   void store(at, total)
//   static constexpr bool kJoins: whether what was stored says all, and `Total stored(at)` reads it

/// The places of the rows' first elements, and the steps along them.
template <int N>
struct RowSteps {
  Places<N> rows;
  int64_t length, along[N];

  template <class... Views>
  explicit RowSteps(const View& first, const Views&... more)
      : rows(places_in(first, 0, first.ndim - 1, true, first, more...)),
        length(first.sizes[first.ndim - 1]),
        along{first.strides[first.ndim - 1], more.strides[more.ndim - 1]...} {}

  TD_DEVICE void operator()(int64_t row, int64_t i, int64_t (&at)[N]) const {
    rows(row, at);
    for (int k = 0; k < N; ++k) at[k] += i * along[k];
  }
  TD_DEVICE void advance(int64_t (&at)[N]) const {
    for (int k = 0; k < N; ++k) at[k] += along[k];
  }
};

template <class Body>
struct ScanByThread {
  Body body;
  RowSteps<Body::kArrays> rows;

  TD_DEVICE void operator()(int64_t row) const {
    int64_t at[Body::kArrays];
    rows(row, 0, at);
    typename Body::Total total = body.load(at, 0);
    body.store(at, total);
    for (int64_t i = 1; i < rows.length; ++i) {
      rows.advance(at);
      total = body.combine(total, body.load(at, i));
      body.store(at, total);
    }
  }
};

inline constexpr int kPerThread = 4;  // neighbouring elements a thread takes at a time

/// Group i scans piece i % pieces of row i / pieces; the last piece may be shorter.
template <class Body, int threads>
struct ScanByGroup {
  using Total = typename Body::Total;
  struct Shared {
    Total sums[threads];
  };
  struct Own {
    Total totals[kPerThread];
  };
  Body body;
  RowSteps<Body::kArrays> rows;
  int64_t pieces, piece_length;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    const int64_t row = i / pieces, begin = i % pieces * piece_length;
    const int64_t end = begin + piece_length < rows.length ? begin + piece_length : rows.length;
    Total carried{};
    for (int64_t first = begin; first < end; first += threads * kPerThread) {
      typename Group<threads>::template Local<Own> own;
      typename Group<threads>::template Local<Total> sums;
      group.each([&](int t) {
        int64_t at[Body::kArrays];
        const int64_t mine = first + t * kPerThread;
        rows(row, mine, at);
        Total total{};
        for (int k = 0; k < kPerThread; ++k, rows.advance(at)) {
          if (mine + k < end) total = k == 0 ? body.load(at, mine) : body.combine(total, body.load(at, mine + k));
          own[t].totals[k] = total;
        }
        sums[t] = total;
      });
      const Total all = group.scan(sums, [&](const Total& a, const Total& b) { return body.combine(a, b); });
      group.each([&](int t) { shared.sums[t] = sums[t]; });
      group.each([&](int t) {
        int64_t at[Body::kArrays];
        const int64_t mine = first + t * kPerThread;
        rows(row, mine, at);
        const bool starts = t == 0 && first == begin;
        Total before = t > 0 ? shared.sums[t - 1] : carried;
        if (t > 0 && first > begin) before = body.combine(carried, before);
        for (int k = 0; k < kPerThread && mine + k < end; ++k, rows.advance(at))
          body.store(at, starts ? own[t].totals[k] : body.combine(before, own[t].totals[k]));
      });
      carried = first > begin ? body.combine(carried, all) : all;
    }
  }
};

/// The last elements of a row's pieces become the totals up to there.
template <class Body>
struct JoinEnds {
  Body body;
  RowSteps<Body::kArrays> rows;
  int64_t pieces, piece_length;

  TD_DEVICE void operator()(int64_t row) const {
    typename Body::Total total{};
    for (int64_t p = 0; p < pieces; ++p) {
      int64_t at[Body::kArrays];
      rows(row, (p + 1) * piece_length < rows.length ? (p + 1) * piece_length - 1 : rows.length - 1, at);
      total = p == 0 ? body.stored(at) : body.combine(total, body.stored(at));
      if (p > 0) body.store(at, total);
    }
  }
};

/// All elements but these, and those of the first piece, get the total before their piece.
template <class Body>
struct JoinPieces {
  Body body;
  RowSteps<Body::kArrays> rows;
  int64_t piece_length;

  TD_DEVICE void operator()(int64_t number) const {
    const int64_t others = rows.length - piece_length, row = number / others, i = piece_length + number % others;
    if (i == rows.length - 1 || (i + 1) % piece_length == 0) return;
    int64_t at[Body::kArrays], end[Body::kArrays];
    rows(row, i, at);
    rows(row, i / piece_length * piece_length - 1, end);
    body.store(at, body.combine(body.stored(end), body.stored(at)));
  }
};

/// `joins`: whether what was stored is precise enough to go on from.
template <class Body>
void scan_rows(const Queue& queue, const RowSteps<Body::kArrays>& rows, bool dense, bool joins, const Body& body) {
  constexpr int64_t many = 1024, long_row = int64_t{1} << 16, most_pieces = 128;
  const int64_t count = rows.rows.count, length = rows.length;
  if (dense ? length <= 8 : count >= many || length <= 64) return for_each(queue, count, ScanByThread<Body>{body, rows});
  if (length <= 256) return for_groups<kWarp>(queue, count, ScanByGroup<Body, kWarp>{body, rows, 1, length});
  if constexpr (Body::kJoins) {
    if (joins && length >= long_row && count < most_pieces) {
      const int64_t piece = std::max(long_row / 4, (length + most_pieces - 1) / most_pieces), pieces = (length + piece - 1) / piece;
      for_groups<kThreads>(queue, count * pieces, ScanByGroup<Body, kThreads>{body, rows, pieces, piece});
      for_each(queue, count, JoinEnds<Body>{body, rows, pieces, piece});
      return for_each(queue, count * (length - piece), JoinPieces<Body>{body, rows, piece});
    }
  }
  for_groups<kThreads>(queue, count, ScanByGroup<Body, kThreads>{body, rows, 1, length});
}

/// Totals of floating numbers are double; integers wrap.
template <class C>
struct RunningTotal {
  using Total = C;
  static constexpr int kArrays = 2;  // out, in
  static constexpr bool kJoins = true;
  Results out;
  Converted<C> in;
  bool product;

  TD_DEVICE Total load(const int64_t (&at)[2], int64_t) const { return in[at[1]]; }
  TD_DEVICE Total stored(const int64_t (&at)[2]) const { return tandem::kernels::cuda::load<C>(out.data, out.dtype, at[0]); }
  TD_DEVICE Total combine(Total a, Total b) const {
    using Wrapping = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;
    const Wrapping x = static_cast<Wrapping>(a), y = static_cast<Wrapping>(b);
    return static_cast<Total>(product ? x * y : x + y);
  }
  TD_DEVICE void store(const int64_t (&at)[2], Total total) const { out.put(at[0], total); }
};

struct RunningLogSumExp {
  using Total = double;
  static constexpr int kArrays = 2;
  static constexpr bool kJoins = true;
  Results out;
  Converted<double> in;

  TD_DEVICE Total load(const int64_t (&at)[2], int64_t) const { return in[at[1]]; }
  TD_DEVICE Total stored(const int64_t (&at)[2]) const { return tandem::kernels::cuda::load<double>(out.data, out.dtype, at[0]); }
  /// log(exp(a) + exp(b)) without leaving the range of either.
  TD_DEVICE Total combine(Total a, Total b) const {
    if (a == b) return a + 0.69314718055994530942;  // infinities among them
    const double high = a > b ? a : b, low = a > b ? b : a;
    return math::isnan(a) || math::isnan(b) ? a + b : high + math::log1p(math::exp(low - high));
  }
  TD_DEVICE void store(const int64_t (&at)[2], Total total) const { out.put(at[0], total); }
};

template <class C>
struct Extreme {
  C value;
  int64_t index;
};

template <class C>
struct RunningExtreme {
  using Total = Extreme<C>;
  static constexpr int kArrays = 3;  // values, indices, in
  static constexpr bool kJoins = true;
  Results values;
  int64_t* indices;
  Converted<C> in;
  bool largest;

  TD_DEVICE Total load(const int64_t (&at)[3], int64_t i) const { return {in[at[2]], i}; }
  TD_DEVICE Total stored(const int64_t (&at)[3]) const {
    return {tandem::kernels::cuda::load<C>(values.data, values.dtype, at[0]), indices[at[1]]};
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const {
    if (math::isnan(b.value)) return b;
    if (math::isnan(a.value)) return a;
    return (largest ? b.value >= a.value : b.value <= a.value) ? b : a;
  }
  TD_DEVICE void store(const int64_t (&at)[3], const Total& total) const {
    values.put(at[0], total.value);
    indices[at[1]] = total.index;
  }
};

/// x -> factor x + value.
struct Step {
  double factor, value;
};

struct Recurrence {
  using Total = Step;
  static constexpr int kArrays = 3;  // out, factor, in
  static constexpr bool kJoins = false;
  Results out;
  Converted<double> factor, in;

  /// The first factor has nothing to multiply.
  TD_DEVICE Total load(const int64_t (&at)[3], int64_t i) const { return {i == 0 ? 0 : factor[at[1]], in[at[2]]}; }
  TD_DEVICE Total combine(const Total& a, const Total& b) const { return {a.factor * b.factor, b.factor * a.value + b.value}; }
  TD_DEVICE void store(const int64_t (&at)[3], const Total& total) const { out.put(at[0], total.value); }
};

}  // namespace

void scan(const Queue& queue, Scan op, Out out, View in) {
  if (in.numel() == 0) return;
  const RowSteps<2> rows(out, in);
  const bool dense = dense_rows(in, 1), joins = size_of(out.dtype) >= 4 || !is_floating(out.dtype), product = op == Scan::Prod;
  if (op == Scan::LogSumExp) scan_rows(queue, rows, dense, joins, RunningLogSumExp{out, in});
  else if (is_floating(out.dtype)) scan_rows(queue, rows, dense, joins, RunningTotal<double>{out, in, product});
  else scan_rows(queue, rows, dense, joins, RunningTotal<int64_t>{out, in, product});
}

void scan_extreme(const Queue& queue, bool largest, Out values, Out indices, View in) {
  if (in.numel() == 0) return;
  const RowSteps<3> rows(values, indices, in);
  const auto with = [&](auto zero) {
    using C = decltype(zero);
    scan_rows(queue, rows, dense_rows(in, 1), true, RunningExtreme<C>{values, indices.as<int64_t>(), in, largest});
  };
  if (is_floating(in.dtype)) with(double{});
  else with(int64_t{});
}

void recurrence(const Queue& queue, Out out, View factor, View in) {
  if (in.numel() == 0) return;
  scan_rows(queue, RowSteps<3>(out, factor, in), dense_rows(in, 1), false, Recurrence{out, factor, in});
}

}  // namespace tandem::kernels::cuda
