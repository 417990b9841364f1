// Starting the library's threads: named, and without the program's signals.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace tandem::detail {

/// Threads started in this scope leave signals to the program's own threads; a fault still belongs to the thread that makes it.
class WithoutSignals {
 public:
  WithoutSignals();
  ~WithoutSignals();
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

/// A thread of that name (of which the system shows 15 characters). std::system_error where there are no more to be had.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> work);

}  // namespace tandem::detail
