// Conversions between the ten element types and the three types that kernels compute in. Floating numbers become integers as
// kernels/to_integer.h says, which on x86 is what its instructions do.
#include <bit>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"
#include "kernels/to_integer.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

template <class To, class From>
TD_INLINE To converted(From from) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) return converted<To>(static_cast<float>(from));
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) return To(static_cast<float>(from));
  else if constexpr (std::is_same_v<To, bool>) return from != From(0);
#if defined(__x86_64__)
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4)
    return static_cast<To>(static_cast<int32_t>(from));
#else
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) return to_integer<To>(from);
#endif
  else return static_cast<To>(from);
}

/// What elements are read as: bool as the byte that it is, which converts many at a time.
template <class T>
using Read = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <class To, class From>
void pack(void* to_address, const void* from_address, int64_t stride, int64_t n) {
  To* to = static_cast<To*>(to_address);
  const Read<From>* from = static_cast<const Read<From>*>(from_address);
  int64_t i = 0;
  if (stride == 1) {
    if constexpr (std::is_same_v<To, From>) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(To));
      return;
    } else if constexpr (kConvertsHalf && std::is_same_v<To, float> && std::is_same_v<From, Half>) {
      for (; i + Vec<To>::kLanes <= n; i += Vec<To>::kLanes) load_half(from + i).store(to + i);
    }
    for (; i < n; ++i) to[i] = converted<To>(from[i]);
  } else if (stride == 0) {
    const To value = converted<To>(from[0]);
    for (; i < n; ++i) to[i] = value;
  } else {
    for (; i < n; ++i) to[i] = converted<To>(from[i * stride]);
  }
}

template <class To, class From>
void unpack(void* to_address, int64_t stride, const void* from_address, int64_t n) {
  To* to = static_cast<To*>(to_address);
  const From* from = static_cast<const From*>(from_address);
  int64_t i = 0;
  if (stride == 1) {
    if constexpr (std::is_same_v<To, From>) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(To));
      return;
    } else if constexpr (kConvertsHalf && std::is_same_v<To, Half> && std::is_same_v<From, float>) {
      for (; i + Vec<From>::kLanes <= n; i += Vec<From>::kLanes) store_half(Vec<From>::load(from + i), to + i);
    }
    for (; i < n; ++i) to[i] = converted<To>(from[i]);
  } else {
    for (; i < n; ++i) to[i * stride] = converted<To>(from[i]);
  }
}

/// 8 x 8 elements of 4 bytes in registers: pairs, then pairs of pairs, then halves change places.
TD_INLINE void transpose_8x8(uint32_t* to, int64_t to_stride, const uint32_t* from, int64_t from_stride) {
  typedef uint32_t Row __attribute__((vector_size(32)));
  Row a[8], b[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&a[i], from + i * from_stride, sizeof a[i]);
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      a[i + 2 * k] = __builtin_shufflevector(b[i + k], b[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      a[i + 2 * k + 1] = __builtin_shufflevector(b[i + k], b[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    const Row low = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11),
              high = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    std::memcpy(to + i * to_stride, &low, sizeof low);
    std::memcpy(to + (i + 4) * to_stride, &high, sizeof high);
  }
}
TD_INLINE void transpose_8x8(uint64_t* to, int64_t to_stride, const uint64_t* from, int64_t from_stride) {
  typedef uint64_t Row __attribute__((vector_size(32)));
  for (int c = 0; c < 8; c += 4)
    for (int r = 0; r < 8; r += 4) {
      Row a[4], b[4];
      for (int i = 0; i < 4; ++i) std::memcpy(&a[i], from + (c + i) * from_stride + r, sizeof a[i]);
      for (int i = 0; i < 4; i += 2) {
        b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 4, 2, 6);
        b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 1, 5, 3, 7);
      }
      for (int i = 0; i < 2; ++i) {
        a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 4, 5);
        a[i + 2] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 6, 7);
      }
      for (int i = 0; i < 4; ++i) std::memcpy(to + (r + i) * to_stride + c, &a[i], sizeof a[i]);
    }
}

template <class E>
void transpose(void* to_address, int64_t to_stride, const void* from_address, int64_t from_stride, int64_t rows, int64_t columns) {
  E* const to = static_cast<E*>(to_address);
  const E* const from = static_cast<const E*>(from_address);
  constexpr int64_t line = 64 / sizeof(E);
  const int64_t whole_columns = columns - columns % 8;
  for (int64_t line_row = 0; line_row < rows; line_row += line) {  // a cache line of every column, then the next
    const int64_t end = rows - line_row < line ? rows : line_row + line, whole_rows = end - (end - line_row) % 8;
    for (int64_t c = 0; c < whole_columns; c += 8)
      for (int64_t r = line_row; r < whole_rows; r += 8)
        transpose_8x8(to + r * to_stride + c, to_stride, from + c * from_stride + r, from_stride);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = c < whole_columns ? whole_rows : line_row; r < end; ++r) to[r * to_stride + c] = from[c * from_stride + r];
  }
}

template <class E>
void reverse(void* to_address, const void* from_address, int64_t n) {
  E* const __restrict to = static_cast<E*>(to_address);
  const E* const __restrict from = static_cast<const E*>(from_address);
  for (int64_t i = 0; i < n; ++i) to[i] = from[n - 1 - i];
}

bool all_within(const int64_t* index, int64_t n, int64_t size) {
  int64_t signs = 0;  // negative where some index is, or is beyond the last
  for (int64_t i = 0; i < n; ++i)
    signs |= index[i] | static_cast<int64_t>(static_cast<uint64_t>(size - 1) - static_cast<uint64_t>(index[i]));
  return signs >= 0;
}

}  // namespace

void fill_conversions(ConversionFunctions& conversions) {
  conversions.transpose[0] = transpose<uint32_t>;
  conversions.transpose[1] = transpose<uint64_t>;
  conversions.all_within = all_within;
  conversions.reverse[0] = reverse<uint8_t>;
  conversions.reverse[1] = reverse<uint16_t>;
  conversions.reverse[2] = reverse<uint32_t>;
  conversions.reverse[3] = reverse<uint64_t>;
  for (int d = 0; d < kDTypes; ++d)
    visit(static_cast<DType>(d), [&](auto zero) {
      using T = decltype(zero);
      conversions.pack[d][kComputeFloat] = pack<float, T>;
      conversions.pack[d][kComputeDouble] = pack<double, T>;
      conversions.pack[d][kComputeInt] = pack<int64_t, T>;
      conversions.unpack[kComputeFloat][d] = unpack<T, float>;
      conversions.unpack[kComputeDouble][d] = unpack<T, double>;
      conversions.unpack[kComputeInt][d] = unpack<T, int64_t>;
    });
}

}  // namespace tandem::kernels::cpu::TD_ISA
