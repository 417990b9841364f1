// Cutting text into words, as byte-level tokenizers do before they look for tokens inside of each.
#pragma once

#include <string_view>
#include <vector>

namespace tandem::models {

/// The regular expressions that tokenizers cut text by. Letters, numbers and spaces are those of unicode::kind_of.
enum class WordPattern {
  None,    // a text is one word
  Gpt2,    // `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
  Llama3,  // `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
  Qwen2,   // the same with `\p{N}`
};

/// Appends the words of `text`, which together are all of it.
void append_words(std::vector<std::string_view>& words, std::string_view text, WordPattern pattern);
/// Appends its parts: each character that is a number, and all that lies between such.
void append_digits(std::vector<std::string_view>& parts, std::string_view text);

}  // namespace tandem::models
