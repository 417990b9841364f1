#include "exported/read.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/untrusted_json.h"
#include "exported/operators.h"
#include "io/named.h"

namespace tandem::exported {
namespace {

using io::in_quotes;
using nlohmann::json;
using tandem::detail::whole_number;

constexpr int64_t kSchema = 8;

/// The one member of a union: which one it is, and what it holds.
struct Chosen {
  std::string kind;
  const json* content;
};
Chosen chosen(const json& value) {
  for (const auto& [kind, content] : value.items())
    if (!content.is_null()) return {kind, &content};
  fail("a value is of no kind");
}

/// Numbers that JSON does not have are texts.
double real(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const auto& text = value.get_ref<const std::string&>();
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  if (text == "NaN") return NAN;
  fail(in_quotes(text), " is no number");
}

Scalar number(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return whole_number<int64_t>(value);
  return real(value);
}

/// The name of a size: of "s77", and of "Symbol('s77', positive=True, integer=True)".
std::string symbol_of(const std::string& expression) {
  constexpr std::string_view kStart = "Symbol('";
  if (!expression.starts_with(kStart)) return expression;
  return expression.substr(kStart.size(), expression.find('\'', kStart.size()) - kStart.size());
}

class Reader {
 public:
  Reader(const json& content, const std::map<std::string, Weight>& weights)
      : content_(content), module_(content.at("graph_module")), graph_(module_.at("graph")), weights_(weights) {}

  Read read() {
    const auto schema = whole_number<int64_t>(content_.at("schema_version").at("major"));
    if (schema != kSchema) fail("its schema has the version ", schema, ", but tandem reads version ", kSchema);
    for (const auto& [name, range] : content_.at("range_constraints").items())
      program().ranges[name] = {bound(range.at("min_val")), bound(range.at("max_val"))};
    const json& signature = module_.at("signature");
    for (const json& input : signature.at("input_specs")) add_input(input);
    for (const json& node : graph_.at("nodes")) add_node(node);
    for (const json& output : signature.at("output_specs")) add_output(output);
    program().places = places_;
    find_last();
    for (const std::string& target : missing_) read_.missing.push_back(target);
    return std::move(read_);
  }

 private:
  Program& program() { return read_.program; }

  static std::optional<int64_t> bound(const json& value) {
    return value.is_number_integer() ? std::optional(whole_number<int64_t>(value)) : std::nullopt;
  }

  int add(const std::string& name) {
    if (!named_.emplace(name, places_).second) fail("the name ", in_quotes(name), " is given to two values");
    return places_++;
  }
  [[nodiscard]] int place(const json& value) const {
    const auto& name = value.get_ref<const std::string&>();
    const auto found = named_.find(name);
    if (found == named_.end()) fail(in_quotes(name), " is wanted, which nothing before gives");
    return found->second;
  }

  void add_input(const json& spec) {
    const auto [kind, content] = chosen(spec);
    if (kind == "user_input") return add_user_input(content->at("arg"));
    if (kind == "constant_input" || kind == "token") return;
    const bool is_parameter = kind == "parameter", is_buffer = kind == "buffer";
    if (!is_parameter && !is_buffer && kind != "tensor_constant")
      fail("an input is of the kind ", in_quotes(kind), ", which tandem does not have");
    const auto name = content->at(is_parameter ? "parameter_name" : is_buffer ? "buffer_name" : "tensor_constant_name").get<std::string>();
    const auto found = weights_.find(name);
    if (found == weights_.end()) fail("the file has no tensor ", in_quotes(name));
    Stored stored{.name = name, .place = add(content->at("arg").at("name").get<std::string>())};
    if (is_parameter) stored.kind = Stored::Kind::Parameter;
    else if (is_buffer && content->at("persistent").get<bool>()) stored.kind = Stored::Kind::Buffer;
    if (!stored_.insert(name).second) fail("the tensor ", in_quotes(name), " is two inputs");
    const Tensor& tensor = found->second.tensor;
    if (is_parameter && found->second.is_parameter && tensor.is_floating_point()) tensor.requires_grad_();
    program().stored.push_back(std::move(stored));
    read_.tensors.push_back(tensor);
  }

  void add_user_input(const json& argument) {
    const auto [kind, content] = chosen(argument);
    InputInfo input;
    if (kind == "as_tensor") {
      input.name = content->at("name").get<std::string>();
      const json& facts = graph_.at("tensor_values").at(input.name);
      input.dtype = dtype_of_number(facts.at("dtype"));
      for (const json& size : facts.at("sizes")) {
        const auto [what, value] = chosen(size);
        if (what == "as_int") input.sizes.push_back({whole_number<int64_t>(*value), ""});
        else input.sizes.push_back({std::nullopt, symbol_of(value->at("expr_str").get<std::string>())});
      }
    } else if (kind == "as_sym_int") {
      input = {.name = content->at("as_name").get<std::string>(), .is_tensor = false, .dtype = kInt64, .sizes = {}};
    } else if (kind == "as_none" || kind == "as_int" || kind == "as_float" || kind == "as_bool" || kind == "as_string") {
      return;  // a constant of the module's call, which is in the nodes already
    } else {
      fail("an input is of the kind ", in_quotes(kind), ", which tandem does not have");
    }
    program().input_places.push_back(add(input.name));
    program().inputs.push_back(std::move(input));
  }

  /// A list of numbers, some of which may be places.
  void add_items(Argument& argument, const json& list) const {
    argument.is_list = true;
    std::vector<Scalar> numbers;
    for (const json& item : list) {
      if (item.is_object()) {
        const auto [kind, content] = chosen(item);
        const bool named = kind == "as_name";
        numbers.push_back(named ? Scalar(0) : number(*content));
        argument.places.push_back(named ? place(*content) : kNoPlace);
      } else {
        numbers.push_back(number(item));
        argument.places.push_back(kNoPlace);
      }
    }
    if (std::all_of(argument.places.begin(), argument.places.end(), [](int at) { return at == kNoPlace; })) argument.places.clear();
    argument.value = std::move(numbers);
  }

  Argument argument_of(std::string name, const json& value) const {
    Argument argument{.name = std::move(name), .value = {}};
    const auto [kind, content] = chosen(value);
    const auto one = [&](const json& item) {
      const auto [what, inner] = chosen(item);
      if (what == "as_name") argument.places = {place(*inner)};
      else argument.value = number(*inner);
    };
    if (kind == "as_tensor") {
      argument.places = {place(content->at("name"))};
    } else if (kind == "as_optional_tensor") {
      if (const auto [what, inner] = chosen(*content); what == "as_tensor") argument.places = {place(inner->at("name"))};
    } else if (kind == "as_tensors" || kind == "as_optional_tensors") {
      argument.is_list = true;
      argument.value = std::vector<Tensor>();
      for (const json& item : *content) {
        const json* const named = item.contains("name") ? &item : item.contains("as_tensor") ? &item.at("as_tensor") : nullptr;
        argument.places.push_back(named ? place(named->at("name")) : kNoPlace);
      }
    } else if (kind == "as_int" || kind == "as_float" || kind == "as_bool") {
      argument.value = kind == "as_float" ? Scalar(real(*content)) : number(*content);
    } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      one(*content);
    } else if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools" || kind == "as_sym_ints" || kind == "as_sym_floats" ||
               kind == "as_sym_bools") {
      add_items(argument, *content);
    } else if (kind == "as_string") {
      argument.value = content->get<std::string>();
    } else if (kind == "as_strings") {
      argument.value = content->get<std::vector<std::string>>();
    } else if (kind == "as_scalar_type") {
      argument.value = dtype_of_number(*content);
    } else if (kind != "as_none" && kind != "as_device" && kind != "as_layout" && kind != "as_memory_format") {
      fail("its argument ", in_quotes(argument.name), " is of the kind ", in_quotes(kind), ", which tandem does not have");
    }
    return argument;
  }

  void add_output_place(Node& node, const json& output) {
    const auto [kind, content] = chosen(output);
    if (kind == "as_tensor") node.outputs.push_back(add(content->at("name").get<std::string>()));
    else if (kind == "as_tensors")
      for (const json& item : *content) node.outputs.push_back(add(item.at("name").get<std::string>()));
    else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool")
      node.outputs.push_back(add(content->at("as_name").get<std::string>()));
    else if (kind == "as_none") node.outputs.push_back(kNoPlace);
    else fail("a result is of the kind ", in_quotes(kind), ", which tandem does not have");
  }

  void add_node(const json& proto) {
    Node node;
    node.target = proto.at("target").get<std::string>();
    const auto name = proto.find("name");
    node.name = name != proto.end() && name->is_string() ? name->get<std::string>() : str(program().nodes.size());
    const Found found = find_operator(node.target);
    node.row = found.row;
    if (found.writes) node.writes = Node::Writes::Memory;
    try {
      // What is not known is only noted: its arguments may be of kinds that are not known either.
      if (found.row)
        for (const json& input : proto.at("inputs")) {
          std::string argument = input.at("name").get<std::string>();
          node.arguments.push_back(argument_of(std::move(argument), input.at("arg")));
        }
      else missing_.insert(node.target);
      for (const json& output : proto.at("outputs")) add_output_place(node, output);
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const Error& error) {
      fail("node ", in_quotes(node.name), " (", io::shown(node.target), "): ", error.message());
    }
    program().nodes.push_back(std::move(node));
  }

  void add_output(const json& spec) {
    const auto [kind, content] = chosen(spec);
    if (kind == "user_output") {
      const json& value = content->at("arg");
      std::string name;
      if (const auto [what, inner] = chosen(value); inner->is_object())
        for (const char* key : {"name", "as_name"})
          if (inner->contains(key)) name = inner->at(key).get<std::string>();
      program().outputs.push_back(argument_of(std::move(name), value));
    } else if (kind == "loss_output") {
      const auto& name = content->at("arg").at("name");
      program().outputs.push_back({.name = name.get<std::string>(), .value = {}, .places = {place(name)}});
    } else if (kind == "buffer_mutation") {
      const auto buffer = content->at("buffer_name").get<std::string>();
      for (const Stored& stored : program().stored)
        if (stored.name == buffer) return program().mutations.push_back({place(content->at("arg").at("name")), stored.place});
      fail("an output changes the buffer ", in_quotes(buffer), ", which is no input");
    } else if (kind == "user_input_mutation") {
      program().mutations.push_back({place(content->at("arg").at("name")), place(content->at("user_input_name"))});
    } else if (kind != "token") {
      fail("an output is of the kind ", in_quotes(kind), ", which tandem does not have");
    }
  }

  /// Notes after which node nobody reads a place any more; and where a node writes into memory that nobody else sees, so that its result
  /// can take the memory's place without a copy.
  void find_last() {
    std::vector<int> readers(static_cast<size_t>(places_));
    std::vector<bool> own(static_cast<size_t>(places_)), kept(static_cast<size_t>(places_));
    const auto each_read = [](const Node& node, const auto& f) {
      for (const Argument& argument : node.arguments)
        for (const int place : argument.places)
          if (place != kNoPlace) f(static_cast<size_t>(place));
    };
    for (const Argument& output : program().outputs)
      for (const int place : output.places)
        if (place != kNoPlace) kept[static_cast<size_t>(place)] = true;
    for (const Mutation& mutation : program().mutations)
      kept[static_cast<size_t>(mutation.from)] = kept[static_cast<size_t>(mutation.to)] = true;
    for (const Node& node : program().nodes) each_read(node, [&](size_t place) { ++readers[place]; });
    for (Node& node : program().nodes) {
      if (node.writes == Node::Writes::Memory)
        for (const Argument& argument : node.arguments)
          if (argument.name == "self" && argument.places.size() == 1 && !argument.is_list) {
            const auto place = static_cast<size_t>(argument.places[0]);
            if (own[place] && readers[place] == 1 && !kept[place]) node.writes = Node::Writes::Name;
          }
      if (node.row && !node.row->aliases && node.writes != Node::Writes::Memory)
        for (const int place : node.outputs)
          if (place != kNoPlace) own[static_cast<size_t>(place)] = true;
    }
    for (size_t i = program().nodes.size(); i-- > 0;) {
      Node& node = program().nodes[i];
      const auto note = [&](size_t place) {
        if (kept[place]) return;
        kept[place] = true;
        node.last.push_back(static_cast<int>(place));
      };
      each_read(node, note);
      for (const int place : node.outputs)
        if (place != kNoPlace) note(static_cast<size_t>(place));
    }
  }

  const json& content_;
  const json& module_;
  const json& graph_;
  const std::map<std::string, Weight>& weights_;
  Read read_;
  int places_ = 0;
  std::unordered_map<std::string, int> named_;
  std::set<std::string> stored_, missing_;
};

}  // namespace

Read read_program(const nlohmann::json& content, const std::map<std::string, Weight>& weights) { return Reader(content, weights).read(); }

}  // namespace tandem::exported
