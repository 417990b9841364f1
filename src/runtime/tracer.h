// A thread that notes what operations on the CPU would do, and does not do it: how td::compile learns a module's kernels. For the library.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace tandem::kernels {
struct Table;
}

namespace tandem::runtime {

/// Is asked in place of the kernels and of the memory of the host by the thread that it was set for.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// The kernels that operations on the CPU call: they note the call.
  [[nodiscard]] virtual const kernels::Table& kernels() = 0;
  /// Memory for a storage of the host; `free` may be called by any thread, also when the tracer has gone.
  struct Memory {
    void* data;
    void (*free)(void* record);
    void* record;
    bool reusable = false;  // a result may be written over a temporary that lies there
  };
  [[nodiscard]] virtual Memory allocate(size_t bytes) = 0;
  /// The host has written values into the memory at `data`.
  virtual void wrote(const void* data) = 0;
  /// `op` needs values, which are not known now, or does what cannot be noted: throws Untraceable.
  [[noreturn]] virtual void refuse(std::string_view op) = 0;
};

/// What ends a trace. No Error: nobody but the tracer is to catch it.
struct Untraceable {};

namespace detail {
extern constinit std::atomic<int> tracers;
[[nodiscard]] Tracer* tracer_of_thread() noexcept;
}  // namespace detail

/// The calling thread's tracer, nullptr where it has none.
[[nodiscard]] inline Tracer* tracer() {
  return detail::tracers.load(std::memory_order_relaxed) == 0 ? nullptr : detail::tracer_of_thread();
}
/// Ends the calling thread's trace, where there is one: `op` cannot be a part of it.
inline void refuse_trace(const char* op) {
  if (Tracer* const now = tracer()) [[unlikely]]
    now->refuse(op);
}

/// Sets the calling thread's tracer until the end of the scope; nullptr for none.
class TracerGuard {
 public:
  explicit TracerGuard(Tracer* now);
  ~TracerGuard();
  TracerGuard(const TracerGuard&) = delete;
  TracerGuard& operator=(const TracerGuard&) = delete;

 private:
  Tracer* before_;
};

}  // namespace tandem::runtime
