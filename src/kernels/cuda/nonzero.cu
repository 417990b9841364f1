// Counting the elements that are not zero, and listing their positions. Counting: groups count pieces and add what they found, which gives
// one sum in any order. Listing: one group goes through all elements, since what stands before a piece is known only to who has counted it.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int kEach = 16;  // elements that a thread takes at a time

/// Whether an element of any dtype is not zero (-0 is).
TD_CARD bool is_nonzero(const View& in, int64_t at) {
  return is_floating(in.dtype) ? load<double>(in.data, in.dtype, at) != 0 : load<int64_t>(in.data, in.dtype, at) != 0;
}

struct Count {
  using Shared = NothingShared;
  static constexpr int kPiece = kThreads * kEach;
  View in;
  Places<1> places;
  int64_t* count;

  TD_CARD void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    Group<kThreads>::Local<int> found;
    group.each([&](int t) {
      found[t] = 0;
      for (int k = 0; k < kEach; ++k) {
        const int64_t i = piece * kPiece + k * kThreads + t;
        if (i >= places.count) break;
        int64_t at[1];
        places(i, at);
        found[t] += is_nonzero(in, at[0]);
      }
    });
    const int sum = group.reduce(found, [](int a, int b) { return a + b; });
    group.once([&] { atomic_add(count, static_cast<int64_t>(sum)); });
  }
};

struct List {
  using Shared = NothingShared;
  static constexpr int kGroup = 1024;
  View in;
  Places<1> places;
  int64_t* out;
  int64_t rows, row_stride, stride;  // of out

  TD_CARD void operator()(Group<kGroup>& group, int64_t, Shared&) const {
    int64_t row = 0;
    for (int64_t first = 0; first < places.count; first += kGroup * kEach) {
      // Bit k of a thread's word: whether its element number k is not zero. A thread's elements are neighbours, so positions stay in order.
      Group<kGroup>::Local<uint32_t> word;
      Group<kGroup>::Local<int> upto;
      group.each([&](int t) {
        word[t] = 0;
        upto[t] = 0;
        for (int k = 0; k < kEach; ++k) {
          const int64_t i = first + t * kEach + k;
          if (i >= places.count) break;
          int64_t at[1];
          places(i, at);
          const bool found = is_nonzero(in, at[0]);
          word[t] |= static_cast<uint32_t>(found) << k;
          upto[t] += found;
        }
      });
      const int sum = group.scan(upto, [](int a, int b) { return a + b; });
      group.each([&](int t) {
        int64_t to = row + upto[t];
        for (int k = kEach - 1; k >= 0; --k)
          if (word[t] >> k & 1) write(--to, first + t * kEach + k);
      });
      row += sum;
    }
  }

 private:
  TD_CARD void write(int64_t row, int64_t position) const {
    if (row >= rows) return;
    int64_t* const to = out + row * row_stride;
    for (int d = in.ndim - 1; d > 0; --d) {
      to[d * stride] = position % in.sizes[d];
      position /= in.sizes[d];
    }
    if (in.ndim > 0) to[0] = position;
  }
};

}  // namespace

void count_nonzero(const Queue& queue, Out count, View in) {
  fill(queue, count, Value{0, 0, false});
  const Places<1> places = places_of(in);
  for_groups<kThreads>(queue, (places.count + Count::kPiece - 1) / Count::kPiece, Count{in, places, count.as<int64_t>()});
}

void nonzero(const Queue& queue, Out out, View in) {
  if (out.numel() == 0) return;
  for_groups<List::kGroup>(queue, 1, List{in, places_of(in), out.as<int64_t>(), out.sizes[0], out.strides[0], out.strides[1]});
}

}  // namespace tandem::kernels::cuda
