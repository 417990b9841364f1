// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): random bits, the same on every machine.
#pragma once

#include <cstdint>

namespace tandem::detail {

/// The next 64 random bits of the sequence that stands at `state`.
inline uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace tandem::detail
