// A scope in which the calling thread computes without the pool.
#pragma once

namespace tandem::detail {

/// `parallel_for` runs on the calling thread alone until the end of the scope: for threads that work beside those that the
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
