// A file descriptor with one owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace tandem {

/// Closes its file descriptor when it ends; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  /// The number; -1 where there is none.
  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// The number, whose owner is the caller now.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  /// Closes it now.
  void reset() {
    if (const int number = std::exchange(number_, -1); number >= 0) ::close(number);
  }

 private:
  int number_ = -1;
};

}  // namespace tandem
