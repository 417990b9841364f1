// Sums of products, for whatever has the shape of one: out(i, j) = sum over k of left(i, k) right(k, j), for each of a batch. What these
// are - matrices of any strides, windows over images - and what becomes of a sum is a Problem's business:
//
//   using C = …;                                       the type that is computed in
//   int64_t batches, rows, columns, depth;             the ranges of batch, i, j and k
//   bool left_along_depth, right_along_depth;          whether neighbours in memory are neighbours in k
//   At at(int64_t batch) const;                        what is common to a batch's element
//   C left(const At&, int64_t i, int64_t k) const;
//   C right(const At&, int64_t k, int64_t j) const;
//   void put(const At&, int64_t i, int64_t j, C sum) const;
//
// Three ways. Tiles: 256 threads compute a square tile of the result from tiles of both sides in shared memory, each thread a block of it
// in registers, fetching the next tiles while it multiplies. Each: a thread an element, where a tile would be mostly empty. Inner: a group
// an element, where there are few and the sums are long.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace tandem::kernels::cuda {

template <class Problem, int kTile>
struct Tiles {
  using C = typename Problem::C;
  using At = typename Problem::At;
  static constexpr int kSide = 16;                // threads along a side of the tile
  static constexpr int kEach = kTile / kSide;     // elements along a side of a thread's block,
  static constexpr int kRun = kEach < 4 ? 1 : 4;  // which is made of pieces with so many elements in a row
  static constexpr int kDepth = kTile < 64 ? 16 : 8;
  static constexpr int kFetched = kTile * kDepth / kThreads;
  static_assert(kSide * kSide == kThreads && kFetched * kThreads == kTile * kDepth);

  struct Shared {
    // Longer rows, so that threads that write a column of it use different banks.
    alignas(16) C left[kDepth][kTile + kRun], right[kDepth][kTile + kRun];
  };
  struct Sums {
    C at[kEach][kEach];
  };
  struct Fetched {
    C left[kFetched], right[kFetched];
  };

  Problem problem;
  Indices<3> tiles;  // batch, down, across

  explicit Tiles(const Problem& problem) : problem(problem), tiles(sizes_of(problem).data) {}

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t number, Shared& shared) const {
    int64_t tile[3];
    tiles(number, tile);
    const At at = problem.at(tile[0]);
    const int64_t i0 = tile[1] * kTile, j0 = tile[2] * kTile;
    typename Group<kThreads>::template Local<Sums> sums;
    typename Group<kThreads>::template Local<Fetched> fetched;
    group.each([&](int t) {
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) TD_UNROLL
      for (int c = 0; c < kEach; ++c) sums[t].at[r][c] = 0;
      fetch(fetched[t], at, t, i0, j0, 0);
    });
    for (int64_t k0 = 0; k0 < problem.depth; k0 += kDepth) {
      group.each([&](int t) {
        TD_UNROLL
        for (int f = 0; f < kFetched; ++f) {
          int side, k;
          place(t, f, problem.left_along_depth, side, k);
          shared.left[k][side] = fetched[t].left[f];
          place(t, f, problem.right_along_depth, side, k);
          shared.right[k][side] = fetched[t].right[f];
        }
      });
      group.each([&](int t) {
        if (k0 + kDepth < problem.depth) fetch(fetched[t], at, t, i0, j0, k0 + kDepth);
        multiply(sums[t], shared, t);
      });
    }
    group.each([&](int t) {
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) {
        const int64_t i = i0 + element(t / kSide, r);
        TD_UNROLL
        for (int c = 0; c < kEach; ++c) {
          const int64_t j = j0 + element(t % kSide, c);
          if (i < problem.rows && j < problem.columns) problem.put(at, i, j, sums[t].at[r][c]);
        }
      }
    });
  }

 private:
  struct Sizes {
    int64_t data[3];
  };
  static Sizes sizes_of(const Problem& p) { return {{p.batches, (p.rows + kTile - 1) / kTile, (p.columns + kTile - 1) / kTile}}; }

  /// The place of element number e of a thread's block, along one side.
  TD_DEVICE static int element(int thread, int e) { return e / kRun * (kSide * kRun) + thread * kRun + e % kRun; }
  /// Where element number f of those that a thread fetches lies in a tile.
  TD_DEVICE static void place(int t, int f, bool along_depth, int& side, int& k) {
    const int e = t + f * kThreads;
    side = along_depth ? e / kDepth : e % kTile;
    k = along_depth ? e % kDepth : e / kTile;
  }
  TD_DEVICE void fetch(Fetched& to, const At& at, int t, int64_t i0, int64_t j0, int64_t k0) const {
    TD_UNROLL
    for (int f = 0; f < kFetched; ++f) {
      int side, k;
      place(t, f, problem.left_along_depth, side, k);
      to.left[f] = i0 + side < problem.rows && k0 + k < problem.depth ? problem.left(at, i0 + side, k0 + k) : C(0);
      place(t, f, problem.right_along_depth, side, k);
      to.right[f] = j0 + side < problem.columns && k0 + k < problem.depth ? problem.right(at, k0 + k, j0 + side) : C(0);
    }
  }
  TD_DEVICE static void multiply(Sums& sums, const Shared& shared, int t) {
    TD_UNROLL
    for (int k = 0; k < kDepth; ++k) {
      C left[kEach], right[kEach];
      TD_UNROLL
      for (int e = 0; e < kEach; ++e) {
        left[e] = shared.left[k][element(t / kSide, e)];
        right[e] = shared.right[k][element(t % kSide, e)];
      }
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) TD_UNROLL
      for (int c = 0; c < kEach; ++c) sums.at[r][c] = fused(left[r], right[c], sums.at[r][c]);
    }
  }
};

template <class Problem>
struct EachProduct {
  using C = typename Problem::C;
  Problem problem;
  Indices<3> elements;  // batch, i, j

  TD_DEVICE void operator()(int64_t number) const {
    int64_t e[3];
    elements(number, e);
    const auto at = problem.at(e[0]);
    C sum = 0;
    for (int64_t k = 0; k < problem.depth; ++k) sum = fused(problem.left(at, e[1], k), problem.right(at, k, e[2]), sum);
    problem.put(at, e[1], e[2], sum);
  }
};

template <class Problem, int threads>
struct InnerProduct {
  using Shared = NothingShared;
  using C = typename Problem::C;
  Problem problem;
  Indices<3> elements;  // batch, i, j

  TD_DEVICE void operator()(Group<threads>& group, int64_t number, Shared&) const {
    int64_t e[3];
    elements(number, e);
    const auto at = problem.at(e[0]);
    typename Group<threads>::template Local<C> sums;
    group.each([&](int t) {
      C sum = 0;
      for (int64_t k = t; k < problem.depth; k += threads) sum = fused(problem.left(at, e[1], k), problem.right(at, k, e[2]), sum);
      sums[t] = sum;
    });
    const C sum = group.reduce(sums, [](C a, C b) { return added(a, b); });
    group.once([&] { problem.put(at, e[1], e[2], sum); });
  }
};

template <int kTile, class Problem>
void compute_tiles(const Queue& queue, const Problem& problem) {
  const Tiles<Problem, kTile> tiles(problem);
  for_groups<kThreads>(queue, tiles.tiles.count, tiles);
}
template <class Problem>
Indices<3> elements_of(const Problem& problem) {
  const int64_t sizes[3] = {problem.batches, problem.rows, problem.columns};
  return Indices<3>(sizes);
}
template <class Problem>
void compute_each(const Queue& queue, const Problem& problem) {
  const Indices<3> elements = elements_of(problem);
  for_each(queue, elements.count, EachProduct<Problem>{problem, elements});
}
template <int threads, class Problem>
void compute_inner(const Queue& queue, const Problem& problem) {
  const Indices<3> elements = elements_of(problem);
  for_groups<threads>(queue, elements.count, InnerProduct<Problem, threads>{problem, elements});
}

}  // namespace tandem::kernels::cuda
