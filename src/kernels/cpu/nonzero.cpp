// Counting the elements that are not zero, and listing their positions. Pieces are counted first, so that each thread knows where its
// positions go.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kMaxPieces = 256;

int64_t piece_of(int64_t n) { return std::max<int64_t>(16384, (n + kMaxPieces - 1) / kMaxPieces); }

Walk<1> elements_of(const View& in) {
  Walk<1> walk;
  for (int d = 0; d < in.ndim; ++d) walk.push(in.sizes[d], {in.strides[d]});
  return walk;
}

template <class T>
bool is_nonzero(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return (x.bits & 0x7fffU) != 0;
  else return x != T(0);
}

/// Counts per piece; returns the sum.
template <class T>
int64_t count_pieces(const Queue& queue, const View& in, const Walk<1>& elements, int64_t* counts) {
  const int64_t n = elements.numel, piece = piece_of(n);
  parallel_for(n, piece, queue.threads, [&](int64_t begin, int64_t end) {
    int64_t found = 0;
    if (elements.ndim == 0 || (elements.ndim == 1 && elements.strides[0][0] == 1)) {
      for (int64_t i = begin; i < end; ++i) found += is_nonzero(in.as<T>()[i]);
    } else {
      elements.each(begin, end, [&](int64_t, const int64_t* at) { found += is_nonzero(in.as<T>()[at[0]]); });
    }
    counts[begin / piece] = found;
  });
  int64_t sum = 0;
  for (int64_t p = 0; p * piece < n; ++p) sum += counts[p];
  return sum;
}

}  // namespace

size_t nonzero_workspace(const View& /*in*/) { return 0; }

void count_nonzero(const Queue& queue, Out count, View in, void* /*workspace*/) {
  int64_t counts[kMaxPieces];
  const Walk<1> elements = elements_of(in);
  visit(in.dtype, [&]<class T>(T) { *count.as<int64_t>() = count_pieces<T>(queue, in, elements, counts); });
}

void nonzero(const Queue& queue, Out out, View in, void* /*workspace*/) {
  int64_t counts[kMaxPieces];
  const Walk<1> elements = elements_of(in);
  const int64_t n = elements.numel, piece = piece_of(n);
  visit(in.dtype, [&]<class T>(T) {
    count_pieces<T>(queue, in, elements, counts);
    int64_t sum = 0;
    for (int64_t p = 0; p * piece < n; ++p) {
      const int64_t here = counts[p];
      counts[p] = sum;
      sum += here;
    }
    parallel_for(n, piece, queue.threads, [&](int64_t begin, int64_t end) {
      int64_t row = counts[begin / piece];
      elements.each(begin, end, [&](int64_t position, const int64_t* at) {
        if (row >= out.sizes[0] || !is_nonzero(in.as<T>()[at[0]])) return;
        int64_t* to = out.as<int64_t>() + row++ * out.strides[0];
        for_indices(position, in.ndim, in.sizes, [&](int d, int64_t i) { to[d * out.strides[1]] = i; });
      });
    });
  });
}

}  // namespace tandem::kernels::cpu
