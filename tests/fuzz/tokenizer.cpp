#include "models/tokenizer.h"

#include <vector>

#include "fuzz.h"
#include "models/language_config.h"

// A tokenizer.json, a line with 0 and a text: the text becomes tokens and text again. Without such a line, a config.json too.
void fuzz::read(std::string_view bytes) {
  const std::string_view separator("\n0\n");
  const size_t end = bytes.find(separator);
  const std::string json(bytes.substr(0, end));
  if (end == std::string_view::npos) (void)succeeds([&] { (void)tandem::models::parse_language_config(json); });
  const tandem::models::Tokenizer tokenizer(file_of(json));
  const std::string_view text = end == std::string_view::npos ? "it's 12 \n x" : bytes.substr(end + separator.size());
  (void)succeeds([&] {
    const std::vector<int64_t> tokens = tokenizer.encode(text);
    expect(tokens.size() <= 2 * text.size() + json.size(), "more tokens than bytes");
    (void)tokenizer.decode(tokens, false);
    tandem::models::TextStream stream;
    std::string streamed;
    for (const int64_t token : tokens) streamed += stream.add(tokenizer.bytes_of(token, false));
    expect(streamed + stream.finish() == tokenizer.decode(tokens, false), "a stream that is not the text");
  });
}
