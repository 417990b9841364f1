// The process's one thread pool. A kernel shares out its work with `parallel_for`; results never depend on how many threads help.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tandem {

/// How many threads the whole process computes with: the affinity mask, the cgroup's quota and the local ranks decide; TANDEM_NUM_THREADS
/// overrides.
[[nodiscard]] int get_num_threads();
/// Changes that number (at least one). As torch.set_num_threads.
void set_num_threads(int count);

namespace detail {
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);
void parallel_for(int64_t count, int64_t grain, int width, RangeFunction function, void* context);
}  // namespace detail

/// Calls `f(begin, end)` over [0, count) in pieces of `grain` (the last may be shorter), on up to `width` threads, the caller among them.
/// Where one piece covers all or width is 1, the calling thread does it alone, in order of pieces. `f` must not throw.
template <class F>
void parallel_for(int64_t count, int64_t grain, int width, F&& f) {
  if (count <= 0) return;
  if (width <= 1 || count <= grain) {
    for (int64_t begin = 0; begin < count; begin += grain) f(begin, begin + grain < count ? begin + grain : count);
    return;
  }
  using Plain = std::remove_reference_t<F>;
  detail::parallel_for(
      count, grain, width, [](void* context, int64_t begin, int64_t end) { (*static_cast<Plain*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace tandem
