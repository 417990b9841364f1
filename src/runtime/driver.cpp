// Chooses the GPUs' driver, once, when a GPU is first asked for. Nothing is loaded or started before.
#include "runtime/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "base/fork.h"
#include "runtime/allocators.h"
#include "runtime/beside_library.h"
#include "runtime/observer.h"
#include "runtime/virtual/driver.h"
#include "runtime/virtual/options.h"

namespace tandem::runtime {
namespace {

constexpr const char* kVariable = "TANDEM_VIRTUAL_GPUS";

struct Choice {
  std::mutex mutex;                               // around the choosing
  std::optional<virtual_gpu::Options> asked_for;  // by use_virtual_gpus
  std::optional<std::string> specification;       // the same as it was given
  std::string why;                                // there is no driver
  std::atomic<bool> starting{false}, made{false}, is_virtual{false};
  bool observed = false;  // observe_from_environment was called
};

constinit std::atomic<Driver*> the_driver{nullptr};  // apart, since every kernel call reads it; nullptr in a forked child
constinit std::atomic<Driver*> parents_driver{nullptr};
constinit std::atomic<bool> forked{false};  // from a process that had a driver, or was about to

Choice& choice() {
  static auto* the_choice = new Choice;  // not destroyed: static objects may outlive it otherwise
  return *the_choice;
}

// TANDEM_CUDA_PLUGIN, or the file beside the library.
std::string plugin_path() {
  if (const auto path = environment("TANDEM_CUDA_PLUGIN")) return *path;
  return beside_library("libtandem_cuda.so");
}

void load_plugin(Choice& choice) {
  const std::string path = plugin_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* error = dlerror();
    choice.why = str("the CUDA plug-in cannot be loaded: ", error ? error : path.c_str());
    return;
  }
  // It stays loaded, whatever comes: a CUDA library does not like to go.
  const auto entry = reinterpret_cast<const Plugin* (*)()>(dlsym(library, "tandem_cuda_plugin"));
  const Plugin* plugin = entry ? entry() : nullptr;
  if (!plugin) {
    choice.why = str("the CUDA plug-in ", path, " has no entry tandem_cuda_plugin");
  } else if (plugin->version != kPluginVersion) {
    choice.why = str("the CUDA plug-in ", path, " has version ", plugin->version, ", but this library needs ", kPluginVersion,
                     ": build both together");
  } else if (!plugin->driver) {
    choice.why = str("the CUDA plug-in found no usable GPU: ", plugin->why ? plugin->why : "it does not say why");
  } else {
    the_driver.store(plugin->driver, std::memory_order_release);
  }
}

/// In a forked child.
void leave_to_parent() {
  if (!the_driver.load() && !choice().starting.load()) return;  // there is none, or this is a child's child
  parents_driver.store(the_driver.exchange(nullptr));
  forked.store(true);
  detail::leave_device_memory();
}

void choose(Choice& choice) {
  const std::lock_guard lock(choice.mutex);
  if (choice.made.load()) return;
  static const int watched = tandem::detail::in_forked_children(leave_to_parent);
  (void)watched;
  if (!std::exchange(choice.observed, true)) observe_from_environment();
  struct Starting {
    std::atomic<bool>& flag;
    explicit Starting(std::atomic<bool>& f) : flag(f) { flag.store(true); }
    ~Starting() { flag.store(false); }
  } const starting(choice.starting);
  std::optional<virtual_gpu::Options> options = choice.asked_for;
  if (!options) {
    if (const auto text = environment(kVariable)) options = virtual_gpu::parse_options(*text, kVariable);
  }
  if (options) {
    Driver* driver = virtual_gpu::start_driver(*options);
    choice.is_virtual.store(true);
    the_driver.store(driver, std::memory_order_release);
  } else {
    load_plugin(choice);
  }
  choice.made.store(true, std::memory_order_release);
}

}  // namespace

cuda::DeviceFigures Driver::figures(int device) const {
  cuda::DeviceFigures figures;
  const auto [free, total] = memory_info(device);
  figures.memory_used = total - free;
  figures.processes.emplace();
  if (figures.memory_used > 0) figures.processes->push_back({getpid(), figures.memory_used});
  return figures;
}

void Driver::copy_to_host(void* to, const void* from, int from_device, size_t bytes, StreamHandle stream, const char* op, Site site) {
  copy(to, -1, from, from_device, bytes, stream, op, site);
  synchronize_stream(stream, site);
}

Driver* driver() {
  if (Driver* driver = the_driver.load(std::memory_order_acquire)) return driver;
  if (forked.load()) return parents_driver.load();
  if (!choice().made.load(std::memory_order_acquire)) choose(choice());
  return the_driver.load(std::memory_order_acquire);
}

void refuse_forked() {
  if (forked.load(std::memory_order_relaxed))
    fail("cuda devices cannot be used in a process that was forked from one that used them: start the process anew (fork and exec, ",
         "posix_spawn), or fork before the first use of a cuda device");
}

Driver* own_driver() noexcept { return the_driver.load(std::memory_order_acquire); }

size_t Driver::wait_for_any(std::span<const EventHandle> events, Site site) {
  constexpr auto kLongestPause = std::chrono::milliseconds(1);
  for (auto pause = std::chrono::microseconds(1);; pause = std::min<std::chrono::microseconds>(2 * pause, kLongestPause)) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (!query_event(events[i])) continue;
      synchronize_event(events[i], site);  // what its work has thrown
      return i;
    }
    std::this_thread::sleep_for(pause);
  }
}

Driver& require_driver() {
  if (Driver* own = own_driver()) return *own;
  refuse_forked();
  if (Driver* found = driver()) return *found;
  fail("no cuda device can be used: ", choice().why, "; set ", kVariable, "=2 for two virtual GPUs made of this machine's cores");
}

bool devices_are_virtual() { return driver() != nullptr && choice().is_virtual.load(); }

std::optional<std::string> virtual_gpus_asked_for() {
  const std::lock_guard lock(choice().mutex);
  return choice().specification;
}

}  // namespace tandem::runtime

namespace tandem::cuda {

void use_virtual_gpus(std::string_view specification, Site /*site*/) {
  runtime::refuse_forked();
  const auto options = runtime::virtual_gpu::parse_options(specification, "[use_virtual_gpus] specification");
  runtime::Choice& choice = runtime::choice();
  const std::lock_guard lock(choice.mutex);
  if (runtime::own_driver()) fail("[use_virtual_gpus] GPUs are in use already: call it before the first use of a GPU");
  choice.made.store(false);  // where none was found, they are looked for again
  choice.asked_for = options;
  choice.specification = std::string(specification);
}

}  // namespace tandem::cuda
