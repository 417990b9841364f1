// Reads files for compare.py, which compares what comes with what other programs read. Each line of standard input is a call in JSON,
// {"reader": "png", "path": "a.png", …}; each answer is a line of JSON, and behind it the bytes of the tensors that it lists.
#include <iostream>
#include <nlohmann/json.hpp>

#include "io/torch_file.h"
#include "tandem.h"

namespace td = tandem;
using nlohmann::json;

namespace {

/// What a reader gave: tensors in order, and what else there is to compare.
struct Read {
  std::vector<std::pair<std::string, td::Tensor>> tensors;
  json more = json::object();
};

Read of_map(const td::io::TensorMap& map) {
  Read read;
  for (const auto& [name, tensor] : map) read.tensors.emplace_back(name, tensor);
  return read;
}

Read read_table(const json& call, const std::string& path) {
  td::data::CsvOptions options;
  options.header = call.value("header", true);
  options.delimiter = call.value("delimiter", ",")[0];
  options.whitespace = call.value("whitespace", false);
  options.skip_lines = call.value("skip_lines", int64_t{0});
  const std::string comment = call.value("comment", "");
  if (!comment.empty()) options.comment = comment[0];
  options.categories = call.value("categories", std::vector<std::string>());
  options.dtype = td::kFloat64;
  const td::data::CsvTable table = td::data::read_csv(path, options);
  Read read;
  read.tensors.emplace_back("values", table.values);
  read.more["names"] = table.names;
  read.more["categories"] = table.categories;
  return read;
}

/// All that a file of torch.save's holds: its tensors, and the rest as Python prints it. It is written anew where the call says so.
Read read_torch(const json& call, const std::string& path) {
  const td::io::PlainValue value = td::io::read_torch(path);
  if (const std::string to = call.value("write", ""); !to.empty()) td::io::save_torch(to, value);
  Read read;
  for (const auto& [name, tensor] : td::io::tensors_of(value)) read.tensors.emplace_back(name, tensor.detach());
  read.more["value"] = td::str(value);
  return read;
}

Read read_file(const json& call) {
  const std::string reader = call.at("reader"), path = call.at("path");
  if (reader == "image") return {{{"pixels", td::data::read_image(path)}}};
  if (reader == "npy") return {{{"array", td::io::load_npy(path)}}};
  if (reader == "torch") return read_torch(call, path);
  if (reader == "idx") return {{{"array", td::data::read_idx(path)}}};
  const auto names = call.value("names", std::vector<std::string>());
  if (reader == "npz") return of_map(td::io::load_npz(path, td::cpu(), names));
  if (reader == "safetensors") return of_map(td::io::load_safetensors(path, td::cpu(), names));
  return read_table(call, path);
}

/// Texts out of files may hold any bytes.
void answer(const json& text) { std::cout << text.dump(-1, ' ', false, json::error_handler_t::replace) << '\n'; }

}  // namespace

int main() {
  std::vector<std::string> warnings;
  td::set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  for (std::string line; std::getline(std::cin, line);) {
    warnings.clear();
    try {
      const Read read = read_file(json::parse(line));
      json text = {{"tensors", json::array()}, {"more", read.more}, {"warnings", warnings}};
      for (const auto& [name, tensor] : read.tensors)
        text["tensors"].push_back(
            {{"name", name}, {"dtype", td::str(tensor.dtype())}, {"sizes", tensor.sizes()}, {"bytes", tensor.nbytes()}});
      answer(text);
      for (const auto& [name, tensor] : read.tensors) {
        const td::Tensor rows = tensor.contiguous();
        std::cout.write(static_cast<const char*>(rows.data_ptr()), static_cast<std::streamsize>(rows.nbytes()));
      }
    } catch (const td::Error& error) {
      answer({{"error", error.message()}});
    }
    std::cout.flush();
  }
}
