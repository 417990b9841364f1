#include "train/interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>

namespace tandem::train {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// A handler may touch nothing else.
volatile std::sig_atomic_t requested_signal = 0;
std::string answer_text;  // written before the handlers are there, and read by them only

// Several runs may train at once: the first installs the handlers, the last takes them away.
std::mutex mutex;
int alive = 0;
struct sigaction before[2];

void note(int signal) {
  requested_signal = signal;
  const int before_writing = errno;
  (void)!write(STDERR_FILENO, answer_text.data(), answer_text.size());
  errno = before_writing;
  struct sigaction ordinary = {};
  ordinary.sa_handler = SIG_DFL;
  sigaction(signal, &ordinary, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::string answer) {
  const std::lock_guard lock(mutex);
  if (alive++ > 0) return;
  requested_signal = 0;
  answer_text = std::move(answer);
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 2; ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // Who started the program so that a signal does nothing (nohup, a shell's background) is left alone.
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  const std::lock_guard lock(mutex);
  if (--alive > 0) return;
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before[i], nullptr);
}

bool Interrupt::requested() const { return requested_signal != 0; }

}  // namespace tandem::train
