// Language models and tokenizers of GGUF files: as those of the files that a converter makes them of, and what is refused.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "io/gguf.h"
#include "models/small_language_models.h"
#include "models/text_generator.h"
#include "support/files.h"
#include "support/gguf_bytes.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace models = td::models;
using namespace gguf_bytes;

namespace {

using Tokens = std::vector<int64_t>;
using Json = nlohmann::ordered_json;

const std::string kTokenizers = TANDEM_TESTS_DIR "/models/tokenizers/";

/// A file's contents, to which parts are added.
struct File {
  Parts parts;

  void whole(const std::string& key, uint32_t number) { parts.values.push_back(value(key, kU32Type, bytes_of(number))); }
  void real(const std::string& key, float number) { parts.values.push_back(value(key, kF32Type, bytes_of(number))); }
  void flag(const std::string& key, bool is) { parts.values.push_back(value(key, kBoolType, std::string(1, is ? 1 : 0))); }
  void word(const std::string& key, const std::string& is) { parts.values.push_back(value(key, kTextType, text(is))); }
  void words(const std::string& key, const std::vector<std::string>& all) {
    std::string bytes = bytes_of<uint32_t>(kTextType) + bytes_of<uint64_t>(all.size());
    for (const std::string& one : all) bytes += text(one);
    parts.values.push_back(value(key, kListType, bytes));
  }
  void numbers(const std::string& key, const std::vector<int32_t>& all) {
    std::string bytes = bytes_of<uint32_t>(kI32Type) + bytes_of<uint64_t>(all.size());
    for (const int32_t one : all) bytes += bytes_of(one);
    parts.values.push_back(value(key, kListType, bytes));
  }
  void add(const std::string& name, const td::Tensor& x) {
    const td::Tensor host = x.contiguous();
    std::vector<uint64_t> sizes;
    for (int64_t d = host.dim() - 1; d >= 0; --d) sizes.push_back(static_cast<uint64_t>(host.size(d)));
    parts.tensors.push_back(tensor(name, sizes, 0, parts.data.size()));
    parts.data += floats({host.data_ptr<float>(), host.data_ptr<float>() + host.numel()});
    parts.data.resize((parts.data.size() + 31) / 32 * 32, '\0');
  }
  void write(const std::string& path) const { write_file(path, gguf(parts)); }
};

/// As llama.cpp's converter orders the rows of Llama's queries and keys.
td::Tensor neighbours(const td::Tensor& x, int64_t heads) {
  td::Shape apart = {heads, 2, x.size(0) / heads / 2};
  if (x.dim() == 2) apart.push_back(x.size(1));
  return x.view(apart).transpose(1, 2).reshape(x.sizes());
}

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [from, to] : names)
    if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

/// A file with the model of a config.json, as a converter would write it.
File file_of(const char* config, const std::string& architecture = "llama") {
  const auto c = models::parse_language_config(config);
  const bool llama = c.kind == models::LanguageModelKind::Llama;
  File file;
  file.word("general.architecture", architecture);
  const std::string at = architecture + ".";
  file.whole(at + "context_length", static_cast<uint32_t>(c.num_positions));
  file.whole(at + "embedding_length", static_cast<uint32_t>(c.hidden_size));
  file.whole(at + "feed_forward_length", static_cast<uint32_t>(c.intermediate_size));
  file.whole(at + "block_count", static_cast<uint32_t>(c.num_layers));
  file.whole(at + "attention.head_count", static_cast<uint32_t>(c.num_heads));
  file.whole("tokenizer.ggml.eos_token_id", 38);
  file.whole("tokenizer.ggml.eot_token_id", 39);
  if (llama) {
    file.whole(at + "attention.head_count_kv", static_cast<uint32_t>(c.num_key_value_heads));
    file.whole(at + "attention.key_length", static_cast<uint32_t>(c.head_dim));
    file.whole(at + "rope.dimension_count", static_cast<uint32_t>(c.head_dim));
    file.real(at + "rope.freq_base", static_cast<float>(c.rope_theta));
    file.real(at + "attention.layer_norm_rms_epsilon", static_cast<float>(c.norm_eps));
  } else {
    file.real(at + "attention.layer_norm_epsilon", static_cast<float>(c.norm_eps));
  }
  if (c.rope_scaling.kind == models::RotaryScaling::Kind::Llama3) {
    std::vector<double> factors;
    for (int64_t i = 0; i < c.head_dim; i += 2) {
      const double frequency = std::pow(c.rope_theta, -static_cast<double>(i) / static_cast<double>(c.head_dim));
      const double turns = static_cast<double>(c.rope_scaling.original_positions) * frequency / (2 * M_PI);
      const double share = std::min(1.0, std::max(0.0, (turns - 1) / 3));
      factors.push_back(1 / (share + (1 - share) / c.rope_scaling.factor));
    }
    file.whole(at + "rope.scaling.original_context_length", static_cast<uint32_t>(c.rope_scaling.original_positions));
    file.add("rope_freqs.weight", td::tensor(factors, {.dtype = td::kFloat32}));
  }
  const std::vector<std::pair<std::string, std::string>> llama_names = {{"model.embed_tokens", "token_embd"},
                                                                        {"model.layers.", "blk."},
                                                                        {"input_layernorm", "attn_norm"},
                                                                        {"self_attn.q_proj", "attn_q"},
                                                                        {"self_attn.k_proj", "attn_k"},
                                                                        {"self_attn.v_proj", "attn_v"},
                                                                        {"self_attn.o_proj", "attn_output"},
                                                                        {"post_attention_layernorm", "ffn_norm"},
                                                                        {"mlp.gate_proj", "ffn_gate"},
                                                                        {"mlp.up_proj", "ffn_up"},
                                                                        {"mlp.down_proj", "ffn_down"},
                                                                        {"model.norm", "output_norm"},
                                                                        {"lm_head", "output"}};
  const std::vector<std::pair<std::string, std::string>> gpt2_names = {
      {"wte", "token_embd"},          {"wpe", "position_embd"}, {"attn.c_attn", "attn_qkv"},
      {"attn.c_proj", "attn_output"}, {"mlp.c_fc", "ffn_up"},   {"mlp.c_proj", "ffn_down"},
      {"ln_1", "attn_norm"},          {"ln_2", "ffn_norm"},     {"ln_f", "output_norm"}};
  for (const auto& [name, weight] : small::weights_of(config)) {
    std::string its = replaced(name, llama ? llama_names : gpt2_names);
    td::Tensor x = weight;
    if (!llama && its.starts_with("h.")) its = "blk." + its.substr(2);
    if (!llama && x.dim() == 2 && its.starts_with("blk.")) x = x.t();
    if (architecture == "llama" && its.find("attn_q.") != std::string::npos) x = neighbours(x, c.num_heads);
    if (architecture == "llama" && its.find("attn_k.") != std::string::npos) x = neighbours(x, c.num_key_value_heads);
    file.add(its, x);
  }
  return file;
}

/// The tokenizer of a tokenizer.json, as a converter would write it.
void add_tokenizer(File& file, const std::string& name, const std::string& words) {
  const Json json = Json::parse(read_file(kTokenizers + name + ".json"));
  std::vector<std::string> tokens;
  std::vector<int32_t> kinds;
  const auto put = [&](const std::string& content, size_t id, int32_t kind) {
    tokens.resize(std::max(tokens.size(), id + 1));
    kinds.resize(tokens.size(), 5);
    tokens[id] = content;
    kinds[id] = kind;
  };
  for (const auto& [content, id] : json["model"]["vocab"].items()) put(content, id.get<size_t>(), 1);
  for (const Json& added : json["added_tokens"]) put(added["content"], added["id"].get<size_t>(), added["special"].get<bool>() ? 3 : 4);
  std::vector<std::string> merges;
  for (const Json& merge : json["model"]["merges"])
    merges.push_back(merge.is_array() ? merge[0].get<std::string>() + " " + merge[1].get<std::string>() : merge.get<std::string>());
  file.word("tokenizer.ggml.model", "gpt2");
  file.word("tokenizer.ggml.pre", words);
  file.words("tokenizer.ggml.tokens", tokens);
  file.numbers("tokenizer.ggml.token_type", kinds);
  file.words("tokenizer.ggml.merges", merges);
}

class GgufModel : public OnDevice {};

TEST_P(GgufModel, GivesTheLogitsOfTheFilesItWasMadeOf) {
  const td::Tensor tokens = td::tensor({{3, 17, 0, 39, 8, 8, 21, 5, 30, 12}}, device());
  const std::vector<std::pair<const char*, const char*>> kinds = {
      {small::kLlama, "llama"}, {small::kLlama, "qwen2"}, {small::kLlama3, "llama"}, {small::kGpt2, "gpt2"}};
  for (const auto& [config, architecture] : kinds) {
    file_of(config, architecture).write("model.gguf");
    models::LanguageModel model = models::load_language_model("model.gguf", {.device = device()});
    models::LanguageModel expected = small::model(config, {.device = device()});
    EXPECT_EQ(model.parameters()[0].device(), td::Device(device()));
    EXPECT_FALSE(model.training());
    EXPECT_EQ(model.config().end_tokens, (Tokens{38, 39}));
    EXPECT_EQ(model.config().tied_head, expected.config().tied_head);
    for (const auto& [name, weight] : expected.named_parameters())
      EXPECT_TRUE(td::equal(model.state_dict().at(name), weight)) << architecture << ": " << name;
    EXPECT_TRUE(td::allclose(model(tokens), expected(tokens), 1e-4, 1e-5)) << architecture;
  }
  EXPECT_EQ(models::load_language_model("model.gguf", {.dtype = td::kBFloat16}).parameters()[3].dtype(), td::kBFloat16);
}

INSTANTIATE_TEST_SUITE_P(Devices, GgufModel, testing::Values("cpu", "cuda:0"), device_name);

TEST(GgufTokenizer, GivesTheTokensOfTheFileItWasMadeOf) {
  const auto texts = Json::parse(read_file(kTokenizers + "cases.json"))["texts"].get<std::vector<std::string>>();
  for (const auto& [name, words] :
       std::vector<std::pair<std::string, std::string>>{{"gpt2", "gpt-2"}, {"qwen2", "qwen2"}, {"digits", "smollm"}}) {
    File file = file_of(small::kGpt2, "gpt2");
    add_tokenizer(file, name, words);
    file.write("tokenizer.gguf");
    const models::Tokenizer expected(kTokenizers + name + ".json"), tokenizer = models::TextGenerator("tokenizer.gguf").tokenizer;
    EXPECT_EQ(tokenizer.size(), expected.size()) << name;
    for (const std::string& text : texts) {
      const Tokens tokens = tokenizer.encode(text);
      EXPECT_EQ(tokens, expected.encode(text)) << name << ": " << text;
      EXPECT_EQ(tokenizer.decode(tokens), expected.decode(tokens)) << name << ": " << text;
    }
  }
}

TEST(GgufTokenizer, PutsTokensAroundATextAsTheFileSays) {
  File file = file_of(small::kGpt2, "gpt2");
  add_tokenizer(file, "llama3", "llama-bpe");
  file.whole("tokenizer.ggml.bos_token_id", 0);
  file.write("around.gguf");
  const models::Tokenizer llama3(kTokenizers + "llama3.json");
  Tokens tokens = llama3.encode("Hello, World!", false);
  tokens.insert(tokens.begin(), 0);  // llama-bpe has the first one by itself
  EXPECT_EQ(models::TextGenerator("around.gguf").tokenizer.encode("Hello, World!"), tokens);
  file.flag("tokenizer.ggml.add_bos_token", false);
  file.write("around.gguf");
  EXPECT_EQ(models::TextGenerator("around.gguf").tokenizer.encode("Hello, World!"), llama3.encode("Hello, World!", false));
}

TEST(GgufTokenizer, GeneratesText) {
  File file = file_of(small::kGpt2, "gpt2");
  add_tokenizer(file, "gpt2", "gpt-2");
  file.write("whole.gguf");
  models::TextGenerator generator("whole.gguf");
  const auto written = generator.generate("!", {.max_new_tokens = 5, .end_tokens = {-1}});
  EXPECT_EQ(written.prompt_tokens, 1);
  EXPECT_EQ(written.new_tokens, 5);
}

std::string model_error(const File& file) {
  file.write("refused.gguf");
  return error_of([] { (void)models::load_language_model("refused.gguf"); });
}
std::string tokenizer_error(const File& file) {
  file.write("refused.gguf");
  return error_of([] { (void)models::TextGenerator("refused.gguf"); });
}

TEST(GgufFiles, AreRefusedByWhatTheyLack) {
  File other;
  other.word("general.architecture", "mamba");
  EXPECT_EQ(model_error(other),
            "[load_language_model] refused.gguf: a model of the architecture 'mamba' is not supported; llama, qwen2 and gpt2 are");
  EXPECT_EQ(model_error(File()), "[load_language_model] refused.gguf: lacks general.architecture");
  File number;
  number.whole("general.architecture", 3);
  EXPECT_EQ(model_error(number), "[load_language_model] refused.gguf: general.architecture is no text");
  File empty;
  empty.word("general.architecture", "llama");
  EXPECT_EQ(model_error(empty), "[load_language_model] refused.gguf: lacks the tensor token_embd.weight");
  empty.add("token_embd.weight", td::ones({40, 16}));
  EXPECT_EQ(model_error(empty), "[load_language_model] refused.gguf: lacks llama.embedding_length");
  File scaled = file_of(small::kLlama);
  scaled.word("llama.rope.scaling.type", "yarn");
  EXPECT_EQ(model_error(scaled), "[load_language_model] refused.gguf: rotary positions of type 'yarn' are not supported; linear is");
  File factors = file_of(small::kLlama);
  factors.add("rope_freqs.weight", td::tensor({1.0, 3.0}, {.dtype = td::kFloat32}));
  EXPECT_NE(model_error(factors).find("are not those of Llama 3"), std::string::npos);
  File experts = file_of(small::kLlama);
  experts.add("blk.0.ffn_gate_inp.weight", td::ones({2, 2}));
  EXPECT_NE(model_error(experts).find("a mixture of experts is not supported"), std::string::npos);
  File heads = file_of(small::kLlama);
  heads.parts.values[5] = value("llama.attention.head_count", kU32Type, bytes_of<uint32_t>(0));
  EXPECT_NE(model_error(heads).find("[load_language_model] refused.gguf"), std::string::npos) << model_error(heads);

  File kind = file_of(small::kGpt2, "gpt2");
  EXPECT_EQ(tokenizer_error(kind), "[Tokenizer] refused.gguf: lacks tokenizer.ggml.model");
  kind.word("tokenizer.ggml.model", "llama");
  EXPECT_EQ(tokenizer_error(kind),
            "[Tokenizer] refused.gguf: a tokenizer of the kind 'llama' is not supported; byte-level BPE, \"gpt2\", is");
  File words = file_of(small::kGpt2, "gpt2");
  add_tokenizer(words, "gpt2", "tekken");
  EXPECT_NE(tokenizer_error(words).find("cuts words as 'tekken' is not supported"), std::string::npos);
  File types = file_of(small::kGpt2, "gpt2");
  types.word("tokenizer.ggml.model", "gpt2");
  types.words("tokenizer.ggml.tokens", {"a"});
  EXPECT_EQ(tokenizer_error(types), "[Tokenizer] refused.gguf: lacks tokenizer.ggml.merges");
  types.words("tokenizer.ggml.merges", {"a b"});
  EXPECT_NE(tokenizer_error(types).find("[Tokenizer] refused.gguf"), std::string::npos);
  types.numbers("tokenizer.ggml.token_type", {1, 1});
  EXPECT_EQ(tokenizer_error(types), "[Tokenizer] refused.gguf: there are 1 tokens, but 2 of tokenizer.ggml.token_type");
  File beyond = file_of(small::kGpt2, "gpt2");
  add_tokenizer(beyond, "gpt2", "gpt-2");
  beyond.flag("tokenizer.ggml.add_eos_token", true);
  EXPECT_EQ(tokenizer_error(beyond), "no error");  // 38 is a token
  beyond.flag("tokenizer.ggml.add_bos_token", true);
  beyond.whole("tokenizer.ggml.bos_token_id", 420);
  EXPECT_EQ(tokenizer_error(beyond), "[Tokenizer] refused.gguf: tokenizer.ggml.bos_token_id is 420, which no token has");
}

// The files of make_gguf_models.py, where TANDEM_GGUF_FOLDER names them (.ci/gguf).
TEST(GgufFolder, GivesTheLogitsOfTransformers) {
  const char* const folder = std::getenv("TANDEM_GGUF_FOLDER");
  if (!folder) GTEST_SKIP() << "TANDEM_GGUF_FOLDER is not set";
  const char* const device = std::getenv("TANDEM_GGUF_DEVICE");
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    ++count;
    SCOPED_TRACE(entry.path().stem());
    auto arrays = td::io::load_npz(std::filesystem::path(entry.path()).replace_extension(".npz"));
    models::LanguageModel model =
        models::load_language_model(entry.path(), {.dtype = td::kFloat32, .device = td::Device(device ? device : "cpu")});
    const td::NoGradGuard no_grad;
    const td::Tensor logits = model(arrays.at("tokens").to(model.parameters()[0].device()))[0].cpu(), wanted = arrays.at("logits");
    const auto off = (logits - wanted).abs().max().item<float>() / wanted.abs().max().item<float>();
    std::cout << entry.path().stem().string() << ": " << off << " of the largest\n";
    EXPECT_LE(off, 1e-5F);
  }
  EXPECT_GT(count, 0);
}

}  // namespace
