// The one hierarchy of errors, and `fail`, which joins the parts of a message.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace tandem {

/// What every error of the library is. `what()` is one clear line: the operation, the values, what to do.
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// An index outside its range.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// The device's memory is used up. Catch it, let go of tensors, and try again.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// An operation that the device or the dtype does not have yet.
class NotImplementedError : public Error {
 public:
  using Error::Error;
};

// The parts of a message. A type of one's own takes part by an `append_text` beside it.
inline void append_text(std::string& out, std::string_view part) { out += part; }
inline void append_text(std::string& out, const char* part) { out += part; }
inline void append_text(std::string& out, const std::string& part) { out += part; }
inline void append_text(std::string& out, char part) { out += part; }
inline void append_text(std::string& out, int part) { out += std::to_string(part); }
inline void append_text(std::string& out, long part) { out += std::to_string(part); }
inline void append_text(std::string& out, long long part) { out += std::to_string(part); }
inline void append_text(std::string& out, unsigned part) { out += std::to_string(part); }
inline void append_text(std::string& out, unsigned long part) { out += std::to_string(part); }
inline void append_text(std::string& out, unsigned long long part) { out += std::to_string(part); }
void append_text(std::string& out, double part);  // shortest form that reads back: 0.5, 1e-05

/// The parts, one after another, as text.
template <class... Parts>
[[nodiscard]] std::string str(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

/// Throws `E` with the parts joined.
template <class E = Error, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw E(str(parts...));
}

}  // namespace tandem
