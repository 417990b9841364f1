// What names in a pickle stand for: containers, storages, tensors, dtypes, devices, and nothing else.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "io/named.h"
#include "io/unpickle.h"

namespace tandem::io::detail {
namespace {

using Kind = PlainValue::Kind;

/// What a name stands for that can be called.
enum class Callable {
  Dict,     // OrderedDict, from pairs or nothing
  Factory,  // defaultdict, whose first argument makes what is missing
  Object,   // a class whose attributes are plain
  List,
  Tuple,
  Set,
  Bytes,
  Encode,  // a text's bytes
  Device,
  Tensor,  // _rebuild_tensor and _rebuild_tensor_v2
  UntypedTensor,
  Parameter,
  Typed,  // _rebuild_from_type_v2: function, class, arguments, state
  First,  // its first argument
};

struct Name {
  std::string_view text;
  Callable callable;
};
constexpr Name kCallables[] = {
    {"collections.OrderedDict", Callable::Dict},
    {"collections.Counter", Callable::Dict},
    {"collections.defaultdict", Callable::Factory},
    {"builtins.dict", Callable::Dict},
    {"__builtin__.dict", Callable::Dict},
    {"builtins.list", Callable::List},
    {"__builtin__.list", Callable::List},
    {"builtins.tuple", Callable::Tuple},
    {"__builtin__.tuple", Callable::Tuple},
    {"torch.Size", Callable::Tuple},
    {"builtins.set", Callable::Set},
    {"__builtin__.set", Callable::Set},
    {"builtins.frozenset", Callable::Set},
    {"__builtin__.frozenset", Callable::Set},
    {"builtins.bytearray", Callable::Bytes},
    {"__builtin__.bytearray", Callable::Bytes},
    {"__builtin__.bytes", Callable::Bytes},
    {"builtins.bytes", Callable::Bytes},
    {"_codecs.encode", Callable::Encode},
    {"argparse.Namespace", Callable::Object},
    {"torch.device", Callable::Device},
    {"torch._utils._rebuild_tensor", Callable::Tensor},
    {"torch._utils._rebuild_tensor_v2", Callable::Tensor},
    {"torch._utils._rebuild_tensor_v3", Callable::UntypedTensor},
    {"torch._utils._rebuild_parameter", Callable::Parameter},
    {"torch._utils._rebuild_parameter_with_state", Callable::Parameter},
    {"torch._tensor._rebuild_from_type_v2", Callable::Typed},
    {"torch.jit._pickle.build_intlist", Callable::First},
    {"torch.jit._pickle.build_tensorlist", Callable::First},
    {"torch.jit._pickle.build_doublelist", Callable::First},
    {"torch.jit._pickle.build_boollist", Callable::First},
    {"torch.jit._pickle.restore_type_tag", Callable::First},
};

/// Names that are never called: classes of tensors, and what makes a defaultdict's values.
constexpr std::string_view kOtherNames[] = {"torch.Tensor",
                                            "torch.nn.parameter.Parameter",
                                            "torch.nn.parameter.Buffer",
                                            "builtins.int",
                                            "builtins.float",
                                            "builtins.bool",
                                            "builtins.str",
                                            "__builtin__.int",
                                            "__builtin__.float",
                                            "__builtin__.bool",
                                            "__builtin__.str"};

/// A storage's class, and what its elements are.
struct StorageName {
  std::string_view text;
  DType dtype;
};
constexpr StorageName kStorages[] = {
    {"torch.FloatStorage", kFloat32},
    {"torch.DoubleStorage", kFloat64},
    {"torch.HalfStorage", kFloat16},
    {"torch.BFloat16Storage", kBFloat16},
    {"torch.LongStorage", kInt64},
    {"torch.IntStorage", kInt32},
    {"torch.ShortStorage", kInt16},
    {"torch.CharStorage", kInt8},
    {"torch.ByteStorage", kUInt8},
    {"torch.BoolStorage", kBool},
    {"torch.storage.UntypedStorage", kUInt8},
    {"torch.UntypedStorage", kUInt8},
};

/// Classes of TorchScript archives, whose objects are their attributes.
bool is_script_class(std::string_view name) { return name.starts_with("__torch__."); }

const Name* callable_named(std::string_view text) {
  const auto* const found = std::find_if(std::begin(kCallables), std::end(kCallables), [&](const Name& name) { return name.text == text; });
  return found == std::end(kCallables) ? nullptr : found;
}

const StorageName* storage_named(std::string_view text) {
  // On a GPU they have its name: torch.cuda.FloatStorage.
  std::string plain(text);
  if (text.starts_with("torch.cuda.")) plain.erase(sizeof "torch" - 1, sizeof ".cuda" - 1);
  const auto* const found = std::find_if(std::begin(kStorages), std::end(kStorages), [&](const auto& name) { return name.text == plain; });
  return found == std::end(kStorages) ? nullptr : found;
}

std::optional<DType> dtype_named(std::string_view text) {
  if (!text.starts_with("torch.")) return std::nullopt;
  text.remove_prefix(sizeof "torch." - 1);
  for (int i = 0; i < kDTypes; ++i)
    if (text == name(static_cast<DType>(i))) return static_cast<DType>(i);
  return std::nullopt;
}

/// The bytes of a text whose characters are all below 256.
std::optional<std::string> latin1(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
    } else {
      if ((first != 0xC2 && first != 0xC3) || i + 1 == text.size()) return std::nullopt;
      bytes += static_cast<char>(((first & 3U) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3FU));
    }
  }
  return bytes;
}

}  // namespace

void Unpickler::global(const std::string& module, const std::string& name) {
  std::string text = module + '.' + name;
  if (text.starts_with("tandem.")) text.replace(0, sizeof "tandem" - 1, "torch");  // written by tandem for Python
  if (const auto dtype = dtype_named(text)) return push(*dtype);
  const bool known = callable_named(text) || storage_named(text) || is_script_class(text) ||
                     std::find(std::begin(kOtherNames), std::end(kOtherNames), text) != std::end(kOtherNames);
  if (!known) {
    if (text.starts_with("torch.") && (text.ends_with("Storage") || text.find("_rebuild_") != std::string::npos))
      bad("has a tensor of a kind that tandem has none of (", shown(text), "): convert it before it is saved");
    bad("names ", shown(text), ", which is no plain value: save what it holds, such as model.state_dict(), numbers and texts instead");
  }
  push(make(kName, std::move(text)));
}

PlainValue Unpickler::storage(const PlainValue& id) {
  if (id.kind() != Kind::Tuple || id.size() < 5) bad("refers to something outside of it that is no storage");
  const Arguments& parts = id.items();
  if (parts[0].kind() != Kind::Text || parts[0].to_text() != "storage" || parts[1].kind() != kName)
    bad("refers to something outside of it that is no storage");
  const StorageName* const kind = storage_named(node_of(parts[1]).text);
  const bool has_key = parts[2].kind() == Kind::Text || parts[2].kind() == Kind::Integer;
  if (!kind || !has_key || parts[4].kind() != Kind::Integer) bad("refers to a storage in a way that is not known");
  const int64_t numel = parts[4].to_int();
  int64_t bytes = 0;
  if (numel < 0 || __builtin_mul_overflow(numel, static_cast<int64_t>(size_of(kind->dtype)), &bytes))
    bad("has a storage of ", numel, " elements");
  PlainValue made = make(kStorage, parts[2].kind() == Kind::Text ? parts[2].to_text() : std::to_string(parts[2].to_int()));
  PlainNode& node = node_of(made);
  node.stored = std::make_unique<StoredTensor>();
  *node.stored = {.storage = node.text, .dtype = kind->dtype, .sizes = {numel}, .strides = {1}};
  if (parts.size() > 5 && parts[5].kind() == Kind::Tuple) {  // a part of another storage, as old files have it: key, offset, size
    const Arguments& view = parts[5].items();
    if (view.size() != 3 || view[1].kind() != Kind::Integer || view[2].kind() != Kind::Integer || view[1].to_int() < 0 ||
        view[2].to_int() < 0 || view[1].to_int() > numel || view[2].to_int() > numel - view[1].to_int())
      bad("has a part of a storage that does not lie in it");
    node.stored->offset = view[1].to_int();
    node.stored->sizes = {view[2].to_int()};
  }
  const auto [known, is_new] = storages_.try_emplace({node.text, kind->dtype}, numel);
  if (!is_new && known->second != numel) bad("gives the storage ", shown(node.text), " two sizes: ", known->second, " and ", numel);
  return made;
}

PlainValue Unpickler::tensor(const Arguments& arguments, const PlainValue* dtype) {
  const auto shape_of = [&](const PlainValue& value, const char* what) {
    if (value.kind() != Kind::Tuple && value.kind() != Kind::List) bad("has a tensor without ", what);
    Shape shape;
    if (value.size() > static_cast<size_t>(kMaxDims))
      bad("has a tensor of ", value.size(), " dimensions, more than the ", kMaxDims, " that it can have");
    for (const PlainValue& item : value.items()) {
      if (item.kind() != Kind::Integer || item.to_int() < 0) bad("has a tensor whose ", what, " are not all whole numbers from 0 up");
      shape.push_back(item.to_int());
    }
    return shape;
  };
  if (arguments.size() < 4 || arguments[0].kind() != kStorage || arguments[1].kind() != Kind::Integer)
    bad("has a tensor without its storage");
  const StoredTensor& whole = *node_of(arguments[0]).stored;
  StoredTensor part{.storage = whole.storage,
                    .dtype = whole.dtype,
                    .sizes = shape_of(arguments[2], "sizes"),
                    .strides = shape_of(arguments[3], "strides")};
  int64_t room = whole.sizes[0], before = whole.offset;  // elements
  if (dtype) {
    if (dtype->kind() != Kind::DType || whole.dtype != kUInt8)
      bad("has a tensor of a kind that tandem has none of: convert it before it is saved");
    part.dtype = dtype->to_dtype();
    const auto width = static_cast<int64_t>(size_of(part.dtype));
    const int64_t bytes = storages_.at({whole.storage, kUInt8});
    if (before % width != 0) bad("has a tensor that begins within an element");
    room /= width;
    before /= width;
    storages_.try_emplace({whole.storage, part.dtype}, bytes / width);
  }
  const int64_t offset = arguments[1].to_int();
  if (part.sizes.size() != part.strides.size()) bad("has a tensor of ", part.sizes.size(), " sizes and ", part.strides.size(), " strides");
  int64_t last = offset, numel = 1;
  for (size_t i = 0; i < part.sizes.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(numel, part.sizes[i], &numel))
      bad("has a tensor of the sizes ", part.sizes, ", more elements than can be counted");
    if (part.sizes[i] == 0) continue;
    if (__builtin_mul_overflow(part.sizes[i] - 1, part.strides[i], &reach) || __builtin_add_overflow(last, reach, &last)) last = INT64_MAX;
  }
  if (offset < 0 || (numel > 0 && last >= room))
    bad("has a tensor of sizes ", part.sizes, " and strides ", part.strides, " from element ", offset, " on, outside of its storage of ",
        room);
  part.offset = before + offset;
  part.requires_grad = arguments.size() > 4 && arguments[4].kind() == Kind::Bool && arguments[4].to_bool() && is_floating(part.dtype);
  PlainValue made = make(Kind::Tensor);
  node_of(made).stored = std::make_unique<StoredTensor>(std::move(part));
  return made;
}

PlainValue Unpickler::call(const std::string& function, const Arguments& arguments) {
  const Name* const known = callable_named(function);
  const auto wrong = [&]() { bad("calls ", shown(function), " with ", arguments.size(), " arguments that it does not take"); };
  if (is_script_class(function)) {
    PlainValue made = make(Kind::Dict);
    node_of(made).is_object = true;
    return made;
  }
  if (!known) bad("calls ", shown(function), ", which is nothing to be called");
  const auto container = [&](Kind kind) {
    if (arguments.empty()) return list_like(kind, {});
    const PlainValue& source = arguments[0];
    if (source.kind() < Kind::List || source.kind() > Kind::Set || node_of(source).hides) wrong();
    return kind == Kind::Tuple ? tuple(source.items()) : list_like(kind, source.items());
  };
  switch (known->callable) {
    case Callable::Dict: return arguments.empty() ? make(Kind::Dict) : dict_of(arguments[0]);
    case Callable::Factory: return arguments.size() < 2 ? make(Kind::Dict) : dict_of(arguments[1]);
    case Callable::Object: {
      PlainValue made = make(Kind::Dict);
      node_of(made).is_object = true;
      return made;
    }
    case Callable::List: return container(Kind::List);
    case Callable::Tuple: return container(Kind::Tuple);
    case Callable::Set: return container(Kind::Set);
    case Callable::Bytes:
      if (arguments.empty()) return make(Kind::Bytes);
      if (arguments.size() == 1 && arguments[0].kind() == Kind::Bytes) return arguments[0];
      [[fallthrough]];
    case Callable::Encode: {
      if (arguments.size() != 2 || arguments[0].kind() != Kind::Text || arguments[1].kind() != Kind::Text) wrong();
      const std::string& encoding = arguments[1].to_text();
      const auto bytes = latin1(arguments[0].to_text());
      if ((encoding != "latin1" && encoding != "latin-1") || !bytes)
        bad("has bytes in the encoding ", in_quotes(encoding), ", which is not read");
      charge(bytes->size());
      return make(Kind::Bytes, *bytes);
    }
    case Callable::Device: {
      const bool has_index = arguments.size() == 2 && arguments[1].kind() == Kind::Integer;
      if (arguments.empty() || arguments[0].kind() != Kind::Text || (arguments.size() > 1 && !has_index)) wrong();
      return make(Kind::Device, has_index ? str(arguments[0].to_text(), ':', arguments[1].to_int()) : arguments[0].to_text());
    }
    case Callable::Tensor: return tensor(arguments, nullptr);
    case Callable::UntypedTensor:
      if (arguments.size() < 7) wrong();
      return tensor(arguments, &arguments[6]);
    case Callable::Parameter:
      if (arguments.empty() || arguments[0].kind() != Kind::Tensor || !node_of(arguments[0]).stored) wrong();
      if (arguments.size() > 1 && arguments[1].kind() == Kind::Bool) {
        StoredTensor& stored = *node_of(arguments[0]).stored;
        stored.requires_grad = arguments[1].to_bool() && is_floating(stored.dtype);
      }
      return arguments[0];
    case Callable::Typed:
      if (arguments.size() < 3 || arguments[0].kind() != kName || arguments[2].kind() != Kind::Tuple) wrong();
      if (node_of(arguments[0]).text == function) bad("calls ", shown(function), " by itself");
      return call(node_of(arguments[0]).text, arguments[2].items());
    case Callable::First:
      if (arguments.empty() || (has_node(arguments[0]) && node_of(arguments[0]).hides)) wrong();
      return arguments[0];
  }
  bad("calls what is not known");
}

/// Gives the object on top its attributes. Those of dicts and tensors (hooks, a state's versions) are no values of theirs.
void Unpickler::build(const PlainValue& state) {
  PlainValue& object = top();
  if (!has_node(object)) bad("gives attributes to ", name(object.kind()));
  if (!node_of(object).is_object) return;
  const PlainValue& attributes =
      state.kind() == Kind::Tuple && state.size() == 2 && state.items()[0].kind() == Kind::Dict ? state.items()[0] : state;
  if (attributes.kind() != Kind::Dict) bad("gives attributes that are no dict");
  for (const auto& [key, value] : attributes.pairs()) set(object, key, value);
}

}  // namespace tandem::io::detail
