// Work on rows that need a total each: reductions, softmax, normalization. A group of threads takes some rows side by side, and as many
// threads go through the elements of each, so that neighbouring threads touch neighbouring addresses whether rows lie dense or apart.
// Totals of threads meet in shared memory, in an order that depends on shapes alone. A few long rows are cut into pieces for many groups,
// whose totals meet in a second launch.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/elements.cuh"

namespace tandem::kernels::cuda {

/// Calls f with a zero of the type that a dtype computes in: float, double or int64_t.
template <class F>
void visit_compute(DType dtype, F&& f) {
  if (dtype == DType::Float64) f(double{});
  else if (is_floating(dtype)) f(float{});
  else f(int64_t{});
}
/// The same for floating dtypes.
template <class F>
void visit_floating_compute(DType dtype, F&& f) {
  if (dtype == DType::Float64) f(double{});
  else f(float{});
}

/// n elements of any dtype, converted to C: one question about the dtype, then n loads at once.
template <class C, int n>
TD_DEVICE void load_at(const void* data, DType dtype, const int64_t (&at)[n], C (&x)[n]) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    for (int k = 0; k < n; ++k) {
      if constexpr (std::is_integral_v<T>) x[k] = static_cast<C>(static_cast<const T*>(data)[at[k]]);
      else x[k] = to_element<C>(to_compute(static_cast<const T*>(data)[at[k]]));
    }
  };
  switch (dtype) {
    case DType::Bool: {
      for (int k = 0; k < n; ++k) x[k] = static_cast<C>(static_cast<const uint8_t*>(data)[at[k]] != 0);
      break;
    }
    case DType::UInt8: as(uint8_t{}); break;
    case DType::Int8: as(int8_t{}); break;
    case DType::Int16: as(int16_t{}); break;
    case DType::Int32: as(int32_t{}); break;
    case DType::Int64: as(int64_t{}); break;
    case DType::Float16: as(Half{}); break;
    case DType::BFloat16: as(BFloat16{}); break;
    case DType::Float32: as(float{}); break;
    default: as(double{}); break;
  }
}

/// Elements of any dtype as C, or none.
template <class C>
struct Converted {
  const void* data;
  DType dtype;

  Converted(const View& view) : data(view.data), dtype(view.dtype) {}
  TD_DEVICE C operator[](int64_t at) const { return load<C>(data, dtype, at); }
  template <int n>
  TD_DEVICE void read(const int64_t (&at)[n], C (&x)[n]) const {
    load_at(data, dtype, at, x);
  }
};

/// Where results go, converted; may have no data.
struct Results {
  void* data;
  DType dtype;

  Results(const Out& out) : data(out.data), dtype(out.dtype) {}
  template <class C>
  TD_DEVICE void put(int64_t at, C value) const {
    store(data, dtype, at, value);
  }
};

/// Elements to read or write, of a floating dtype that computes in C.
template <class C>
struct Floats {
  void* data;
  DType dtype;

  Floats(const View& view) : data(view.data), dtype(view.dtype) {}
  template <int n>
  TD_DEVICE void read(const int64_t (&at)[n], C (&x)[n]) const {
    visit([&](auto zero) {
      using T = decltype(zero);
      for (int k = 0; k < n; ++k) x[k] = to_compute(static_cast<const T*>(data)[at[k]]);
    });
  }
  template <int n>
  TD_DEVICE void write(const int64_t (&at)[n], const C (&x)[n]) const {
    visit([&](auto zero) {
      using T = decltype(zero);
      for (int k = 0; k < n; ++k) static_cast<T*>(data)[at[k]] = to_element<T>(x[k]);
    });
  }

 private:
  template <class F>
  TD_DEVICE void visit(F&& f) const {
    if constexpr (std::is_same_v<C, double>) f(double{});
    else if (dtype == DType::Float32) f(float{});
    else if (dtype == DType::Float16) f(Half{});
    else f(BFloat16{});
  }
};

/// How the threads of a group share `rows` of `count` elements: `columns` rows side by side, `lanes` threads for each. Both are powers of
/// two; together they are the threads of the group.
struct Sharing {
  int64_t rows, count;
  int lanes, columns;
  bool lanes_first;  // neighbouring threads go to neighbouring elements of a row, not to neighbouring rows
  int shift = 0;

  Sharing(int64_t all_rows, int64_t elements, int row_lanes, int threads, bool along_rows)
      : rows(all_rows), count(elements), lanes(row_lanes), columns(threads / row_lanes), lanes_first(along_rows) {
    while (1 << shift < (lanes_first ? lanes : columns)) ++shift;
  }
  [[nodiscard]] int64_t groups() const { return (rows + columns - 1) / columns; }
  TD_DEVICE int lane(int thread) const { return lanes_first ? thread & (lanes - 1) : thread >> shift; }
  TD_DEVICE int column(int thread) const { return lanes_first ? thread >> shift : thread & (columns - 1); }
  /// The row of a thread of a group; it may be past the last one.
  TD_DEVICE int64_t row(int64_t group, int thread) const { return group * columns + column(thread); }
  /// From a thread to the next lane of the same row.
  TD_DEVICE int step() const { return lanes_first ? 1 : columns; }
  /// The thread that has lane 0 of the same row.
  TD_DEVICE int first(int thread) const { return thread - lane(thread) * step(); }
};

/// Calls f(threads, sharing) with a group size, `most` at most, and a sharing that suit the shapes; threads is a constant.
template <int most, class F>
void share_out(int64_t rows, int64_t count, bool lanes_first, F&& f) {
  constexpr int64_t busy = int64_t{1} << 17;  // threads that keep a GPU busy
  constexpr std::integral_constant<int, kWarp> warp;
  constexpr std::integral_constant<int, 256> block;
  constexpr std::integral_constant<int, most> largest;
  int lanes = 1;
  if (lanes_first) {
    while (lanes < kWarp && lanes < count) lanes *= 2;
    if (count <= 1024) return f(warp, Sharing(rows, count, lanes, warp, true));
    if (count <= 8192 || rows * block >= busy) return f(block, Sharing(rows, count, block, block, true));
    return f(largest, Sharing(rows, count, largest, largest, true));
  }
  int side_by_side = 1;  // rows, at least: a few make a whole memory transaction
  while (side_by_side < 8 && side_by_side < rows) side_by_side *= 2;
  while (rows * lanes < busy && int64_t{4} * lanes <= count && lanes < largest / side_by_side) lanes *= 2;
  if (lanes <= block / side_by_side) return f(block, Sharing(rows, count, lanes, block, false));
  return f(largest, Sharing(rows, count, lanes, largest, false));
}

/// The dimensions [begin, end) of `in`, the largest strides first where `sorted`.
struct Dims {
  int count = 0;
  int of[kMaxDims];

  Dims(const View& in, int begin, int end, bool sorted) {
    count = end - begin;
    for (int i = 0; i < count; ++i) of[i] = begin + i;
    if (sorted) order_by_stride(begin, end, in.strides, of);
  }
  /// Places in these dimensions of views that have them all.
  template <class... Views>
  [[nodiscard]] auto places(const View& first, const Views&... more) const {
    constexpr int n = 1 + sizeof...(Views);
    const View* const views[n] = {&first, &more...};
    int64_t sizes[kMaxDims], strides[n][kMaxDims];
    const int64_t* lists[n];
    for (int k = 0; k < n; ++k) {
      for (int d = 0; d < count; ++d) strides[k][d] = views[k]->strides[of[d]];
      lists[k] = strides[k];
    }
    for (int d = 0; d < count; ++d) sizes[d] = first.sizes[of[d]];
    return places_from<n>(sizes, lists, std::make_index_sequence<n>{});
  }

 private:
  template <int n, size_t... k>
  Places<n> places_from(const int64_t* sizes, const int64_t* const* lists, std::index_sequence<k...>) const {
    return Places<n>(count, sizes, {lists[k]...});
  }
};

/// The smallest step that dimensions [begin, end) of `in` make.
inline int64_t smallest_stride(const View& in, int begin, int end) {
  int64_t smallest = INT64_MAX;
  for (int d = begin; d < end; ++d)
    if (in.sizes[d] > 1 && in.strides[d] != 0) smallest = std::min(smallest, std::abs(in.strides[d]));
  return smallest;
}
/// Whether neighbouring threads had better go along the last `reduced` dimensions of `in` than along those before.
inline bool dense_rows(const View& in, int reduced) {
  const int kept = in.ndim - reduced;
  const int64_t along = smallest_stride(in, kept, in.ndim);
  return along != INT64_MAX && along <= smallest_stride(in, 0, kept);
}

/// Calls f(at, number) for a thread's elements among [begin, end) of a row, four at a time while there are so many: at[k] are the places of
/// element number + k * sharing.lanes.
template <int N, class F>
TD_DEVICE void for_lane(const Sharing& sharing, const Places<N>& elements, const int64_t (&base)[N], int thread, int64_t begin, int64_t end,
                        F&& f) {
  constexpr int together = 4;
  int64_t i = begin + sharing.lane(thread);
  const int64_t step = sharing.lanes;
  for (; i + (together - 1) * step < end; i += together * step) {
    int64_t at[N][together];
    for (int k = 0; k < together; ++k) {
      int64_t one[N];
      elements(i + k * step, one);
      for (int a = 0; a < N; ++a) at[a][k] = base[a] + one[a];
    }
    f(at, i);
  }
  for (; i < end; i += step) {
    int64_t one[N], at[N][1];
    elements(i, one);
    for (int a = 0; a < N; ++a) at[a][0] = base[a] + one[a];
    f(at, i);
  }
}

/// What a thread finds in its elements among [begin, end) of a row.
template <class Body>
TD_DEVICE typename Body::Total lane_total(const Body& body, const Sharing& sharing, const Places<Body::kArrays>& elements, int64_t row,
                                          int thread, int64_t begin, int64_t end) {
  typename Body::Total total = body.none();
  int64_t base[Body::kArrays];
  body.base(row, base);
  for_lane(sharing, elements, base, thread, begin, end,
           [&](const auto& at, int64_t number) { body.take(total, at, number, sharing.lanes); });
  return total;
}

/// The totals of all threads become, at lane 0 of each row, that of the row.
template <int threads, class Total, class Body>
TD_DEVICE void combine_lanes(Group<threads>& group, const Sharing& sharing, Total* totals, const Body& body) {
  const int step = sharing.step();
  for (int k = sharing.lanes / 2; k > 0; k /= 2)
    group.each([&](int t) {
      if (sharing.lane(t) < k) totals[t] = body.combine(totals[t], totals[t + k * step]);
    });
}

/// A total for each row. The body says what it is:
///   using Total = …, of plain numbers
///   static constexpr int kArrays           whose places are told apart
///   static constexpr int kMost             threads of a group: 512 where each needs more than 64 registers, else 1024
///   Total none()                           of no elements
///   void base(row, at)                     where the row begins in each array
///   void take(total, at, number, step)     adds elements number + k * step at the places at[array][k]
///   Total combine(a, b)
///   void write(row, total)
template <class Body, int threads>
struct ReduceRows {
  Body body;
  Sharing sharing;
  Places<Body::kArrays> elements;
  struct Shared {
    typename Body::Total totals[threads];
  };

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      const int64_t row = sharing.row(i, t);
      shared.totals[t] = row < sharing.rows ? lane_total(body, sharing, elements, row, t, 0, sharing.count) : body.none();
    });
    combine_lanes(group, sharing, shared.totals, body);
    group.each([&](int t) {
      const int64_t row = sharing.row(i, t);
      if (sharing.lane(t) == 0 && row < sharing.rows) body.write(row, shared.totals[t]);
    });
  }
};

template <class Body>
void reduce_rows(const Queue& queue, int64_t rows, const Places<Body::kArrays>& elements, bool lanes_first, const Body& body) {
  share_out<Body::kMost>(rows, elements.count, lanes_first, [&](auto threads, const Sharing& sharing) {
    for_groups<threads>(queue, sharing.groups(), ReduceRows<Body, threads>{body, sharing, elements});
  });
}

/// The pieces that each row is cut into where rows are too few to keep a GPU busy and long enough for a second launch to pay.
struct Cut {
  int64_t rows, pieces = 1;
  bool lanes_first;
  int side_by_side = 1;  // rows of a group

  Cut(const View& in, int reduced) : rows(1), lanes_first(dense_rows(in, reduced)) {
    constexpr int64_t few = 128, wanted = 1024, least = 8192;  // groups of uncut rows and of pieces, elements of a piece
    int64_t count = 1;
    for (int d = 0; d < in.ndim; ++d) (d < in.ndim - reduced ? rows : count) *= in.sizes[d];
    while (!lanes_first && side_by_side < 8 && side_by_side < rows) side_by_side *= 2;
    const int64_t groups = (rows + side_by_side - 1) / side_by_side;
    if (groups > 0 && groups < few && count * side_by_side >= 8 * least)
      pieces = std::min((wanted + groups - 1) / groups, count * side_by_side / least);
  }
  /// Bytes for the totals of all pieces.
  [[nodiscard]] size_t workspace() const { return pieces > 1 ? static_cast<size_t>(rows * pieces) * kLargestTotal : 0; }

  static constexpr size_t kLargestTotal = 3 * sizeof(double);
};

/// The totals of pieces: piece p of row r is number p * rows + r.
template <class Body, int threads>
struct ReducePieces {
  Body body;
  Sharing sharing;  // of pieces
  Places<Body::kArrays> elements;
  Divide rows;
  typename Body::Total* totals;
  using Shared = typename ReduceRows<Body, threads>::Shared;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      shared.totals[t] = body.none();
      const int64_t number = sharing.row(i, t);
      if (number >= sharing.rows) return;
      const int64_t piece = rows(number), begin = piece * sharing.count, end = begin + sharing.count;
      shared.totals[t] =
          lane_total(body, sharing, elements, number - piece * rows.divisor, t, begin, end < elements.count ? end : elements.count);
    });
    combine_lanes(group, sharing, shared.totals, body);
    group.each([&](int t) {
      const int64_t number = sharing.row(i, t);
      if (sharing.lane(t) == 0 && number < sharing.rows) totals[number] = shared.totals[t];
    });
  }
};

/// A body for ReduceRows whose elements are the totals of the pieces of another.
template <class Body>
struct JoinPieces {
  using Total = typename Body::Total;
  static constexpr int kArrays = 1;
  Body body;
  const Total* totals;

  TD_DEVICE Total none() const { return body.none(); }
  TD_DEVICE void base(int64_t row, int64_t (&at)[1]) const { at[0] = row; }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[1][n], int64_t, int) const {
    for (int k = 0; k < n; ++k) total = body.combine(total, totals[at[0][k]]);
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const { return body.combine(a, b); }
  TD_DEVICE void write(int64_t row, const Total& total) const { body.write(row, total); }
};

/// reduce_rows of rows that may be cut; workspace: cut.workspace() bytes.
template <class Body>
void reduce_rows(const Queue& queue, const Cut& cut, const Places<Body::kArrays>& elements, const Body& body, void* workspace) {
  if (cut.pieces == 1) return reduce_rows(queue, cut.rows, elements, cut.lanes_first, body);
  using Total = typename Body::Total;
  static_assert(sizeof(Total) <= Cut::kLargestTotal);
  constexpr int threads = 256;
  auto* const totals = static_cast<Total*>(workspace);
  const int64_t length = ((elements.count + cut.pieces - 1) / cut.pieces + kWarp - 1) / kWarp * kWarp;
  const Sharing pieces(cut.rows * cut.pieces, length, threads / cut.side_by_side, threads, cut.lanes_first);
  for_groups<threads>(queue, pieces.groups(), ReducePieces<Body, threads>{body, pieces, elements, Divide(cut.rows), totals});
  const Sharing rows(cut.rows, cut.pieces, threads, threads, true);
  for_groups<threads>(queue, cut.rows, ReduceRows<JoinPieces<Body>, threads>{{body, totals}, rows, Places<1>(1, &cut.pieces, {&cut.rows})});
}

/// A total for each row, and then every element again with what came of it. Besides the above, where `gathers` is false take is never
/// called:
///   bool gathers() const
///   auto settings(row, total)              what each element needs to know of its row; write(row, total) is called too
///   void put(settings, at)                 one element at the places at[array]
template <class Body, int threads>
struct ChangeRows {
  Body body;
  Sharing sharing;
  Places<Body::kArrays> elements;
  struct Shared {
    typename Body::Total totals[threads];
  };

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      const int64_t row = sharing.row(i, t);
      shared.totals[t] = row < sharing.rows && body.gathers() ? lane_total(body, sharing, elements, row, t, 0, sharing.count) : body.none();
    });
    if (body.gathers()) combine_lanes(group, sharing, shared.totals, body);
    group.each([&](int t) {
      const int64_t row = sharing.row(i, t);
      if (row >= sharing.rows) return;
      const typename Body::Total total = shared.totals[sharing.first(t)];
      if (sharing.lane(t) == 0) body.write(row, total);
      const auto settings = body.settings(row, total);
      int64_t base[Body::kArrays];
      body.base(row, base);
      for_lane(sharing, elements, base, t, 0, sharing.count,
               [&](const auto& at, int64_t number) { body.put(settings, at, number, sharing.lanes); });
    });
  }
};

template <class Body>
void change_rows(const Queue& queue, int64_t rows, const Places<Body::kArrays>& elements, bool lanes_first, const Body& body) {
  share_out<Body::kMost>(rows, elements.count, lanes_first, [&](auto threads, const Sharing& sharing) {
    for_groups<threads>(queue, sharing.groups(), ChangeRows<Body, threads>{body, sharing, elements});
  });
}

}  // namespace tandem::kernels::cuda
