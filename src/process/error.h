// What goes wrong between processes.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace tandem::multiprocessing {

/// A process ended before its work was done: its function threw, a signal killed it, or it exited with a code other than 0.
class ProcessError : public Error {
 public:
  ProcessError(std::string message, int exitcode = 0, std::string type = {}, std::string text = {})
      : Error(std::move(message)), exitcode_(exitcode), type_(std::move(type)), text_(std::move(text)) {}

  /// As Process::exitcode.
  [[nodiscard]] int exitcode() const noexcept { return exitcode_; }
  /// The type of what its function threw, such as "std::runtime_error"; empty where it did not end by an exception.
  [[nodiscard]] const std::string& type() const noexcept { return type_; }
  /// The text of what its function threw.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  int exitcode_;
  std::string type_, text_;
};

/// Nothing came out of a queue in time. As queue.Empty.
class Empty : public Error {
 public:
  using Error::Error;
};

/// There was no room in a queue in time. As queue.Full.
class Full : public Error {
 public:
  using Error::Error;
};

/// The other end of a connection is closed, and everything that was sent has been received. As EOFError.
class ConnectionClosed : public Error {
 public:
  using Error::Error;
};

/// A barrier that not everybody will reach. As threading.BrokenBarrierError.
class BrokenBarrier : public Error {
 public:
  using Error::Error;
};

}  // namespace tandem::multiprocessing
