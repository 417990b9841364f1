// Language models and their tokenizers out of GGUF files, as llama.cpp's converters write them. For the library.
#pragma once

#include <string>

#include "models/language_model.h"
#include "models/tokenizer.h"

namespace tandem::models {

/// Whether `path` is a file that begins as a GGUF file does.
[[nodiscard]] bool is_gguf(const std::string& path);
/// The model of a GGUF file of the architecture llama, qwen2 or gpt2. Error that names the file and what is missing or not supported.
[[nodiscard]] LanguageModel load_gguf_model(const std::string& path, const Options& options, Site site);
/// Its tokenizer.
[[nodiscard]] Tokenizer load_gguf_tokenizer(const std::string& path);

}  // namespace tandem::models
