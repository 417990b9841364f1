#include "io/unpickle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/number_in.h"
#include "io/named.h"

namespace tandem::io::detail {
namespace {

using Kind = PlainValue::Kind;

constexpr uint32_t kDeepest = 200;           // containers in containers
constexpr uint64_t kFreeValues = 1'000'000;  // met again by being shared, beside those that the bytes allow
constexpr size_t kWindowBytes = 64 << 10;

}  // namespace

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
  const auto value = tandem::detail::number_in<int64_t>(digits);
  if (!value) bad("has a whole number that is none, or too large: ", in_quotes(digits));
  return *value;
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
