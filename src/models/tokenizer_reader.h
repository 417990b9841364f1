// Reads a tokenizer.json, and the tokenizer of a GGUF file. For the library.
#pragma once

#include <string>
#include <string_view>

#include "io/metadata_value.h"
#include "models/tokenizer.h"

namespace tandem::models {

/// What makes a Tokenizer of a file; its kinds and parts are described at https://huggingface.co/docs/tokenizers.
class TokenizerReader {
 public:
  /// Error that begins with the file's name.
  [[nodiscard]] static Tokenizer read_file(const std::string& path);
  /// Error that says what is wrong with the text.
  [[nodiscard]] static Tokenizer read(std::string_view text);
  /// Of the keys tokenizer.ggml.* of a GGUF file's metadata. Error that names the key which is missing or is not supported.
  [[nodiscard]] static Tokenizer read_gguf(const io::MetadataMap& metadata);

 private:
  static void add_entry(Tokenizer& tokenizer, const std::string& entry, int64_t token);
  static void add_merge(Tokenizer& tokenizer, const std::string& left, const std::string& right);
  static void add_special(Tokenizer& tokenizer, Tokenizer::Added added, bool special);
  static void sort_added(Tokenizer& tokenizer);
  template <class Json>
  static void read_model(Tokenizer& tokenizer, const Json& model);
  template <class Json>
  static void read_added(Tokenizer& tokenizer, const Json& tokens);
  template <class Json>
  static void read_pre_tokenizer(Tokenizer& tokenizer, const Json& step, bool& byte_level);
  template <class Json>
  static void read_post_processor(Tokenizer& tokenizer, const Json& step);
};

}  // namespace tandem::models
