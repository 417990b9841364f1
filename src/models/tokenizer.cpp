#include "models/tokenizer.h"

#include <algorithm>
#include <utility>

#include "models/tokenizer_reader.h"
#include "models/unicode.h"

namespace tandem::models {

Tokenizer::Tokenizer(const std::string& path, Site) : Tokenizer(TokenizerReader::read_file(path)) {}

Tokenizer Tokenizer::parse(std::string_view json) { return TokenizerReader::read(json); }

const Tokenizer::Added* Tokenizer::added_at(std::string_view text, size_t at) const {
  for (const Added& added : added_[static_cast<uint8_t>(text[at])])
    if (text.substr(at).starts_with(added.content)) return &added;
  return nullptr;
}

std::vector<int64_t> Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
  std::vector<int64_t> tokens;
  if (add_special_tokens) tokens = before_;
  const auto is_space = [&](size_t at) { return unicode::kind_of(unicode::character_at(text, at).code) == unicode::Kind::Space; };
  const auto bytes_at = [&](size_t at) { return unicode::character_at(text, at).bytes; };
  size_t begin = 0;  // of the text that has no tokens yet
  for (size_t at = 0; at < text.size();) {
    const Added* const added = added_at(text, at);
    if (!added) {
      ++at;
      continue;
    }
    size_t end = added->strip_left ? begin : at;
    for (size_t i = begin; i < at && added->strip_left; i += bytes_at(i))
      if (!is_space(i)) end = std::min(at, i + bytes_at(i));
    encode_words(tokens, text.substr(begin, end - begin));
    tokens.push_back(added->token);
    at += added->content.size();
    while (added->strip_right && at < text.size() && is_space(at)) at += bytes_at(at);
    begin = at;
  }
  encode_words(tokens, text.substr(begin));
  if (add_special_tokens) tokens.insert(tokens.end(), after_.begin(), after_.end());
  return tokens;
}

void Tokenizer::encode_words(std::vector<int64_t>& tokens, std::string_view text) const {
  std::vector<std::string_view> parts, words;
  if (single_digits_) append_digits(parts, text);
  else if (!text.empty()) parts.push_back(text);
  for (const std::string_view part : parts) {
    std::string spaced;
    if (prefix_space_ && part.front() != ' ') spaced = " " + std::string(part);
    words.clear();
    append_words(words, spaced.empty() ? part : spaced, pattern_);
    for (const std::string_view word : words) pairs_.encode(tokens, word);
  }
}

std::string_view Tokenizer::bytes_of(int64_t token, bool skip_special_tokens) const {
  const auto found = tokens_.find(token);
  if (found == tokens_.end() || (skip_special_tokens && found->second.special)) return {};
  return found->second.bytes;
}

std::string Tokenizer::decode(std::span<const int64_t> tokens, bool skip_special_tokens) const {
  std::string bytes;
  for (const int64_t token : tokens) bytes += bytes_of(token, skip_special_tokens);
  return unicode::without_invalid(bytes);
}

std::optional<int64_t> Tokenizer::token_named(std::string_view text) const {
  if (!text.empty())
    for (const Added& added : added_[static_cast<uint8_t>(text.front())])
      if (added.content == text) return added.token;
  return pairs_.find(text);
}

std::string TextStream::add(std::string_view bytes) {
  pending_ += bytes;
  const size_t whole = pending_.size() - unicode::unfinished_bytes(pending_);
  std::string text = unicode::without_invalid(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return text;
}

std::string TextStream::finish() { return unicode::without_invalid(std::exchange(pending_, {})); }

}  // namespace tandem::models
