#include "io/unpickle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "io/named.h"

namespace tandem::io::detail {
namespace {

using Kind = PlainValue::Kind;

// What is on the stack beside values: a name, and a storage. No value that is given out has one in it.
constexpr Kind kName = static_cast<Kind>(100), kStorage = static_cast<Kind>(101);

PlainNode& node_of(const PlainValue& value) { return *PlainAccess::node_of(value); }
bool has_node(const PlainValue& value) { return PlainAccess::node_of(value) != nullptr; }

constexpr uint32_t kDeepest = 200;           // containers in containers
constexpr uint64_t kFreeValues = 1'000'000;  // met again by being shared, beside those that the bytes allow
constexpr size_t kWindowBytes = 64 << 10;

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
                                            "__builtin__.str",
                                            "torch.storage.UntypedStorage",
                                            "torch.UntypedStorage",
                                            "torch.ByteStorage"};

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

template <class... Parts>
void Unpickler::bad(const Parts&... parts) const {
  source_.bad(str("the pickle ", parts..., ", at its byte ", position()));
  std::abort();  // it has thrown
}

void Unpickler::fill() {
  const uint64_t more = std::min<uint64_t>(kWindowBytes, source_.bytes - taken_);
  if (more == 0) bad("is cut off");
  window_.resize(more);
  source_.read(window_.data(), more);
  taken_ += more;
  at_ = 0;
}

uint8_t Unpickler::byte() {
  if (at_ == window_.size()) fill();
  return static_cast<uint8_t>(window_[at_++]);
}

uint64_t Unpickler::little_endian(int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{byte()} << (8 * i);
  return value;
}

std::string Unpickler::text(uint64_t bytes) {
  if (bytes > source_.bytes - position()) bad("has a text or bytes of ", bytes, ", but only ", source_.bytes - position(), " more");
  charge(bytes);
  std::string out;
  out.reserve(bytes);
  while (out.size() < bytes) {
    if (at_ == window_.size()) fill();
    const size_t some = std::min<size_t>(bytes - out.size(), window_.size() - at_);
    out.append(window_, at_, some);
    at_ += some;
  }
  return out;
}

std::string Unpickler::line() {
  std::string out;
  for (char c = 0; (c = static_cast<char>(byte())) != '\n';) out += c;
  if (!out.empty() && out.back() == '\r') out.pop_back();
  charge(out.size());
  return out;
}

PlainValue Unpickler::pop() {
  const size_t bottom = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= bottom) bad("takes more from its stack than is there");
  PlainValue value = std::move(stack_.back());
  stack_.pop_back();
  return value;
}

PlainValue& Unpickler::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) bad("takes more from its stack than is there");
  return stack_.back();
}

Unpickler::Arguments Unpickler::pop_to_mark() {
  if (marks_.empty()) bad("lacks a mark");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  Arguments items(std::make_move_iterator(begin), std::make_move_iterator(stack_.end()));
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void Unpickler::charge(uint64_t bytes) {
  memory_ += bytes;
  if (memory_ > most_memory_) bad("would take more memory (", memory_, " bytes) than values of such a file do");
}

PlainValue Unpickler::make(Kind kind, std::string text) {
  charge(sizeof(PlainNode));
  auto node = std::make_shared<PlainNode>();
  node->text = std::move(text);
  node->hides = kind == kName || kind == kStorage;
  return PlainAccess::make(kind, std::move(node));
}

/// Notes that `container` has `item` from now on.
void Unpickler::hold(PlainNode& container, const PlainValue& item, bool may_hide) {
  charge(sizeof item);
  container.values += 1;
  if (!has_node(item)) return;
  PlainNode& node = node_of(item);
  if (node.hides && !may_hide) bad("puts a name or a storage among values: ", shown(node.text));
  node.held = true;
  container.hides |= node.hides;
  container.depth = std::max(container.depth, node.depth + 1);
  if (container.depth > kDeepest) bad("nests values more than ", kDeepest, " deep");
  container.values += node.values;
  if (container.values > kFreeValues + 8 * source_.bytes) bad("shares its values so often that they would be too many");
}

void Unpickler::append(PlainValue& container, PlainValue item) {
  if (container.kind() != Kind::List && container.kind() != Kind::Set)
    bad("appends to ", has_node(container) && node_of(container).hides ? "a name" : name(container.kind()));
  PlainNode& node = node_of(container);
  if (has_node(item) && &node_of(item) == &node) bad("puts a container into itself");
  if (node.held) bad("changes a container that another one has already");
  hold(node, item, false);
  node.items.push_back(std::move(item));
}

void Unpickler::append_all(PlainValue& container, Arguments items) {
  for (PlainValue& item : items) append(container, std::move(item));
}

void Unpickler::set(PlainValue& dict, PlainValue key, PlainValue value) {
  if (dict.kind() != Kind::Dict) bad("sets a key of ", has_node(dict) && node_of(dict).hides ? "a name" : name(dict.kind()));
  PlainNode& node = node_of(dict);
  if (node.held) bad("changes a container that another one has already");
  if (has_node(value) && &node_of(value) == &node) bad("puts a container into itself");
  if (key.kind() > Kind::Tuple || key.kind() == Kind::List || key.kind() == Kind::Tensor)
    bad("has a key that can be none: ", key.kind() > Kind::Dict ? "a name" : name(key.kind()));
  constexpr uint64_t kIndexBytes = 64;
  charge(kIndexBytes);
  hold(node, key, false);
  hold(node, value, false);
  node.set(std::move(key), std::move(value));
}

void Unpickler::set_all(PlainValue& dict, Arguments keys_and_values) {
  if (keys_and_values.size() % 2 != 0) bad("has a key without a value");
  for (size_t i = 0; i < keys_and_values.size(); i += 2) set(dict, std::move(keys_and_values[i]), std::move(keys_and_values[i + 1]));
}

PlainValue Unpickler::tuple(Arguments items) {
  PlainValue made = make(Kind::Tuple);
  for (const PlainValue& item : items) hold(node_of(made), item, true);
  node_of(made).items = std::move(items);
  return made;
}

PlainValue Unpickler::list_like(Kind kind, Arguments items) {
  PlainValue made = make(kind);
  for (const PlainValue& item : items) hold(node_of(made), item, false);
  node_of(made).items = std::move(items);
  return made;
}

/// A dict from a dict, or from pairs.
PlainValue Unpickler::dict_of(const PlainValue& source) {
  PlainValue made = make(Kind::Dict);
  if (source.kind() == Kind::Dict) {
    for (const auto& [key, value] : source.pairs()) set(made, key, value);
    return made;
  }
  if (source.kind() != Kind::List && source.kind() != Kind::Tuple) bad("makes a dict of what is none");
  for (const PlainValue& pair : source.items()) {
    if ((pair.kind() != Kind::List && pair.kind() != Kind::Tuple) || pair.size() != 2) bad("makes a dict of what are no pairs");
    set(made, pair.items()[0], pair.items()[1]);
  }
  return made;
}

/// Of the bytes of a number in two's complement, lowest first.
PlainValue Unpickler::whole_number(const std::string& bytes) {
  if (bytes.empty()) return 0;
  const bool negative = static_cast<unsigned char>(bytes.back()) & 0x80U;
  uint64_t value = negative ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i < sizeof value) value = (value & ~(uint64_t{0xFF} << (8 * i))) | uint64_t{byte} << (8 * i);
    else if (byte != (negative ? 0xFF : 0)) bad("has a whole number of ", bytes.size(), " bytes, more than the 8 that are read");
  }
  if ((static_cast<int64_t>(value) < 0) != negative) bad("has a whole number of more than 63 bits");
  return static_cast<int64_t>(value);
}

PlainValue Unpickler::decimal(std::string digits) {
  if (!digits.empty() && digits.back() == 'L') digits.pop_back();  // as Python 2 wrote it
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    bad("has a whole number that is none, or too large: ", in_quotes(digits));
  return value;
}

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
  const auto [known, is_new] = storages_.try_emplace({node.text, kind->dtype}, StorageOfFile{kind->dtype, numel});
  if (!is_new && known->second.numel != numel)
    bad("gives the storage ", shown(node.text), " two sizes: ", known->second.numel, " and ", numel);
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
    const StorageOfFile& bytes = storages_.at({whole.storage, kUInt8});
    if (before % width != 0) bad("has a tensor that begins within an element");
    room /= width;
    before /= width;
    storages_.try_emplace({whole.storage, part.dtype}, StorageOfFile{part.dtype, bytes.numel / width});
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

void Unpickler::step(uint8_t opcode) {
  const auto put_memo = [&](uint64_t at) {
    const PlainValue& value = top();
    constexpr uint64_t kMemoBytes = 64;
    charge(kMemoBytes);
    memo_[at] = value;
  };
  const auto get_memo = [&](uint64_t at) {
    const auto found = memo_.find(at);
    if (found == memo_.end()) bad("takes value ", at, " from its memo, which has none such");
    charge(sizeof(PlainValue));
    push(found->second);
  };
  const auto reduce = [&] {
    const PlainValue arguments = pop();
    const PlainValue function = pop();
    if (function.kind() != kName || arguments.kind() != Kind::Tuple) bad("calls what is no name");
    push(call(node_of(function).text, arguments.items()));
  };
  const auto last = [&](size_t count) {
    Arguments items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push(tuple(std::move(items)));
  };
  switch (opcode) {
    case '(':
      charge(sizeof(size_t));
      marks_.push_back(stack_.size());
      break;
    case '.': done_ = true; break;
    case '0':
      if (stack_.size() == (marks_.empty() ? 0 : marks_.back()) && !marks_.empty()) marks_.pop_back();
      else (void)pop();
      break;
    case '1': (void)pop_to_mark(); break;
    case '2':
      charge(sizeof(PlainValue));
      push(PlainValue(top()));
      break;
    // Numbers and the like.
    case 'N': push({}); break;
    case 0x88: push(true); break;
    case 0x89: push(false); break;
    case 'J': push(static_cast<int64_t>(static_cast<int32_t>(little_endian(4)))); break;
    case 'K': push(static_cast<int64_t>(little_endian(1))); break;
    case 'M': push(static_cast<int64_t>(little_endian(2))); break;
    case 'I': {
      const std::string digits = line();
      if (digits == "00" || digits == "01") push(digits == "01");
      else push(decimal(digits));
      break;
    }
    case 'L': push(decimal(line())); break;
    case 0x8a: push(whole_number(text(byte()))); break;
    case 0x8b: push(whole_number(text(little_endian(4)))); break;
    case 'G': {
      uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      push(value);
      break;
    }
    case 'F': {
      const std::string digits = line();
      char* end = nullptr;
      const double value = std::strtod(digits.c_str(), &end);
      if (digits.empty() || *end != '\0') bad("has a number that is none: ", in_quotes(digits));
      push(value);
      break;
    }
    // Texts and bytes.
    case 'X': push(make(Kind::Text, text(little_endian(4)))); break;
    case 0x8c: push(make(Kind::Text, text(byte()))); break;
    case 0x8d: push(make(Kind::Text, text(little_endian(8)))); break;
    case 'V': push(make(Kind::Text, line())); break;
    case 'T': push(make(Kind::Text, text(little_endian(4)))); break;
    case 'U': push(make(Kind::Text, text(byte()))); break;
    case 'S': {
      std::string quoted = line();
      if (quoted.size() < 2 || quoted.front() != quoted.back() || (quoted.front() != '\'' && quoted.front() != '"'))
        bad("has a text without quotes");
      push(make(Kind::Text, quoted.substr(1, quoted.size() - 2)));
      break;
    }
    case 'B': push(make(Kind::Bytes, text(little_endian(4)))); break;
    case 'C': push(make(Kind::Bytes, text(byte()))); break;
    case 0x8e:
    case 0x96: push(make(Kind::Bytes, text(little_endian(8)))); break;
    // Containers.
    case ']': push(make(Kind::List)); break;
    case '}': push(make(Kind::Dict)); break;
    case 0x8f: push(make(Kind::Set)); break;
    case ')': push(tuple({})); break;
    case 'l': push(list_like(Kind::List, pop_to_mark())); break;
    case 't': push(tuple(pop_to_mark())); break;
    case 0x91: push(list_like(Kind::Set, pop_to_mark())); break;
    case 'd': {
      PlainValue dict = make(Kind::Dict);
      set_all(dict, pop_to_mark());
      push(std::move(dict));
      break;
    }
    case 0x85: last(1); break;
    case 0x86: last(2); break;
    case 0x87: last(3); break;
    case 'a': {
      PlainValue item = pop();
      append(top(), std::move(item));
      break;
    }
    case 'e':
    case 0x90: {
      Arguments items = pop_to_mark();
      append_all(top(), std::move(items));
      break;
    }
    case 's': {
      PlainValue value = pop(), key = pop();
      set(top(), std::move(key), std::move(value));
      break;
    }
    case 'u': {
      Arguments items = pop_to_mark();
      set_all(top(), std::move(items));
      break;
    }
    // The memo.
    case 'p': put_memo(static_cast<uint64_t>(decimal(line()).to_int())); break;
    case 'q': put_memo(byte()); break;
    case 'r': put_memo(little_endian(4)); break;
    case 0x94: put_memo(memo_.size()); break;
    case 'g': get_memo(static_cast<uint64_t>(decimal(line()).to_int())); break;
    case 'h': get_memo(byte()); break;
    case 'j': get_memo(little_endian(4)); break;
    // Names, calls, storages.
    case 'c': {
      const std::string module = line();
      global(module, line());
      break;
    }
    case 0x93: {
      const PlainValue name = pop(), module = pop();
      if (name.kind() != Kind::Text || module.kind() != Kind::Text) bad("has a name that is no text");
      global(module.to_text(), name.to_text());
      break;
    }
    case 'R':
    case 0x81: reduce(); break;
    case 0x92: {
      const PlainValue keywords = pop();
      if (keywords.kind() != Kind::Dict || keywords.size() != 0) bad("calls by keyword");
      reduce();
      break;
    }
    case 'b': {
      const PlainValue state = pop();
      build(state);
      break;
    }
    case 'Q': push(storage(pop())); break;
    // How it is written.
    case 0x80:
      if (const int protocol = byte(); protocol > 5) bad("is of protocol ", protocol, "; 0 to 5 are read");
      break;
    case 0x95: (void)little_endian(8); break;
    default: bad("has the opcode ", static_cast<int>(opcode), ", which is not read: it is damaged, or no plain value");
  }
}

PlainValue Unpickler::run() {
  stack_.clear();
  marks_.clear();
  memo_.clear();
  done_ = false;
  while (!done_) step(byte());
  if (!marks_.empty() || stack_.size() != 1) bad("does not end with one value");
  PlainValue result = pop();
  if (has_node(result) && node_of(result).hides) bad("is a name or a storage, and no value");
  return result;
}

}  // namespace tandem::io::detail
