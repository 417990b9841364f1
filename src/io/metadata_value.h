// A value of a file's metadata, where these are more than text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tandem::io {

/// A number, a text, or a list of these; lists of numbers and texts lie densely, as a vocabulary has hundreds of thousands of them.
struct MetadataValue {
  /// Of values of several kinds.
  using List = std::vector<MetadataValue>;
  std::variant<bool, int64_t, double, std::string, std::vector<bool>, std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
               List>
      value;

  /// The value where it is a `T`, one of those above; else nullptr.
  template <class T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&value);
  }
};

/// Metadata by key.
using MetadataMap = std::map<std::string, MetadataValue>;

}  // namespace tandem::io
