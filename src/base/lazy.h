// A part that few owners need.
#pragma once

#include <atomic>
#include <memory>

namespace tandem::detail {

/// Made when first asked for, by whichever thread, and destroyed with its owner. One word.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;
  ~Lazy() { delete object_.load(std::memory_order_relaxed); }

  /// nullptr where nobody has made it.
  [[nodiscard]] T* get() const { return object_.load(std::memory_order_acquire); }
  T& make() {
    if (T* made = get()) return *made;
    auto fresh = std::make_unique<T>();
    T* made = nullptr;
    if (object_.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) made = fresh.release();
    return *made;
  }

 private:
  std::atomic<T*> object_{nullptr};
};

}  // namespace tandem::detail
