// A part that few owners need.
#pragma once

#include <atomic>

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
    T* const fresh = new T();
    T* made = nullptr;
    if (object_.compare_exchange_strong(made, fresh, std::memory_order_acq_rel, std::memory_order_acquire)) return *fresh;
    delete fresh;
    return *made;
  }

 private:
  std::atomic<T*> object_{nullptr};
};

}  // namespace tandem::detail
