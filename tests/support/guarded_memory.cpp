#include "support/guarded_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/launch.h"

namespace tandem::testing {
namespace {

using runtime::Allocation;

constexpr size_t kGuard = 512;  // both allocators align to divisors of it
constexpr unsigned char kPattern = 0xC7;

std::atomic<unsigned char> poison_byte{0};
std::atomic<int64_t> changed_guards{0};

struct Record {
  Device device;
  Allocation allocation;
  size_t bytes;  // all of them
};

/// Copies between host memory and the block, and waits.
void copy_to_host(void* to, const char* from, size_t bytes, Device device) {
  runtime::copy_bytes(to, Device(), false, from, device, false, bytes, false, "guard", Site::here());
}

bool intact(const Record& record) {
  const auto* first = static_cast<const char*>(record.allocation.data);
  std::vector<unsigned char> guards(2 * kGuard);
  copy_to_host(guards.data(), first, kGuard, record.device);
  copy_to_host(guards.data() + kGuard, first + record.bytes - kGuard, kGuard, record.device);
  return std::all_of(guards.begin(), guards.end(), [](unsigned char byte) { return byte == kPattern; });
}

Allocation allocate_guarded(Device device, size_t bytes, Site site, void*& record) {
  const size_t all = bytes > SIZE_MAX / 4 ? bytes : bytes + 2 * kGuard;  // the former are refused
  const Allocation allocation = device.is_cuda() ? runtime::allocate_device(device, all, site) : Allocation{runtime::allocate_host(all)};
  std::vector<unsigned char> content(all, kPattern);
  std::fill_n(content.begin() + kGuard, bytes, poison_byte.load());
  runtime::copy_bytes(allocation.data, device, false, content.data(), Device(), false, all, false, "guard", site);
  record = new Record{device, allocation, all};
  return {static_cast<char*>(allocation.data) + kGuard, allocation.block};
}

/// Looks at the guard bytes, then gives the memory back.
void free_guarded(void* record) {
  auto* const guarded = static_cast<Record*>(record);
  try {
    if (!intact(*guarded)) changed_guards.fetch_add(1);
  } catch (...) {  // the stream has an error of its own, which its next synchronisation throws
  }
  if (guarded->device.is_cuda()) runtime::free_device(guarded->device, guarded->allocation);
  else runtime::free_host(guarded->allocation.data, guarded->bytes);
  delete guarded;
}

constexpr runtime::MemorySource kSource{allocate_guarded, free_guarded};

}  // namespace

GuardedMemory::GuardedMemory(unsigned char poison) : before_(changed_guards.load()) {
  poison_byte.store(poison);
  runtime::memory_source.store(&kSource);
}
GuardedMemory::~GuardedMemory() { runtime::memory_source.store(nullptr); }
int64_t GuardedMemory::overruns() const { return changed_guards.load() - before_; }

}  // namespace tandem::testing
