#include "runtime/tracer.h"

#include <utility>

namespace tandem::runtime {
namespace {

thread_local Tracer* current = nullptr;

}  // namespace

constinit std::atomic<int> detail::tracers{0};

Tracer* detail::tracer_of_thread() noexcept { return current; }

TracerGuard::TracerGuard(Tracer* now) : before_(std::exchange(current, now)) { detail::tracers.fetch_add(1, std::memory_order_relaxed); }

TracerGuard::~TracerGuard() {
  current = before_;
  detail::tracers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tandem::runtime
