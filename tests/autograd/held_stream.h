// A stream of a virtual GPU that does nothing for a while, so that whoever does not wait for it reads too early.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "runtime/driver.h"
#include "runtime/stream_record.h"
#include "runtime/virtual/stream.h"
#include "tandem.h"

/// Holds `stream` up until the end of the scope, and then for as long as `other` may need to run ahead.
class HeldStream {
 public:
  HeldStream(const tandem::cuda::Stream& stream, const tandem::cuda::Stream& other) : other_(other) {
    const auto queue = tandem::runtime::require_driver().queue(stream.record()->handle, "hold", tandem::Site::here());
    tandem::runtime::virtual_gpu::enqueue(queue, [end = end_.get_future().share()](const tandem::Queue&) { end.wait(); });
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;
  ~HeldStream() {
    const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (!other_.query() && std::chrono::steady_clock::now() < enough) std::this_thread::yield();
    end_.set_value();
  }

 private:
  tandem::cuda::Stream other_;
  std::promise<void> end_;
};

/// Tests that hold streams: of virtual GPUs only.
class HoldsStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (tandem::cuda::device_count() > 0 && !tandem::runtime::devices_are_virtual()) GTEST_SKIP() << "a real GPU's streams cannot be held";
  }
};
