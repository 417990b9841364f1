#include "waits.h"

#include "base/wait_hook.h"
#include "errors.h"

namespace tandem::python {
namespace {

/// Lets go of the interpreter's lock, where this thread has it.
void* begin() { return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
void end(void* state) {
  if (state) locked_by([state] { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
}
/// KeyboardInterrupt, and what other handlers of signals raise, ends the wait.
void check() {
  if (!may_lock()) return;
  const WithLock lock;
  if (PyErr_CheckSignals() != 0) throw_set();
}

}  // namespace

void hook_waits() {
  static constexpr tandem::detail::WaitHook hook{begin, end, check};
  tandem::detail::wait_hook.store(&hook, std::memory_order_release);
}

}  // namespace tandem::python
