#include "models/tokenizer_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/untrusted_json.h"
#include "io/gguf_settings.h"
#include "io/named.h"
#include "models/settings_file.h"

namespace tandem::models {
namespace {

using io::in_quotes;
using nlohmann::json;

constexpr int kDeepest = 16;
constexpr uint64_t kLargestFile = 256 << 20;

/// A pattern as files write it, and what it is.
struct Known {
  std::string_view regex;
  WordPattern pattern;
};
constexpr Known kPatterns[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", WordPattern::Gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::Llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     WordPattern::Qwen2},
};

const json& member(const json& of, const char* key) {
  static const json kNull;
  const auto found = of.find(key);
  return found == of.end() ? kNull : *found;
}
bool flag(const json& of, const char* key, bool otherwise = false) {
  const json& value = member(of, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}
std::string string_of(const json& value, const char* what) {
  if (!value.is_string()) fail(what, " is no text");
  return value.get<std::string>();
}
std::string type_of(const json& step, const char* what) {
  if (!step.is_object()) fail(what, " is no object");
  return string_of(member(step, "type"), what);
}
const json& list_of(const json& of, const char* key) {
  const json& list = member(of, key);
  if (!list.is_array()) fail("there is no list of ", key);
  return list;
}
int64_t token_of(const json& value, const char* what) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT32_MAX) fail(what, " has a number that is no token's");
  return value.get<int64_t>();
}
bool is_empty(const json& value) { return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()); }

/// Error for steps that change text or tokens in ways that are not supported.
void check_normalizer(const json& step) {
  if (step.is_null()) return;
  const std::string type = type_of(step, "the normalizer");
  if (type == "Sequence") {
    for (const json& part : list_of(step, "normalizers")) check_normalizer(part);
  } else if (type != "NFC") {
    fail("a normalizer of type ", in_quotes(type), " is not supported: this is not the tokenizer of a byte-level BPE");
  }
}
void check_decoder(const json& step) {
  if (step.is_null()) return;
  const std::string type = type_of(step, "the decoder");
  if (type == "Sequence") {
    for (const json& part : list_of(step, "decoders")) check_decoder(part);
  } else if (type != "ByteLevel") {
    fail("a decoder of type ", in_quotes(type), " is not supported: this is not the tokenizer of a byte-level BPE");
  }
}

std::pair<std::string, std::string> parts_of_merge(const std::string& both) {
  const size_t space = both.find(' ');
  if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos)
    fail("the merge ", in_quotes(both), " is not of two parts");
  return {both.substr(0, space), both.substr(space + 1)};
}

/// How a GGUF file calls the ways of cutting text into words.
struct KnownWords {
  std::string_view name;
  WordPattern pattern;
  bool single_digits = false, ignores_merges = false;
};
constexpr KnownWords kGgufWords[] = {
    {"gpt-2", WordPattern::Gpt2},
    {"smollm", WordPattern::Gpt2, true},
    {"llama-bpe", WordPattern::Llama3, false, true},
    {"llama3", WordPattern::Llama3, false, true},
    {"llama-v3", WordPattern::Llama3, false, true},
    {"qwen2", WordPattern::Qwen2},
};

}  // namespace

void TokenizerReader::add_entry(Tokenizer& tokenizer, const std::string& entry, int64_t token) {
  auto bytes = bytes_of_entry(entry);
  tokenizer.tokens_.insert_or_assign(token, Tokenizer::Token{bytes ? *bytes : entry, false});
  if (bytes) tokenizer.pairs_.add(std::move(*bytes), token);
}

void TokenizerReader::add_merge(Tokenizer& tokenizer, const std::string& left, const std::string& right) {
  const auto bytes_of_part = [](const std::string& part) {
    auto bytes = bytes_of_entry(part);
    if (!bytes || bytes->empty()) fail("a merge names ", in_quotes(part), ", which stands for no bytes");
    return *bytes;
  };
  tokenizer.pairs_.add_merge(bytes_of_part(left), bytes_of_part(right));
}

void TokenizerReader::add_special(Tokenizer& tokenizer, Tokenizer::Added added, bool special) {
  tokenizer.tokens_.insert_or_assign(added.token, Tokenizer::Token{added.content, special});
  auto& same_byte = tokenizer.added_[static_cast<uint8_t>(added.content.front())];
  same_byte.push_back(std::move(added));
}

void TokenizerReader::sort_added(Tokenizer& tokenizer) {
  for (auto& same_byte : tokenizer.added_)
    std::ranges::stable_sort(same_byte, [](const auto& a, const auto& b) { return a.content.size() > b.content.size(); });
}

template <class Json>
void TokenizerReader::read_model(Tokenizer& tokenizer, const Json& model) {
  if (!model.is_object()) fail("there is no model: is it a tokenizer.json?");
  const json& type = member(model, "type");
  if (!type.is_null() && string_of(type, "the model's type") != "BPE")
    fail("a model of type ", in_quotes(string_of(type, "the model's type")), " is not supported; byte-level BPE is");
  if (flag(model, "byte_fallback")) fail("a BPE with byte_fallback, of SentencePiece's kind, is not supported; byte-level BPE is");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!is_empty(member(model, key))) fail("a BPE with ", key, " is not supported; byte-level BPE is");
  const json& dropout = member(model, "dropout");
  if (!dropout.is_null() && !(dropout.is_number() && dropout.get<double>() == 0)) fail("a BPE with dropout is not supported");
  tokenizer.pairs_.ignores_merges = flag(model, "ignore_merges");
  const json& vocabulary = member(model, "vocab");
  if (!vocabulary.is_object()) fail("the model has no vocab");
  for (const auto& [entry, number] : vocabulary.items()) {
    add_entry(tokenizer, entry, token_of(number, "vocab"));
  }
  for (const json& merge : list_of(model, "merges")) {
    std::string left, right;
    if (merge.is_array() && merge.size() == 2) {
      left = string_of(merge[0], "a merge's part");
      right = string_of(merge[1], "a merge's part");
    } else {
      std::tie(left, right) = parts_of_merge(string_of(merge, "a merge"));
    }
    add_merge(tokenizer, left, right);
  }
}

template <class Json>
void TokenizerReader::read_added(Tokenizer& tokenizer, const Json& tokens) {
  if (tokens.is_null()) return;
  if (!tokens.is_array()) fail("added_tokens is no list");
  for (const json& added : tokens) {
    if (!added.is_object()) fail("an added token is no object");
    const std::string content = string_of(member(added, "content"), "an added token's content");
    const int64_t token = token_of(member(added, "id"), "an added token");
    if (content.empty()) continue;
    if (flag(added, "single_word")) fail("the added token ", in_quotes(content), " is a single_word, which is not supported");
    add_special(tokenizer, {content, token, flag(added, "lstrip"), flag(added, "rstrip")}, flag(added, "special"));
  }
  sort_added(tokenizer);
}

template <class Json>
void TokenizerReader::read_pre_tokenizer(Tokenizer& tokenizer, const Json& step, bool& byte_level) {
  const std::string type = type_of(step, "the pre_tokenizer");
  const bool has_words = tokenizer.pattern_ != WordPattern::None;
  if (byte_level) fail("a pre_tokenizer after ByteLevel is not supported");
  if (type == "Sequence") {
    for (const json& part : list_of(step, "pretokenizers")) read_pre_tokenizer(tokenizer, part, byte_level);
  } else if (type == "Digits") {
    if (!flag(step, "individual_digits") || has_words) fail("a pre_tokenizer Digits is supported first, and with individual_digits");
    tokenizer.single_digits_ = true;
  } else if (type == "Split") {
    const json& pattern = member(step, "pattern");
    const std::string regex = pattern.is_object() ? string_of(member(pattern, "Regex"), "the pattern of a Split") : "";
    const auto* known = std::ranges::find(kPatterns, std::string_view(regex), &Known::regex);
    if (known == std::end(kPatterns) || flag(step, "invert") || has_words ||
        string_of(member(step, "behavior"), "a Split's behavior") != "Isolated")
      fail("a pre_tokenizer Split by ", in_quotes(regex), " is not supported; those of GPT-2, Llama 3 and Qwen 2 are");
    tokenizer.pattern_ = known->pattern;
  } else if (type == "ByteLevel") {
    byte_level = true;
    tokenizer.prefix_space_ = flag(step, "add_prefix_space", true);
    if (!flag(step, "use_regex", true)) return;
    if (has_words) fail("a pre_tokenizer ByteLevel with use_regex after a Split is not supported");
    tokenizer.pattern_ = WordPattern::Gpt2;
  } else {
    fail("a pre_tokenizer of type ", in_quotes(type), " is not supported; ByteLevel, Split and Digits are");
  }
}

template <class Json>
void TokenizerReader::read_post_processor(Tokenizer& tokenizer, const Json& step) {
  if (step.is_null()) return;
  const std::string type = type_of(step, "the post_processor");
  if (type == "ByteLevel") return;
  if (type == "Sequence") {
    for (const json& part : list_of(step, "processors")) read_post_processor(tokenizer, part);
    return;
  }
  if (type != "TemplateProcessing")
    fail("a post_processor of type ", in_quotes(type), " is not supported; ByteLevel and TemplateProcessing are");
  std::vector<int64_t> around[2];
  bool after_text = false;
  for (const json& part : list_of(step, "single")) {
    if (part.is_object() && part.contains("Sequence")) {
      after_text = true;
      continue;
    }
    const json& special = part.is_object() ? member(part, "SpecialToken") : part;
    const std::string name = special.is_object() ? string_of(member(special, "id"), "a special token of the post_processor") : "";
    const json& known = member(step, "special_tokens");
    const json& entry = known.is_object() ? member(known, name.c_str()) : known;
    if (!entry.is_object()) fail("the post_processor has no special token ", in_quotes(name));
    for (const json& token : list_of(entry, "ids")) around[after_text].push_back(token_of(token, "a special token of the post_processor"));
  }
  tokenizer.before_ = std::move(around[0]);
  tokenizer.after_ = std::move(around[1]);
}

Tokenizer TokenizerReader::read(std::string_view text) {
  const json all = detail::parse_json<json>(text, kDeepest);
  if (!all.is_object()) fail("is no JSON object: is it a tokenizer.json?");
  Tokenizer tokenizer;
  read_model(tokenizer, member(all, "model"));
  read_added(tokenizer, member(all, "added_tokens"));
  check_normalizer(member(all, "normalizer"));
  check_decoder(member(all, "decoder"));
  bool byte_level = false;
  if (const json& step = member(all, "pre_tokenizer"); !step.is_null()) read_pre_tokenizer(tokenizer, step, byte_level);
  if (!byte_level) fail("there is no pre_tokenizer ByteLevel: this is not the tokenizer of a byte-level BPE");
  read_post_processor(tokenizer, member(all, "post_processor"));
  return tokenizer;
}

Tokenizer TokenizerReader::read_gguf(const io::MetadataMap& metadata) {
  const io::GgufSettings settings(metadata, "tokenizer.ggml.");
  if (const std::string model = settings.text("model"); model != "gpt2")
    fail("a tokenizer of the kind ", in_quotes(model), " is not supported; byte-level BPE, \"gpt2\", is");
  const std::string words = settings.text("pre", "gpt-2");
  const auto* known = std::ranges::find(kGgufWords, std::string_view(words), &KnownWords::name);
  if (known == std::end(kGgufWords))
    fail("a tokenizer that cuts words as ", in_quotes(words), " is not supported; gpt-2, smollm, llama-bpe and qwen2 are");
  Tokenizer tokenizer;
  tokenizer.pattern_ = known->pattern;
  tokenizer.single_digits_ = known->single_digits;
  tokenizer.pairs_.ignores_merges = known->ignores_merges;
  tokenizer.prefix_space_ = settings.flag("add_space_prefix", false);
  const auto& entries = settings.texts("tokens");
  const std::vector<int64_t> kinds = settings.wholes("token_type");
  if (!kinds.empty() && kinds.size() != entries.size())
    fail("there are ", entries.size(), " tokens, but ", kinds.size(), " of tokenizer.ggml.token_type");
  constexpr int64_t kControl = 3, kUserDefined = 4;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto token = static_cast<int64_t>(i);
    const int64_t kind = kinds.empty() ? 1 : kinds[i];
    const bool is_added = (kind == kControl || kind == kUserDefined) && !entries[i].empty();
    if (is_added) add_special(tokenizer, {entries[i], token, false, false}, kind == kControl);
    else add_entry(tokenizer, entries[i], token);
  }
  sort_added(tokenizer);
  for (const std::string& merge : settings.texts("merges")) {
    const auto [left, right] = parts_of_merge(merge);
    add_merge(tokenizer, left, right);
  }
  const auto around = [&](const char* flag, bool otherwise, const char* token, std::vector<int64_t>& list) {
    if (!settings.flag(flag, otherwise)) return;
    const int64_t number = settings.whole(token);
    if (number < 0 || static_cast<size_t>(number) >= entries.size()) fail("tokenizer.ggml.", token, " is ", number, ", which no token has");
    list.push_back(number);
  };
  around("add_bos_token", known->pattern == WordPattern::Llama3, "bos_token_id", tokenizer.before_);
  around("add_eos_token", false, "eos_token_id", tokenizer.after_);
  return tokenizer;
}

Tokenizer TokenizerReader::read_file(const std::string& path) { return parse_file("Tokenizer", path, kLargestFile, read); }

}  // namespace tandem::models
