#include "io/shard_index.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/named.h"
#include "io/safetensors_header.h"

namespace tandem::io {
namespace {

using nlohmann::json;

constexpr uint64_t kLongestIndex = 100'000'000;
constexpr std::string_view kEnding = ".safetensors";

/// Whether a shard's name leads nowhere but into the folder and what is below it.
bool stays_inside(const std::string& name) {
  const std::filesystem::path path = name;
  return !name.empty() && name.back() != '/' && name.find('\0') == std::string::npos && !path.is_absolute() &&
         std::none_of(path.begin(), path.end(), [](const std::filesystem::path& part) { return part == ".."; });
}

/// Takes over names of tensors and files and passes over all else, however deep it is nested.
class IndexReader final : public nlohmann::json_sax<json> {
 public:
  IndexReader(const InputFile& file, ShardIndex& index) : file_(file), index_(index) {}

  bool has_map = false;

  bool start_object(size_t) override {
    if (depth_ > 0) not_a_value("an object");
    if (depth_ == 1 && key_ == "weight_map" && std::exchange(has_map, true)) file_.bad("the index has the key 'weight_map' twice");
    if (++depth_ == 2) part_ = key_ == "weight_map" ? Part::Map : key_ == "metadata" ? Part::Metadata : Part::Other;
    return true;
  }
  bool end_object() override { return end(); }
  bool start_array(size_t) override {
    if (depth_ == 0) file_.bad("the index is not an object");
    not_a_value("a list");
    if (++depth_ == 2) part_ = Part::Other;
    return true;
  }
  bool end_array() override { return end(); }
  bool key(std::string& key) override {
    if (depth_ == 1 || (depth_ == 2 && part_ != Part::Other)) key_ = key;
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ == 2 && part_ == Part::Metadata) index_.metadata[key_] = text;
    if (depth_ != 2 || part_ != Part::Map) return not_a_value("text");
    if (!stays_inside(text))
      file_.bad("the index has tensor ", in_quotes(key_), " in the file ", in_quotes(text), ", which does not lie in its folder");
    if (!index_.files.try_emplace(key_, std::move(text)).second) file_.bad("the index has tensor ", in_quotes(key_), " twice");
    return true;
  }
  bool number_unsigned(uint64_t number) override { return value(str(number)); }
  bool number_integer(int64_t number) override { return value(str(number)); }
  bool number_float(double, const std::string& text) override { return value(text); }
  bool boolean(bool value) override { return this->value(value ? "true" : "false"); }
  bool null() override { return value(""); }
  bool binary(json::binary_t&) override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    file_.bad("the index is not valid JSON (at its byte ", position, ")");
  }

 private:
  enum class Part { Other, Map, Metadata };

  bool value(const std::string& text) {
    if (depth_ == 2 && part_ == Part::Metadata && !text.empty()) index_.metadata[key_] = text;
    return not_a_value(text);
  }
  /// Throws where a file's name, or the map of them, should stand here.
  bool not_a_value(const std::string& what) const {
    if (depth_ == 0 && what != "an object") file_.bad("the index is not an object");
    if (depth_ == 2 && part_ == Part::Map) file_.bad("the index has no file's name for tensor ", in_quotes(key_), ", but ", shown(what));
    if (depth_ == 1 && key_ == "weight_map" && what != "an object") file_.bad("the index's 'weight_map' is not an object");
    return true;
  }
  bool end() {
    if (--depth_ == 1) part_ = Part::Other;
    return true;
  }

  const InputFile& file_;
  ShardIndex& index_;
  size_t depth_ = 0;
  Part part_ = Part::Other;
  std::string key_;
};

/// The names in a folder that end so, in order.
std::vector<std::string> files_with(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(ending)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The file in a folder that says what there is: the whole model, or its index.
std::string file_in(const char* op, const std::string& folder) {
  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto wholes = files_with(folder, kEnding);
  if (has(wholes, kWholeName)) return std::string(kWholeName);
  const auto indices = files_with(folder, kIndexEnding);
  if (has(indices, kIndexName)) return std::string(kIndexName);
  const auto& candidates = indices.empty() ? wholes : indices;
  if (candidates.size() == 1) return candidates[0];
  if (candidates.empty()) fail("[", op, "] ", folder, ": the folder has no file NAME", kEnding, " and no index NAME", kIndexEnding);
  fail("[", op, "] ", folder, ": the folder has several files, and none of them is ", kIndexName,
       ": give the path of one: ", listed(candidates));
}

}  // namespace

ShardIndex read_shard_index(const char* op, const std::string& path) {
  ShardIndex index;
  std::string file_path = path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    index.folder = path.ends_with('/') ? path : path + '/';
    file_path = index.folder + file_in(op, path);
  } else {
    index.folder = path.substr(0, path.rfind('/') + 1);
  }
  if (!file_path.ends_with(".json") && file_path.ends_with(kEnding)) {
    index.whole = file_path;
    return index;
  }
  const InputFile file(op, file_path);
  const std::string start = file.read(std::min<uint64_t>(file.size(), kKindBytes), 0);
  if (!start.starts_with('{')) {
    const size_t text = std::min(start.find_first_not_of(" \t\r\n"), start.size());
    if (text == start.size() || start[text] != '{') {
      const std::string mistaken = mistaken_for("the index of a model in shards", start, path);
      file.bad(mistaken.empty() ? "not the index of a model in shards: it is no JSON" : mistaken);
    }
  }
  if (file.size() > kLongestIndex) file.bad("the index has ", file.size(), " bytes, more than the ", kLongestIndex, " that are read");
  const std::string text = file.read(file.size(), 0);
  IndexReader reader(file, index);
  json::sax_parse(text, static_cast<nlohmann::json_sax<json>*>(&reader));
  if (!reader.has_map) file.bad("the index has no 'weight_map': not the index of a model in shards");
  index.path = file_path;
  return index;
}

void check_promise(const char* op, const ShardIndex& index, const std::string& shard, const std::set<std::string>& names) {
  const InputFile file(op, index.folder + shard);
  std::set<std::string> missing = names;
  for (const auto& [name, entry] : read_safetensors_header(file).entries) missing.erase(name);
  if (missing.empty()) return;
  file.bad("there is no tensor ", in_quotes(*missing.begin()), ", which the index ", index.path, " has in the shard ", in_quotes(shard),
           ": fetch both anew");
}

std::string shard_index_text(const std::map<std::string, std::string>& files, uint64_t total_bytes) {
  const auto quoted = [](const std::string& text) { return json(text).dump(); };
  std::string text = str("{\n  \"metadata\": {\n    \"total_size\": ", total_bytes, "\n  },\n  \"weight_map\": {");
  bool first = true;
  for (const auto& [name, file] : files) {
    text += str(first ? "\n    " : ",\n    ", quoted(name), ": ", quoted(file));
    first = false;
  }
  return text + "\n  }\n}\n";
}

}  // namespace tandem::io
