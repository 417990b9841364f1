// Checks and messages: TORCH_CHECK and its family, torch::str, libtorch's names of errors.
#pragma once

#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/warning.h"
#include "libtorch/types_warning.h"

namespace torch {

using tandem::Error, tandem::IndexError, tandem::LinAlgError, tandem::NotImplementedError, tandem::OutOfMemoryError, tandem::TypeError,
    tandem::ValueError;

/// The parts one after another, each as a stream writes it.
template <class... Parts>
[[nodiscard]] std::string str(const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 1 && (std::is_convertible_v<const Parts&, std::string> && ...)) return std::string(parts...);
  else {
    std::ostringstream out;
    (out << ... << parts);
    return std::move(out).str();
  }
}

using std::stod, std::stoi, std::stoll, std::stoull, std::to_string;

/// The texts one after another, `between` each two of them.
[[nodiscard]] inline std::string Join(const std::string& between, const std::vector<std::string>& texts) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i) out += (i == 0 ? "" : between) + texts[i];
  return out;
}

namespace detail {
/// What a failed check throws: its message, or the condition where it has none.
template <class E, class... Parts>
[[noreturn]] void check_failed(const char* condition, tandem::Site, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0) throw E("Expected " + std::string(condition) + " to be true, but got false.");
  else throw E(torch::str(parts...));
}
}  // namespace detail
}  // namespace torch

#define TANDEM_CHECK_WITH(E, condition, ...) \
  if (!(condition)) [[unlikely]]             \
  ::torch::detail::check_failed<E>(#condition, ::tandem::Site::here() __VA_OPT__(, ) __VA_ARGS__)

#define TORCH_CHECK(condition, ...) TANDEM_CHECK_WITH(::tandem::Error, condition, __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TANDEM_CHECK_WITH(::tandem::IndexError, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TANDEM_CHECK_WITH(::tandem::ValueError, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TANDEM_CHECK_WITH(::tandem::TypeError, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) TANDEM_CHECK_WITH(::tandem::NotImplementedError, condition, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) TANDEM_CHECK_WITH(::tandem::Error, condition, __VA_ARGS__)
#define TORCH_CHECK_WITH(E, condition, ...) TANDEM_CHECK_WITH(::torch::E, condition, __VA_ARGS__)
#define AT_ASSERT(condition) TORCH_INTERNAL_ASSERT(condition)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_ERROR(...) ::torch::detail::check_failed<::tandem::Error>("", ::tandem::Site::here(), ::torch::str(__VA_ARGS__))
#define TORCH_WARN(...) ::torch::Warning::warn({__func__, __FILE__, __LINE__}, ::torch::str(__VA_ARGS__), false)
#define TORCH_WARN_ONCE(...) ::tandem::detail::warn_once(::torch::str(__VA_ARGS__))
