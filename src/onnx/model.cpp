#include "onnx/model.h"

#include <algorithm>
#include <filesystem>

#include "autograd/autograd.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/named.h"
#include "onnx/build.h"
#include "onnx/call.h"

namespace tandem::onnx {

struct Model::Content {
  Program program;
  Summary summary;
};

namespace {

constexpr const char* kLoad = "onnx::load";

Built read(const std::string& path, Site site) {
  const NoGradGuard no_grad;
  const io::InputFile file(kLoad, path);
  const std::string bytes = file.read(file.size(), 0);
  ModelProto model;
  std::string trouble;
  try {
    model = parse_model(bytes);
    if (!model.graph) trouble = "it has no graph";
  } catch (const Error& error) {
    trouble = error.message();
  }
  if (!trouble.empty()) {
    const std::string mistaken = io::mistaken_for("an ONNX model", std::string_view(bytes).substr(0, io::kKindBytes));
    if (mistaken.empty() || mistaken.find("but an ONNX model") != std::string::npos)
      file.bad("not an ONNX model, or a damaged one: ", trouble);
    file.bad(mistaken);
  }
  try {
    Built built = build(model, std::filesystem::path(path).parent_path().string(), site);
    built.program.file = path;
    return built;
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const Error& error) {
    file.bad(error.message());
  }
}

/// The name of what has no content: a Model that was not loaded.
[[noreturn]] void fail_empty() { fail("[onnx::run] the model is empty: onnx::load gives one that is not"); }

}  // namespace

Model load(const std::string& path, Site site) {
  Built built = read(path, site);
  if (!built.summary.missing.empty())
    fail<NotImplementedError>("[", kLoad, "] ", path, ": tandem does not have the operators ", io::listed(built.summary.missing));
  Model model;
  model.content_ = std::make_shared<Model::Content>(Model::Content{std::move(built.program), std::move(built.summary)});
  model.tensors_ = std::move(built.tensors);
  return model;
}

Summary summarize(const std::string& path, Site site) { return read(path, site).summary; }

const Summary& Model::summary() const {
  if (!content_) fail_empty();
  return content_->summary;
}
const std::vector<ValueInfo>& Model::inputs() const { return summary().inputs; }
const std::vector<ValueInfo>& Model::outputs() const { return summary().outputs; }

std::string Model::extra_repr() const {
  return content_ ? str(content_->program.file, ", inputs=", inputs().size(), ", outputs=", outputs().size()) : "";
}

void Model::fields(nn::Fields& f) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Stored& stored = content_->program.stored[i];
    if (stored.kind == Stored::Kind::Parameter) f(stored.name, tensors_[i]);
    else f.buffer(stored.name, tensors_[i], stored.kind == Stored::Kind::Buffer);
  }
}

Tensor Model::forward(const Tensor& x) {
  const auto& needed = inputs();
  if (needed.size() != 1)
    fail("[onnx::run] ", content_->program.file, ": the model has ", needed.size(), " inputs: call run, or run_in_order, with all of them");
  if (outputs().empty()) fail("[onnx::run] ", content_->program.file, ": the model has no outputs");
  return compute({{needed[0].name, x}}, nn::detail::call_site())[0];
}

std::vector<Tensor> Model::run_in_order(const std::vector<Tensor>& given, Site site) {
  if (given.size() != inputs().size())
    fail("[onnx::run] ", content_->program.file, ": the model has ", inputs().size(), " inputs, but is given ", given.size());
  io::TensorMap named;
  for (size_t i = 0; i < given.size(); ++i) named[inputs()[i].name] = given[i];
  return compute(named, site);
}

io::TensorMap Model::run(const io::TensorMap& given, Site site) {
  std::vector<Tensor> results = compute(given, site);
  io::TensorMap named;
  for (size_t i = 0; i < results.size(); ++i) named[outputs()[i].name] = std::move(results[i]);
  return named;
}

std::vector<Tensor> Model::compute(const io::TensorMap& given, Site site) {
  if (!content_) fail_empty();
  const Program& program = content_->program;
  const auto bad = [&](const auto&... parts) { fail("[onnx::run] ", program.file, ": ", parts...); };
  const auto names = [](const std::vector<Port>& ports) {
    std::vector<std::string> all;
    for (const Port& port : ports) all.push_back(port.name);
    return io::listed(all);
  };
  Run run(program, tensors_, site);
  for (const auto& [name, tensor] : given) {
    if (!tensor.defined()) bad("input '", name, "' is undefined");
    const auto place_in = [&, &name = name](const std::vector<Port>& ports) {
      const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
      return found == ports.end() ? kNoPlace : found->place;
    };
    int place = place_in(program.inputs);
    if (place == kNoPlace) place = place_in(program.defaults);
    if (place == kNoPlace) bad("there is no input ", io::in_quotes(name), "; there is ", names(program.inputs));
    for (const ValueInfo& info : inputs()) {
      if (info.name != name) continue;
      const bool fits = !info.dtype || tensor.dtype() == *info.dtype || (is_floating(tensor.dtype()) && is_floating(*info.dtype));
      if (!fits) bad("input '", name, "' is of ", tensor.dtype(), ", but the model takes ", *info.dtype);
      if (info.has_sizes && info.sizes.size() != static_cast<size_t>(tensor.dim()))
        bad("input '", name, "' has the sizes ", tensor.sizes(), ", but the model takes ", info.sizes.size(), " dimensions");
    }
    run.put(place, tensor);
  }
  for (const Port& port : program.inputs)
    if (!given.contains(port.name)) bad("input '", port.name, "' is missing");
  try {
    run.run();
    std::vector<Tensor> results;
    for (const Port& port : program.outputs) results.push_back(run.result(port));
    return results;
  } catch (const OutOfMemoryError& error) {
    fail<OutOfMemoryError>("[onnx::run] ", program.file, ": ", error.message());
  } catch (const IndexError& error) {
    fail<IndexError>("[onnx::run] ", program.file, ": ", error.message());
  } catch (const Error& error) {
    bad(error.message());
    throw;
  }
}

}  // namespace tandem::onnx
