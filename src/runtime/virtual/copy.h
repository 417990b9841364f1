// Copies of virtual GPUs: the copy engines they occupy and the links they travel, whose speed and latency are simulated by waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/virtual/stream.h"

namespace tandem::runtime::virtual_gpu {

/// Every GPU has one engine for each direction to and from the host, and one towards other GPUs. A stream's thread moves the bytes while
/// it holds the engines that the copy needs; kernels on other streams go on.
class CopyEngines {
 public:
  CopyEngines(Machine& machine, int devices);
  CopyEngines(const CopyEngines&) = delete;
  CopyEngines& operator=(const CopyEngines&) = delete;

  /// Moves the bytes, on the calling thread. Device -1 is the host.
  void copy(void* to, int to_device, const void* from, int from_device, size_t bytes);

 private:
  struct Engines {
    std::mutex from_host, to_host, to_peer;
  };
  void transfer(std::mutex& engine, void* to, const void* from, size_t bytes, bool first);
  Machine& machine_;
  std::vector<std::unique_ptr<Engines>> engines_;
};

}  // namespace tandem::runtime::virtual_gpu
