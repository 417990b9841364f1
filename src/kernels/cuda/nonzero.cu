// Counting the elements that are not zero, and listing their positions. Counting: groups count pieces and add what they found, which gives
// one sum in any order. Listing: one group goes through all elements, since what stands before a piece is known only to who has counted it.
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
  TD_CARD uint32_t nonzero(int64_t first) const {
    return [&]<int... k>(std::integer_sequence<int, k...>) {
      const T x[kEach] = {element(first + k)...};
      return (0U | ... | (static_cast<uint32_t>((x[k] & meaning) != 0) << k));
    }
    (std::make_integer_sequence<int, kEach>());
  }

 private:
  TD_CARD T element(int64_t i) const {
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

TD_CARD int ones(uint32_t bits) {
#if defined(__CUDACC__)
  return __popc(bits);
#else
  return std::popcount(bits);
#endif
}

constexpr int64_t kPiece = kThreads * kEach;

template <class T>
struct Count {
  using Shared = NothingShared;
  Elements<T> elements;
  int64_t* count;

  TD_CARD void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    Group<kThreads>::Local<int> found;
    group.each([&](int t) { found[t] = ones(elements.nonzero(piece * kPiece + t * kEach)); });
    const int sum = group.reduce(found, [](int a, int b) { return a + b; });
    group.once([&] { atomic_add(count, static_cast<int64_t>(sum)); });
  }
};

constexpr int kLister = 1024;

template <class T>
struct List {
  using Shared = NothingShared;
  Elements<T> elements;
  int ndim;
  Divide by[kMaxDims];  // the sizes of the dimensions
  int64_t* out;
  int64_t rows, row_stride, stride;  // of out

  TD_CARD void operator()(Group<kLister>& group, int64_t, Shared&) const {
    int64_t row = 0;
    for (int64_t first = 0; first < elements.places.count; first += kLister * kEach) {
      Group<kLister>::Local<uint32_t> found;
      Group<kLister>::Local<int> upto;
      group.each([&](int t) {
        found[t] = elements.nonzero(first + t * kEach);
        upto[t] = ones(found[t]);
      });
      const int sum = group.scan(upto, [](int a, int b) { return a + b; });
      group.each([&](int t) {
        int64_t to = row + upto[t] - ones(found[t]);
        for (int k = 0; k < kEach; ++k)
          if (found[t] >> k & 1) write(to++, first + t * kEach + k);
      });
      row += sum;
    }
  }

 private:
  TD_CARD void write(int64_t row, int64_t position) const {
    if (row >= rows) return;
    int64_t* const to = out + row * row_stride;
    for (int d = ndim - 1; d > 0; --d) {
      const int64_t rest = by[d](position);
      to[d * stride] = position - rest * by[d].divisor;
      position = rest;
    }
    if (ndim > 0) to[0] = position;
  }
};

}  // namespace

size_t nonzero_workspace(const View& /*in*/) { return 0; }

void count_nonzero(const Queue& queue, Out count, View in, void* /*workspace*/) {
  fill(queue, count, Value{0, 0, false});
  with_elements(in, [&]<class T>(const Elements<T>& elements) {
    for_groups<kThreads>(queue, (elements.places.count + kPiece - 1) / kPiece, Count<T>{elements, count.as<int64_t>()});
  });
}

void nonzero(const Queue& queue, Out out, View in, void* /*workspace*/) {
  if (out.numel() == 0) return;
  with_elements(in, [&]<class T>(const Elements<T>& elements) {
    List<T> list{elements, in.ndim, {}, out.as<int64_t>(), out.sizes[0], out.strides[0], out.strides[1]};
    for (int d = 0; d < in.ndim; ++d) list.by[d] = Divide(in.sizes[d]);
    for_groups<kLister>(queue, 1, list);
  });
}

}  // namespace tandem::kernels::cuda
