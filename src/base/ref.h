// A counted reference to an object that counts itself: one word, one atomic step a copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tandem {

/// Base of objects held by `Ref`. Starts with no holder.
template <class Derived>
class Counted {
 public:
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // A sole holder needs no atomic decrement: nobody else can reach the object.
    if (count_.load(std::memory_order_acquire) == 1 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      static_cast<const Derived*>(this)->destroy();
  }
  [[nodiscard]] int64_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  Counted() = default;
  ~Counted() = default;
  Counted(const Counted&) {}
  Counted& operator=(const Counted&) { return *this; }

 private:
  mutable std::atomic<int32_t> count_{0};
};

/// A counted reference. `T` has retain() and release().
template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  constexpr Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& other) noexcept : Ref(static_cast<T*>(other.get())) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }

  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }
  /// Gives the object up without releasing it; the caller takes over the count.
  [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace tandem
