// `tandem convert`: the tensors of a file in another format, a few of them at a time, so that a model may be larger than the memory.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autograd/autograd.h"
#include "base/json_text.h"
#include "io/any_file.h"
#include "io/file.h"
#include "io/named.h"
#include "io/npy.h"
#include "io/npy_header.h"
#include "io/safetensors_writer.h"
#include "io/shards_writer.h"
#include "io/torch_file.h"
#include "io/zip.h"
#include "tools/file_texts.h"
#include "tools/program.h"
#include "tools/work_bar.h"

namespace tandem::tools {
namespace {

using io::PlannedTensor;

constexpr const char* kOp = "convert";
constexpr uint64_t kUsualShard = 5'000'000'000;  // Hugging Face's

struct ConvertOptions {
  std::string in, out, to, dtype, max_shard_size;
  bool skip_others = false, json = false, quiet = false;
};

/// "2GiB", "500MB", "1000000"; nothing where it is no size.
std::optional<uint64_t> bytes_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  constexpr std::pair<const char*, double> kUnits[] = {{"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                                                       {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (const auto& [name, factor] : kUnits)
    if (error == std::errc() && unit == name && number * factor >= 1 && number * factor < 0x1p63)
      return static_cast<uint64_t>(number * factor);
  return std::nullopt;
}

CLI::Validator size_in_bytes() {
  return CLI::Validator(
      [](std::string& text) { return bytes_of(text) ? std::string() : str("must be a size, as 2GiB, 500MB or 1000000, not ", text); },
      "SIZE");
}

/// The file that is read, the tensors that are taken, and how far it is.
class Reader {
 public:
  explicit Reader(const ConvertOptions& options)
      : options_(options), contents_(io::list_tensors(options.in)), bar_(options.quiet || options.json) {
    const std::optional<DType> wanted = dtype_named(options.dtype);
    std::vector<std::string> others;
    for (const io::FileTensor& tensor : contents_.tensors) {
      if (!tensor.dtype) {
        others.push_back(tensor.name);
        continue;
      }
      const DType dtype = wanted && is_floating(*tensor.dtype) ? *wanted : *tensor.dtype;
      plan_.push_back({tensor.name, dtype, tensor.sizes});
      bytes_ += plan_.back().bytes();
    }
    std::sort(plan_.begin(), plan_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    if (others.empty()) return;
    if (!options.skip_others)
      fail(options.in, ": has tensors of types that no tensor here has: ", io::listed(others), ": leave them out with --skip-others");
    if (!options.quiet) std::cerr << "left out: " << io::listed(others) << "\n";
  }

  [[nodiscard]] const std::vector<PlannedTensor>& plan() const { return plan_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] io::Metadata metadata() const {
    io::Metadata texts;
    for (const auto& [key, value] : contents_.metadata) {
      // By way of JSON, whose texts are UTF-8, as those of safetensors have to be.
      const auto* const text = value.get_if<std::string>();
      const auto json = nlohmann::json::parse(detail::json_text(json_of(value)));
      texts[key] = text ? json.get<std::string>() : json.dump();
    }
    return texts;
  }
  /// Reads tensors in this order, and hands each on.
  void read(const std::vector<PlannedTensor>& order, const std::function<void(const PlannedTensor&, const Tensor&)>& take) {
    constexpr uint64_t kPiece = 128 << 20;  // bytes at a time
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      std::vector<std::string> names;
      for (uint64_t bytes = 0; end < order.size() && (end == begin || bytes + order[end].bytes() <= kPiece); ++end) {
        bytes += order[end].bytes();
        names.push_back(order[end].name);
      }
      io::TensorMap tensors = io::load_tensors(options_.in, cpu(), names);
      for (size_t i = begin; i < end; ++i) {
        const auto found = tensors.extract(order[i].name);
        if (found.empty()) fail(options_.in, ": tensor ", io::in_quotes(order[i].name), " is not there any more");
        take(order[i], found.mapped().to(order[i].dtype));
        done_ += order[i].bytes();
        bar_.show(done_, bytes_);
      }
    }
  }

 private:
  static std::optional<DType> dtype_named(const std::string& text) {
    for (const DType dtype : {kFloat16, kBFloat16, kFloat32, kFloat64})
      if (text == name(dtype)) return dtype;
    return std::nullopt;
  }

  const ConvertOptions& options_;
  io::FileContents contents_;
  std::vector<PlannedTensor> plan_;
  uint64_t bytes_ = 0, done_ = 0;
  WorkBar bar_;
};

using Files = std::vector<std::string>;

Files write_safetensors(const ConvertOptions& options, Reader& reader) {
  io::SafetensorsWriter writer(kOp, options.out, reader.plan(), reader.metadata());
  reader.read(writer.order(), [&](const PlannedTensor&, const Tensor& tensor) { writer.write(tensor, Site::here()); });
  writer.commit();
  return {options.out};
}

Files write_shards(const ConvertOptions& options, Reader& reader) {
  const uint64_t most = options.max_shard_size.empty() ? kUsualShard : *bytes_of(options.max_shard_size);
  io::ShardsWriter writer(kOp, options.out, reader.plan(), most, reader.metadata());
  for (io::SafetensorsWriter& shard : writer.shards())
    reader.read(shard.order(), [&](const PlannedTensor&, const Tensor& tensor) { shard.write(tensor, Site::here()); });
  writer.commit();
  Files files;
  for (const std::string& name : writer.names()) files.push_back((std::filesystem::path(options.out) / name).string());
  return files;
}

Files write_npz(const ConvertOptions& options, Reader& reader) {
  io::AtomicFile file(kOp, options.out);
  io::ZipWriter zip(file, kOp, options.out);
  reader.read(reader.plan(), [&](const PlannedTensor& planned, const Tensor& tensor) {
    const std::string header = io::make_npy_header(planned.dtype, planned.sizes);
    if (header.empty())
      fail(options.out, ": NumPy has no type for the ", planned.dtype, " of ", io::in_quotes(planned.name),
           ": convert with --dtype float32");
    const Tensor host = tensor.contiguous();
    zip.add(planned.name + ".npy", header, {static_cast<const char*>(host.numel() ? host.data_ptr() : ""), host.nbytes()});
  });
  zip.finish();
  file.commit();
  return {options.out};
}

Files write_npy(const ConvertOptions& options, Reader& reader) {
  if (reader.plan().size() != 1)
    fail(options.out, ": an .npy file holds one tensor, but there are ", reader.plan().size(), ": convert to .npz");
  reader.read(reader.plan(), [&](const PlannedTensor&, const Tensor& tensor) { io::save_npy(options.out, tensor); });
  return {options.out};
}

/// All at once: tensors of such a file may share memory.
Files write_torch(const ConvertOptions& options, Reader& reader) {
  io::TensorMap tensors;
  reader.read(reader.plan(), [&](const PlannedTensor& planned, const Tensor& tensor) { tensors.emplace(planned.name, tensor); });
  io::save_torch(options.out, tensors);
  return {options.out};
}

/// A format that can be written: its name for --to, the ending that it is told by, and how.
struct Output {
  const char* name;
  const char* ending;
  Files (*write)(const ConvertOptions& options, Reader& reader);
};
constexpr Output kOutputs[] = {
    {"safetensors", ".safetensors", write_safetensors},
    {"shards", "/", write_shards},
    {"torch", ".pt", write_torch},
    {"torch", ".pth", write_torch},
    {"npz", ".npz", write_npz},
    {"npy", ".npy", write_npy},
};

std::vector<std::string> output_names() {
  std::vector<std::string> names;
  for (const Output& output : kOutputs)
    if (names.empty() || names.back() != output.name) names.emplace_back(output.name);
  return names;
}

const Output& output_of(const ConvertOptions& options) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(options.out, error);
  for (const Output& output : kOutputs) {
    if (!options.to.empty() ? options.to == output.name : (is_folder ? options.out + '/' : options.out).ends_with(output.ending)) {
      if (!options.max_shard_size.empty() && output.write != write_shards)
        throw UsageError("convert: --max-shard-size is for a folder of shards: end OUT with a slash, or add --to shards");
      return output;
    }
  }
  if (!options.max_shard_size.empty()) return kOutputs[1];
  throw UsageError(str("convert: the format is not told by the ending of ", options.out,
                       ": end it with .safetensors, .pt, .npz or .npy, with a slash for a folder of shards, or say --to"));
}

int convert(const ConvertOptions& options) {
  const NoGradGuard no_grad;
  const Output& output = output_of(options);
  Reader reader(options);
  const Files files = output.write(options, reader);
  if (options.json)
    std::cout << detail::json_text(
                     nlohmann::ordered_json{
                         {"format", output.name}, {"files", files}, {"tensors", reader.plan().size()}, {"bytes", reader.bytes()}},
                     2)
              << std::endl;
  else if (!options.quiet)
    std::cout << options.out << ": " << counted(reader.plan().size(), "tensor") << ", " << size_text(reader.bytes())
              << (files.size() > 1 ? str(" in ", files.size(), " shards") : "") << std::endl;
  return 0;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  CLI::App* convert_app = app.add_subcommand("convert", "Write the tensors of a file in another format or dtype, or in shards");
  const auto options = std::make_shared<ConvertOptions>();
  convert_app->add_option("IN", options->in, "safetensors, a folder or an index of its shards, GGUF, PyTorch's .pt, .npz or .npy")
      ->required();
  convert_app
      ->add_option("OUT", options->out, "What to write: .safetensors, .pt, .npz, .npy, or a folder, with a slash at its end, for shards")
      ->required()
      ->check(not_empty());
  convert_app->add_option("--to", options->to, "The format, where OUT's ending does not say it")->check(one_of(output_names()));
  convert_app->add_option("--dtype", options->dtype, "Convert floating tensors to it; others stay as they are")
      ->check(one_of({"float16", "bfloat16", "float32", "float64"}));
  convert_app->add_option("--max-shard-size", options->max_shard_size, "The most bytes of a shard: 2GiB, 500MB; 5GB unless given")
      ->check(size_in_bytes());
  convert_app->add_flag("--skip-others", options->skip_others, "Leave out tensors of types that cannot be read");
  convert_app->add_flag("--quiet", options->quiet, "Print neither progress nor result");
  convert_app->add_flag("--json", options->json, "Print the result as JSON");
  convert_app->callback([options, &action] { action = [options] { return convert(*options); }; });
}

}  // namespace tandem::tools
