// GGUF: metadata and tensors, and language models with their tokenizers.
#include "io/gguf.h"

#include "fuzz.h"
#include "models/text_generator.h"

// All tensors, one by name or none; or a model, which writes on.
void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  switch (bytes.size() % 4) {
    case 0: (void)tandem::io::read_gguf(path); break;
    case 1: {
      tandem::models::TextGenerator generator(path);
      (void)succeeds([&] { (void)generator.generate("it's 12 \n x", {.max_new_tokens = 2}); });
      break;
    }
    case 2: (void)tandem::io::read_gguf(path, tandem::cpu(), {"a"}); break;
    default: (void)tandem::io::load_gguf_metadata(path);
  }
}
