// Numbers in memory that processes share: Value and Array.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "process/codec.h"
#include "runtime/shared_memory.h"

namespace tandem::multiprocessing {

/// What an atomic value may be: a number of up to eight bytes.
template <class T>
concept Number = std::is_arithmetic_v<T> && sizeof(T) <= 8;

namespace detail {
/// Memory for `count` numbers of `size` bytes. Error for negative counts, and those of shared memory.
[[nodiscard]] std::shared_ptr<runtime::SharedMemory> numbers(int64_t count, size_t size);
/// What was put as a count and memory, which must be large enough.
[[nodiscard]] std::pair<std::shared_ptr<runtime::SharedMemory>, int64_t> take_numbers(Received& received, size_t size);
}  // namespace detail

/// A number that processes share. Copies are the same number. Each call is atomic. As multiprocessing.Value.
template <Number T>
class Value {
 public:
  explicit Value(T value = T{}) : memory_(detail::numbers(1, sizeof(T))) { store(value); }

  /// The value now.
  [[nodiscard]] T load() const { return number().load(); }
  /// Puts another value in its place.
  void store(T value) const { number().store(value); }
  /// Adds, and gives what was there before.
  T fetch_add(T more) const requires(!std::same_as<T, bool>) { return number().fetch_add(more); }
  /// Puts `value` in its place where it is `expected`; whether it was.
  bool compare_exchange(T expected, T value) const { return number().compare_exchange_strong(expected, value); }

 private:
  friend struct Codec<Value>;
  explicit Value(std::shared_ptr<runtime::SharedMemory> memory) : memory_(std::move(memory)) {}
  [[nodiscard]] std::atomic_ref<T> number() const { return std::atomic_ref<T>(*reinterpret_cast<T*>(memory_->data())); }
  std::shared_ptr<runtime::SharedMemory> memory_;
};

/// Numbers that processes share, zeros to begin with. Copies are the same array. Nothing is atomic: a Lock is for what several change. As
/// multiprocessing.Array.
template <Number T>
class Array {
 public:
  explicit Array(int64_t size) : memory_(detail::numbers(size, sizeof(T))), size_(size) {}

  [[nodiscard]] int64_t size() const { return size_; }
  /// Not checked, as that of std::span.
  [[nodiscard]] T& operator[](int64_t i) const { return data()[i]; }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_->data()); }
  [[nodiscard]] T* begin() const { return data(); }
  [[nodiscard]] T* end() const { return data() + size_; }

 private:
  friend struct Codec<Array>;
  Array(std::shared_ptr<runtime::SharedMemory> memory, int64_t size) : memory_(std::move(memory)), size_(size) {}
  std::shared_ptr<runtime::SharedMemory> memory_;
  int64_t size_;
};

template <class T>
struct Codec<Value<T>> {
  static void put(detail::Parcel& parcel, const Value<T>& value) {
    parcel.put<int64_t>(1);
    parcel.put_memory(value.memory_);
  }
  static Value<T> take(detail::Received& received) { return Value<T>(detail::take_numbers(received, sizeof(T)).first); }
};
template <class T>
struct Codec<Array<T>> {
  static void put(detail::Parcel& parcel, const Array<T>& value) {
    parcel.put<int64_t>(value.size_);
    parcel.put_memory(value.memory_);
  }
  static Array<T> take(detail::Received& received) {
    auto [memory, size] = detail::take_numbers(received, sizeof(T));
    return Array<T>(std::move(memory), size);
  }
};

}  // namespace tandem::multiprocessing
