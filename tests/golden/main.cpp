// golden FILE.json…: runs PyTorch's sample calls and compares values and gradients with PyTorch's answers.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "golden.h"
#include "support/virtual_kernels.h"

namespace golden {
namespace {

struct Counts {
  int passed = 0, failed = 0, skipped = 0, known = 0;
};

/// The tensors of a safetensors file, but for those that PyTorch refuses and that have more dimensions than ours can have.
io::TensorMap read_tensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  std::string header(in ? length : 0, '\0');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!in) throw std::runtime_error(path + ": can't be read");
  static const std::map<std::string, DType> dtypes{{"BOOL", kBool},   {"U8", kUInt8},   {"I8", kInt8},     {"I16", kInt16},
                                                   {"I32", kInt32},   {"I64", kInt64},  {"F16", kFloat16}, {"BF16", kBFloat16},
                                                   {"F32", kFloat32}, {"F64", kFloat64}};
  io::TensorMap tensors;
  const Json entries = Json::parse(header);
  for (const auto& [key, about] : entries.items()) {
    if (key == "__metadata__" || about["shape"].size() > static_cast<size_t>(kMaxDims)) continue;
    const Tensor tensor = empty(Shape(about["shape"].get<std::vector<int64_t>>()), dtypes.at(about["dtype"].get<std::string>()));
    in.seekg(static_cast<std::streamoff>(8 + length + about["data_offsets"][0].get<uint64_t>()));
    if (tensor.numel()) in.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    if (!in) throw std::runtime_error(path + ": " + key + " can't be read");
    tensors.emplace(key, tensor);
  }
  return tensors;
}

/// What one case came to: empty where it passed.
std::string run_operation(const Table& table, const std::string& op, const Json& test, const io::TensorMap& stored, Device device) {
  Tensors tensors(stored, device);
  const Json& args = test["args"];
  const Json& kwargs = test["kwargs"];
  if (test.contains("error")) {
    try {
      for (const Tensor& result : table.call(op, args, kwargs, tensors)) (void)result.cpu();
      if (device.is_cuda()) cuda::synchronize(device);
    } catch (const Error&) {
      return "";
    }
    return "no error, but PyTorch's: " + test["error"].get<std::string>();
  }
  const Json gradients = test.value("gradients", Json::array());
  // Tensors are made when the call asks for them; those with gradients must ask for these first.
  const auto wanted = [&](const std::string& key) {
    return std::any_of(gradients.begin(), gradients.end(), [&](const Json& pair) { return pair[0] == key; });
  };
  make_tensors(args, wanted, tensors);
  make_tensors(kwargs, wanted, tensors);
  const Results results = table.call(op, args, kwargs, tensors);
  if (std::string different = different_results(results, test, tensors); !different.empty()) return different;
  if (gradients.empty()) return "";
  run_backward(results, test, tensors);
  for (const auto& pair : gradients) {
    const auto key = pair[0].get<std::string>();
    const std::string different = different_gradient(key, tensors.made(key).grad(), pair[1], test, tensors);
    if (!different.empty()) return different;
  }
  return "";
}

/// Failures that are known and explained: lines `operation case-number reason`; # starts a comment.
std::map<std::string, std::string> read_known(const std::string& path) {
  std::map<std::string, std::string> known;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string op, number, reason;
    if (!(words >> op >> number) || op.front() == '#') continue;
    std::getline(words >> std::ws, reason);
    known[op + " case " + number] = reason;
  }
  return known;
}

/// The JSON files that `paths` name: files, and those in folders.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void run_file(const Table& table, const std::string& path, Device device, const std::map<std::string, std::string>& known,
              const Json& autocast, Counts& counts, std::set<std::string>& lacking) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": can't be read");
  const Json file = Json::parse(in);
  const io::TensorMap stored = read_tensors(std::filesystem::path(path).replace_extension(".safetensors").string());
  const auto text = [&](const char* key) { return file.value(key, std::string()); };
  const std::string subject = file.contains("op")       ? text("op")
                              : file.contains("module") ? "nn." + text("module")
                                                        : "optim." + text("optimizer");
  if (!autocast.is_null() && !autocast.contains(subject)) return;
  int number = 0;
  for (const Json& test : file["cases"]) {
    std::string failure;
    try {
      if (!autocast.is_null())
        failure = different_under_autocast(table, subject, test, stored, device, autocast[subject][static_cast<size_t>(number)]);
      else if (file.contains("op")) failure = run_operation(table, subject, test, stored, device);
      else if (file.contains("module")) failure = run_module(text("module"), test, stored, device);
      else failure = run_optimizer(text("optimizer"), test, stored, device);
    } catch (const Lacking& missing) {
      ++counts.skipped;
      ++number;
      lacking.insert(missing.what);
      continue;
    } catch (const std::exception& error) {
      failure = std::string("error: ") + error.what();
    }
    const std::string title = subject + " case " + std::to_string(number++);
    const auto explained = known.find(title);
    if (failure.empty()) {
      ++counts.passed;
      if (explained != known.end()) std::cout << title << ": passes, though it is listed as a known failure\n";
      continue;
    }
    ++(explained == known.end() ? counts.failed : counts.known);
    std::cout << title << ": " << failure << (explained == known.end() ? "" : " (known: " + explained->second + ")") << "\n";
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Runs PyTorch's sample calls and compares the answers."};
  std::vector<std::string> paths;
  std::string device = "cpu", known, autocast;
  bool list = false, complete = false;
  app.add_option("file", paths, "JSON files, each beside its safetensors, or folders of them")->check(CLI::ExistingPath);
  app.add_option("--device", device, "cpu or cuda:0")->capture_default_str();
  app.add_option("--known", known, "a list of failures that are known and don't count")->check(CLI::ExistingFile);
  app.add_option("--autocast", autocast, "compare the dtypes under autocast with those of this file instead")->check(CLI::ExistingFile);
  app.add_flag("--complete", complete, "an operation that is missing counts as a failure");
  app.add_flag("--list", list, "print the names that can be called");
  CLI11_PARSE(app, argc, argv);
  Table table;
  for (const auto add :
       {add_creation, add_pointwise, add_reductions, add_shapes, add_indexing, add_linalg, add_network, add_convolution, add_losses})
    add(table);
  if (list) {
    for (const auto& name : table.names()) std::cout << name << "\n";
    for (const auto& name : module_names()) std::cout << name << "\n";
    for (const auto& name : optimizer_names()) std::cout << name << "\n";
    return 0;
  }
  if (paths.empty()) {
    std::cerr << "golden: no files (golden --help)\n";
    return 2;
  }
  Counts counts;
  std::set<std::string> lacking;
  const auto explained = known.empty() ? std::map<std::string, std::string>() : read_known(known);
  Json dtypes;
  if (!autocast.empty()) {
    std::ifstream in(autocast);
    dtypes = Json::parse(in)[Device(device).is_cpu() ? "cpu" : "cuda"];
  }
  for (const auto& path : files_of(paths)) run_file(table, path, Device(device), explained, dtypes, counts, lacking);
  for (const auto& what : lacking) std::cout << "skipped: " << what << "\n";
  if (counts.known) std::cout << counts.known << " failed as known\n";
  std::cout << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped << " skipped\n";
  return counts.failed || (complete && counts.skipped) ? 1 : 0;
}

}  // namespace
}  // namespace golden

int main(int argc, char** argv) {
  try {
    if (const int code = tandem::testing::use_kernels_of_environment()) return code;
    return golden::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "golden: " << error.what() << "\n";
    return 2;
  }
}
