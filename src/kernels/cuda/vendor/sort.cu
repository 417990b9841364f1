// Sorting of rows through CUB's radix sort. Elements become unsigned keys of the same order (keys.cuh), inverted for descending, so that
// equal ones keep their order. All rows are sorted at once: where a key has 32 bits, the row's number stands above it; where it has 64,
// a second, stable pass sorts by row. What is moved along is the element's number, by which values and indices are fetched at the end.
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/keys.cuh"
#include "kernels/cuda/vendor/vendor.h"

namespace tandem::kernels::cuda::vendor {
namespace {

/// The rows of a view: all dimensions but the last.
struct SortedRows {
  int64_t count, length;
  explicit SortedRows(const View& in) : count(1), length(in.ndim > 0 ? in.sizes[in.ndim - 1] : 1) {
    for (int d = 0; d + 1 < in.ndim; ++d) count *= in.sizes[d];
  }
  [[nodiscard]] int64_t total() const { return count * length; }
  [[nodiscard]] int bits() const {
    int bits = 0;
    while (bits < 32 && (count - 1) >> bits != 0) ++bits;
    return bits;
  }
};

bool wide(DType dtype) { return size_of(dtype) == 8; }

struct MakeKeys {
  const void* data;
  DType dtype;
  Places<1> places;
  int64_t length;
  uint64_t* keys;
  uint32_t* numbers;
  bool is_wide, descending;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[1];
    places(i, at);
    uint64_t key;
    if (is_wide) {
      key = wide_key(data, dtype, at[0]);
      if (descending) key = ~key;
    } else {
      uint32_t narrow = narrow_key(data, dtype, at[0]);
      if (descending) narrow = ~narrow;
      key = static_cast<uint64_t>(i / length) << 32 | narrow;
    }
    keys[i] = key;
    numbers[i] = static_cast<uint32_t>(i);
  }
};

struct RowKeys {
  const uint32_t* numbers;
  uint32_t* rows;
  int64_t length;
  TD_DEVICE void operator()(int64_t i) const { rows[i] = static_cast<uint32_t>(numbers[i] / length); }
};

/// Columns first … first + columns - 1 of the sorted rows.
template <class T>
struct Fetch {
  const uint32_t* numbers;
  const T* in;
  T* values;
  int64_t* indices;
  Places<1> from;    // elements of in
  Places<2> places;  // of values and indices
  int64_t length, columns, first;

  TD_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns;
    const int64_t number = numbers[row * length + first + i % columns];
    int64_t source[1], at[2];
    from(number, source);
    places(i, at);
    values[at[0]] = in[source[0]];
    indices[at[1]] = number - row * length;
  }
};

/// The parts of the scratch, each on a 256-byte border: keys and numbers twice, what CUB wants.
struct Scratch {
  size_t keys[2], numbers[2], cub, bytes;
};

size_t cub_bytes(const SortedRows& rows, bool is_wide) {
  const auto n = static_cast<uint32_t>(rows.total());
  cub::DoubleBuffer<uint64_t> keys;
  cub::DoubleBuffer<uint32_t> numbers, narrow;
  size_t bytes = 0, second = 0;
  (void)cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, numbers, n);
  if (is_wide && rows.count > 1) (void)cub::DeviceRadixSort::SortPairs(nullptr, second, narrow, numbers, n);
  return bytes > second ? bytes : second;
}

Scratch scratch_of(const SortedRows& rows, bool is_wide) {
  Scratch s{};
  const auto take = [&](size_t bytes) {
    const size_t at = s.bytes;
    s.bytes += (bytes + 255) / 256 * 256;
    return at;
  };
  const auto n = static_cast<size_t>(rows.total());
  for (size_t& at : s.keys) at = take(n * sizeof(uint64_t));
  for (size_t& at : s.numbers) at = take(n * sizeof(uint32_t));
  s.cub = take(cub_bytes(rows, is_wide));
  return s;
}

bool too_many(const SortedRows& rows) { return rows.total() > INT32_MAX; }

}  // namespace

size_t sort_workspace(const View& in) {
  const SortedRows rows(in);
  const CudaDeviceGuard current(device_of(in.data));
  return rows.total() == 0 || too_many(rows) ? 0 : scratch_of(rows, wide(in.dtype)).bytes;
}

void sort_part(const Queue& queue, Out values, Out indices, View in, bool descending, int64_t first, void* workspace) {
  const SortedRows rows(in);
  const int64_t columns = SortedRows(values).length;
  if (rows.total() == 0 || columns == 0) return;
  if (too_many(rows)) return queue.status->report(Trouble::Unsupported, -1);
  const bool is_wide = wide(in.dtype);
  const Scratch s = scratch_of(rows, is_wide);
  auto* const memory = static_cast<char*>(workspace);
  cub::DoubleBuffer<uint64_t> keys(reinterpret_cast<uint64_t*>(memory + s.keys[0]), reinterpret_cast<uint64_t*>(memory + s.keys[1]));
  cub::DoubleBuffer<uint32_t> numbers(reinterpret_cast<uint32_t*>(memory + s.numbers[0]),
                                      reinterpret_cast<uint32_t*>(memory + s.numbers[1]));
  const auto n = static_cast<uint32_t>(rows.total());
  for_each(queue, n, MakeKeys{in.data, in.dtype, places_of(in), rows.length, keys.Current(), numbers.Current(), is_wide, descending});
  size_t bytes = s.bytes - s.cub;
  check(queue,
        cub::DeviceRadixSort::SortPairs(memory + s.cub, bytes, keys, numbers, n, 0, is_wide ? 64 : 32 + rows.bits(), stream_of(queue)));
  if (is_wide && rows.count > 1) {
    cub::DoubleBuffer<uint32_t> of_rows(reinterpret_cast<uint32_t*>(memory + s.keys[0]), reinterpret_cast<uint32_t*>(memory + s.keys[1]));
    for_each(queue, n, RowKeys{numbers.Current(), of_rows.Current(), rows.length});
    bytes = s.bytes - s.cub;
    check(queue, cub::DeviceRadixSort::SortPairs(memory + s.cub, bytes, of_rows, numbers, n, 0, rows.bits(), stream_of(queue)));
  }
  visit_width(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, rows.count * columns,
             Fetch<T>{numbers.Current(), in.as<T>(), values.as<T>(), indices.as<int64_t>(), places_of(in), places_of(values, indices),
                      rows.length, columns, first});
  });
}

}  // namespace tandem::kernels::cuda::vendor
