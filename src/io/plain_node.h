// What values share that hold more than a number: the content of a PlainValue, which only a reader of files still changes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/plain_value.h"

namespace tandem::io::detail {

/// A tensor of a file whose elements are not read yet, or a storage, as a tensor of one dimension.
struct StoredTensor {
  std::string storage;  // its key in the file
  DType dtype = kFloat32;
  int64_t offset = 0;  // elements
  Shape sizes, strides;
  bool requires_grad = false;
};

struct PlainNode {
  std::string text;  // of a text, bytes, or a device
  tandem::Tensor tensor;
  std::unique_ptr<StoredTensor> stored;                // of a tensor, until it is read
  PlainValue::Items items;                             // of a list, a tuple, or a set
  PlainValue::Pairs pairs;                             // of a dict
  std::unordered_map<std::string_view, size_t> index;  // of its keys that are texts, which are kept in `pairs`
  // While a file is read.
  bool held = false;       // by another container: it is not changed any more, so none holds itself
  bool is_object = false;  // of a class: what it is built from are its attributes
  bool hides = false;      // it holds a name, or a storage, which are no values
  uint32_t depth = 0;      // of the containers in it
  uint64_t values = 1;     // in it, each as often as it is met

  /// Adds a pair, or gives a text's key that is there the new value.
  void set(PlainValue key, PlainValue value);
};

/// A reader's way to what a value holds.
struct PlainAccess {
  [[nodiscard]] static PlainValue make(PlainValue::Kind kind, std::shared_ptr<PlainNode> node) { return {kind, std::move(node)}; }
  /// nullptr where it is a number or the like.
  [[nodiscard]] static PlainNode* node_of(const PlainValue& value) { return value.node_.get(); }
};

/// Calls f(name, value) for each tensor in `value`, with the keys and numbers that lead to it.
void each_tensor(const PlainValue& value, const std::function<void(const std::string& name, const PlainValue& tensor)>& f);

}  // namespace tandem::io::detail
