#include "io/plain_value.h"

#include <array>
#include <ostream>

#include "base/error.h"
#include "io/named.h"
#include "io/plain_node.h"

namespace tandem::io {
namespace {

using Kind = PlainValue::Kind;

constexpr std::array kKindNames = {"None",     "a truth value", "a whole number", "a number", "a dtype", "a text", "bytes",
                                   "a device", "a tensor",      "a list",         "a tuple",  "a set",   "a dict"};

std::shared_ptr<detail::PlainNode> with_text(std::string text) {
  auto node = std::make_shared<detail::PlainNode>();
  node->text = std::move(text);
  return node;
}

std::shared_ptr<detail::PlainNode> with_items(PlainValue::Items items) {
  auto node = std::make_shared<detail::PlainNode>();
  node->items = std::move(items);
  return node;
}

/// A text as Python quotes it, cut short.
std::string quoted(const std::string& text) {
  std::string out = "'";
  constexpr size_t kMost = 200;
  for (const char c : text.substr(0, kMost)) {
    if (c == '\n') out += "\\n";
    else if (c == '\'' || c == '\\') (out += '\\') += c;
    else out += static_cast<unsigned char>(c) < 32 ? '?' : c;
  }
  return out + (text.size() > kMost ? "…'" : "'");
}

/// What stands between brackets, the first items only.
template <class Each>
void print_items(std::string& out, size_t count, const Each& each) {
  constexpr size_t kMost = 100;
  for (size_t i = 0; i < std::min(count, kMost); ++i) {
    if (i) out += ", ";
    each(i);
  }
  if (count > kMost) out += str(", … (", count, " in all)");
}

}  // namespace

void detail::PlainNode::set(PlainValue key, PlainValue value) {
  if (key.kind() == Kind::Text) {
    const auto found = index.find(key.to_text());
    if (found != index.end()) {
      pairs[found->second].second = std::move(value);
      return;
    }
    index.emplace(key.to_text(), pairs.size());
  }
  pairs.emplace_back(std::move(key), std::move(value));
}

PlainValue::PlainValue(std::string text) : PlainValue(Kind::Text, with_text(std::move(text))) {}
PlainValue::PlainValue(const tandem::Tensor& tensor) : PlainValue(Kind::Tensor, std::make_shared<detail::PlainNode>()) {
  node_->tensor = tensor;
}
PlainValue::PlainValue(const std::map<std::string, tandem::Tensor>& tensors) {
  Pairs pairs;
  for (const auto& [name, tensor] : tensors) pairs.emplace_back(name, tensor);
  *this = dict(std::move(pairs));
}
PlainValue::PlainValue(const StateDict& state) {
  Pairs pairs;
  for (const auto& [name, tensor] : state) pairs.emplace_back(name, tensor);
  *this = dict(std::move(pairs));
}
PlainValue PlainValue::bytes(std::string value) { return {Kind::Bytes, with_text(std::move(value))}; }
PlainValue PlainValue::device(std::string name) { return {Kind::Device, with_text(std::move(name))}; }
PlainValue PlainValue::list(Items items) { return {Kind::List, with_items(std::move(items))}; }
PlainValue PlainValue::tuple(Items items) { return {Kind::Tuple, with_items(std::move(items))}; }
PlainValue PlainValue::set(Items items) { return {Kind::Set, with_items(std::move(items))}; }
PlainValue PlainValue::dict(Pairs pairs) {
  auto node = std::make_shared<detail::PlainNode>();
  for (auto& [key, value] : pairs) {
    if (key.kind() >= Kind::Bytes)
      fail("[PlainValue.dict] ", name(key.kind()), " is no key: keys are texts, numbers, truth values or None");
    node->set(std::move(key), std::move(value));
  }
  return {Kind::Dict, std::move(node)};
}

void PlainValue::wrong_kind(const char* wanted) const {
  fail<TypeError>("[PlainValue] the value is ", name(kind_), ", not ", wanted, ": ", *this);
}
bool PlainValue::to_bool() const {
  if (kind_ != Kind::Bool) wrong_kind("a truth value");
  return truth_;
}
int64_t PlainValue::to_int() const {
  if (kind_ != Kind::Integer) wrong_kind("a whole number");
  return whole_;
}
double PlainValue::to_double() const {
  if (kind_ == Kind::Integer) return static_cast<double>(whole_);
  if (kind_ != Kind::Real) wrong_kind("a number");
  return real_;
}
DType PlainValue::to_dtype() const {
  if (kind_ != Kind::DType) wrong_kind("a dtype");
  return dtype_;
}
const std::string& PlainValue::to_text() const {
  if (kind_ < Kind::Text || kind_ > Kind::Device) wrong_kind("a text");
  return node().text;
}
const Tensor& PlainValue::to_tensor() const {
  if (kind_ != Kind::Tensor) wrong_kind("a tensor");
  return node().tensor;
}
const PlainValue::Items& PlainValue::items() const {
  if (kind_ < Kind::List || kind_ > Kind::Set) wrong_kind("a list, tuple or set");
  return node().items;
}
const PlainValue::Pairs& PlainValue::pairs() const {
  if (kind_ != Kind::Dict) wrong_kind("a dict");
  return node().pairs;
}
size_t PlainValue::size() const { return kind_ < Kind::List ? 0 : kind_ == Kind::Dict ? node().pairs.size() : node().items.size(); }

const PlainValue* PlainValue::find(std::string_view key) const {
  if (kind_ != Kind::Dict) return nullptr;
  const auto found = node().index.find(key);
  return found == node().index.end() ? nullptr : &node().pairs[found->second].second;
}
const PlainValue& PlainValue::operator[](std::string_view key) const {
  if (kind_ != Kind::Dict) wrong_kind("a dict");
  if (const PlainValue* value = find(key)) return *value;
  std::vector<std::string> keys;
  for (const auto& [other, value] : node().pairs) keys.push_back(other.kind() == Kind::Text ? other.to_text() : str(other));
  fail<IndexError>("[PlainValue] there is no key ", in_quotes(std::string(key)), "; there is ", listed(keys));
}
const PlainValue& PlainValue::item(size_t i) const {
  if (kind_ != Kind::List && kind_ != Kind::Tuple) wrong_kind("a list or a tuple");
  if (i >= node().items.size())
    fail<IndexError>("[PlainValue] there is no item ", static_cast<int64_t>(i), " in ", name(kind_), " of ", node().items.size());
  return node().items[i];
}

const char* name(PlainValue::Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

void append_text(std::string& out, const PlainValue& value) {
  const auto print_list = [&](const char* begin, const char* end) {
    out += begin;
    print_items(out, value.size(), [&](size_t i) { append_text(out, value.items()[i]); });
    out += end;
  };
  switch (value.kind()) {
    case Kind::None: out += "None"; break;
    case Kind::Bool: out += value.to_bool() ? "True" : "False"; break;
    case Kind::Integer: out += str(value.to_int()); break;
    case Kind::Real: out += str(value.to_double()); break;
    case Kind::DType: out += str(value.to_dtype()); break;
    case Kind::Text: out += quoted(value.to_text()); break;
    case Kind::Bytes: out += 'b' + quoted(value.to_text()); break;
    case Kind::Device: out += "device(" + quoted(value.to_text()) + ')'; break;
    case Kind::Tensor: {
      const Tensor& tensor = value.to_tensor();
      out += tensor.defined() ? str(tensor.dtype(), ' ', tensor.sizes()) : "an undefined tensor";
      break;
    }
    case Kind::List: print_list("[", "]"); break;
    case Kind::Tuple: print_list("(", value.size() == 1 ? ",)" : ")"); break;
    case Kind::Set: print_list("{", "}"); break;
    case Kind::Dict:
      out += '{';
      print_items(out, value.size(), [&](size_t i) {
        append_text(out, value.pairs()[i].first);
        out += ": ";
        append_text(out, value.pairs()[i].second);
      });
      out += '}';
      break;
  }
}

std::ostream& operator<<(std::ostream& out, const PlainValue& value) { return out << str(value); }

namespace {

using EachTensor = std::function<void(const std::string& name, const PlainValue& tensor)>;

void walk(const PlainValue& value, const std::string& name, const EachTensor& f) {
  const auto below = [&](const std::string& part) { return name.empty() ? part : name + '.' + part; };
  if (value.kind() == Kind::Tensor) return f(name, value);
  if (value.kind() == Kind::List || value.kind() == Kind::Tuple)
    for (size_t i = 0; i < value.size(); ++i) walk(value[i], below(std::to_string(i)), f);
  if (value.kind() == Kind::Dict)
    for (const auto& [key, item] : value.pairs()) walk(item, below(key.kind() == Kind::Text ? key.to_text() : str(key)), f);
}

}  // namespace

void detail::each_tensor(const PlainValue& value, const EachTensor& f) { walk(value, "", f); }

StateDict tensors_of(const PlainValue& value) {
  StateDict tensors;
  detail::each_tensor(value, [&](const std::string& name, const PlainValue& tensor) { tensors[name] = tensor.to_tensor(); });
  return tensors;
}

}  // namespace tandem::io
