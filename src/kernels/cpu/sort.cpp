// Stable sorting of rows. Elements become unsigned keys of the same order (nan on top, -0 equal to 0), sorted together with their places:
// by radix, or by comparison where a row is short. Equal keys keep their order, for descending as well: there the keys are inverted, not
// the result.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/shares.h"

namespace tandem::kernels::cpu {
namespace {

template <class U>
struct Entry {
  U key, place;
};

/// The key of an element, of the width of U.
template <class U, class T>
U key_of(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return key_of<U>(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Own = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (x != x) return ~U{0};
    constexpr Own top = Own{1} << (sizeof(Own) * 8 - 1);
    const auto bits = std::bit_cast<Own>(x == 0 ? T(0) : x);
    return bits & top ? static_cast<Own>(~bits) : bits | top;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<U>(static_cast<std::make_signed_t<U>>(x)) ^ (U{1} << (sizeof(U) * 8 - 1));
  } else {
    return static_cast<U>(x);
  }
}

constexpr int kBits = 11;
constexpr int64_t kRadix = 1 << kBits;
constexpr int64_t kShort = 768;  // up to here comparing is faster

/// Sorts by key, using `other` as the second place of each pass; says where the result is.
template <class U>
Entry<U>* sort_entries(Entry<U>* entries, Entry<U>* other, int64_t n) {
  if (n <= kShort) {
    std::sort(entries, entries + n,
              [](const Entry<U>& a, const Entry<U>& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; });
    return entries;
  }
  constexpr int kPasses = (static_cast<int>(sizeof(U)) * 8 + kBits - 1) / kBits;
  uint32_t counts[kPasses][kRadix] = {};
  for (int64_t i = 0; i < n; ++i)
    for (int p = 0; p < kPasses; ++p) ++counts[p][(entries[i].key >> (p * kBits)) % kRadix];
  for (int p = 0; p < kPasses; ++p) {
    const int shift = p * kBits;
    if (counts[p][(entries[0].key >> shift) % kRadix] == static_cast<uint64_t>(n)) continue;  // one digit for all
    uint32_t sum = 0;
    for (uint32_t& count : counts[p]) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i) other[counts[p][(entries[i].key >> shift) % kRadix]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

template <class U, class T>
void sort_row(const Rows& values, const Rows& indices, const Rows& in, int64_t row, bool descending, Entry<U>* scratch) {
  const int64_t n = in.length();
  const T* from = reinterpret_cast<const T*>(in.address(row));
  for (int64_t i = 0; i < n; ++i) {
    const U key = key_of<U>(from[i * in.stride()]);
    scratch[i] = {descending ? static_cast<U>(~key) : key, static_cast<U>(i)};
  }
  const Entry<U>* sorted = sort_entries(scratch, scratch + n, n);
  T* to = reinterpret_cast<T*>(values.address(row));
  auto* places = reinterpret_cast<int64_t*>(indices.address(row));
  for (int64_t i = 0; i < n; ++i) {
    to[i * values.stride()] = from[static_cast<int64_t>(sorted[i].place) * in.stride()];
    places[i * indices.stride()] = static_cast<int64_t>(sorted[i].place);
  }
}

int64_t parts_of(const Rows& rows) { return std::min<int64_t>(rows.count(), shares()); }
/// Whether 32 bits hold the keys and the places.
bool narrow(const Rows& rows) { return size_of(rows.dtype()) <= 4 && rows.length() < (int64_t{1} << 31); }

}  // namespace

size_t sort_workspace(const View& in) {
  const Rows rows(in);
  return static_cast<size_t>(parts_of(rows) * rows.length()) * 2 * (narrow(rows) ? sizeof(Entry<uint32_t>) : sizeof(Entry<uint64_t>));
}

void sort(const Queue& queue, Out values_view, Out indices_view, View in_view, bool descending, void* workspace) {
  const Rows values(values_view), indices(indices_view), in(in_view);
  const int64_t parts = parts_of(in), n = in.length();
  if (n == 0 || parts == 0) return;
  const auto run = [&]<class U>(U) {
    visit(in.dtype(), [&]<class T>(T) {
      if constexpr (sizeof(T) <= sizeof(U)) {
        parallel_for(parts, 1, in.count() * n < 4096 ? 1 : queue.threads, [&](int64_t begin, int64_t end) {
          for (int64_t part = begin; part < end; ++part) {
            auto* scratch = static_cast<Entry<U>*>(workspace) + part * 2 * n;
            for (int64_t r = in.count() * part / parts; r < in.count() * (part + 1) / parts; ++r)
              sort_row<U, T>(values, indices, in, r, descending, scratch);
          }
        });
      }
    });
  };
  if (narrow(in)) run(uint32_t{});
  else run(uint64_t{});
}

}  // namespace tandem::kernels::cpu
