#include "parallel/shard_files.h"

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/number_in.h"
#include "io/file.h"
#include "parallel/flat_ranges.h"

namespace tandem::parallel::detail {
namespace {

constexpr const char* kSave = "save_shards";
constexpr const char* kLoad = "load_shards";
constexpr const char* kIndex = "index.tsv";

std::string file_name(int rank, int size) {
  char text[64];
  std::snprintf(text, sizeof text, "shard-%05d-of-%05d.safetensors", rank, size);
  return text;
}

std::string key_of(const std::string& name, int64_t begin) { return str(name, "@", begin); }

/// A line's fields.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') fields.emplace_back();
    else fields.back() += c;
  }
  return fields;
}

bool parse(const std::string& text, int64_t& number) {
  number = tandem::detail::number_in<int64_t>(text).value_or(-1);
  return number >= 0;
}

/// Bytes as a tensor, so that ranks can hand them around.
Tensor bytes_of(const std::string& text) {
  const Tensor bytes(TensorImpl::make({static_cast<int64_t>(text.size())}, kUInt8, Device(), false, Site::here()));
  std::copy(text.begin(), text.end(), static_cast<char*>(bytes.data_ptr()));
  return bytes;
}

}  // namespace

void save_shard_files(const std::string& folder, const std::vector<ShardPart>& parts, const distributed::ProcessGroup& group, Site site) {
  const std::string file = file_name(group.rank(), group.size());
  io::TensorMap tensors;
  std::string lines;
  for (const ShardPart& part : parts) {
    if (part.name.find_first_of("\t\n") != std::string::npos)
      fail("[", kSave, "] '", part.name, "' has a tab or an end of a line in its name, which an index cannot hold");
    tensors[key_of(part.name, part.begin)] = part.values;
    lines += str(file, '\t', part.name, '\t', part.begin, '\t', part.values.numel(), '\t', part.sizes, '\n');
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("[", kSave, "] cannot make the folder ", folder, ": ", error.message());
  io::save_safetensors(folder + "/" + file, tensors, {}, site);
  StateDict mine;
  mine["lines"] = bytes_of(lines);
  std::string index;
  for (const StateDict& one : gather_state_dicts(mine, group, site)) {  // every rank's file is written by then
    const Tensor& bytes = one.at("lines");
    index.append(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes());
  }
  if (group.rank() == 0) io::write_file(kSave, folder + "/" + kIndex, index);
  distributed::barrier({.group = group}, site);
}

ShardFiles::ShardFiles(const std::string& folder, Site site) : folder_(folder), site_(site) {
  const io::InputFile index(kLoad, folder + "/" + kIndex);
  std::istringstream lines(index.read(index.size(), 0));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> fields = fields_of(line);
    Part part;
    if (fields.size() != 5 || !parse(fields[2], part.begin) || !parse(fields[3], part.count) || fields[0].find('/') != std::string::npos)
      index.bad("line ", number, " is not a file's name, a tensor's name, two numbers and sizes");
    part.file = fields[0];
    Entry& entry = entries_[fields[1]];
    if (!entry.parts.empty() && entry.sizes != fields[4])
      index.bad("line ", number, " gives '", fields[1], "' the sizes ", fields[4], ", a line before ", entry.sizes);
    entry.sizes = fields[4];
    entry.parts.push_back(part);
  }
}

void ShardFiles::check(const std::string& name, const Shape& sizes) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail("[", kLoad, "] there is no '", name, "' in ", folder_);
  if (found->second.sizes != str(sizes))
    fail("[", kLoad, "] '", name, "' has size ", found->second.sizes, " in ", folder_, ", but here it has ", sizes);
}

const io::TensorMap& ShardFiles::file(const std::string& name) const {
  auto found = open_.find(name);
  if (found == open_.end()) found = open_.emplace(name, io::load_safetensors(folder_ + "/" + name, cpu(), {}, site_)).first;
  return found->second;
}

void ShardFiles::read(const std::string& name, int64_t begin, const Tensor& values) const {
  const NoGradGuard no_grad;
  int64_t left = values.numel();
  const int64_t end = begin + left;
  for (const Part& part : entries_.at(name).parts) {
    const int64_t from = std::max(begin, part.begin), to = std::min(end, part.begin + part.count);
    if (from >= to) continue;
    const io::TensorMap& tensors = file(part.file);
    const auto found = tensors.find(key_of(name, part.begin));
    if (found == tensors.end() || found->second.dim() != 1 || found->second.numel() != part.count)
      fail("[", kLoad, "] ", folder_, "/", part.file, " does not hold the ", part.count, " elements of '", name,
           "' that the index tells of");
    values.narrow(0, from - begin, to - from).copy_(found->second.narrow(0, from - part.begin, to - from), false, site_);
    left -= to - from;
  }
  if (left > 0) fail("[", kLoad, "] ", left, " elements of '", name, "' are in no file of ", folder_);
}

}  // namespace tandem::parallel::detail
