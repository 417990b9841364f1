#include "onnx/save.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/scratch_file.h"
#include "nn/walk.h"
#include "onnx/export/file.h"
#include "onnx/export/recording.h"
#include "onnx/export/writer.h"
#include "onnx/model.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "tensor/tensor_impl.h"

namespace tandem::onnx {
namespace {

using namespace exporting;  // NOLINT(google-build-using-namespace): its own parts

constexpr const char* kOp = "onnx::save";
constexpr int64_t kOldest = 13, kNewest = 23;

/// A size that may change, and what it is in each trace.
struct Symbol {
  Dim dim;
  int64_t example = 0;
  Size traced;
};

/// The inputs' dimensions that may change.
struct Plan {
  std::vector<std::string> names;  // of inputs
  std::vector<Symbol> symbols;
  std::vector<std::vector<std::optional<size_t>>> at;  // of each input's dimensions, the symbol
};

Plan plan_of(const std::vector<Tensor>& inputs, const SaveOptions& options) {
  Plan plan;
  if (options.input_names.size() > inputs.size())
    fail<ValueError>("[", kOp, "] input_names has ", options.input_names.size(), " names, and there are ", inputs.size(), " inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    plan.names.push_back(i < options.input_names.size() ? options.input_names[i] : str("input_", i));
    plan.at.emplace_back(static_cast<size_t>(inputs[i].dim()));
  }
  for (const auto& [input, axes] : options.dynamic_axes) {
    const auto found = std::find(plan.names.begin(), plan.names.end(), input);
    if (found == plan.names.end()) {
      if (std::find(options.output_names.begin(), options.output_names.end(), input) != options.output_names.end()) continue;
      fail<ValueError>("[", kOp, "] dynamic_axes names '", input, "', which is neither an input nor an output; the inputs are '",
                       plan.names.empty() ? std::string() : plan.names[0], "'", plan.names.size() > 1 ? " and others" : "");
    }
    const auto i = static_cast<size_t>(found - plan.names.begin());
    for (const auto& [given, dim] : axes) {
      const int64_t at = given < 0 ? given + inputs[i].dim() : given;
      if (at < 0 || at >= inputs[i].dim())
        fail<ValueError>("[", kOp, "] dynamic_axes of '", input, "' has dimension ", given, ", and the input has ", inputs[i].dim());
      Dim own = dim;
      if (own.name.empty()) own.name = str(input, "_dynamic_axes_", at + 1);
      if (own.min > own.max) fail<ValueError>("[", kOp, "] the size '", own.name, "' lies between ", own.min, " and ", own.max);
      auto symbol = std::find_if(plan.symbols.begin(), plan.symbols.end(), [&](const Symbol& s) { return s.dim.name == own.name; });
      const int64_t size = inputs[i].size(at);
      if (symbol == plan.symbols.end()) {
        plan.symbols.push_back({own, size, {}});
        symbol = std::prev(plan.symbols.end());
      } else if (symbol->example != size) {
        fail<ValueError>("[", kOp, "] the size '", own.name, "' is ", symbol->example, " in one input and ", size, " in '", input,
                         "': those of one name are always equal");
      }
      symbol->dim.min = std::max(symbol->dim.min, own.min);
      symbol->dim.max = std::min(symbol->dim.max, own.max);
      plan.at[i][static_cast<size_t>(at)] = static_cast<size_t>(symbol - plan.symbols.begin());
    }
  }
  return plan;
}

/// Sizes for the traces: so that no two symbols differ by a number or a factor in all three. Sizes of 1 are avoided: they broadcast.
/// False where the ranges don't have such sizes.
bool choose_sizes(Plan& plan, size_t attempt) {
  constexpr int64_t kSteps[][2] = {{1, 3}, {2, 3}, {3, 1}, {3, 2}, {1, 4}, {4, 1}, {4, 3}, {3, 4}};
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    Symbol& symbol = plan.symbols[i];
    const int64_t low = std::max<int64_t>(symbol.dim.min, 2), high = symbol.dim.max;
    const int64_t example = std::max(symbol.example, low);
    const int64_t bases[] = {example, example + 4, std::max(low, example - 5), example * 2, 97};
    const int64_t factor = attempt == 3 ? example : 1;  // multiples, for what wants those
    const auto& steps = kSteps[i % std::size(kSteps)];
    bool fits = false;
    for (const int64_t sign : {1, -1}) {
      Size& size = symbol.traced;
      size.at = {bases[attempt], bases[attempt] + sign * steps[0] * factor, bases[attempt] + sign * steps[1] * factor};
      fits = std::all_of(size.at.begin(), size.at.end(), [&](int64_t n) { return n >= low && n <= high; });
      if (fits) break;
    }
    if (!fits) return false;
  }
  return true;
}

Shape sizes_in(const Plan& plan, const std::vector<Tensor>& inputs, size_t input, size_t trace) {
  Shape sizes = inputs[input].sizes();
  for (size_t d = 0; d < sizes.size(); ++d)
    if (const auto symbol = plan.at[input][d]) sizes[d] = plan.symbols[*symbol].traced.at[trace];
  return sizes;
}

struct Traces {
  std::vector<std::unique_ptr<Recording>> own;
  std::vector<Recording*> all;
};

/// A trace, or the error that stands in the way.
Traces traces_of(const Savable& model, const Plan& plan, const std::vector<Tensor>& inputs, const std::vector<exporting::Range>& module) {
  Traces traces;
  const size_t count = plan.symbols.empty() ? 1 : kTraces;
  for (size_t k = 0; k < count; ++k) {
    std::vector<Shape> sizes;
    for (size_t i = 0; i < inputs.size(); ++i) sizes.push_back(sizes_in(plan, inputs, i, k));
    traces.own.push_back(record(model.forward, inputs, sizes, module));
    const Recording& recording = *traces.own.back();
    if (!recording.error.empty()) {
      const Site line = recording.trace.refused_at();
      std::string text = recording.error;
      if (line.line > 0) text += str(" (", line.file, ':', line.line, ')');
      if (!recording.trace.why().empty())
        text += "; a file has no values to decide by: keep that out of forward, or call eval() where it draws random numbers";
      std::string given;
      for (size_t i = 0; i < inputs.size(); ++i) given += str(i ? ", " : "", "'", plan.names[i], "' of ", sizes[i]);
      fail("[", kOp, "] forward fails on ", given,
           count > 1 ? " (dynamic sizes are varied; Dim(name, min, max) gives their range): " : ": ", text);
    }
  }
  for (size_t k = 0; k < kTraces; ++k) traces.all.push_back(traces.own[std::min(k, count - 1)].get());
  return traces;
}

struct Written {
  Graph graph;
  std::map<Size, std::string> names;
};

Written graph_of(const Savable& model, const Plan& plan, const std::vector<Tensor>& inputs, const SaveOptions& options,
                 const std::vector<exporting::Range>& module) {
  const Traces traces = traces_of(model, plan, inputs, module);
  const std::vector<Tensor>& outputs = traces.all[0]->outputs;
  if (outputs.empty()) fail("[", kOp, "] forward gives no tensor");
  for (const Recording* const each : traces.all) {
    if (each->outputs.size() != outputs.size()) fail("[", kOp, "] forward gives another number of tensors for other sizes of the inputs");
    for (const Tensor& y : each->outputs)
      if (!y.defined()) fail("[", kOp, "] an output of forward is undefined");
  }
  if (options.output_names.size() > outputs.size())
    fail<ValueError>("[", kOp, "] output_names has ", options.output_names.size(), " names, and there are ", outputs.size(), " outputs");
  Written written{Graph(options.opset_version), {}};
  Graph& graph = written.graph;
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    names.push_back(i < options.output_names.size() ? options.output_names[i] : str("output_", i));
    graph.reserve(names.back());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::find(names.begin(), names.end(), plan.names[i]) != names.end() ||
        std::count(plan.names.begin(), plan.names.end(), plan.names[i]) > 1)
      fail<ValueError>("[", kOp, "] '", plan.names[i], "' is the name of several inputs or outputs");
    Sizes sizes;
    for (int64_t d = 0; d < inputs[i].dim(); ++d) {
      const auto symbol = plan.at[i][static_cast<size_t>(d)];
      sizes.push_back(symbol ? plan.symbols[*symbol].traced : Size(inputs[i].size(d)));
    }
    graph.input(plan.names[i], inputs[i].dtype(), sizes);
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (std::count(names.begin(), names.end(), names[i]) > 1)
      fail<ValueError>("[", kOp, "] '", names[i], "' is the name of several inputs or outputs");
  for (const Symbol& symbol : plan.symbols) written.names.emplace(symbol.traced, symbol.dim.name);
  Writer writer(graph, traces.all, model.tensors, module, model.changes_are_let_be);
  writer.write();
  for (size_t i = 0; i < outputs.size(); ++i) graph.output(writer.output(i), names[i]);
  return written;
}

/// The inputs at other sizes: elements of the examples again and again.
std::vector<Tensor> inputs_in(const Plan& plan, const std::vector<Tensor>& inputs, size_t trace) {
  std::vector<Tensor> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor x = inputs[i].detach();
    const Shape sizes = sizes_in(plan, inputs, i, trace);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (const auto dim = static_cast<int64_t>(d); x.size(dim) != sizes[d] && x.size(dim) > 0)
        x = x.index_select(dim, arange(sizes[d], {.device = x.device()}) % x.size(dim));
    all.push_back(x);
  }
  return all;
}

/// Whether the graph gives what forward gives, at the sizes that it was traced for in vain, and at the examples' own.
bool agrees(const Written& written, const Savable& model, std::vector<Plan> plans, const std::vector<Tensor>& inputs, int64_t opset) {
  const io::ScratchFile file(kOp, "model.onnx");
  write_file(file.path(), written.graph.finish(), opset, written.names, false);
  Model loaded = load(file.path());
  if (!inputs.empty()) loaded.to(inputs[0].device());
  Plan own = plans[0];
  for (Symbol& symbol : own.symbols) symbol.traced = symbol.example;
  plans.push_back(own);
  const NoGradGuard no_grad;
  for (const Plan& plan : plans)
    for (size_t k = 0; k < kTraces; ++k) {
      const std::vector<Tensor> given = inputs_in(plan, inputs, k);
      std::vector<Tensor> wanted, found;
      try {
        wanted = model.forward(given);
      } catch (const Error&) {
        continue;  // no size for it
      }
      try {
        found = loaded.run_in_order(given);
      } catch (const Error&) {
        return false;
      }
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (!(found[i].sizes() == wanted[i].sizes())) return false;
        const double limit = is_half(wanted[i].dtype()) ? 3e-2 : 1e-3;
        if (!allclose(found[i].to(kFloat64), wanted[i].to(kFloat64), limit, limit, true)) return false;
      }
    }
  return true;
}

}  // namespace

void save(const Savable& model, const std::vector<Tensor>& inputs, const std::string& path, const SaveOptions& options, Site /*site*/) {
  if (options.opset_version < kOldest || options.opset_version > kNewest)
    fail<ValueError>("[", kOp, "] opset_version must be between ", kOldest, " and ", kNewest, ", not ", options.opset_version);
  for (const Tensor& x : inputs)
    if (!x.defined()) fail<ValueError>("[", kOp, "] an input is undefined");
  Plan plan = plan_of(inputs, options);
  std::vector<Plan> vain;  // with the sizes for which it could not be traced alike
  std::optional<Written> written;
  std::exception_ptr first;
  {
    const OnHost on_host(model.tensors);
    std::vector<exporting::Range> module;
    for (const auto& [name, tensor] : model.tensors) {
      const Storage& storage = *tensor.impl().storage;
      const auto* const begin = static_cast<const char*>(storage.data());
      const bool is_known = std::any_of(module.begin(), module.end(), [&](const auto& r) { return r.begin == begin; });
      if (storage.bytes() > 0 && !is_known) module.push_back({begin, storage.bytes()});
    }
    // Kernels are chosen by sizes, too: where the traces of some differ, others may not.
    const size_t attempts = plan.symbols.empty() ? 1 : model.changes_are_let_be ? 1 : 5;
    for (size_t attempt = 0; attempt < attempts && !written; ++attempt) {
      if (!choose_sizes(plan, attempt)) continue;
      try {
        written = graph_of(model, plan, inputs, options, module);
      } catch (const ValueError&) {
        throw;
      } catch (const Error&) {
        if (!first) first = std::current_exception();
        vain.push_back(plan);
      }
    }
    if (!written && first) std::rethrow_exception(first);
    if (!written)
      fail<ValueError>("[", kOp, "] a size in dynamic_axes has too narrow a range: it takes sizes of 2 or more that differ by 1 and by 3; ",
                       "leave the dimension fixed, or give a wider range");
  }
  // What differs may be the kernels alone, or what the module computes.
  if (!vain.empty() && !agrees(*written, model, vain, inputs, options.opset_version)) std::rethrow_exception(first);
  write_file(path, written->graph.finish(), options.opset_version, written->names, options.external_data);
}

void detail::save_module(nn::ModuleBase& model, std::function<std::vector<Tensor>(const std::vector<Tensor>&)> forward,
                         const std::vector<Tensor>& inputs, const std::string& path, const SaveOptions& options, Site site) {
  if (model.has_uninitialized_params())
    fail("[", kOp, "] ", model.name(), " has parameters that wait for a first forward: call nn::initialize(module, input) before");
  Savable savable{{}, std::move(forward), false};
  nn::detail::walk(model, true, [&](const nn::detail::Field& field) {
    if (field.is_module()) savable.changes_are_let_be |= options.training != TrainingMode::Eval && field.module->training();
    else if (field.tensor->defined()) savable.tensors.emplace_back(field.name, *field.tensor);
  });
  savable.changes_are_let_be |= options.training == TrainingMode::Training;
  if (options.training == TrainingMode::Preserve) return save(savable, inputs, path, options, site);
  const nn::detail::Evaluation modes(model);  // each part's own mode again at the end
  if (options.training == TrainingMode::Training) model.train();
  save(savable, inputs, path, options, site);
}

}  // namespace tandem::onnx
