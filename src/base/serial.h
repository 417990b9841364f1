// A thread that takes no help.
#pragma once

namespace tandem::detail {

/// The calling thread computes alone until the end of the scope (`parallel_for` runs on it): for threads that work beside those that the
/// cores belong to.
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool before_;
};

}  // namespace tandem::detail
