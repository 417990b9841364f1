// Reads Python's pickles (docs.python.org/3/library/pickle.html, opcodes as in Lib/pickletools.py), protocols 0 to 5, into plain values.
// A name in a pickle stands for one of the things in a closed table; nothing is ever called or imported.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/plain_node.h"

namespace tandem::io::detail {

/// Where a pickle's bytes come from.
struct PickleSource {
  std::function<void(void* to, size_t bytes)> read;  // exactly that many, from front to back
  uint64_t bytes = 0;                                // how many there are
  std::function<void(const std::string&)> bad;       // throws, naming the file
};

// What is on the stack beside values: a name, and a storage. No value that is given out has one in it.
inline constexpr PlainValue::Kind kName = static_cast<PlainValue::Kind>(100), kStorage = static_cast<PlainValue::Kind>(101);

[[nodiscard]] inline PlainNode& node_of(const PlainValue& value) { return *PlainAccess::node_of(value); }
[[nodiscard]] inline bool has_node(const PlainValue& value) { return PlainAccess::node_of(value) != nullptr; }

/// The storages that tensors are parts of: how many elements of a dtype those of a key are.
using Storages = std::map<std::pair<std::string, DType>, int64_t>;

class Unpickler {
 public:
  /// `most_memory`: of the values, in bytes; more is an error.
  Unpickler(PickleSource source, uint64_t most_memory) : source_(std::move(source)), most_memory_(most_memory) {}

  /// The value of the next pickle in the source. Tensors have their StoredTensor until somebody reads their elements.
  [[nodiscard]] PlainValue run();
  /// How many bytes were used up.
  [[nodiscard]] uint64_t position() const { return taken_ - (window_.size() - at_); }
  /// Those of all pickles so far.
  [[nodiscard]] const Storages& storages() const { return storages_; }

 private:
  using Kind = PlainValue::Kind;
  using Arguments = PlainValue::Items;

  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const;

  // The bytes.
  [[nodiscard]] uint8_t byte();
  [[nodiscard]] uint64_t little_endian(int bytes);
  [[nodiscard]] std::string text(uint64_t bytes);
  [[nodiscard]] std::string line();
  void fill();

  // The stack.
  void push(PlainValue value) { stack_.push_back(std::move(value)); }
  [[nodiscard]] PlainValue pop();
  [[nodiscard]] PlainValue& top();
  [[nodiscard]] Arguments pop_to_mark();

  // Values.
  [[nodiscard]] PlainValue make(Kind kind, std::string text = {});
  void charge(uint64_t bytes);
  void hold(PlainNode& container, const PlainValue& item, bool may_hide);
  void append(PlainValue& container, PlainValue item);
  void append_all(PlainValue& container, Arguments items);
  void set(PlainValue& dict, PlainValue key, PlainValue value);
  void set_all(PlainValue& dict, Arguments keys_and_values);
  [[nodiscard]] PlainValue tuple(Arguments items);
  [[nodiscard]] PlainValue list_like(Kind kind, Arguments items);
  [[nodiscard]] PlainValue dict_of(const PlainValue& source);
  [[nodiscard]] PlainValue whole_number(const std::string& bytes);
  [[nodiscard]] PlainValue decimal(std::string digits);

  // Names, and what stands for them (unpickle_names.cpp).
  void global(const std::string& module, const std::string& name);
  [[nodiscard]] PlainValue storage(const PlainValue& id);
  [[nodiscard]] PlainValue call(const std::string& function, const Arguments& arguments);
  [[nodiscard]] PlainValue tensor(const Arguments& arguments, const PlainValue* dtype);
  void build(const PlainValue& state);
  void step(uint8_t opcode);

  PickleSource source_;
  const uint64_t most_memory_;
  uint64_t memory_ = 0, taken_ = 0;
  std::string window_;  // bytes that were read, from `at_` on unused
  size_t at_ = 0;
  bool done_ = false;
  PlainValue::Items stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PlainValue> memo_;
  Storages storages_;
};

template <class... Parts>
void Unpickler::bad(const Parts&... parts) const {
  source_.bad(str("the pickle ", parts..., ", at its byte ", position()));
  std::abort();  // it has thrown
}

}  // namespace tandem::io::detail
