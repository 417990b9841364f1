// A scope in which the calling thread computes without the pool.
#pragma once

namespace tandem::detail {

/// `parallel_for` runs on the calling thread alone until the end of the scope: for helpers, such as the threads that read a loader's
/// batches ahead, which would take the pool's cores from the threads that train.
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
