#include "runtime/guarded_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/launch.h"

namespace tandem::runtime {
namespace {

constexpr size_t kGuard = 512;  // both allocators align to divisors of it
constexpr unsigned char kPattern = 0xC7;
constexpr int kOff = -1;

constinit std::atomic<int> poison_byte{kOff};
constinit std::atomic<int64_t> changed_guards{0};

struct Record {
  Device device;
  Allocation allocation;
  size_t bytes;  // all of them
};

/// Copies between host memory and the block, and waits.
void copy_to_host(void* to, const char* from, size_t bytes, Device device) {
  copy_bytes(to, Device(), false, from, device, false, bytes, false, "guard", Site::here());
}

bool intact(const Record& record) {
  const auto* first = static_cast<const char*>(record.allocation.data);
  std::vector<unsigned char> guards(2 * kGuard);
  copy_to_host(guards.data(), first, kGuard, record.device);
  copy_to_host(guards.data() + kGuard, first + record.bytes - kGuard, kGuard, record.device);
  return std::all_of(guards.begin(), guards.end(), [](unsigned char byte) { return byte == kPattern; });
}

}  // namespace

GuardedMemory::GuardedMemory(unsigned char poison) : before_(changed_guards.load()) { poison_byte.store(poison); }
GuardedMemory::~GuardedMemory() { poison_byte.store(kOff); }
int64_t GuardedMemory::overruns() const { return changed_guards.load() - before_; }

bool memory_is_guarded() noexcept { return poison_byte.load(std::memory_order_relaxed) != kOff; }

GuardedBlock allocate_guarded(Device device, size_t bytes, Site site) {
  if (bytes > SIZE_MAX / 4) return {device.is_cuda() ? allocate_device(device, bytes, site).data : allocate_host(bytes)};  // refused there
  const size_t all = bytes + 2 * kGuard;
  const Allocation allocation = device.is_cuda() ? allocate_device(device, all, site) : Allocation{allocate_host(all), nullptr};
  std::vector<unsigned char> content(all, kPattern);
  std::fill_n(content.begin() + kGuard, bytes, static_cast<unsigned char>(poison_byte.load()));
  copy_bytes(allocation.data, device, false, content.data(), Device(), false, all, false, "guard", site);
  return {static_cast<char*>(allocation.data) + kGuard, allocation.block, new Record{device, allocation, all}};
}

void free_guarded(void* record) noexcept {
  auto* const guarded = static_cast<Record*>(record);
  try {
    if (!intact(*guarded)) changed_guards.fetch_add(1);
  } catch (...) {  // the stream has an error of its own, which its next synchronisation throws
  }
  if (guarded->device.is_cuda()) free_device(guarded->device, guarded->allocation);
  else free_host(guarded->allocation.data, guarded->bytes);
  delete guarded;
}

}  // namespace tandem::runtime
