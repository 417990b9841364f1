// Reads a tokenizer.json. For the library.
#pragma once

#include <string>
#include <string_view>

#include "models/tokenizer.h"

namespace tandem::models {

/// What makes a Tokenizer of a file; its kinds and parts are described at https://huggingface.co/docs/tokenizers.
class TokenizerReader {
 public:
  /// Error that begins with the file's name.
  [[nodiscard]] static Tokenizer read_file(const std::string& path);
  /// Error that says what is wrong with the text.
  [[nodiscard]] static Tokenizer read(std::string_view text);

 private:
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
