// Byte-level byte-pair encoding: a word's bytes are joined, pair by pair, to the tokens that a vocabulary has. Sennrich, Haddow and Birch,
// "Neural Machine Translation of Rare Words with Subword Units"; on bytes as in GPT-2.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tandem::models {

/// The bytes that a vocabulary's entry stands for: it writes each byte as a letter that can be seen, a space as "Ġ". Nothing where the
/// entry has a character that stands for no byte.
[[nodiscard]] std::optional<std::string> bytes_of_entry(std::string_view entry);

/// A vocabulary of byte strings, and the order in which pairs of them are joined.
class BytePairs {
 public:
  /// Whether a word that is a token itself is not taken apart, whatever the merges say.
  bool ignores_merges = false;

  /// Adds a token. Error for a number that is below 0 or beyond an int.
  void add(std::string bytes, int64_t token);
  /// Adds a pair, after those that were added before. Error where a part, or both together, are no token.
  void add_merge(const std::string& left, const std::string& right);
  /// The token of these bytes.
  [[nodiscard]] std::optional<int64_t> find(std::string_view bytes) const;
  /// Appends the tokens of a word. Error for a byte that no token stands for.
  void encode(std::vector<int64_t>& tokens, std::string_view word) const;

 private:
  struct Merge {
    uint32_t rank;
    int32_t token;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view bytes) const { return std::hash<std::string_view>()(bytes); }
  };
  [[nodiscard]] const Merge* merge_of(int32_t left, int32_t right) const;
  [[nodiscard]] int32_t token_named(const std::string& bytes) const;

  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> tokens_;
  std::unordered_map<uint64_t, Merge> merges_;
};

}  // namespace tandem::models
