#include "bench/machine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "bench/loops/loops.h"
#include "bench/measure.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::bench {

// TD_FOR_EACH_ISA(X) is X(set) for each set that is built: cmake/program.cmake defines it.
#define TD_DECLARE(set)                  \
  namespace set {                        \
  extern const Loops kLoops;             \
  extern const Functions kFunctionLoops; \
  }
TD_FOR_EACH_ISA(TD_DECLARE)
#undef TD_DECLARE

#define TD_FIND(set) \
  if (std::strcmp(kernels::cpu::isa().name, #set) == 0) return set::kLoops;
const Loops& loops() {
  TD_FOR_EACH_ISA(TD_FIND)
  return baseline::kLoops;
}
#undef TD_FIND
#define TD_FIND(set) \
  if (std::strcmp(kernels::cpu::isa().name, #set) == 0) return set::kFunctionLoops;
const Functions& function_loops() {
  TD_FOR_EACH_ISA(TD_FIND)
  return baseline::kFunctionLoops;
}
#undef TD_FIND

namespace {

constexpr double kMilliseconds = 60;
constexpr int64_t kGrain = int64_t{1} << 16;  // words a piece
constexpr int64_t kPiece = int64_t{1} << 15;  // the same of functions: as the pointwise kernels share them out

struct Buffer {
  explicit Buffer(int64_t words) : words(std::make_unique<float[]>(size_t(words) + 1)) {}
  std::unique_ptr<float[]> words;
};

}  // namespace

double plain_loop_ns(size_t in, size_t out, int threads) {
  const auto reads = int64_t(in / sizeof(float)), writes = int64_t(out / sizeof(float));
  const bool adds = writes > 0 && reads >= 2 * writes;
  const int64_t used = adds ? 2 * writes : std::min(reads, writes);  // words read together with writing
  const Buffer a(reads), b(adds ? writes : 0), c(writes);
  const Loops& loop = loops();
  std::atomic<uint32_t> sink{0};
  return measure("", kMilliseconds,
                 [&] {
                   parallel_for(writes, kGrain, threads, [&](int64_t begin, int64_t end) {
                     float* const to = c.words.get() + begin;
                     if (adds) return loop.add(to, a.words.get() + begin, b.words.get() + begin, end - begin);
                     const int64_t copied = std::clamp<int64_t>(used - begin, 0, end - begin);
                     loop.copy(to, a.words.get() + begin, copied);
                     loop.fill(to + copied, end - begin - copied);
                   });
                   parallel_for(reads - used, kGrain, threads, [&](int64_t begin, int64_t end) {
                     const auto* from = reinterpret_cast<const uint32_t*>(a.words.get()) + (adds ? writes : used);
                     sink.fetch_add(loop.read(from + begin, end - begin), std::memory_order_relaxed);
                   });
                 })
      .ns;
}

namespace {

/// The sum of what `part(begin, end)` says of pieces of [0, n).
template <class F>
float total_of(int64_t n, int threads, F part) {
  std::vector<float> parts(static_cast<size_t>((n + kPiece - 1) / kPiece));
  parallel_for(n, kPiece, threads, [&](int64_t begin, int64_t end) {
    for (; begin < end; begin += kPiece) parts[static_cast<size_t>(begin / kPiece)] = part(begin, std::min(begin + kPiece, end));
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0F);
}

double variance_loop_ns(const float* a, int64_t n, int threads) {
  const Functions& loop = function_loops();
  std::atomic<float> sink{0};
  return measure("", kMilliseconds,
                 [&] {
                   const float mean =
                       total_of(n, threads, [&](int64_t begin, int64_t end) { return loop.sum(a + begin, end - begin); }) / float(n);
                   sink = total_of(n, threads, [&](int64_t begin, int64_t end) { return loop.squares(a + begin, mean, end - begin); }) /
                          float(n);
                 })
      .ns;
}

}  // namespace

std::optional<double> function_loop_ns(std::string_view name, std::span<const float* const> operands, int64_t n, int threads) {
  if (n > 0 && operands.size() == 1 && (name == "var" || name == "std")) return variance_loop_ns(operands[0], n, threads);
  for (const FunctionLoop& loop : function_loops().pointwise) {
    if (loop.name != name || static_cast<size_t>(loop.operands) != operands.size()) continue;
    const Buffer out(n);
    const float* const a = operands.front();
    const float* const b = operands.back();
    return measure("", kMilliseconds,
                   [&] {
                     parallel_for(n, kPiece, threads, [&](int64_t begin, int64_t end) {
                       loop.run(out.words.get() + begin, a + begin, b + begin, end - begin);
                     });
                   })
        .ns;
  }
  return {};
}

double multiply_add_peak(int threads) {
  constexpr int64_t kRounds = 100000;
  const Loops& loop = loops();
  std::atomic<float> sink{0};
  const double ns = measure("", kMilliseconds, [&] {
                      parallel_for(threads, 1, threads, [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) sink.store(loop.multiply_add(kRounds), std::memory_order_relaxed);
                      });
                    }).ns;
  return 2.0 * double(kRounds) * double(loop.per_round) * threads / ns;
}

}  // namespace tandem::bench
