#include "models/byte_pairs.h"

#include <queue>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "io/named.h"
#include "models/unicode.h"

namespace tandem::models {
namespace {

/// Whether GPT-2's table writes a byte as the character of that number; the others are written as characters from 256 on, in their order.
constexpr bool writes_itself(uint32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}

/// The byte that each of the first characters stands for; -1 for those that stand for none.
constexpr auto kByteOf = [] {
  std::array<int16_t, 512> bytes{};
  for (auto& byte : bytes) byte = -1;
  size_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) bytes[writes_itself(byte) ? byte : next++] = static_cast<int16_t>(byte);
  return bytes;
}();

uint64_t key_of(int32_t left, int32_t right) { return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right); }

}  // namespace

std::optional<std::string> bytes_of_entry(std::string_view entry) {
  std::string bytes;
  for (size_t at = 0; at < entry.size();) {
    const auto character = unicode::character_at(entry, at);
    if (character.code >= kByteOf.size() || kByteOf[character.code] < 0) return {};
    bytes += static_cast<char>(kByteOf[character.code]);
    at += character.bytes;
  }
  return bytes;
}

void BytePairs::add(std::string bytes, int64_t token) {
  if (!std::in_range<int32_t>(token) || token < 0) fail("the token ", io::in_quotes(bytes), " has the number ", token);
  tokens_.insert_or_assign(std::move(bytes), static_cast<int32_t>(token));
}

int32_t BytePairs::token_named(const std::string& bytes) const {
  const auto found = tokens_.find(bytes);
  if (found == tokens_.end()) fail("a merge names ", io::in_quotes(bytes), ", which is no token of the vocabulary");
  return found->second;
}

void BytePairs::add_merge(const std::string& left, const std::string& right) {
  const auto rank = static_cast<uint32_t>(merges_.size());
  const int32_t first = token_named(left), second = token_named(right);
  merges_.try_emplace(key_of(first, second), Merge{rank, token_named(left + right)});
}

std::optional<int64_t> BytePairs::find(std::string_view bytes) const {
  const auto found = tokens_.find(bytes);
  return found == tokens_.end() ? std::nullopt : std::optional<int64_t>(found->second);
}

const BytePairs::Merge* BytePairs::merge_of(int32_t left, int32_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BytePairs::encode(std::vector<int64_t>& tokens, std::string_view word) const {
  if (const auto whole = ignores_merges ? find(word) : std::nullopt) return tokens.push_back(*whole);
  // Neighbours as a list, so that joining two of them costs the same in a long word.
  struct Symbol {
    int32_t token;
    size_t before, after;
  };
  constexpr int32_t kJoined = -1;
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (size_t i = 0; i < word.size(); ++i) {
    const auto token = find(word.substr(i, 1));
    if (!token) fail("[Tokenizer.encode] the vocabulary has no token for the byte ", static_cast<int>(static_cast<uint8_t>(word[i])));
    symbols.push_back({static_cast<int32_t>(*token), i - 1, i + 1});
  }
  using Candidate = std::tuple<uint32_t, size_t, int32_t>;  // rank, place of the left one, what they become
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto look_at = [&](size_t left) {
    if (left >= symbols.size() || symbols[left].after >= symbols.size()) return;
    if (const Merge* merge = merge_of(symbols[left].token, symbols[symbols[left].after].token))
      candidates.emplace(merge->rank, left, merge->token);
  };
  for (size_t i = 0; i < symbols.size(); ++i) look_at(i);
  while (!candidates.empty()) {
    const auto [rank, left, token] = candidates.top();
    candidates.pop();
    const size_t right = symbols[left].after;
    if (symbols[left].token == kJoined || right >= symbols.size()) continue;
    const Merge* merge = merge_of(symbols[left].token, symbols[right].token);
    if (!merge || merge->token != token) continue;  // one of the two has been joined to another since
    symbols[left].token = token;
    symbols[left].after = symbols[right].after;
    symbols[right].token = kJoined;
    if (symbols[left].after < symbols.size()) symbols[symbols[left].after].before = left;
    look_at(symbols[left].before);
    look_at(left);
  }
  for (const Symbol& symbol : symbols)
    if (symbol.token != kJoined) tokens.push_back(symbol.token);
}

}  // namespace tandem::models
