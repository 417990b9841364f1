// Ctrl-C while a model trains: asked for politely, so that the run can save itself.
#pragma once

#include <string>

namespace tandem::train {

/// While one of these lives, the first SIGINT or SIGTERM is noted instead of ending the process; the second ends it as ever. What handled
/// the signals before does so again afterwards.
class Interrupt {
 public:
  /// `answer` is written to stderr as soon as the signal comes.
  explicit Interrupt(std::string answer = "");
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  /// Whether the signal has come since this was made.
  [[nodiscard]] bool requested() const;
};

}  // namespace tandem::train
