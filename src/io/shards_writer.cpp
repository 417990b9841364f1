#include "io/shards_writer.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "io/shard_index.h"

namespace tandem::io {
namespace {

constexpr size_t kMostShards = 99'999;  // of five digits

std::string shard_name(size_t number, size_t count) { return tandem::detail::formatted("model-%05zu-of-%05zu.safetensors", number, count); }

/// Whether a file has a name that shards are given here.
bool is_shard_name(const std::string& name) {
  std::string pattern = shard_name(0, 0);
  if (name.size() != pattern.size()) return false;
  for (size_t i = 0; i < name.size(); ++i)
    if (pattern[i] == '0' ? std::isdigit(static_cast<unsigned char>(name[i])) == 0 : name[i] != pattern[i]) return false;
  return true;
}

/// The shards of an earlier model in the folder.
std::set<std::string> earlier_shards(const std::string& index) {
  std::set<std::string> names;
  try {
    for (const auto& [tensor, file] : read_shard_index("", index).files)
      if (is_shard_name(file)) names.insert(file);
  } catch (const Error&) {  // there is none, or none that can be read
  }
  return names;
}

void remove(const std::string& path) {
  std::error_code ignored;  // what is left over is not read any more
  std::filesystem::remove(path, ignored);
}

}  // namespace

ShardsWriter::ShardsWriter(const char* op, std::string folder, std::vector<PlannedTensor> tensors, uint64_t max_bytes,
                           const Metadata& metadata)
    : op_(op), folder_(std::move(folder)) {
  std::vector<std::vector<PlannedTensor>> parts(1);
  uint64_t bytes = 0;
  for (PlannedTensor& tensor : tensors) {
    const uint64_t more = tensor.bytes();
    total_bytes_ += more;
    if (!parts.back().empty() && more > max_bytes - std::min(bytes, max_bytes)) {
      parts.emplace_back();
      bytes = 0;
    }
    bytes += more;
    parts.back().push_back(std::move(tensor));
  }
  if (parts.size() > kMostShards)
    fail("[", op, "] ", folder_, ": there would be ", parts.size(), " shards, more than ", kMostShards, ": allow larger ones");
  std::error_code error;
  std::filesystem::create_directory(folder_.empty() ? "." : folder_, error);
  if (error) fail("[", op, "] ", folder_, ": cannot make the folder: ", error.message());
  if (!folder_.empty() && !folder_.ends_with('/')) folder_ += '/';
  for (auto& part : parts) {
    names_.push_back(parts.size() == 1 ? std::string(kWholeName) : shard_name(names_.size() + 1, parts.size()));
    shards_.emplace_back(op, folder_ + names_.back(), std::move(part), metadata);
  }
}

void ShardsWriter::commit() {
  const std::string index = folder_ + std::string(kIndexName), whole = folder_ + std::string(kWholeName);
  for (SafetensorsWriter& shard : shards_) shard.flush();
  std::set<std::string> left = earlier_shards(index);
  const size_t earlier = left.size();
  for (const std::string& name : names_) left.erase(name);
  if (left.size() != earlier) remove(index);                // it would name some of the new files
  for (SafetensorsWriter& shard : shards_) shard.commit();  // whose bytes are on the disk: little can fail
  if (shards_.size() > 1) {
    std::map<std::string, std::string> files;
    for (size_t i = 0; i < shards_.size(); ++i)
      for (const PlannedTensor& tensor : shards_[i].order()) files.emplace(tensor.name, names_[i]);
    write_file(op_, index, shard_index_text(files, total_bytes_));
    remove(whole);
  } else {
    remove(index);
  }
  for (const std::string& name : left) remove(folder_ + name);
}

}  // namespace tandem::io
