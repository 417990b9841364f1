// Where functions are looked up: the linker turns this library's calls of dlsym into calls of __wrap_dlsym (--wrap=dlsym).
#include "kernels/cuda/walked/emulated/library.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>

extern "C" void* __real_dlsym(void* library, const char* name);

extern "C" void* __wrap_dlsym(void* library, const char* name) {
  namespace emulated = tandem::kernels::cuda::emulated;
  if (void* const found = emulated::cublaslt_stand_in(library, name)) return found;
  if (void* const found = emulated::cudnn_stand_in(library, name)) return found;
  void* const own = __real_dlsym(library, name);
  if (!own) return nullptr;  // a function that the library lacks is missing
  if (void* const found = emulated::cudnn_rnn_stand_in(name)) return found;
  void* const ours = emulated::cusolver_stand_in(name);
  return ours ? ours : own;
}

namespace tandem::kernels::cuda::emulated {

Calls& calls() {
  static Calls counted;
  return counted;
}

namespace {
std::mutex failing_mutex;
std::string failing;
std::mutex held_mutex;
std::condition_variable released;
bool held = false;
}  // namespace

void fail_next(const char* function) {
  const std::lock_guard lock(failing_mutex);
  failing = function;
}

bool fails(std::string_view function) {
  const std::lock_guard lock(failing_mutex);
  if (failing != function) return false;
  failing.clear();
  return true;
}

void hold_plans(bool hold) {
  const std::lock_guard lock(held_mutex);
  held = hold;
  released.notify_all();
}

void wait_while_held() {
  std::unique_lock lock(held_mutex);
  ++calls().held;
  released.wait(lock, [] { return !held; });
  --calls().held;
}

void* stand_in(std::span<const StandIn> all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &StandIn::name);
  return found == all.end() ? nullptr : found->function;
}

void* own_function(void* library, const char* name) { return __real_dlsym(library, name); }

}  // namespace tandem::kernels::cuda::emulated
