// Largest and smallest elements with their first index: the value of each piece by the fast reduction, then the place in the first piece
// that has the best one, by a comparison that stops there. Pieces of a single long reduction are shared out.
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/reduction_plan.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 16 << 10;
constexpr int64_t kPiece = 8 << 10;
constexpr int64_t kMaxPieces = 256;

/// A value, as a total of a reduction, and the elements among which it was first seen.
template <class T>
struct Found {
  T value;
  int64_t begin, end;
};

/// The first element of n that equals `value` (or is nan, where value is); n where none does.
template <class E, class T>
int64_t first_equal(const E* x, int64_t n, T value) {
  const E wanted = static_cast<E>(value);
  constexpr int64_t block = 64;
  int64_t i = 0;
  if (value != value) {
    for (; i < n; ++i)
      if (x[i] != x[i]) return i;
    return n;
  }
  for (; i + block <= n; i += block) {
    bool found = false;
    for (int64_t k = 0; k < block; ++k) found |= x[i + k] == wanted;
    if (found) break;
  }
  for (; i < n; ++i)
    if (x[i] == wanted) return i;
  return n;
}

template <class T>
bool better(bool largest, T a, T b) {  // whether a comes before b
  if (a != a) return b == b;
  return largest ? a > b : a < b;
}

template <class E, class T>  // compute type, type of totals
Found<T> find(bool largest, const View& in, const CollapsedDims& reduced, int64_t offset, int64_t begin, int64_t end, Compute compute,
              const Isa& set) {
  const Reducer& reducer = set.reductions.reduce[static_cast<int>(largest ? Reduce::Max : Reduce::Min)][compute];
  Found<T> best{T(0), begin, begin};
  int64_t at = begin;
  for_elements(in, reduced, offset, begin, end, compute, set, [&](const void* elements, int64_t n) {
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t count = std::min(kPiece, n - i);
      T value;
      reducer.row(&value, static_cast<const E*>(elements) + i, count);
      if (best.begin == best.end || better(largest, value, best.value)) best = {value, at + i, at + i + count};
    }
    at += n;
  });
  return best;
}
/// The place of the value that was found.
template <class E, class T>
int64_t place(const Found<T>& found, const View& in, const CollapsedDims& reduced, int64_t offset, Compute compute, const Isa& set) {
  int64_t at = found.begin, index = -1;
  for_elements(in, reduced, offset, found.begin, found.end, compute, set, [&](const void* elements, int64_t n) {
    if (index < 0)
      if (const int64_t i = first_equal(static_cast<const E*>(elements), n, found.value); i < n) index = at + i;
    at += n;
  });
  return index;
}

template <class E, class T>
void run(const Queue& queue, bool largest, const Out& values, const Out& indices, const View& in, int32_t reduced_dims, Compute compute) {
  const Isa& set = isa();
  const int kept_dims = in.ndim - reduced_dims;
  const CollapsedDims kept = collapsed_dims(in, &indices, 0, kept_dims, true),
                      reduced = collapsed_dims(in, nullptr, kept_dims, in.ndim, true);
  const CollapsedDims value_places = values.data ? collapsed_dims(in, &values, 0, kept_dims, true) : kept;
  const int64_t results = kept.numel, count = reduced.numel;
  const auto put = [&](int64_t i, const Found<T>& found) {
    const auto [in_offset, index_offset] = kept.locate(i);
    indices.as<int64_t>()[index_offset] = place<E>(found, in, reduced, in_offset, compute, set);
    if (!values.data) return;
    const int64_t value_offset = value_places.locate(i)[kOut];
    const Compute total = compute == kComputeInt ? kComputeInt : kComputeDouble;
    set.conversions.unpack_from(total, values.dtype)(values.as<char>() + value_offset * static_cast<int64_t>(size_of(values.dtype)), 1,
                                                     &found.value, 1);
  };
  const int64_t pieces = results >= 16 ? 1 : std::min(count / kPiece, kMaxPieces);
  if (pieces <= 1) {
    parallel_for(results, std::max<int64_t>(1, kGrain / count), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t offset = kept.locate(i)[kIn];
        put(i, find<E, T>(largest, in, reduced, offset, 0, count, compute, set));
      }
    });
    return;
  }
  const int64_t length = (count + pieces - 1) / pieces, used = (count + length - 1) / length;
  for (int64_t i = 0; i < results; ++i) {
    const int64_t offset = kept.locate(i)[kIn];
    Found<T> found[kMaxPieces];
    parallel_for(used, std::max<int64_t>(1, kGrain / length), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        found[p] = find<E, T>(largest, in, reduced, offset, p * length, std::min((p + 1) * length, count), compute, set);
    });
    for (int64_t p = 1; p < used; ++p)
      if (better(largest, found[p].value, found[0].value)) found[0] = found[p];
    put(i, found[0]);
  }
}

}  // namespace

void arg_reduce(const Queue& queue, bool largest, Out values, Out indices, View in, int32_t reduced, void* /*workspace*/) {
  if (in.numel() == 0) return;
  switch (compute_of(in.dtype)) {
    case kComputeFloat: return run<float, double>(queue, largest, values, indices, in, reduced, kComputeFloat);
    case kComputeDouble: return run<double, double>(queue, largest, values, indices, in, reduced, kComputeDouble);
    default: return run<int64_t, int64_t>(queue, largest, values, indices, in, reduced, kComputeInt);
  }
}

}  // namespace tandem::kernels::cpu
