#include "onnx/export/graph.h"

#include <cstring>

#include "onnx/proto.h"
#include "ops/creation.h"

namespace tandem::onnx::exporting {

std::string text_of(const Sizes& sizes) {
  std::string text = "[";
  for (const Size& size : sizes) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size.at[0]);
    if (!size.is_fixed()) text += str(" or ", size.at[1], " or ", size.at[2]);
  }
  return text + "]";
}

int64_t type_number(DType dtype) { return data_type_of(dtype); }

Sizes broadcast(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes sizes = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d)
    if (sizes[lead + d].is(1)) sizes[lead + d] = shorter[d];
  return sizes;
}

void Graph::require(int64_t version, const char* what) const {
  if (opset_ < version) refuse("ONNX has ", what, " from opset ", version, " on, and opset_version is ", opset_);
}

std::string Graph::free_name(const std::string& wanted) {
  std::string name = wanted;
  for (int& count = counts_[wanted]; !names_.insert(name).second;) name = str(wanted, "_", ++count);
  return name;
}

Value* Graph::add(std::string name, DType dtype, Sizes sizes, Value::Kind kind) {
  Value& value = values_.emplace_back();
  value.name = std::move(name);
  value.dtype = dtype;
  value.sizes = std::move(sizes);
  value.kind = kind;
  if (kind == Value::Kind::Initializer || kind == Value::Kind::Constant) return &value;
  for (size_t d = 0; d < value.sizes.size(); ++d)
    if (const Size& size = value.sizes[d]; !size.is_fixed() && dims_.try_emplace(size, &value, static_cast<int64_t>(d)).second)
      dims_in_order_.push_back(size);
  return &value;
}

const Value* Graph::input(std::string name, DType dtype, Sizes sizes) {
  names_.insert(name);
  Value* const value = add(std::move(name), dtype, std::move(sizes), Value::Kind::Input);
  inputs_.push_back(value);
  return value;
}

const Value* Graph::initializer(const std::string& name, const Tensor& tensor, int64_t order) {
  Value* const value = add(free_name(name), tensor.dtype(), Sizes(tensor.sizes().begin(), tensor.sizes().end()), Value::Kind::Initializer);
  value->tensor = tensor;
  value->order = order;
  return value;
}

const Value* Graph::constant(const Tensor& tensor) {
  std::string key = str("constant ", static_cast<int>(tensor.dtype()));
  for (const int64_t size : tensor.sizes()) key += str(' ', size);
  key += ':';
  const size_t at = key.size();
  key.resize(at + tensor.nbytes());
  if (tensor.numel()) std::memcpy(key.data() + at, tensor.data_ptr(), tensor.nbytes());
  const Value*& made = made_[key];
  if (made) return made;
  Value* const value =
      add(free_name("constant"), tensor.dtype(), Sizes(tensor.sizes().begin(), tensor.sizes().end()), Value::Kind::Constant);
  value->tensor = tensor;
  return made = value;
}

const Value* Graph::ints(const std::vector<int64_t>& numbers) {
  Tensor tensor = empty({static_cast<int64_t>(numbers.size())}, {.dtype = kInt64});
  if (!numbers.empty()) std::memcpy(tensor.data_ptr(), numbers.data(), numbers.size() * sizeof(int64_t));
  return constant(tensor);
}
const Value* Graph::number(double number, DType dtype) { return constant(full({}, number, {.dtype = dtype})); }
const Value* Graph::number(int64_t number, DType dtype) { return constant(full({}, number, {.dtype = dtype})); }

const Value* Graph::node(const char* op, Values inputs, ResultType type, Attributes attributes) {
  std::string key = op;
  for (const Value* const x : inputs) key += x ? str('\0', x->name) : std::string(1, '\0');
  for (const Attribute& attribute : attributes) {
    key += str('\1', attribute.name, '\2');
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::string>) key += value;
          else if constexpr (std::is_arithmetic_v<T>) key.append(reinterpret_cast<const char*>(&value), sizeof value);
          else
            for (const auto& each : value) key += str('\3', each);
        },
        attribute.value);
  }
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  const Value* const value = nodes(op, std::move(inputs), {std::move(type)}, std::move(attributes))[0];
  made_.emplace(std::move(key), value);
  return value;
}

std::vector<const Value*> Graph::nodes(const char* op, Values inputs, const std::vector<ResultType>& types, Attributes attributes) {
  std::vector<const Value*> results;
  results.reserve(types.size());
  for (const ResultType& type : types) results.push_back(add(free_name(op), type.dtype, type.sizes, Value::Kind::Result));
  for (const Value* const y : results) makers_.emplace(y, nodes_.size());
  nodes_.push_back({op, std::move(inputs), results, std::move(attributes), line_});
  return results;
}

const GraphNode* Graph::maker(const Value* value) const {
  const auto at = makers_.find(value);
  return at == makers_.end() ? nullptr : &nodes_[at->second];
}

void Graph::output(const Value* value, const std::string& name) {
  if (value->kind == Value::Kind::Result && std::find(outputs_.begin(), outputs_.end(), value) == outputs_.end()) {
    const auto own = std::find_if(values_.begin(), values_.end(), [&](const Value& each) { return &each == value; });
    own->name = name;
    outputs_.push_back(value);
    return;
  }
  Value* const result = add(name, value->dtype, value->sizes, Value::Kind::Result);
  nodes_.push_back({"Identity", {value}, {result}, {}, {}});
  outputs_.push_back(result);
}

const Value* Graph::find_size(const Size& number) {
  const auto at = dims_.find(number);
  if (at == dims_.end()) return nullptr;
  const auto [value, dim] = at->second;
  const Value* const shape = node("Shape", {value}, {kInt64, {Size(static_cast<int64_t>(value->sizes.size()))}});
  return node("Gather", {shape, ints({dim})}, {kInt64, {1}}, {{"axis", int64_t{0}}});
}

/// A size as one element of one dimension: a number, one of a tensor's, or made of one or two of these.
const Value* Graph::size_element(const Size& number) {
  if (number.is_fixed()) return ints({number.at[0]});
  if (const Value* const found = find_size(number)) return found;
  const auto combined = [&](const char* op, const Value* a, const Value* b) { return node(op, {a, b}, {kInt64, {1}}); };
  const std::vector<Size> known = dims_in_order_;
  for (const Size& part : known) {  // a multiple of one, or a fraction
    if (number.divisible(part) && (number / part).is_fixed()) return combined("Mul", find_size(part), ints({(number / part).at[0]}));
    if (part.divisible(number) && (part / number).is_fixed()) return combined("Div", find_size(part), ints({(part / number).at[0]}));
  }
  for (const Size& part : known)
    if (const Size rest = number - part; rest.is_fixed()) return combined("Add", find_size(part), ints({rest.at[0]}));
  for (const Size& part : known)  // a product of two, or more
    if (number.divisible(part) && (number / part).at_most(number - 1) && !part.is(1)) {
      const Size rest = number / part;
      for (const Size& other : known)
        if (rest == other || (rest.divisible(other) && (rest / other).is_fixed()))
          return combined("Mul", find_size(part), size_element(rest));
    }
  for (const Size& part : known)  // a sum or a difference of two
    for (const Size& other : known) {
      if (const Size rest = number - part - other; rest.is_fixed())
        return combined("Add", combined("Add", find_size(part), find_size(other)), ints({rest.at[0]}));
      if (const Size rest = number - part + other; rest.is_fixed())
        return combined("Add", combined("Sub", find_size(part), find_size(other)), ints({rest.at[0]}));
    }
  refuse("it uses a size that changes with the inputs in a way that is not known (", text_of({number}),
         "); leave the dimension it comes from fixed, or compute it from one size by +, - or *");
}

const Value* Graph::sizes(const Sizes& numbers) {
  std::vector<int64_t> fixed;
  for (const Size& number : numbers)
    if (number.is_fixed()) fixed.push_back(number.at[0]);
  if (fixed.size() == numbers.size()) return ints(fixed);
  Values parts;
  for (const Size& number : numbers) parts.push_back(size_element(number));
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

const Value* Graph::size(const Size& number) {
  if (number.is_fixed()) return this->number(number.at[0], kInt64);
  return node("Squeeze", {size_element(number), ints({0})}, {kInt64, {}});
}

const Value* Graph::reshape(const Value* x, const Sizes& sizes) {
  if (const auto made = reshaped_.find(x); made != reshaped_.end()) x = made->second;
  if (x->sizes == sizes) return x;
  std::vector<int64_t> target;
  int unknown = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].is_fixed()) {
      target.push_back(sizes[d].at[0]);
    } else if (d < x->sizes.size() && x->sizes[d] == sizes[d]) {
      target.push_back(0);
    } else {
      target.push_back(-1);
      ++unknown;
    }
  }
  const bool is_plain = unknown <= 1 && std::find_if(sizes.begin(), sizes.end(), [](const Size& s) { return s.is(0); }) == sizes.end();
  const Value* const y = node("Reshape", {x, is_plain ? ints(target) : this->sizes(sizes)}, {x->dtype, sizes});
  reshaped_.emplace(y, x);
  return y;
}

const Value* Graph::transpose(const Value* x, const std::vector<int64_t>& order) {
  if (const auto made = transposed_.find(x); made != transposed_.end()) {
    std::vector<int64_t> both;
    for (const int64_t d : order) both.push_back(made->second.second[static_cast<size_t>(d)]);
    return transpose(made->second.first, both);
  }
  Sizes sizes;
  bool moves = false;
  for (size_t d = 0; d < order.size(); ++d) {
    sizes.push_back(x->sizes[static_cast<size_t>(order[d])]);
    moves |= order[d] != static_cast<int64_t>(d);
  }
  if (!moves) return x;
  const Value* const y = node("Transpose", {x}, {x->dtype, sizes}, {{"perm", order}});
  transposed_.try_emplace(y, x, order);
  return y;
}

const Value* Graph::cast(const Value* x, DType dtype) {
  return x->dtype == dtype ? x : node("Cast", {x}, {dtype, x->sizes}, {{"to", type_number(dtype)}});
}

const Value* Graph::expand(const Value* x, const Sizes& sizes) {
  return x->sizes == sizes ? x : node("Expand", {x, this->sizes(sizes)}, {x->dtype, sizes});
}

const Value* Graph::slice(const Value* x, const std::vector<int64_t>& axes, const Sizes& starts, const Sizes& ends,
                          const std::vector<int64_t>& steps) {
  Sizes sizes = x->sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    Size& size = sizes[static_cast<size_t>(axes[i])];
    size = steps[i] < 0 ? size : (ends[i] - starts[i] + (steps[i] - 1)) / steps[i];
  }
  return node("Slice", {x, this->sizes(starts), this->sizes(ends), ints(axes), ints(steps)}, {x->dtype, sizes});
}

const Value* Graph::concat(const Values& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  Sizes sizes = parts[0]->sizes;
  for (size_t i = 1; i < parts.size(); ++i) {
    Size& along = sizes[static_cast<size_t>(axis)];
    along = along + parts[i]->sizes[static_cast<size_t>(axis)];
  }
  return node("Concat", parts, {parts[0]->dtype, sizes}, {{"axis", axis}});
}

Graph::Finished Graph::finish() const {
  Finished all{inputs_, outputs_, {}, {}};
  std::set<const Value*> wanted(outputs_.begin(), outputs_.end());
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    const bool is_read = std::any_of(node->outputs.begin(), node->outputs.end(), [&](const Value* y) { return wanted.contains(y); });
    if (!is_read) continue;
    GraphNode kept = *node;
    for (const Value*& y : kept.outputs)
      if (!wanted.contains(y)) y = nullptr;
    while (!kept.outputs.back()) kept.outputs.pop_back();
    for (const Value* const x : node->inputs)
      if (x) wanted.insert(x);
    all.nodes.push_back(std::move(kept));
  }
  std::reverse(all.nodes.begin(), all.nodes.end());
  for (const Value& value : values_)
    if (value.tensor.defined() && wanted.contains(&value)) all.initializers.push_back(&value);
  std::stable_sort(all.initializers.begin(), all.initializers.end(), [](const Value* a, const Value* b) {
    return std::pair(a->kind != Value::Kind::Initializer, a->order) < std::pair(b->kind != Value::Kind::Initializer, b->order);
  });
  return all;
}

}  // namespace tandem::onnx::exporting
