#include "onnx/build.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "io/named.h"
#include "onnx/call.h"
#include "onnx/tensor_data.h"
#include "ops/creation.h"

namespace tandem::onnx {
namespace {

/// More nodes than any model has: functions of functions can make endless ones of a short file.
constexpr size_t kMostNodes = 200'000;
constexpr size_t kMostParts = 1'000'000;  // inputs, outputs, attributes of nodes and functions: a function has them anew at each call

/// The names that a graph sees: its own, then those of the graphs around it.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string, int> places = {};
  std::vector<int> own = {};                                // places that its nodes give, and its inputs
  std::string prefix = {};                                  // of the names of what it stores
  std::map<std::string, const AttributeProto*> bound = {};  // attributes of the function that it is the body of
  std::map<std::string, int64_t> opsets = {};
  int depth = 0;

  [[nodiscard]] int find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer)
      if (const auto found = scope->places.find(name); found != scope->places.end()) return found->second;
    return kNoPlace;
  }
};

class Builder {
 public:
  Builder(const ModelProto& model, std::string folder, Site site) : model_(model), folder_(std::move(folder)), site_(site) {}

  Built build() {
    Scope scope;
    for (const OpsetProto& opset : model_.opsets) scope.opsets[opset.domain] = opset.version;
    if (!scope.opsets.contains("")) scope.opsets[""] = 1;
    built_.summary.opsets = scope.opsets;
    built_.summary.producer = model_.producer;
    const GraphProto& graph = *model_.graph;
    for (const FunctionProto& function : model_.functions) functions_[{function.domain, function.name}] = &function;
    find_settings(graph);
    check(graph);
    for (const TensorProto& tensor : graph.initializers) store(tensor, tensor.name, scope, initializer_kind(tensor), "initializer");
    for (const ValueInfoProto& input : graph.inputs) {
      const int known = scope.find(input.name);
      if (known != kNoPlace) {
        program().defaults.push_back({input.name, known});
      } else {
        program().inputs.push_back({input.name, add(scope, input.name)});
        built_.summary.inputs.push_back(info_of(input));
      }
    }
    add_nodes(graph.nodes, scope, program().graph);
    for (const ValueInfoProto& output : graph.outputs) {
      program().outputs.push_back({output.name, read(scope, output.name, "the model's outputs")});
      program().graph.outputs.push_back(program().outputs.back().place);
      built_.summary.outputs.push_back(info_of(output));
    }
    program().places = places_;
    find_last(program().graph, scope.own);
    return std::move(built_);
  }

 private:
  Program& program() { return built_.program; }

  static void check(const GraphProto& graph) {
    if (graph.has_sparse) fail("it has sparse initializers, which tandem does not have: make them dense");
  }

  int add(Scope& scope, const std::string& name) {
    if (!scope.places.emplace(name, places_).second) fail("the name ", io::in_quotes(name), " is given to two values");
    scope.own.push_back(places_);
    return places_++;
  }
  static int read(const Scope& scope, const std::string& name, const std::string& who) {
    const int place = scope.find(name);
    if (place == kNoPlace) fail(who, " want ", io::in_quotes(name), ", which nothing before them gives");
    return place;
  }

  static ValueInfo info_of(const ValueInfoProto& proto) {
    using Kind = TypeProto::Kind;
    const TypeProto& type = proto.type;
    ValueInfo info{.name = proto.name, .dtype = {}, .type = {}};
    if (type.kind == Kind::Tensor) {
      info.dtype = onnx::dtype_of(type.data_type);
      info.type = type_name(type.data_type);
    } else {
      info.type = type.kind == Kind::Sequence ? "sequence" : type.kind == Kind::Optional ? "optional" : "";
    }
    info.has_sizes = type.has_shape;
    for (const DimensionProto& dimension : type.dims) info.sizes.push_back({dimension.value, dimension.name});
    return info;
  }

  /// Notes the names that nodes read as settings or as running figures, and those that they read as tensors to compute with.
  void find_settings(const GraphProto& graph) {
    for (const NodeProto& node : graph.nodes) {
      const OperatorRow* row = find_operator(node.domain, node.op_type, INT32_MAX);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool figures = node.domain.empty() && node.op_type == "BatchNormalization" && i >= 3;
        (figures || (row && static_cast<int>(i) >= row->settings_from) ? settings_ : computed_).insert(node.inputs[i]);
      }
      for (const AttributeProto& attribute : node.attributes)
        if (attribute.graph) find_settings(*attribute.graph);
    }
  }
  Stored::Kind initializer_kind(const TensorProto& tensor) const {
    const auto dtype = onnx::dtype_of(tensor.data_type);
    if (!dtype || !is_floating(*dtype)) return Stored::Kind::Buffer;
    return settings_.contains(tensor.name) && !computed_.contains(tensor.name) ? Stored::Kind::Buffer : Stored::Kind::Parameter;
  }

  void store(const TensorProto& proto, const std::string& name, Scope& scope, Stored::Kind kind, const char* what) {
    try {
      keep(tensor_of(proto, folder_, site_), name, scope, kind);
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const Error& error) {
      fail(what, " ", io::in_quotes(name), ": ", error.message());
    }
  }
  void keep(Tensor tensor, const std::string& name, Scope& scope, Stored::Kind kind) {
    if (name.empty()) fail("it has no name");
    if (!scope.places.emplace(name, places_).second) fail("the name is given to two values");
    Stored entry{unique(scope.prefix + name), places_++, kind, {}};
    if (kind != Stored::Kind::Parameter && tensor.numel() <= kMostOnHost) entry.host = tensor.clone(site_);
    if (kind == Stored::Kind::Parameter) {
      tensor.requires_grad_();
      built_.summary.parameters += tensor.numel();
    }
    program().stored.push_back(std::move(entry));
    built_.tensors.push_back(std::move(tensor));
  }
  std::string unique(const std::string& name) {
    std::string free = name;
    for (int& used = uses_[name]; !names_.insert(free).second;) free = str(name, "_", used++ + 2);
    return free;
  }

  void count_parts(size_t more) {
    parts_ += more;
    if (parts_ > kMostParts) fail("its nodes have more than ", kMostParts, " inputs, outputs and attributes");
  }

  void add_nodes(const std::vector<NodeProto>& nodes, Scope& scope, Graph& graph) {
    for (const NodeProto& node : nodes) {
      const std::string name = node.name.empty() ? str("node ", count_) : str("node ", io::in_quotes(node.name));
      ++count_;
      if (count_ > kMostNodes) fail("it has more than ", kMostNodes, " nodes");
      count_parts(node.inputs.size() + node.outputs.size() + node.attributes.size());
      const std::string shown = str(name, " (", io::shown(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type), ")");
      try {
        add_node(node, shown, scope, graph);
      } catch (const OutOfMemoryError&) {
        throw;
      } catch (const Error& error) {
        // A node in a graph of a node: the innermost one is the one to look at.
        const std::string text = error.message();
        fail(text.starts_with("node ") ? text : shown + ": " + text);
      }
    }
  }

  void add_node(const NodeProto& proto, const std::string& shown, Scope& scope, Graph& graph) {
    if (const auto function = functions_.find({proto.domain, proto.op_type}); function != functions_.end())
      return inline_function(*function->second, proto, scope, graph);
    ++built_.summary.operators[proto.domain.empty() ? proto.op_type : proto.domain + "." + proto.op_type];
    if (proto.op_type == "Constant" && proto.domain.empty()) return add_constant(proto, scope);
    Node node;
    node.name = shown;
    node.op = proto.op_type;
    const auto opset = scope.opsets.find(proto.domain);
    node.version = opset == scope.opsets.end() ? 1 : opset->second;
    node.row = find_operator(proto.domain, proto.op_type, node.version);
    if (!node.row)
      note_missing(proto.domain.empty() ? str(proto.op_type, " (version ", node.version, ")") : proto.domain + "." + proto.op_type);
    for (const std::string& input : proto.inputs) node.inputs.push_back(input.empty() ? kNoPlace : read(scope, input, "its inputs"));
    while (!node.inputs.empty() && node.inputs.back() == kNoPlace) node.inputs.pop_back();
    node.reads = node.inputs;
    for (const AttributeProto& given : proto.attributes) {
      const AttributeProto* attribute = &given;
      if (!given.reference.empty()) {
        const auto bound = scope.bound.find(given.reference);
        if (bound == scope.bound.end() || !bound->second) continue;  // left out there: the operator's own default
        attribute = bound->second;
      }
      add_attribute(*attribute, given.name, node, scope);
    }
    for (const std::string& output : proto.outputs) node.outputs.push_back(output.empty() ? kNoPlace : add(scope, output));
    graph.nodes.push_back(std::move(node));
  }

  void note_missing(const std::string& op) {
    if (missing_.insert(op).second) built_.summary.missing.push_back(op);
  }

  void add_attribute(const AttributeProto& attribute, const std::string& name, Node& node, Scope& scope) {
    if (attribute.tensor) node.tensors.emplace_back(name, tensor_of(*attribute.tensor, folder_, site_));
    if (attribute.graph) {
      check(*attribute.graph);
      Scope inner{.outer = &scope,
                  .prefix = str(scope.prefix, node.outputs.empty() ? node.op : "", ".", name, "."),
                  .bound = scope.bound,
                  .opsets = scope.opsets,
                  .depth = scope.depth + 1};
      if (inner.depth > kMostDepth) fail("its graphs are nested more than ", kMostDepth, " deep");
      auto graph = std::make_unique<Graph>();
      for (const TensorProto& tensor : attribute.graph->initializers)
        store(tensor, tensor.name, inner, initializer_kind(tensor), "initializer");
      for (const ValueInfoProto& input : attribute.graph->inputs) {
        const auto known = inner.places.find(input.name);
        graph->inputs.push_back(known != inner.places.end() ? known->second : add(inner, input.name));
      }
      add_nodes(attribute.graph->nodes, inner, *graph);
      for (const ValueInfoProto& output : attribute.graph->outputs)
        graph->outputs.push_back(read(inner, output.name, "its graph's outputs"));
      find_last(*graph, inner.own);
      // What it reads of the graphs around it, its node reads.
      const std::set<int> own(inner.own.begin(), inner.own.end());
      const auto captured = [&](int place) {
        if (place != kNoPlace && !own.contains(place)) node.reads.push_back(place);
      };
      for (const Node& one : graph->nodes)
        for (const int place : one.reads) captured(place);
      for (const int place : graph->outputs) captured(place);
      node.graphs.emplace_back(name, std::move(graph));
      return;
    }
    AttributeProto plain = attribute;
    plain.name = name;
    plain.tensor.reset();
    node.attributes.push_back(std::move(plain));
  }

  /// A tensor that a node gives without inputs is a constant of the program.
  void add_constant(const NodeProto& proto, Scope& scope) {
    if (proto.outputs.size() != 1 || proto.outputs[0].empty()) fail("it has no output");
    for (const AttributeProto& given : proto.attributes) {
      const auto bound = scope.bound.find(given.reference);
      const AttributeProto& attribute = given.reference.empty() || bound == scope.bound.end() || !bound->second ? given : *bound->second;
      const auto numbers = [&](const auto& values, const Shape& sizes) {
        const Tensor tensor = empty(sizes, {.dtype = tandem::dtype_of<std::remove_cvref_t<decltype(values[0])>>()}, site_);
        std::copy(values.begin(), values.end(), static_cast<std::remove_cvref_t<decltype(values[0])>*>(tensor.data_ptr()));
        keep(tensor, proto.outputs[0], scope, Stored::Kind::Constant);
      };
      const auto length = [](const auto& values) { return Shape{static_cast<int64_t>(values.size())}; };
      if (attribute.tensor) return store(*attribute.tensor, proto.outputs[0], scope, Stored::Kind::Constant, "its value");
      if (given.name == "value_float") return numbers(std::vector<float>{attribute.f}, {});
      if (given.name == "value_int") return numbers(std::vector<int64_t>{attribute.i}, {});
      if (given.name == "value_floats") return numbers(attribute.floats, length(attribute.floats));
      if (given.name == "value_ints") return numbers(attribute.ints, length(attribute.ints));
      if (attribute.is_sparse || given.name.starts_with("value_string")) fail("its value is text or sparse, which no tensor is");
    }
    fail("it has no value");
  }

  /// Puts the nodes of a function in the place of a node that names it.
  void inline_function(const FunctionProto& function, const NodeProto& proto, Scope& scope, Graph& graph) {
    Scope body{.prefix = str(scope.prefix, proto.name.empty() ? proto.op_type : proto.name, "."),
               .opsets = scope.opsets,
               .depth = scope.depth + 1};
    if (body.depth > kMostDepth) fail("its functions are nested more than ", kMostDepth, " deep");
    count_parts(function.inputs.size() + function.defaults.size() + function.opsets.size());
    for (const OpsetProto& opset : function.opsets) body.opsets[opset.domain == "ai.onnx" ? "" : opset.domain] = opset.version;
    for (const AttributeProto& attribute : function.defaults) body.bound[attribute.name] = &attribute;
    for (const AttributeProto& attribute : proto.attributes) {
      if (attribute.reference.empty()) body.bound[attribute.name] = &attribute;
      else if (const auto outer = scope.bound.find(attribute.reference); outer != scope.bound.end())
        body.bound[attribute.name] = outer->second;
    }
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      const bool given = i < proto.inputs.size() && !proto.inputs[i].empty();
      body.places[function.inputs[i]] = given ? read(scope, proto.inputs[i], "its inputs") : places_++;
    }
    add_nodes(function.nodes, body, graph);
    scope.own.insert(scope.own.end(), body.own.begin(), body.own.end());
    for (size_t i = 0; i < proto.outputs.size(); ++i) {
      if (proto.outputs[i].empty()) continue;
      if (i >= function.outputs.size()) fail("the function has ", function.outputs.size(), " outputs");
      if (!scope.places.emplace(proto.outputs[i], read(body, function.outputs[i], "its outputs")).second)
        fail("the name ", io::in_quotes(proto.outputs[i]), " is given to two values");
    }
  }

  /// Notes after which node nobody reads a place any more, of those that are the graph's own.
  static void find_last(Graph& graph, const std::vector<int>& own) {
    std::set<int> open(own.begin(), own.end());
    for (const int place : graph.outputs) open.erase(place);
    for (size_t i = graph.nodes.size(); i-- > 0;) {
      Node& node = graph.nodes[i];
      const auto note = [&](int place) {
        if (open.erase(place) > 0) node.last.push_back(place);
      };
      std::for_each(node.reads.begin(), node.reads.end(), note);
      std::for_each(node.outputs.begin(), node.outputs.end(), note);
    }
  }

  const ModelProto& model_;
  const std::string folder_;
  const Site site_;
  Built built_;
  int places_ = 0;
  size_t count_ = 0, parts_ = 0;
  std::set<std::string> names_, settings_, computed_, missing_;
  std::map<std::string, int> uses_;
  std::map<std::pair<std::string, std::string>, const FunctionProto*> functions_;
};

}  // namespace

Built build(const ModelProto& model, const std::string& folder, Site site) { return Builder(model, folder, site).build(); }

}  // namespace tandem::onnx
