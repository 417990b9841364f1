// Stable sorting of rows. Elements become unsigned keys of the same order (keys.h), sorted together with their places: by radix, or by
// comparison where a row is short. Equal keys keep their order, for descending as well: there the keys are inverted, not the result. Where
// only a part of the order is wanted, a heap of the best or a partition around its ends comes first.
#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/shares.h"
#include "kernels/keys.h"

namespace tandem::kernels::cpu {
namespace {

template <class U>
struct Entry {
  U key, place;
};

template <class U>
bool before(const Entry<U>& a, const Entry<U>& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

constexpr int kBits = 11;
constexpr int64_t kRadix = 1 << kBits;
constexpr int64_t kShort = 768;  // up to here comparing is faster
constexpr int64_t kPiece = 32 << 10, kMaxPieces = 8;

/// Sorts by key, using `other` as the second place of each pass; says where the result is. A long row is counted and moved in pieces.
template <class U>
Entry<U>* sort_entries(Entry<U>* entries, Entry<U>* other, int64_t n, int threads) {
  if (n <= kShort) {
    std::sort(entries, entries + n, before<U>);
    return entries;
  }
  const int64_t pieces = std::clamp<int64_t>(n / kPiece, 1, kMaxPieces), length = (n + pieces - 1) / pieces;
  uint32_t counts[kMaxPieces][kRadix];
  for (int shift = 0; shift < static_cast<int>(sizeof(U)) * 8; shift += kBits) {
    const auto digit = [shift](const Entry<U>& e) { return (e.key >> shift) % kRadix; };
    parallel_for(pieces, 1, threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        std::fill_n(counts[p], kRadix, 0U);
        for (int64_t i = p * length; i < std::min(n, (p + 1) * length); ++i) ++counts[p][digit(entries[i])];
      }
    });
    uint64_t as_first = 0;
    for (int64_t p = 0; p < pieces; ++p) as_first += counts[p][digit(entries[0])];
    if (as_first == static_cast<uint64_t>(n)) continue;  // one digit for all
    uint32_t sum = 0;
    for (int64_t d = 0; d < kRadix; ++d)
      for (int64_t p = 0; p < pieces; ++p) sum += std::exchange(counts[p][d], sum);
    parallel_for(pieces, 1, threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        for (int64_t i = p * length; i < std::min(n, (p + 1) * length); ++i) other[counts[p][digit(entries[i])]++] = entries[i];
    });
    std::swap(entries, other);
  }
  return entries;
}

/// The first `count` of the entries from `begin` to `end`, where `entry(i)` makes the one at i: a heap of the best so far, worst on top.
template <class U, class F>
void keep_best(Entry<U>* heap, int64_t count, int64_t begin, int64_t end, F entry) {
  for (int64_t i = 0; i < count; ++i) heap[i] = entry(begin + i);
  std::make_heap(heap, heap + count, before<U>);
  for (int64_t i = begin + count; i < end; ++i) {
    const Entry<U> next = entry(i);
    if (next.key >= heap[0].key) continue;
    std::pop_heap(heap, heap + count, before<U>);
    heap[count - 1] = next;
    std::push_heap(heap, heap + count, before<U>);
  }
}

/// The first `count` of n entries in order. A long row is gone through in pieces, each with a heap of its own.
template <class U, class F>
void best_entries(Entry<U>* best, int64_t count, int64_t n, F entry, int threads) {
  const int64_t pieces = std::clamp<int64_t>(n / std::max(kPiece, 64 * count), 1, kMaxPieces);
  parallel_for(pieces, 1, threads, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) keep_best(best + p * count, count, n * p / pieces, n * (p + 1) / pieces, entry);
  });
  std::partial_sort(best, best + count, best + pieces * count, before<U>);
}

/// Puts what is at [first, first + count) of the order into values and indices.
template <class U, class T>
void sort_row(const Rows& values, const Rows& indices, const Rows& in, int64_t row, bool descending, int64_t first, int64_t count,
              Entry<U>* scratch, int threads) {
  const int64_t n = in.length(), end = first + count;
  const T* from = reinterpret_cast<const T*>(in.address(row));
  const auto entry = [&](int64_t i) {
    const U key = key_of<U>(from[i * in.stride()]);
    return Entry<U>{descending ? static_cast<U>(~key) : key, static_cast<U>(i)};
  };
  const Entry<U>* sorted = scratch;
  if (end <= n / 64) {
    best_entries(scratch, end, n, entry, threads);
  } else {
    parallel_for(n, kPiece, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) scratch[i] = entry(i);
    });
    if (count > n / 4) {
      sorted = sort_entries(scratch, scratch + n, n, threads);
    } else {
      std::nth_element(scratch, scratch + first, scratch + n, before<U>);
      if (count > 1 && end < n) std::nth_element(scratch + first, scratch + end - 1, scratch + n, before<U>);
      sorted = sort_entries(scratch + first, scratch + n, count, threads) - first;
    }
  }
  T* to = reinterpret_cast<T*>(values.address(row));
  auto* places = reinterpret_cast<int64_t*>(indices.address(row));
  parallel_for(count, kPiece, threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto place = static_cast<int64_t>(sorted[first + i].place);
      to[i * values.stride()] = from[place * in.stride()];
      places[i * indices.stride()] = place;
    }
  });
}

int64_t parts_of(const Rows& rows) { return std::min<int64_t>(rows.count(), shares()); }
/// Whether 32 bits hold the keys and the places.
bool narrow(const Rows& rows) { return size_of(rows.dtype()) <= 4 && rows.length() < (int64_t{1} << 31); }

}  // namespace

size_t sort_workspace(const View& in) {
  const Rows rows(in);
  return static_cast<size_t>(parts_of(rows) * rows.length()) * 2 * (narrow(rows) ? sizeof(Entry<uint32_t>) : sizeof(Entry<uint64_t>));
}

void sort_part(const Queue& queue, Out values_view, Out indices_view, View in_view, bool descending, int64_t first, void* workspace) {
  const Rows values(values_view), indices(indices_view), in(in_view);
  const int64_t parts = parts_of(in), n = in.length(), count = values.length();
  if (n == 0 || parts == 0 || count == 0) return;
  const auto run = [&]<class U>(U) {
    visit(in.dtype(), [&]<class T>(T) {
      if constexpr (sizeof(T) <= sizeof(U)) {
        parallel_for(parts, 1, in.count() * n < 4096 ? 1 : queue.threads, [&](int64_t begin, int64_t end) {
          for (int64_t part = begin; part < end; ++part) {
            auto* scratch = static_cast<Entry<U>*>(workspace) + part * 2 * n;
            for (int64_t r = in.count() * part / parts; r < in.count() * (part + 1) / parts; ++r)
              sort_row<U, T>(values, indices, in, r, descending, first, count, scratch, parts == 1 ? queue.threads : 1);
          }
        });
      }
    });
  };
  if (narrow(in)) run(uint32_t{});
  else run(uint64_t{});
}

}  // namespace tandem::kernels::cpu
