// The one hierarchy of errors, and `fail`, which joins the parts of a message.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/site.h"

namespace tandem {

namespace detail {
struct ErrorPlace;
}

/// The languages whose words a message can have.
enum class Language { Cpp, Python };

/// What to do about an error: the last part of its message, in the words of Python too where they are others.
struct Hint {
  std::string text, python;
  explicit Hint(std::string both) : text(both), python(std::move(both)) {}
  Hint(std::string cpp, std::string in_python) : text(std::move(cpp)), python(std::move(in_python)) {}
};

/// What every error of the library is.
class Error : public std::exception {
 public:
  /// An error of the user's statement that the calling thread is in.
  explicit Error(std::string message);
  /// The same with what to do about it, which the message ends with.
  Error(std::string message, Hint hint);
  /// The operation, the values, what to do; then, in brackets, the layer and the line, where they are known.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  /// As what(), by libtorch's name.
  [[nodiscard]] const char* what_without_backtrace() const noexcept { return what(); }
  /// The same without the brackets.
  [[nodiscard]] std::string message(Language language = Language::Cpp) const;
  /// The part of the message that says what to do; empty where it is not told apart.
  [[nodiscard]] std::string hint(Language language = Language::Cpp) const;
  /// The user's line that made the call; of queued work, the line that queued it. File "" and line 0 where it is not known. A statement of
  /// several lines gives one of them.
  [[nodiscard]] Site where() const { return where_; }
  /// The innermost module that was being called, by its path in the outermost one: "net.1.fc2: Linear(in_features=8, out_features=9,
  /// bias=True)". Empty outside of modules.
  [[nodiscard]] const std::string& layer() const { return layer_; }

 private:
  friend struct detail::ErrorPlace;

  size_t message_size_, hint_size_ = 0;
  std::string text_;  // as what() gives it
  Site where_;
  bool message_has_line_ = false;
  std::string layer_;
  bool layer_has_path_ = false;
  const void* module_ = nullptr;  // the outermost one that layer_ knows of
  std::string python_hint_;
};

/// An index outside its range.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// An argument of the right type whose value cannot be.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// An argument of a type that cannot be.
class TypeError : public Error {
 public:
  using Error::Error;
};

/// A matrix that an algorithm cannot do: singular where it must not be, or not positive definite. As torch.linalg.LinAlgError.
class LinAlgError : public Error {
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

inline void append_text(std::string&, const Hint&) {}  // told apart: see `fail`

namespace detail {
inline const Hint& hint_of(const Hint& last) { return last; }
template <class First, class... Rest>
const Hint& hint_of(const First&, const Rest&... rest) {
  return hint_of(rest...);
}
}  // namespace detail

/// Throws `E` with the parts joined. The last one may be a `Hint`.
template <class E = Error, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  if constexpr ((std::is_same_v<Parts, Hint> || ...)) throw E(str(parts...), detail::hint_of(parts...));
  else throw E(str(parts...));
}

}  // namespace tandem
