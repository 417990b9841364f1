#include "base/thread.h"

#include <pthread.h>
#include <signal.h>

#include <string>
#include <utility>

namespace tandem::detail {

WithoutSignals::WithoutSignals() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

WithoutSignals::~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::thread start_thread(const char* name, std::function<void()> work) {
  const WithoutSignals quiet;
  std::thread thread(std::move(work));
  pthread_setname_np(thread.native_handle(), std::string(name).substr(0, 15).c_str());
  return thread;
}

}  // namespace tandem::detail
