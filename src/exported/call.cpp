#include "exported/call.h"

#include <algorithm>

#include "io/named.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::exported {
namespace {

/// Arguments that say nothing of the result: the module has its own devices, and all layouts are strided.
constexpr std::string_view kPassedOver[] = {"device",   "layout",        "pin_memory",   "memory_format", "non_blocking", "generator",
                                            "implicit", "cudnn_enabled", "cudnn_enable", "sparse",        "copy"};

bool is_none(const Value& value) { return std::holds_alternative<std::monostate>(value); }

/// One number as a list of them.
const std::vector<Scalar>* list_of(const Value& value, std::vector<Scalar>& one) {
  if (const auto* list = std::get_if<std::vector<Scalar>>(&value)) return list;
  if (const auto* number = std::get_if<Scalar>(&value)) {
    one = {*number};
    return &one;
  }
  if (const auto* none = std::get_if<std::vector<Tensor>>(&value); none && none->empty()) return &one;
  return nullptr;
}

}  // namespace

Run::Run(const Program& program, std::span<const Tensor> stored, Site site)
    : program_(program), values_(static_cast<size_t>(program.places)), site_(site) {
  for (size_t i = 0; i < stored.size(); ++i) put(program.stored[i].place, stored[i], true);
}

void Run::put(int place, const Tensor& tensor, bool is_tensor) {
  values_[static_cast<size_t>(place)] = is_tensor ? Value(tensor) : Value(tensor.item(site_));
  if (device_.is_cpu() && tensor.is_cuda()) device_ = tensor.device();
}

Value Run::value_of(const Argument& argument) const {
  const auto at = [&](int place) -> const Value& { return values_[static_cast<size_t>(place)]; };
  if (argument.places.empty()) return argument.value;
  if (!argument.is_list) return at(argument.places[0]);
  if (const auto* constants = std::get_if<std::vector<Scalar>>(&argument.value)) {
    std::vector<Scalar> items = *constants;
    for (size_t i = 0; i < items.size(); ++i) {
      if (argument.places[i] == kNoPlace) continue;
      const auto* number = std::get_if<Scalar>(&at(argument.places[i]));
      if (!number) fail("item ", i, " of its argument '", argument.name, "' is not a number");
      items[i] = *number;
    }
    return items;
  }
  std::vector<Tensor> items;
  for (size_t i = 0; i < argument.places.size(); ++i) {
    items.emplace_back();
    if (argument.places[i] == kNoPlace) continue;
    const auto* tensor = std::get_if<Tensor>(&at(argument.places[i]));
    if (!tensor) fail("item ", i, " of its argument '", argument.name, "' is not a tensor");
    items.back() = *tensor;
  }
  return items;
}

void Run::run() {
  for (const Node& node : program_.nodes) call(node);
  for (const Mutation& mutation : program_.mutations) {
    const auto* to = std::get_if<Tensor>(&values_[static_cast<size_t>(mutation.to)]);
    const auto* from = std::get_if<Tensor>(&values_[static_cast<size_t>(mutation.from)]);
    if (!to || !from) fail("an output that changes a buffer is not a tensor");
    if (!to->is_same(*from)) to->copy_(from->detach(), false, site_);
  }
}

Tensor Run::result(const Argument& output) {
  const Value value = value_of(output);
  if (is_none(value)) return {};
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  if (const auto* number = std::get_if<Scalar>(&value)) return full({}, *number, {.dtype = number->dtype(), .device = device_}, site_);
  fail("its output ", io::in_quotes(output.name), " is neither a tensor nor a number");
}

void Run::call(const Node& node) {
  const auto where = [&] { return str("node ", io::in_quotes(node.name), " (", io::shown(node.target), "): "); };
  try {
    Call(*this, node).run();
  } catch (const OutOfMemoryError& error) {
    fail<OutOfMemoryError>(where(), error.message());
  } catch (const NotImplementedError& error) {
    fail<NotImplementedError>(where(), error.message());
  } catch (const IndexError& error) {
    fail<IndexError>(where(), error.message());
  } catch (const Error& error) {
    fail(where(), error.message());
  }
}

Call::Call(Run& run, const Node& node) : run_(run), node_(node), read_(node.arguments.size()) {
  values_.reserve(node.arguments.size());
  for (const Argument& argument : node.arguments) values_.push_back(run.value_of(argument));
  for (const int place : node.last) run.values_[static_cast<size_t>(place)] = {};
}

Value* Call::find(std::string_view name) {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (node_.arguments[i].name != name) continue;
    read_[i] = true;
    return is_none(values_[i]) ? nullptr : &values_[i];
  }
  return nullptr;
}

void Call::wrong(std::string_view name, const char* wanted) { fail("its argument '", name, "' is missing, or is not ", wanted); }

bool Call::has(std::string_view name) { return find(name) != nullptr; }

bool Call::is_tensor(std::string_view name) {
  const Value* found = find(name);
  return found && std::holds_alternative<Tensor>(*found);
}

bool Call::is_text(std::string_view name) {
  const Value* found = find(name);
  return found && std::holds_alternative<std::string>(*found);
}

Tensor Call::tensor_or_none(std::string_view name) {
  const Value* found = find(name);
  if (!found) return {};
  if (const auto* tensor = std::get_if<Tensor>(found)) return *tensor;
  wrong(name, "a tensor");
}
Tensor Call::tensor(std::string_view name) {
  Tensor tensor = tensor_or_none(name);
  if (!tensor.defined()) wrong(name, "a tensor");
  return tensor;
}
std::vector<Tensor> Call::tensors(std::string_view name) {
  const Value* found = find(name);
  const auto* list = found ? std::get_if<std::vector<Tensor>>(found) : nullptr;
  if (!list) wrong(name, "a list of tensors");
  return *list;
}

Operand Call::operand(std::string_view name) {
  Value* found = find(name);
  if (!found) wrong(name, "a tensor or a number");
  if (const auto* number = std::get_if<Scalar>(found)) return Operand(*number, site());
  auto* tensor = std::get_if<Tensor>(found);
  if (!tensor || !tensor->defined()) wrong(name, "a tensor or a number");
  return Operand(std::move(*tensor), site());
}

std::optional<Scalar> Call::number_or_none(std::string_view name) {
  const Value* found = find(name);
  if (!found) return std::nullopt;
  if (const auto* number = std::get_if<Scalar>(found)) return *number;
  wrong(name, "a number");
}
Scalar Call::number(std::string_view name) {
  const auto found = number_or_none(name);
  if (!found) wrong(name, "a number");
  return *found;
}
std::optional<int64_t> Call::integer_or_none(std::string_view name) {
  const auto found = number_or_none(name);
  return found ? std::optional(found->to<int64_t>()) : std::nullopt;
}
std::optional<double> Call::real_or_none(std::string_view name) {
  const auto found = number_or_none(name);
  return found ? std::optional(found->to<double>()) : std::nullopt;
}

std::optional<Shape> Call::ints_or_none(std::string_view name) {
  const Value* found = find(name);
  if (!found) return std::nullopt;
  std::vector<Scalar> one;
  const auto* list = list_of(*found, one);
  if (!list) wrong(name, "a list of whole numbers");
  Shape numbers;
  for (const Scalar& number : *list) {
    if (number.is_floating()) wrong(name, "a list of whole numbers");
    numbers.push_back(number.to<int64_t>());
  }
  return numbers;
}
Shape Call::ints(std::string_view name) {
  auto found = ints_or_none(name);
  if (!found) wrong(name, "a list of whole numbers");
  return std::move(*found);
}
std::optional<std::vector<double>> Call::reals_or_none(std::string_view name) {
  const Value* found = find(name);
  if (!found) return std::nullopt;
  std::vector<Scalar> one;
  const auto* list = list_of(*found, one);
  if (!list) wrong(name, "a list of numbers");
  std::vector<double> numbers;
  for (const Scalar& number : *list) numbers.push_back(number.to<double>());
  return numbers;
}

std::string Call::text(std::string_view name, const char* otherwise) {
  const Value* found = find(name);
  if (!found) return otherwise;
  if (const auto* text = std::get_if<std::string>(found)) return *text;
  wrong(name, "a text");
}
std::optional<DType> Call::dtype(std::string_view name) {
  const Value* found = find(name);
  if (!found) return std::nullopt;
  if (const auto* dtype = std::get_if<DType>(found)) return *dtype;
  wrong(name, "a dtype");
}

const Value& Call::value(size_t i) {
  if (i >= values_.size()) fail("it has ", values_.size(), " arguments, too few");
  read_[i] = true;
  return values_[i];
}

void Call::run() {
  const OperatorRow& row = *node_.row;
  // Before the call, which may take the tensor's memory for its result.
  const Tensor written = node_.writes == Node::Writes::Memory ? tensor("self") : Tensor();
  // Backward may want the elements as they were.
  if (written.defined() && written.requires_grad()) *find("self") = written.clone(site());
  if (row.unary) give(row.unary(operand(has("input") ? "input" : "self"), site()));
  else if (row.binary) give(row.binary(operand("self"), operand("other"), site()));
  else row.run(*this);
  for (size_t i = 0; i < values_.size(); ++i) {
    const std::string& name = node_.arguments[i].name;
    if (!read_[i] && !is_none(values_[i]) && std::find(std::begin(kPassedOver), std::end(kPassedOver), name) == std::end(kPassedOver))
      fail<NotImplementedError>("tandem does not know its argument ", io::in_quotes(name));
  }
  if (written.defined() && !given_.empty()) {
    const auto* result = std::get_if<Tensor>(&given_[0]);
    if (!result) fail("what it writes is not a tensor");
    if (!result->is_same(written)) written.copy_(*result, false, site());
    given_[0] = written;
  }
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (node_.outputs[i] == kNoPlace) continue;
    if (i >= given_.size()) fail("it has ", given_.size(), " results, but the file names ", node_.outputs.size());
    run_.values_[static_cast<size_t>(node_.outputs[i])] = std::move(given_[i]);
  }
  // Results that nobody reads go at once.
  for (const int place : node_.last)
    if (std::find(node_.outputs.begin(), node_.outputs.end(), place) != node_.outputs.end()) run_.values_[static_cast<size_t>(place)] = {};
}

}  // namespace tandem::exported
