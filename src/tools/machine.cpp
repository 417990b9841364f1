#include "tools/machine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "base/parallel.h"
#include "kernels/cpu/isa/isa.h"
#include "tools/loops/loops.h"
#include "tools/measure.h"

namespace tandem::tools {

// TD_FOR_EACH_ISA(X) is X(set) for each set that is built: cmake/program.cmake defines it.
#define TD_DECLARE(set)      \
  namespace set {            \
  extern const Loops kLoops; \
  }
TD_FOR_EACH_ISA(TD_DECLARE)
#undef TD_DECLARE

const Loops& loops() {
#define TD_FIND(set) \
  if (std::strcmp(kernels::cpu::isa().name, #set) == 0) return set::kLoops;
  TD_FOR_EACH_ISA(TD_FIND)
#undef TD_FIND
  return baseline::kLoops;
}

namespace {

constexpr double kMilliseconds = 60;
constexpr int64_t kGrain = int64_t{1} << 16;  // words a piece

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

}  // namespace tandem::tools
