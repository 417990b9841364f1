// Copying with conversion between any two dtypes and layouts. What is dense in one order on both sides is moved by one call of CUDA's. Else
// elements of one dtype are moved by their width: in units of up to 16 bytes where rows and addresses on both sides allow it, by tiles
// where rows of one side are columns of the other, or four neighbours a thread. Conversions take four neighbours a thread, too. What is
// read goes by way of float, of double where it is double, of int64 where it is int64, and of int32 where it is a narrower integer or bool:
// so nothing is rounded twice.
#include "kernels/cuda/entries.h"
#include "kernels/cuda/fours.cuh"
#include "kernels/cuda/rows.cuh"

namespace tandem::kernels::cuda {
namespace {

template <class T>
struct Move {
  T* out;
  const T* in;
  Places<2> places;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    places(i, at);
    out[at[0]] = in[at[1]];
  }
};

template <class T>
struct MoveFours {
  T* out;
  const T* in;
  Fours<2> fours;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    const int there = fours(i, at);
    Four<T> four;
    if (fours.together[1] && there == kFour) four = *reinterpret_cast<const Four<T>*>(in + at[1]);
    else
      for (int k = 0; k < kFour; ++k) four.element[k] = in[at[1] + (k < there ? k * fours.step[1] : 0)];
    if (fours.together[0] && there == kFour) *reinterpret_cast<Four<T>*>(out + at[0]) = four;
    else
      for (int k = 0; k < kFour; ++k)
        if (k < there) out[at[0] + k * fours.step[0]] = four.element[k];
  }
};

/// Tiles of kTile by kTile elements through shared memory, where the dimension that is dense on one side is another than on the other:
/// both sides are touched in their own order.
constexpr int kTile = 32;

template <class T>
struct Transpose {
  struct Shared {
    T tile[kTile][kTile + 1];
  };
  T* out;
  const T* in;
  int64_t columns, rows;       // along which out is dense, along which in is
  int64_t out_step, in_step;   // of out between rows, of in between columns
  Divide by_tiles, by_across;  // the tiles of a matrix, those that stand side by side in it
  Places<2> matrices;

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t i, Shared& shared) const {
    const Division matrix = divide(i, by_tiles), tile = divide(matrix.remainder, by_across);
    const int64_t row = tile.quotient * kTile, column = tile.remainder * kTile;
    int64_t at[2];
    matrices(matrix.quotient, at);
    const T* const from = in + at[1] + column * in_step + row;
    T* const to = out + at[0] + row * out_step + column;
    group.each([&](int t) {
      const int r = t % kTile;
      for (int c = t / kTile; c < kTile; c += kThreads / kTile)
        if (row + r < rows && column + c < columns) shared.tile[c][r] = from[c * in_step + r];
    });
    group.each([&](int t) {
      const int c = t % kTile;
      for (int r = t / kTile; r < kTile; r += kThreads / kTile)
        if (row + r < rows && column + c < columns) to[r * out_step + c] = shared.tile[c][r];
    });
  }
};

/// The dimension along which `in` is dense where out is dense along the last one, both long enough for tiles; -1 where there is none.
int transposed(const Places<2>& places) {
  const int inner = places.ndim - 1;
  if (places.strides[0][inner] != 1 || places.size(inner) < kTile / 2) return -1;
  for (int d = 0; d < inner; ++d)
    if (places.strides[1][d] == 1 && places.size(d) >= kTile / 2) return d;
  return -1;
}

template <class T>
void transpose(const Queue& queue, const Places<2>& places, int rows, const Out& out, const View& in) {
  const int inner = places.ndim - 1;
  int64_t sizes[kMaxDims], out_strides[kMaxDims], in_strides[kMaxDims];
  int ndim = 0;
  for (int d = 0; d < inner; ++d) {
    if (d == rows) continue;
    sizes[ndim] = places.size(d);
    out_strides[ndim] = places.strides[0][d];
    in_strides[ndim++] = places.strides[1][d];
  }
  const auto tiles = [](int64_t n) { return (n + kTile - 1) / kTile; };
  const int64_t columns = places.size(inner), across = tiles(columns), all = across * tiles(places.size(rows));
  const Places<2> matrices(ndim, sizes, {out_strides, in_strides});
  for_groups<kThreads>(queue, matrices.count * all,
                       Transpose<T>{out.as<T>(), in.as<T>(), columns, places.size(rows), places.strides[0][rows], places.strides[1][inner],
                                    Divide(all), Divide(across), matrices});
}

template <class Through>
struct Convert {
  void* out;
  const void* in;
  DType out_dtype, in_dtype;
  Fours<2> fours;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    const int there = fours(i, at);
    Through x[kFour] = {};
    read(at[1], there, x);
    write(at[0], there, x);
  }

 private:
  TD_DEVICE void read(int64_t first, int there, Through (&x)[kFour]) const {
    visit_stored(in_dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_floating_point_v<Compute<T>> == std::is_floating_point_v<Through> && sizeof(Compute<T>) <= sizeof(Through)) {
        const T* const from = static_cast<const T*>(in) + first;
        Four<T> four;
        if (fours.together[1] && there == kFour) four = *reinterpret_cast<const Four<T>*>(from);
        else
          for (int k = 0; k < kFour; ++k) four.element[k] = from[k < there ? k * fours.step[1] : 0];
        for (int k = 0; k < kFour; ++k) x[k] = to_compute(four.element[k]);
      }
    });
    if (in_dtype == DType::Bool)
      for (int k = 0; k < kFour; ++k) x[k] = x[k] != Through(0);
  }
  TD_DEVICE void write(int64_t first, int there, const Through (&x)[kFour]) const {
    const auto as = [&](auto zero) {
      using T = decltype(zero);
      T* const to = static_cast<T*>(out) + first;
      Four<T> four;
      for (int k = 0; k < kFour; ++k) four.element[k] = to_element<T>(x[k]);
      if (fours.together[0] && there == kFour) *reinterpret_cast<Four<T>*>(to) = four;
      else
        for (int k = 0; k < kFour; ++k)
          if (k < there) to[k * fours.step[0]] = four.element[k];
    };
    if (out_dtype == DType::Bool) as(bool{});
    else visit_stored(out_dtype, as);
  }
};

/// The widest unit, in bytes, that addresses, rows and the steps between rows are multiples of; at least an element.
size_t unit_of(const Places<2>& places, const Out& out, const View& in) {
  const size_t element = size_of(out.dtype);
  if (places.ndim == 0) return element;
  const int inner = places.ndim - 1;
  if (places.strides[0][inner] != 1 || places.strides[1][inner] != 1) return element;
  uint64_t all =
      reinterpret_cast<uintptr_t>(out.data) | reinterpret_cast<uintptr_t>(in.data) | static_cast<uint64_t>(places.size(inner)) * element;
  for (int d = 0; d < inner; ++d)
    for (int k = 0; k < 2; ++k) all |= static_cast<uint64_t>(places.strides[k][d]) * element;
  size_t unit = 16;
  while (unit > element && all % unit != 0) unit /= 2;
  return unit;
}

template <size_t bytes>
void move_units(const Queue& queue, Places<2> places, const Out& out, const View& in) {
  const auto elements = static_cast<int64_t>(bytes / size_of(out.dtype));
  const int inner = places.ndim - 1;
  places.count /= elements;
  places.by[inner] = Divide(places.size(inner) / elements);
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < inner; ++d) places.strides[k][d] /= elements;
  for_each(queue, places.count, Move<Unit<bytes>>{out.as<Unit<bytes>>(), in.as<Unit<bytes>>(), places});
}

void move(const Queue& queue, const Places<2>& places, const Out& out, const View& in) {
  const int inner = places.ndim - 1;
  if (inner <= 0 && (inner < 0 || (places.strides[0][0] == 1 && places.strides[1][0] == 1)))
    return copy_bytes(queue, out.data, in.data, static_cast<size_t>(places.count) * size_of(out.dtype));
  const size_t unit = unit_of(places, out, in);
  if (unit > size_of(out.dtype)) {
    if (unit == 16) return move_units<16>(queue, places, out, in);
    if (unit == 8) return move_units<8>(queue, places, out, in);
    return unit == 4 ? move_units<4>(queue, places, out, in) : move_units<2>(queue, places, out, in);
  }
  visit_width(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    if (const int rows = transposed(places); rows >= 0) return transpose<T>(queue, places, rows, out, in);
    if (places.size(inner) < kFour) return for_each(queue, places.count, Move<T>{out.as<T>(), in.as<T>(), places});
    const Fours<2> fours(places, {out.data, in.data}, {out.dtype, in.dtype});
    for_each(queue, fours.places.count, MoveFours<T>{out.as<T>(), in.as<T>(), fours});
  });
}

}  // namespace

void copy(const Queue& queue, Out out, View in) {
  const Places<2> places = places_in(out, 0, out.ndim, true, out, in);
  if (places.count == 0) return;
  if (out.dtype == in.dtype) return move(queue, places, out, in);
  const Fours<2> fours(places, {out.data, in.data}, {out.dtype, in.dtype});
  const auto convert = [&](auto through) {
    for_each(queue, fours.places.count, Convert<decltype(through)>{out.data, in.data, out.dtype, in.dtype, fours});
  };
  if (in.dtype == DType::Float64) convert(double{});
  else if (is_floating(in.dtype)) convert(float{});
  else if (in.dtype == DType::Int64) convert(int64_t{});
  else convert(int32_t{});
}

}  // namespace tandem::kernels::cuda
