// Counting the elements that are not zero, and listing their positions. Groups count pieces; one group adds these counts up, which tells
// for each piece how many come before it, and so where in the list a group puts what it finds there.
#include <bit>
#include <utility>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int kEach = 8;  // elements that a thread takes at a time

/// Elements as unsigned integers of their width: zero where no bit of `meaning` is set.
template <class T>
struct Elements {
  const T* data;
  T meaning;
  Places<1> places;

  /// Which of elements first … first + kEach - 1 are not zero, as bits. All are read before one is looked at.
  TD_DEVICE uint32_t nonzero(int64_t first) const {
    return [&]<int... k>(std::integer_sequence<int, k...>) {
      const T x[kEach] = {element(first + k)...};
      return (0U | ... | (static_cast<uint32_t>((x[k] & meaning) != 0) << k));
    }
    (std::make_integer_sequence<int, kEach>());
  }

 private:
  TD_DEVICE T element(int64_t i) const {
    if (i >= places.count) return T(0);
    int64_t at[1];
    places(i, at);
    return data[at[0]];
  }
};

/// Calls f with the elements of `in`. The sign of a floating zero has no meaning.
template <class F>
void with_elements(const View& in, F&& f) {
  visit_width(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T all = static_cast<T>(~T(0));
    f(Elements<T>{in.as<const T>(), is_floating(in.dtype) ? static_cast<T>(all >> 1) : all, places_of(in)});
  });
}

TD_DEVICE int ones(uint32_t bits) {
#if defined(__CUDACC__)
  return __popc(bits);
#else
  return std::popcount(bits);
#endif
}

constexpr int64_t kPiece = kThreads * kEach;

int64_t pieces_of(const View& in) { return (in.numel() + kPiece - 1) / kPiece; }

template <class T>
struct Count {
  using Shared = NothingShared;
  Elements<T> elements;
  int64_t* counts;  // of pieces

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    Group<kThreads>::Local<int> found;
    group.each([&](int t) { found[t] = ones(elements.nonzero(piece * kPiece + t * kEach)); });
    const int sum = group.reduce(found, [](int a, int b) { return a + b; });
    group.once([&] { counts[piece] = sum; });
  }
};

/// The counts of pieces become those of all pieces before.
struct AddUp {
  static constexpr int kGroup = 1024;
  using Shared = NothingShared;
  int64_t pieces;
  int64_t *counts, *total;

  TD_DEVICE void operator()(Group<kGroup>& group, int64_t, Shared&) const {
    int64_t before = 0;
    for (int64_t first = 0; first < pieces; first += kGroup) {
      Group<kGroup>::Local<int64_t> own, upto;
      group.each([&](int t) { own[t] = upto[t] = first + t < pieces ? counts[first + t] : 0; });
      const int64_t sum = group.scan(upto, [](int64_t a, int64_t b) { return a + b; });
      group.each([&](int t) {
        if (first + t < pieces) counts[first + t] = before + upto[t] - own[t];
      });
      before += sum;
    }
    group.once([&] { *total = before; });
  }
};

template <class T>
struct List {
  using Shared = NothingShared;
  Elements<T> elements;
  const int64_t* before;  // how many stand before each piece
  int ndim;
  Divide by[kMaxDims];  // the sizes of the dimensions
  int64_t* out;
  int64_t rows, row_stride, stride;  // of out

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    const int64_t first = piece * kPiece;
    Group<kThreads>::Local<uint32_t> found;
    Group<kThreads>::Local<int> upto;
    group.each([&](int t) {
      found[t] = elements.nonzero(first + t * kEach);
      upto[t] = ones(found[t]);
    });
    group.scan(upto, [](int a, int b) { return a + b; });
    group.each([&](int t) {
      int64_t to = before[piece] + upto[t] - ones(found[t]);
      for (int k = 0; k < kEach; ++k)
        if (found[t] >> k & 1) write(to++, first + t * kEach + k);
    });
  }

 private:
  TD_DEVICE void write(int64_t row, int64_t position) const {
    if (row >= rows) return;
    int64_t* const to = out + row * row_stride;
    for_indices(position, ndim, by, [&](int d, int64_t i) { to[d * stride] = i; });
  }
};

}  // namespace

size_t nonzero_workspace(const View& in) { return static_cast<size_t>(pieces_of(in)) * sizeof(int64_t); }

void count_nonzero(const Queue& queue, Out count, View in, void* workspace) {
  const int64_t pieces = pieces_of(in);
  auto* const counts = static_cast<int64_t*>(workspace);
  with_elements(in, [&]<class T>(const Elements<T>& elements) { for_groups<kThreads>(queue, pieces, Count<T>{elements, counts}); });
  for_groups<AddUp::kGroup>(queue, 1, AddUp{pieces, counts, count.as<int64_t>()});
}

void nonzero(const Queue& queue, Out out, View in, void* workspace) {
  if (out.numel() == 0) return;
  with_elements(in, [&]<class T>(const Elements<T>& elements) {
    List<T> list{elements,      static_cast<const int64_t*>(workspace), in.ndim, {}, out.as<int64_t>(), out.sizes[0], out.strides[0],
                 out.strides[1]};
    for (int d = 0; d < in.ndim; ++d) list.by[d] = Divide(in.sizes[d]);
    for_groups<kThreads>(queue, pieces_of(in), list);
  });
}

}  // namespace tandem::kernels::cuda
