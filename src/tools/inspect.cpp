// `tandem inspect`: which tensors are in a file, and what else it says of itself.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json_text.h"
#include "io/any_file.h"
#include "io/named.h"
#include "tools/file_texts.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

using nlohmann::ordered_json;

struct InspectOptions {
  std::string file;
  bool json = false;
};

/// Of all tensors together.
struct Totals {
  uint64_t elements = 0, bytes = 0;
};

Totals totals_of(const io::FileContents& contents) {
  Totals totals;
  const auto add = [](uint64_t& sum, uint64_t more) {
    if (__builtin_add_overflow(sum, more, &sum)) sum = std::numeric_limits<uint64_t>::max();
  };
  for (const io::FileTensor& tensor : contents.tensors) {
    add(totals.elements, element_count(tensor.sizes));
    add(totals.bytes, tensor.bytes);
  }
  return totals;
}

std::string json(const std::string& file, const io::FileContents& contents) {
  ordered_json tensors = ordered_json::array(), metadata = ordered_json::object();
  for (const io::FileTensor& tensor : contents.tensors) {
    ordered_json entry = {{"name", tensor.name}, {"type", tensor.type}, {"dtype", nullptr}};
    if (tensor.dtype) entry["dtype"] = name(*tensor.dtype);
    entry["shape"] = std::vector<int64_t>(tensor.sizes.begin(), tensor.sizes.end());
    entry["bytes"] = tensor.bytes;
    if (!tensor.file.empty()) entry["shard"] = tensor.file;
    tensors.push_back(std::move(entry));
  }
  for (const auto& [key, value] : contents.metadata) metadata[key] = json_of(value);
  const Totals totals = totals_of(contents);
  return detail::json_text(ordered_json{{"file", file},
                                        {"format", contents.format},
                                        {"tensors", std::move(tensors)},
                                        {"elements", totals.elements},
                                        {"bytes", totals.bytes},
                                        {"metadata", std::move(metadata)}},
                           2);
}

/// One line of a value: of a long list how long it is, of a long text its beginning.
std::string value_text(const io::MetadataValue& value) {
  constexpr size_t kMostItems = 8;
  const auto long_list = [](const auto& items) {
    if constexpr (std::is_class_v<std::decay_t<decltype(items)>> && !std::is_same_v<std::decay_t<decltype(items)>, std::string>)
      return items.size() > kMostItems ? items.size() : 0;
    else return size_t{0};
  };
  if (const size_t count = std::visit(long_list, value.value); count > 0) return "a list of " + counted(count, "value");
  if (const auto* const text = value.get_if<std::string>()) return io::shown(*text);
  return io::shown(detail::json_text(json_of(value)));
}

void print(const std::string& file, const io::FileContents& contents) {
  const Totals totals = totals_of(contents);
  std::cout << file << ": " << contents.format << ", " << counted(contents.tensors.size(), "tensor") << ", "
            << counted(totals.elements, "element") << ", " << size_text(totals.bytes) << "\n";
  std::vector<std::vector<std::string>> rows;
  for (const io::FileTensor& tensor : contents.tensors) {
    rows.push_back({io::shown(tensor.name), io::shown(tensor.type), str(tensor.sizes), size_text(tensor.bytes)});
    if (!tensor.file.empty()) rows.back().push_back(io::shown(tensor.file));
  }
  std::vector<size_t> widths(5);
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += "  " + (i + 1 < row.size() || i == 3 ? detail::padded(row[i], widths[i], i == 3) : row[i]);
    std::cout << line << "\n";
  }
  size_t widest = 0;
  for (const auto& [key, value] : contents.metadata) widest = std::max(widest, io::shown(key).size());
  if (!contents.metadata.empty()) std::cout << "metadata:\n";
  for (const auto& [key, value] : contents.metadata)
    std::cout << "  " << detail::padded(io::shown(key), widest, false) << "  " << value_text(value) << "\n";
  std::cout << std::flush;
}

int inspect(const InspectOptions& options) {
  const io::FileContents contents = io::list_tensors(options.file);
  if (options.json) std::cout << json(options.file, contents) << std::endl;
  else print(options.file, contents);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* inspect_app = app.add_subcommand("inspect", "Which tensors are in a file: names, types, shapes, sizes, and its metadata");
  const auto options = std::make_shared<InspectOptions>();
  inspect_app->add_option("FILE", options->file, "safetensors, a folder or an index of its shards, GGUF, PyTorch's .pt, .npz or .npy")
      ->required();
  inspect_app->add_flag("--json", options->json, "Print it as JSON");
  inspect_app->callback([options, &action] { action = [options] { return inspect(*options); }; });
}

}  // namespace tandem::tools
