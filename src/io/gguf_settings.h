// Values of a GGUF file's metadata by key and kind. For the library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/metadata_value.h"

namespace tandem::io {

/// The keys that begin with a word, such as "llama." or "tokenizer.ggml.". Error that names the key where a value is missing or of another
/// kind than the one asked for.
class GgufSettings {
 public:
  GgufSettings(const MetadataMap& metadata, std::string begin) : metadata_(metadata), begin_(std::move(begin)) {}

  [[nodiscard]] bool has(const std::string& key) const { return metadata_.contains(begin_ + key); }
  [[nodiscard]] int64_t whole(const std::string& key) const { return value<int64_t>(key, "whole number"); }
  [[nodiscard]] int64_t whole(const std::string& key, int64_t otherwise) const { return has(key) ? whole(key) : otherwise; }
  [[nodiscard]] double number(const std::string& key, double otherwise) const {
    return has(key) ? value<double>(key, "number") : otherwise;
  }
  [[nodiscard]] bool flag(const std::string& key, bool otherwise) const { return has(key) ? value<bool>(key, "true or false") : otherwise; }
  [[nodiscard]] const std::string& text(const std::string& key) const { return value<std::string>(key, "text"); }
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const { return has(key) ? text(key) : otherwise; }
  [[nodiscard]] const std::vector<std::string>& texts(const std::string& key) const {
    return value<std::vector<std::string>>(key, "list of texts");
  }
  /// Empty where there is none.
  [[nodiscard]] std::vector<int64_t> wholes(const std::string& key) const {
    return has(key) ? value<std::vector<int64_t>>(key, "list of whole numbers") : std::vector<int64_t>();
  }

 private:
  template <class T>
  [[nodiscard]] const T& value(const std::string& key, const char* kind) const {
    const auto found = metadata_.find(begin_ + key);
    if (found == metadata_.end()) fail("lacks ", begin_, key);
    const T* value = found->second.get_if<T>();
    if (!value) fail(begin_, key, " is no ", kind);
    return *value;
  }

  const MetadataMap& metadata_;
  std::string begin_;
};

}  // namespace tandem::io
