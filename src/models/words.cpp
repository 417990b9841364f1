#include "models/words.h"

#include <algorithm>
#include <cstddef>

#include "models/unicode.h"

namespace tandem::models {
namespace {

using unicode::Kind;

/// Walks over a text, character by character. Each function tells where what it looks for ends, or 0 where it does not begin here.
class Cutter {
 public:
  Cutter(std::string_view text, WordPattern pattern) : text_(text), pattern_(pattern) {}

  /// Where the word that begins at `at` ends.
  [[nodiscard]] size_t word(size_t at) const {
    if (const size_t end = contraction(at)) return end;
    return pattern_ == WordPattern::Gpt2 ? gpt2_word(at) : llama3_word(at);
  }

 private:
  [[nodiscard]] bool is(size_t at, Kind kind) const { return at < text_.size() && unicode::kind_of(character(at).code) == kind; }
  [[nodiscard]] bool is_line_end(size_t at) const { return at < text_.size() && (text_[at] == '\r' || text_[at] == '\n'); }
  [[nodiscard]] unicode::Character character(size_t at) const { return unicode::character_at(text_, at); }
  /// The end of up to `most` characters of a kind.
  [[nodiscard]] size_t run(size_t at, Kind kind, size_t most = SIZE_MAX) const {
    for (; most > 0 && is(at, kind); --most) at += character(at).bytes;
    return at;
  }

  /// 's and its kin; Gpt2's are of small letters.
  [[nodiscard]] size_t contraction(size_t at) const {
    if (text_[at] != '\'') return 0;
    for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      const std::string_view here = text_.substr(at + 1, ending.size());
      if (std::ranges::equal(here, ending, [&](char a, char b) { return a == b || (pattern_ != WordPattern::Gpt2 && a == b - 'a' + 'A'); }))
        return at + 1 + ending.size();
    }
    return 0;
  }

  [[nodiscard]] size_t gpt2_word(size_t at) const {
    const size_t begin = text_[at] == ' ' ? at + 1 : at;
    for (const Kind kind : {Kind::Letter, Kind::Number, Kind::Other})
      if (is(begin, kind)) return run(begin, kind);
    return spaces(at);
  }

  [[nodiscard]] size_t llama3_word(size_t at) const {
    if (is(at, Kind::Letter)) return run(at, Kind::Letter);
    if (is(at, Kind::Number)) return run(at, Kind::Number, pattern_ == WordPattern::Qwen2 ? 1 : 3);
    if (const size_t begin = at + character(at).bytes; !is_line_end(at) && is(begin, Kind::Letter)) return run(begin, Kind::Letter);
    if (const size_t begin = text_[at] == ' ' ? at + 1 : at; is(begin, Kind::Other)) {
      size_t end = run(begin, Kind::Other);
      while (is_line_end(end)) ++end;
      return end;
    }
    // Spaces up to the last end of a line among them.
    const size_t line_end = text_.substr(at, run(at, Kind::Space) - at).find_last_of("\r\n");
    return line_end != std::string_view::npos ? at + line_end + 1 : spaces(at);
  }

  /// Spaces, but for the last one before a word.
  [[nodiscard]] size_t spaces(size_t at) const {
    size_t end = at, last = at;
    for (; is(end, Kind::Space); end += character(end).bytes) last = end;
    return end == text_.size() || last == at ? end : last;
  }

  std::string_view text_;
  WordPattern pattern_;
};

}  // namespace

void append_words(std::vector<std::string_view>& words, std::string_view text, WordPattern pattern) {
  if (pattern == WordPattern::None) {
    if (!text.empty()) words.push_back(text);
    return;
  }
  const Cutter cutter(text, pattern);
  for (size_t at = 0; at < text.size();) {
    const size_t end = cutter.word(at);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
}

void append_digits(std::vector<std::string_view>& parts, std::string_view text) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const auto character = unicode::character_at(text, at);
    const size_t end = at + character.bytes;
    if (unicode::kind_of(character.code) == Kind::Number) {
      if (at > begin) parts.push_back(text.substr(begin, at - begin));
      parts.push_back(text.substr(at, character.bytes));
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
}

}  // namespace tandem::models
