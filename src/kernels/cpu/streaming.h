// Writing past the caches. A result much larger than the last cache would push everything out of it and be read from memory first;
// non-temporal stores write it directly, which makes an addition of large tensors a third faster.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tandem::kernels::cpu {

/// Whether a result of so many bytes should be written past the caches.
inline bool streams(size_t bytes) {
#if defined(__x86_64__)
  static const size_t limit = [] {
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 ? static_cast<size_t>(cache) / 2 : size_t{16} << 20;
  }();
  return bytes >= limit;
#else
  (void)bytes;
  return false;
#endif
}

/// memcpy past the caches.
inline void stream_copy(char* to, const char* from, size_t bytes) {
#if defined(__x86_64__)
  const size_t head = (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64;
  if (bytes > head + 64) {
    std::memcpy(to, from, head);
    size_t i = head;
    for (; i + 64 <= bytes; i += 64)
      for (size_t k = 0; k < 64; k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + k)));
    std::memcpy(to + i, from + i, bytes - i);
    _mm_sfence();
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace tandem::kernels::cpu
