// Joining. Parts that lie dense and are of the result's dtype are moved by one kernel, up to 32 of them at a time, in units of up to 16
// bytes: a row of the result is a row of each part, one behind the other. Other parts are copied one by one.
#include <algorithm>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/fours.cuh"

namespace tandem::kernels::cuda {
namespace {

constexpr int kParts = 32;

/// Parts of rows, in units of `unit` bytes.
struct Joined {
  char* out;
  int64_t out_row = 0;  // bytes of a row of the result
  int count = 0;
  const char* in[kParts];
  int64_t bytes[kParts], place[kParts];  // of a row of a part, and where it begins in the result's
};

template <class Unit>
struct Join {
  Unit* out;
  int64_t out_row;
  Divide columns;  // of all parts together
  int count;
  const Unit* in[kParts];
  int64_t length[kParts], place[kParts];
  int64_t begin[kParts];  // the first column of a part

  Join(const Joined& parts) : out(reinterpret_cast<Unit*>(parts.out)), out_row(parts.out_row / unit()), count(parts.count) {
    int64_t all = 0;
    for (int p = 0; p < count; ++p) {
      in[p] = reinterpret_cast<const Unit*>(parts.in[p]);
      length[p] = parts.bytes[p] / unit();
      place[p] = parts.place[p] / unit();
      begin[p] = all;
      all += length[p];
    }
    columns = Divide(all);
  }
  static constexpr int64_t unit() { return sizeof(Unit); }

  TD_DEVICE void operator()(int64_t i) const {
    const Division at = divide(i, columns);
    int p = 0, after = count;  // the last part that begins at this column or before it
    while (after - p > 1) {
      const int middle = (p + after) / 2;
      if (begin[middle] <= at.remainder) p = middle;
      else after = middle;
    }
    const int64_t column = at.remainder - begin[p];
    out[at.quotient * out_row + place[p] + column] = in[p][at.quotient * length[p] + column];
  }
};

void join(const Queue& queue, int64_t rows, const Joined& parts, size_t element) {
  if (parts.count == 0) return;
  uint64_t all = reinterpret_cast<uintptr_t>(parts.out) | static_cast<uint64_t>(parts.out_row);
  for (int p = 0; p < parts.count; ++p)
    all |= reinterpret_cast<uintptr_t>(parts.in[p]) | static_cast<uint64_t>(parts.bytes[p]) | static_cast<uint64_t>(parts.place[p]);
  size_t unit = 16;
  while (unit > element && all % unit != 0) unit /= 2;
  const auto as = [&](auto one) {
    const Join<decltype(one)> kernel(parts);
    for_each(queue, rows * kernel.columns.divisor, kernel);
  };
  switch (unit) {
    case 1: return as(Unit<1>{});
    case 2: return as(Unit<2>{});
    case 4: return as(Unit<4>{});
    case 8: return as(Unit<8>{});
    default: return as(Unit<16>{});
  }
}

}  // namespace

void cat(const Queue& queue, Out out, Span<View> parts, int32_t dim) {
  const auto element = static_cast<int64_t>(size_of(out.dtype));
  int64_t rows = 1, inner = element;  // bytes of one index of the dimension
  for (int d = 0; d < dim; ++d) rows *= out.sizes[d];
  for (int d = dim + 1; d < out.ndim; ++d) inner *= out.sizes[d];
  const bool dense = out.contiguous();
  Joined joined;
  joined.out = out.as<char>();
  joined.out_row = out.sizes[dim] * inner;
  int64_t before = 0;
  for (const View& part : parts) {
    if (dense && part.dtype == out.dtype && part.contiguous()) {
      joined.in[joined.count] = part.as<const char>();
      joined.bytes[joined.count] = part.sizes[dim] * inner;
      joined.place[joined.count] = before * inner;
      if (++joined.count == kParts) {
        join(queue, rows, joined, size_of(out.dtype));
        joined.count = 0;
      }
    } else {
      Out at = out;
      at.sizes[dim] = part.sizes[dim];
      at.data = out.as<char>() + before * out.strides[dim] * element;
      copy(queue, at, part);
    }
    before += part.sizes[dim];
  }
  join(queue, rows, joined, size_of(out.dtype));
}

}  // namespace tandem::kernels::cuda
