// A copy takes as long as its bytes take on the link, or as memcpy takes where that is longer.
#include "runtime/virtual/copy.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace tandem::runtime::virtual_gpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kStagingBytes = size_t{1} << 20;

// Sleeps in steps, so that the end of the program need not wait for a slow link.
void wait_until(Clock::time_point deadline, const std::atomic<bool>& stopping) {
  for (;;) {
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero() || stopping.load(std::memory_order_relaxed)) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(20)));
  }
}

}  // namespace

CopyEngines::CopyEngines(Machine& machine, int devices) : machine_(machine) {
  for (int i = 0; i < devices; ++i) engines_.push_back(std::make_unique<Engines>());
}

void CopyEngines::transfer(std::mutex& engine, void* to, const void* from, size_t bytes, bool first) {
  const std::lock_guard lock(engine);
  const Options& options = machine_.options;
  const auto began = Clock::now();
  std::memmove(to, from, bytes);
  int64_t nanoseconds = first ? options.latency_ns : 0;
  if (options.link > 0) nanoseconds += static_cast<int64_t>(static_cast<double>(bytes) / options.link * 1e9);
  if (nanoseconds > 0) wait_until(began + std::chrono::nanoseconds(nanoseconds), machine_.stopping);
}

void CopyEngines::copy(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  const auto engines = [&](int device) -> Engines& { return *engines_[static_cast<size_t>(device)]; };
  if (to_device == from_device) {  // within the GPU: no link
    std::memmove(to, from, bytes);
  } else if (from_device < 0) {
    transfer(engines(to_device).from_host, to, from, bytes, true);
  } else if (to_device < 0) {
    transfer(engines(from_device).to_host, to, from, bytes, true);
  } else if (machine_.options.peer) {
    transfer(engines(from_device).to_peer, to, from, bytes, true);
  } else {
    // Through the host, a piece at a time: over the link twice.
    const auto staging = std::make_unique_for_overwrite<std::byte[]>(std::min(bytes, kStagingBytes));
    for (size_t done = 0; done < bytes || done == 0; done += kStagingBytes) {
      const size_t piece = std::min(bytes - done, kStagingBytes);
      transfer(engines(from_device).to_host, staging.get(), static_cast<const char*>(from) + done, piece, done == 0);
      transfer(engines(to_device).from_host, static_cast<char*>(to) + done, staging.get(), piece, done == 0);
    }
  }
}

}  // namespace tandem::runtime::virtual_gpu
