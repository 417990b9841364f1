// Sorting without scratch: Batcher's bitonic network in place (Batcher, "Sorting networks and their applications", 1968), in the form that
// mirrors each first step, so that every exchange puts the smaller element first and any length will do. Steps within 2,048 neighbours are
// done in shared memory, many in one launch. Not stable by itself: elements must not be equal.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace tandem::kernels::cuda {

inline constexpr int kBitonicBlock = 2048;

/// Pair number i of a step: of elements `low` and `low + distance`; mirrored in blocks of 2 * distance at the first step of a merge.
struct BitonicPair {
  int64_t low, high;
  TD_DEVICE BitonicPair(int64_t i, int64_t distance, bool mirrored) {
    const int64_t block = i / distance * (2 * distance), within = i % distance;
    low = block + within;
    high = mirrored ? block + 2 * distance - 1 - within : low + distance;
  }
};

template <class T, class Less>
struct BitonicStep {
  T* data;
  int64_t count, distance;
  bool mirrored;
  Less less;

  TD_DEVICE void operator()(int64_t i) const {
    const BitonicPair pair(i, distance, mirrored);
    if (pair.high >= count) return;
    const T a = data[pair.low], b = data[pair.high];
    if (!less(b, a)) return;
    data[pair.low] = b;
    data[pair.high] = a;
  }
};

/// All steps within a block: every merge up to the block's size (`whole`), or the last steps of a longer merge.
template <class T, class Less>
struct BitonicBlock {
  T* data;
  int64_t count;
  bool whole;
  Less less;

  struct Shared {
    T element[kBitonicBlock];
  };

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t block, Shared& shared) const {
    const int64_t first = block * kBitonicBlock;
    const int64_t there = count - first < kBitonicBlock ? count - first : kBitonicBlock;
    group.each([&](int t) {
      for (int64_t i = t; i < there; i += kThreads) shared.element[i] = data[first + i];
    });
    for (int64_t length = whole ? 2 : kBitonicBlock; length <= kBitonicBlock; length *= 2) {
      bool mirrored = whole;
      for (int64_t distance = length / 2; distance > 0; distance /= 2) {
        group.each([&](int t) {
          for (int64_t i = t; i < kBitonicBlock / 2; i += kThreads) {
            const BitonicPair pair(i, distance, mirrored);
            if (pair.high >= there) continue;
            const T a = shared.element[pair.low], b = shared.element[pair.high];
            if (!less(b, a)) continue;
            shared.element[pair.low] = b;
            shared.element[pair.high] = a;
          }
        });
        mirrored = false;
      }
    }
    group.each([&](int t) {
      for (int64_t i = t; i < there; i += kThreads) data[first + i] = shared.element[i];
    });
  }
};

/// Sorts data[0 … count) by `less`, a TD_DEVICE functor that never finds two elements equal.
template <class T, class Less>
void bitonic_sort(const Queue& queue, T* data, int64_t count, const Less& less) {
  const int64_t blocks = (count + kBitonicBlock - 1) / kBitonicBlock;
  for_groups<kThreads>(queue, blocks, BitonicBlock<T, Less>{data, count, true, less});
  for (int64_t length = 2 * kBitonicBlock; length / 2 < count; length *= 2) {
    const int64_t pairs = (count + length - 1) / length * (length / 2);
    bool mirrored = true;
    for (int64_t distance = length / 2; distance >= kBitonicBlock; distance /= 2) {
      for_each(queue, pairs, BitonicStep<T, Less>{data, count, distance, mirrored, less});
      mirrored = false;
    }
    for_groups<kThreads>(queue, blocks, BitonicBlock<T, Less>{data, count, false, less});
  }
}

}  // namespace tandem::kernels::cuda
