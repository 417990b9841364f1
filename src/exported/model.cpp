#include "exported/model.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "autograd/autograd.h"
#include "exported/archive.h"
#include "exported/call.h"
#include "exported/read.h"
#include "io/named.h"

namespace tandem::exported {
namespace {

constexpr const char* kLoad = "exported::load";
constexpr const char* kRun = "[exported::run] ";

Read read(const Archive& archive, Site site) {
  const std::string model = archive.model();
  std::map<std::string, Weight> weights = archive.weights("data/weights/", model + "_weights_config.json", site);
  weights.merge(archive.weights("data/constants/", model + "_constants_config.json", site));
  const nlohmann::json content = archive.json("models/" + model + ".json");
  return read_program(content, weights);
}

/// Error unless the inputs are as they were exported.
void check_inputs(const Program& program, const std::vector<Tensor>& given) {
  const auto bad = [&](const auto&... parts) { fail(kRun, program.file, ": ", parts...); };
  if (given.size() != program.inputs.size()) bad("the program has ", program.inputs.size(), " inputs, but is given ", given.size());
  std::map<std::string, int64_t> known;
  for (size_t i = 0; i < given.size(); ++i) {
    const InputInfo& input = program.inputs[i];
    const Tensor& tensor = given[i];
    const std::string name = io::in_quotes(input.name);
    if (!tensor.defined()) bad("the input ", name, " is undefined");
    if (!input.is_tensor) {
      if (tensor.numel() != 1 || tensor.is_floating_point()) bad("the input ", name, " is to be one whole number");
      continue;
    }
    if (tensor.dtype() != input.dtype) bad("the input ", name, " is of ", tensor.dtype(), ", but was exported with ", input.dtype);
    if (static_cast<size_t>(tensor.dim()) != input.sizes.size())
      bad("the input ", name, " has the sizes ", tensor.sizes(), ", but was exported with ", input.sizes.size(), " dimensions");
    for (size_t dim = 0; dim < input.sizes.size(); ++dim) {
      const int64_t size = tensor.sizes()[dim];
      const auto& [wanted, symbol] = input.sizes[dim];
      if (wanted && *wanted != size)
        bad("dimension ", dim, " of the input ", name, " has the size ", size, ", but was exported with ", *wanted,
            ": export it with dynamic_shapes for other sizes");
      if (wanted) continue;
      const auto [before, is_new] = known.emplace(symbol, size);
      if (!is_new && before->second != size)
        bad("dimension ", dim, " of the input ", name, " has the size ", size, ", but is to have ", before->second, " as another one");
      const auto range = program.ranges.find(symbol);
      if (range == program.ranges.end()) continue;
      const auto& [least, most] = range->second;
      if ((least && size < *least) || (most && size > *most))
        bad("dimension ", dim, " of the input ", name, " has the size ", size, ", but was exported for ", least ? str(*least) : "any",
            " to ", most ? str(*most) : "any");
    }
  }
}

}  // namespace

Model load(const std::string& path, Site site) {
  const NoGradGuard no_grad;
  const Archive archive(kLoad, path);
  Read content;
  std::string trouble;
  try {
    content = read(archive, site);
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const nlohmann::json::exception& error) {
    trouble = error.what();
  } catch (const Error& error) {
    trouble = error.message();
  }
  if (trouble.starts_with(archive.file().what())) fail(trouble);
  if (!trouble.empty()) archive.file().bad(trouble);
  if (!content.missing.empty())
    fail<NotImplementedError>(archive.file().what(), "tandem does not have the operations ", io::listed(content.missing));
  content.program.file = path;
  Model model;
  model.program_ = std::make_shared<const Program>(std::move(content.program));
  model.tensors_ = std::move(content.tensors);
  return model;
}

const Program& Model::program() const {
  if (!program_) fail(kRun, "the model is empty: exported::load gives one that is not");
  return *program_;
}

const std::vector<InputInfo>& Model::inputs() const { return program().inputs; }

std::vector<std::string> Model::outputs() const {
  std::vector<std::string> names;
  for (const Argument& output : program().outputs) names.push_back(output.name);
  return names;
}

std::string Model::extra_repr() const {
  return program_ ? str(program_->file, ", inputs=", program_->inputs.size(), ", outputs=", program_->outputs.size()) : "";
}

void Model::fields(nn::Fields& f) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Stored& stored = program_->stored[i];
    if (stored.kind == Stored::Kind::Parameter) f(stored.name, tensors_[i]);
    else f.buffer(stored.name, tensors_[i], stored.kind == Stored::Kind::Buffer);
  }
}

Tensor Model::forward(const Tensor& x) {
  if (inputs().size() != 1) fail(kRun, program().file, ": the program has ", inputs().size(), " inputs: call run with all of them");
  std::vector<Tensor> outputs = run({x}, nn::detail::call_site());
  if (outputs.empty()) fail(kRun, program().file, ": the program gives nothing");
  return outputs[0];
}

std::vector<Tensor> Model::run(const std::vector<Tensor>& given, Site site) {
  const Program& program = this->program();
  check_inputs(program, given);
  try {
    Run run(program, tensors_, site);
    for (size_t i = 0; i < given.size(); ++i) run.put(program.input_places[i], given[i], program.inputs[i].is_tensor);
    run.run();
    std::vector<Tensor> results;
    for (const Argument& output : program.outputs) results.push_back(run.result(output));
    return results;
  } catch (const OutOfMemoryError& error) {
    fail<OutOfMemoryError>(kRun, program.file, ": ", error.message());
  } catch (const NotImplementedError& error) {
    fail<NotImplementedError>(kRun, program.file, ": ", error.message());
  } catch (const IndexError& error) {
    fail<IndexError>(kRun, program.file, ": ", error.message());
  } catch (const Error& error) {
    fail(kRun, program.file, ": ", error.message());
  }
}

}  // namespace tandem::exported
