// Virtual GPUs of a test's own, apart from those of the process. Takes over the delay seed of TANDEM_VIRTUAL_GPUS, so that one run of all
// tests with another seed shakes these too.
#pragma once

#include <atomic>
#include <future>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "runtime/virtual/driver.h"

namespace tandem::testing {

namespace virtual_gpu = runtime::virtual_gpu;
using runtime::EventHandle;
using runtime::StreamHandle;
using virtual_gpu::Range;

inline virtual_gpu::Options options(std::string_view text) {
  virtual_gpu::Options options = virtual_gpu::parse_options(text, "test");
  if (const auto all = environment("TANDEM_VIRTUAL_GPUS"); all && !options.delay_seed)
    options.delay_seed = virtual_gpu::parse_options(*all, "TANDEM_VIRTUAL_GPUS").delay_seed;
  return options;
}

inline std::vector<int> indices(int count) {
  std::vector<int> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct VirtualGpus {
  explicit VirtualGpus(std::string_view text = "2x64MiB") : driver(options(text), indices(options(text).count)) {}
  virtual_gpu::VirtualDriver driver;

  StreamHandle stream(int device = 0) { return driver.create_stream(device, 0); }
  template <class Closure>
  void run(StreamHandle stream, Closure closure, std::vector<Range> writes = {}, std::vector<Range> reads = {}, const char* op = "task",
           Site site = Site::here()) {
    virtual_gpu::enqueue(driver.queue(stream, op, site), std::move(closure), writes, reads);
  }
  void synchronize(StreamHandle stream) { driver.synchronize_stream(stream, Site::here()); }
  /// What synchronising the stream throws, "" for nothing.
  std::string error_of(StreamHandle stream) {
    try {
      synchronize(stream);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }
  void record_and_wait(StreamHandle earlier, StreamHandle later) {
    const EventHandle event = driver.create_event(0, false);
    driver.record_event(event, earlier);
    driver.wait_event(later, event);
    driver.destroy_event(event);  // a queued wait does not need it
  }
};

/// Holds a stream up until opened, at the latest when it goes out of scope.
class Gate {
 public:
  Gate() : future_(promise_.get_future().share()) {}
  ~Gate() { open(); }
  void open() {
    if (!opened_.exchange(true)) promise_.set_value();
  }
  auto task() const {
    return [future = future_](const Queue&) { future.wait(); };
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_;
  std::atomic<bool> opened_{false};
};

}  // namespace tandem::testing
