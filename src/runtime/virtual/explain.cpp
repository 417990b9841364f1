// The handler of SIGSEGV. It only reads what was set up before and calls write; then the fault takes its course.
#include "runtime/virtual/explain.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "runtime/allocator.h"
#include "runtime/stream_record.h"

namespace tandem::runtime::virtual_gpu {
namespace {

struct Region {
  int device;
  uintptr_t user, kernels;
  size_t span;
};
Region regions[kMaxDevices];
std::atomic<int> region_count{0};
struct sigaction before;

void explain(uintptr_t address) {
  const int count = region_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Region& region = regions[i];
    if (address < region.user || address - region.user >= region.span) continue;
    char block[300];
    if (!describe_block(region.device, reinterpret_cast<void*>(region.kernels + (address - region.user)), block, sizeof block))
      std::snprintf(block, sizeof block, "nothing that is allocated now");
    char text[600];
    const int length =
        std::snprintf(text, sizeof text,
                      "tandem: the host touched address %p, which is memory of cuda:%d (virtual): %s. Only kernels can use it; copy the "
                      "tensor to the host first, with .cpu(), and take the copy's address.\n",
                      reinterpret_cast<void*>(address), region.device, block);
    if (length > 0 &&
        write(STDERR_FILENO, text, static_cast<size_t>(length) < sizeof text ? static_cast<size_t>(length) : sizeof text - 1) < 0)
      return;
    return;
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  explain(reinterpret_cast<uintptr_t>(info->si_addr));
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // Back at the faulting instruction, which now ends the program as it would have without us.
    std::signal(signal, SIG_DFL);
  }
}

}  // namespace

void explain_faults(int device, uintptr_t user_base, uintptr_t kernels_base, size_t span, bool before_others) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const int count = region_count.load();
  if (count == kMaxDevices) return;
  regions[count] = {device, user_base, kernels_base, span};
  region_count.store(count + 1, std::memory_order_release);
  if (count > 0) return;
  sigaction(SIGSEGV, nullptr, &before);
  const bool is_free = !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL;
  if (!is_free && !before_others) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace tandem::runtime::virtual_gpu
