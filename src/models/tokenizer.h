// Text to tokens and back, by the tokenizer.json that lies beside a language model's weights.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/site.h"
#include "models/byte_pairs.h"
#include "models/words.h"

namespace tandem::models {

/// The byte-level byte-pair encodings of GPT-2, Llama 3, Qwen 2 and their kin, with the answers of Hugging Face's `tokenizers`. Known
/// differences: text is not brought to Unicode's form NFC where a file asks for it, and letters are those of Unicode 14.
class Tokenizer {
 public:
  /// Reads a tokenizer.json. Error that names the file where it is none, or is of a kind that is not supported: a model other than
  /// byte-level BPE (SentencePiece's, WordPiece, Unigram), a pattern for words that is not one of WordPattern's.
  explicit Tokenizer(const std::string& path, Site = Site::here());
  /// The same of a file's text.
  [[nodiscard]] static Tokenizer parse(std::string_view json);

  /// The tokens of a text, with those that the file puts around each one (<|begin_of_text|>) unless `add_special_tokens` is off. A special
  /// token that is written out in the text is one token.
  [[nodiscard]] std::vector<int64_t> encode(std::string_view text, bool add_special_tokens = true) const;
  /// The text of tokens, without special ones unless `skip_special_tokens` is off. Bytes that are no character come as U+FFFD. A number
  /// that no token has stands for nothing.
  [[nodiscard]] std::string decode(std::span<const int64_t> tokens, bool skip_special_tokens = true) const;
  /// The bytes of one token, which may be a part of a character. Empty for special ones unless `skip_special_tokens` is off.
  [[nodiscard]] std::string_view bytes_of(int64_t token, bool skip_special_tokens = true) const;
  /// The number of a token by its text, such as <|endoftext|>.
  [[nodiscard]] std::optional<int64_t> token_named(std::string_view text) const;
  /// How many tokens there are, special ones too.
  [[nodiscard]] size_t size() const { return tokens_.size(); }

 private:
  friend class TokenizerReader;
  struct Token {
    std::string bytes;
    bool special = false;
  };
  /// A token that is found in the text before words are.
  struct Added {
    std::string content;
    int64_t token;
    bool strip_left, strip_right;  // takes the spaces beside it along
  };
  Tokenizer() = default;
  [[nodiscard]] const Added* added_at(std::string_view text, size_t at) const;
  void encode_words(std::vector<int64_t>& tokens, std::string_view text) const;

  BytePairs pairs_;
  std::unordered_map<int64_t, Token> tokens_;
  std::array<std::vector<Added>, 256> added_;  // by their first byte, longer ones first
  std::vector<int64_t> before_, after_;        // around each text
  WordPattern pattern_ = WordPattern::None;
  bool single_digits_ = false, prefix_space_ = false;
};

/// Puts the bytes of tokens together to whole characters, as a text is written token by token.
class TextStream {
 public:
  /// The characters that are complete with these bytes.
  [[nodiscard]] std::string add(std::string_view bytes);
  /// What is left at the end.
  [[nodiscard]] std::string finish();

 private:
  std::string pending_;
};

}  // namespace tandem::models
