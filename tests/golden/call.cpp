// Values of golden files, signatures, and the binding of arguments to them.
#include <set>

#include "golden.h"

namespace golden {
namespace {

bool is_tensor_value(const Json& v) { return v.is_object() && v.contains("tensor"); }
bool is_number(const Json& v) { return v.is_number() || v.is_boolean() || (v.is_object() && v.contains("scalar")); }
bool is_integer(const Json& v) { return v.is_number_integer() && !v.is_boolean(); }

Scalar number_of(const Json& v) {
  if (v.is_boolean()) return Scalar(v.get<bool>());
  if (v.is_number_integer()) return Scalar(v.get<int64_t>());
  if (v.is_number()) return Scalar(v.get<double>());
  if (v.is_object() && v.contains("scalar")) return Scalar(std::stod(v["scalar"].get<std::string>()));
  throw Lacking{"a number was expected: " + v.dump()};
}

bool fits(const std::string& type, const Json& v) {
  if (type.empty() || v.is_null()) return true;
  if (type == "Tensor") return is_tensor_value(v);
  if (type == "Tensors") return v.is_array() && !v.empty() && is_tensor_value(v[0]);
  if (type == "int") return is_integer(v);
  if (type == "ints") {
    if (is_integer(v)) return true;
    if (!v.is_array()) return false;
    for (const auto& e : v)
      if (!is_integer(e)) return false;
    return true;
  }
  if (type == "number") return is_number(v);
  if (type == "str") return v.is_string();
  if (type == "bool") return v.is_boolean();
  throw std::logic_error("golden: unknown type " + type);
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Json default_of(const std::string& text) {
  if (text == "None") return nullptr;
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "inf" || text == "-inf" || text == "nan") return Json{{"scalar", text}};
  if (text.front() == '\'') return text.substr(1, text.size() - 2);
  return Json::parse(text);
}

}  // namespace

Tensor Tensors::stored(const Json& value) const {
  if (value.is_string()) return stored_.at(value.get<std::string>());
  const auto found = stored_.find(value["tensor"].get<std::string>());
  if (found == stored_.end()) throw Error("a tensor has at most " + std::to_string(kMaxDims) + " dimensions");
  const Tensor& flat = found->second;
  if (!value.contains("sizes")) return flat;
  const auto list = [&](const char* key) {
    Shape shape;
    for (const auto& v : value[key]) shape.push_back(v.get<int64_t>());
    return shape;
  };
  return flat.as_strided(list("sizes"), list("strides"), value["offset"].get<int64_t>());
}

const Tensor& Tensors::at(const Json& value) {
  const auto key = value["tensor"].get<std::string>();
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  // The storage moves as it is, so that the view on the device has the strides and the offset of the case.
  Json whole{{"tensor", key}};
  Tensor flat = stored(whole).to(device_, {.copy = true});
  if (flat.dtype() == kFloat32 && (lowered_.which == Lowered::All || (lowered_.which == Lowered::First && floats_++ == 0)))
    flat = flat.to(lowered_.dtype);
  if (value.contains("sizes")) {
    const Tensor view = stored(value);
    flat = flat.as_strided(view.sizes(), view.strides(), value["offset"].get<int64_t>());
  }
  return made_.emplace(key, flat.detach()).first->second;
}

bool Call::has(const std::string& name) const { return !json(name).is_null(); }

const Json& Call::json(const std::string& name) const {
  const auto found = arguments_.find(name);
  if (found == arguments_.end()) throw std::logic_error("golden: the signature has no " + name);
  return found->second;
}

const Tensor& Call::hold(const std::string& name) const { return tensors_.at(json(name)); }

Tensor Call::tensor(const std::string& name) const {
  if (!is_tensor(name)) throw Lacking{name + " is not a tensor: " + json(name).dump()};
  return hold(name);
}

bool Call::is_tensor(const std::string& name) const { return is_tensor_value(json(name)); }

std::vector<Tensor> Call::tensors(const std::string& name) const {
  std::vector<Tensor> all;
  for (const auto& v : json(name)) all.push_back(tensors_.at(v));
  return all;
}

Scalar Call::number(const std::string& name) const { return number_of(json(name)); }
std::optional<Scalar> Call::number_or_none(const std::string& name) const { return has(name) ? std::optional(number(name)) : std::nullopt; }
int64_t Call::integer(const std::string& name) const { return number(name).to<int64_t>(); }
std::optional<int64_t> Call::integer_or_none(const std::string& name) const {
  return has(name) ? std::optional(integer(name)) : std::nullopt;
}

Shape Call::ints(const std::string& name) const { return ints(name, 1); }

Shape Call::ints(const std::string& name, int n) const {
  Shape shape;
  const Json& v = json(name);
  if (v.is_array() && !(v.size() == 1 && n > 1)) {
    for (const auto& e : v) shape.push_back(number_of(e).to<int64_t>());
  } else {
    for (int i = 0; i < n; ++i) shape.push_back(number_of(v.is_array() ? v[0] : v).to<int64_t>());
  }
  return shape;
}

std::optional<DType> Call::dtype(const std::string& name) const {
  if (const auto found = arguments_.find(name); found == arguments_.end() || found->second.is_null()) return {};
  const auto text = json(name)["dtype"].get<std::string>();
  for (const DType dtype : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64})
    if (text == tandem::name(dtype)) return dtype;
  throw Lacking{"dtype " + text};
}

std::vector<Index> Call::indices(const std::string& name) const {
  std::vector<Index> all;
  const auto optional = [](const Json& v) { return v.is_null() ? std::optional<int64_t>() : v.get<int64_t>(); };
  // A nested list is an index tensor, of integers or of bools.
  const std::function<void(const Json&, std::vector<int64_t>&, Shape&, size_t)> flatten = [&](const Json& v, std::vector<int64_t>& out,
                                                                                              Shape& sizes, size_t depth) {
    if (!v.is_array()) return out.push_back(number_of(v).to<int64_t>());
    if (sizes.size() == depth) sizes.push_back(static_cast<int64_t>(v.size()));
    for (const auto& e : v) flatten(e, out, sizes, depth + 1);
  };
  for (const Json& v : json(name)) {
    if (v.is_null()) all.emplace_back(None);
    else if (v.is_object() && v.contains("slice")) {
      const Json& s = v["slice"];
      all.emplace_back(Slice(optional(s[0]), optional(s[1]), s[2].is_null() ? 1 : s[2].get<int64_t>()));
    } else if (v.is_object() && v.contains("ellipsis")) all.emplace_back(Ellipsis);
    else if (is_tensor_value(v)) all.emplace_back(tensors_.at(v));
    else if (v.is_array()) {
      std::vector<int64_t> values;
      Shape sizes;
      flatten(v, values, sizes, 0);
      const Json* first = &v;
      while (first->is_array() && !first->empty()) first = &(*first)[0];
      Tensor index = tandem::tensor(values).reshape(sizes);
      if (first->is_boolean()) index = index.to(kBool);
      all.emplace_back(index.to(device()));
    } else if (v.is_boolean()) all.emplace_back(tandem::tensor(v.get<bool>(), {.device = device()}));
    else all.emplace_back(v.get<int64_t>());
  }
  return all;
}

Signature::Signature(const std::string& text) {
  const auto open = text.find('(');
  name_ = text.substr(0, open);
  bool keyword_only = false;
  size_t at = open + 1;
  const size_t close = text.rfind(')');
  while (at < close) {
    size_t end = at;
    for (int depth = 0; end < close && (depth > 0 || text[end] != ','); ++end) depth += (text[end] == '[') - (text[end] == ']');
    std::string part = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Parameter p;
    p.keyword_only = keyword_only;
    if (const auto equals = part.find('='); equals != std::string::npos) {
      p.required = false;
      p.default_value = default_of(trimmed(part.substr(equals + 1)));
      part = trimmed(part.substr(0, equals));
    }
    if (const auto colon = part.find(':'); colon != std::string::npos) {
      p.type = trimmed(part.substr(colon + 1));
      part = trimmed(part.substr(0, colon));
    }
    if (part.front() == '*') {  // all positional arguments from here on, as a list
      p.rest = true;
      part = part.substr(1);
    }
    p.name = part;
    parameters_.push_back(std::move(p));
  }
}

std::optional<std::map<std::string, Json>> Signature::bind(const Json& args, const Json& kwargs, std::string& why) const {
  std::map<std::string, Json> bound;
  size_t next = 0;
  for (const Parameter& p : parameters_) {
    if (p.rest) {
      // f(x, 1, 2) and f(x, [1, 2]) are one call.
      Json list = Json::array();
      while (next < args.size()) list.push_back(args[next++]);
      if (list.size() == 1 && list[0].is_array()) list = Json(list[0]);
      if (const auto named = kwargs.find(p.name); named != kwargs.end()) list = *named;
      if (!fits(p.type, list)) {
        why = p.name + " = " + list.dump();
        return {};
      }
      bound[p.name] = std::move(list);
      continue;
    }
    const Json* value = nullptr;
    if (!p.keyword_only && next < args.size()) value = &args[next++];
    else if (const auto named = kwargs.find(p.name); named != kwargs.end()) value = &*named;
    if (!value && p.required) {
      why = "no " + p.name;
      return {};
    }
    if (value && (!fits(p.type, *value) || (p.required && value->is_null() && !p.type.empty()))) {
      why = p.name + " = " + value->dump();
      return {};
    }
    bound[p.name] = value ? *value : p.default_value;
  }
  if (next < args.size()) {
    why = std::to_string(args.size()) + " arguments";
    return {};
  }
  static const std::set<std::string> placement{"device", "layout", "pin_memory", "requires_grad",
                                               "memory_format"};  // the run decides these
  for (const auto& [name, value] : kwargs.items())
    if (!bound.count(name) && !placement.count(name)) {
      why = "argument " + name;
      return {};
    }
  return bound;
}

}  // namespace golden
