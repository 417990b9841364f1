// Tokenizers: against Hugging Face's on files and texts of make_tokenizers.py, and what is refused.
#include "models/tokenizer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/unicode.h"
#include "support/files.h"
#include "support/on_device.h"

namespace models = tandem::models;

namespace {

const std::string kFolder = TANDEM_TESTS_DIR "/models/tokenizers/";

std::string file_text(const std::string& name) { return read_file(kFolder + name + ".json"); }

using Tokens = std::vector<int64_t>;

TEST(Tokenizer, AgreesWithHuggingFaces) {
  const auto cases = nlohmann::json::parse(file_text("cases"));
  const auto texts = cases["texts"].get<std::vector<std::string>>();
  ASSERT_GT(texts.size(), 150u);
  for (const auto& [name, answers] : cases["tokens"].items()) {
    const models::Tokenizer tokenizer(kFolder + name + ".json");
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto wanted = answers["encoded"][i].get<Tokens>();
      EXPECT_EQ(tokenizer.encode(texts[i]), wanted) << name << ": " << texts[i];
      const Tokens part(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(std::min(wanted.size(), 2 * wanted.size() / 3 + 1)));
      EXPECT_EQ(tokenizer.decode(part), answers["decoded"][i].get<std::string>()) << name << ": " << texts[i];
    }
  }
}

TEST(Tokenizer, GivesAnyTextBack) {
  const models::Tokenizer tokenizer(kFolder + "llama3.json");
  for (const std::string text : {"Hello, wörld!  \n\n 日本語 🙂 12345", "\t \r\n x", ""}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text), false), "<s>" + text + "</s>");
  }
  EXPECT_EQ(tokenizer.token_named("</s>"), 1);
  EXPECT_EQ(tokenizer.token_named("<none>"), std::nullopt);
  EXPECT_EQ(tokenizer.size(), 420u);
  EXPECT_EQ(tokenizer.bytes_of(0), "");
  EXPECT_EQ(tokenizer.bytes_of(0, false), "<s>");
  EXPECT_EQ(tokenizer.decode(Tokens{-1, 100000}), "");
  // Bytes that are no UTF-8 keep their places.
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a\xff\xe6z", false)), "a\xef\xbf\xbd\xef\xbf\xbdz");
}

TEST(Tokenizer, TakesALongWordInTime) {
  const models::Tokenizer tokenizer(kFolder + "gpt2.json");
  const std::string text(1'000'000, 'e');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(TextStream, GivesWholeCharacters) {
  models::TextStream stream;
  EXPECT_EQ(stream.add("a\xe6\x97"), "a");
  EXPECT_EQ(stream.add("\xa5\xf0\x9f"), "\xe6\x97\xa5");
  EXPECT_EQ(stream.add("\x99"), "");
  EXPECT_EQ(stream.add("\x82!"), "\xf0\x9f\x99\x82!");
  EXPECT_EQ(stream.add("\xff"
                       "b\xe6"),
            "\xef\xbf\xbd"
            "b");
  EXPECT_EQ(stream.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Unicode, ReplacesWhatIsNoCharacterAsPythonDoes) {
  using models::unicode::without_invalid;
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(without_invalid("\xe6\x97"), r);
  EXPECT_EQ(without_invalid("\xe6\x97"
                            "a"),
            r + "a");
  EXPECT_EQ(without_invalid("\xed\xa0\x80"), r + r + r);
  EXPECT_EQ(without_invalid("\xc0\x80"), r + r);
  EXPECT_EQ(without_invalid("\xf0\x9f\x99"
                            "a"),
            r + "a");
  EXPECT_EQ(without_invalid("\xf4\x90\x80\x80"), r + r + r + r);
  EXPECT_EQ(without_invalid("\xf0\x9f\x99\x82"), "\xf0\x9f\x99\x82");
}

/// What the GPT-2 file is answered with a part replaced.
std::string refused(const std::string& part, const std::string& by) {
  std::string text = file_text("gpt2");
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), by);
  return error_of([&] { (void)models::Tokenizer::parse(text); });
}

TEST(Tokenizer, RefusesOtherKinds) {
  EXPECT_EQ(refused(R"("type":"BPE")", R"("type":"WordPiece")"), "a model of type 'WordPiece' is not supported; byte-level BPE is");
  EXPECT_EQ(refused(R"("byte_fallback":false)", R"("byte_fallback":true)"),
            "a BPE with byte_fallback, of SentencePiece's kind, is not supported; byte-level BPE is");
  EXPECT_EQ(refused(R"("end_of_word_suffix":null)", R"("end_of_word_suffix":"</w>")"),
            "a BPE with end_of_word_suffix is not supported; byte-level BPE is");
  EXPECT_EQ(refused(R"("dropout":null)", R"("dropout":0.1)"), "a BPE with dropout is not supported");
  EXPECT_EQ(refused(R"("normalizer":null)", R"("normalizer":{"type":"Lowercase"})"),
            "a normalizer of type 'Lowercase' is not supported: this is not the tokenizer of a byte-level BPE");
  EXPECT_EQ(refused(R"("normalizer":null)", R"("normalizer":{"type":"NFC"})"), "no error");
  EXPECT_EQ(refused(R"("pre_tokenizer":{"type":"ByteLevel")", R"("pre_tokenizer":{"type":"Whitespace")"),
            "a pre_tokenizer of type 'Whitespace' is not supported; ByteLevel, Split and Digits are");
  EXPECT_EQ(refused(R"("single_word":false)", R"("single_word":true)"), "the added token '<s>' is a single_word, which is not supported");
  EXPECT_EQ(refused(R"("decoder":{"type":"ByteLevel")", R"("decoder":{"type":"Metaspace")"),
            "a decoder of type 'Metaspace' is not supported: this is not the tokenizer of a byte-level BPE");
  EXPECT_EQ(refused(R"("merges":[")", R"("merges":["Q@ q",")"), "a merge names 'Q@', which is no token of the vocabulary");
  EXPECT_EQ(refused(R"("merges":[")", R"("merges":["one",")"), "the merge 'one' is not of two parts");
  EXPECT_EQ(refused(R"("id":0)", R"("id":-1)"), "an added token has a number that is no token's");
  EXPECT_EQ(refused(R"("vocab":{)", R"("vocab":{"x1y":1.5,)"), "vocab has a number that is no token's");
  EXPECT_EQ(error_of([] { (void)models::Tokenizer::parse("{}"); }), "there is no model: is it a tokenizer.json?");
  EXPECT_EQ(error_of([] { (void)models::Tokenizer::parse("[1]"); }), "is no JSON object: is it a tokenizer.json?");
  EXPECT_EQ(error_of([] { (void)models::Tokenizer::parse(std::string(1000, '[')); }), "this is nested deeper than 16");
}

TEST(Tokenizer, NamesTheFile) {
  write_file("other.json", "no json");
  EXPECT_EQ(error_of([] { models::Tokenizer tokenizer("other.json"); }), "[Tokenizer] other.json: this is no JSON");
  EXPECT_NE(error_of([] { models::Tokenizer tokenizer("none.json"); }).find("none.json"), std::string::npos);
  write_file("tokenizer.json", "PK\x03\x04" + std::string(100, '\0'));
  EXPECT_NE(error_of([] { models::Tokenizer tokenizer("tokenizer.json"); }).find("not a file of JSON, but"), std::string::npos);
}

}  // namespace
