// OrderedDict: values by key, in the order they were put in.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace torch {

/// An ordered map. Inserting ends the validity of references and iterators into it.
template <class Key, class Value>
class OrderedDict {
 public:
  /// A key and its value; `*item` and `item->` are the value.
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}

    Value& operator*() { return pair_.second; }
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` is what errors call a key: "Parameter".
  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  /// Of the items; where a key stands twice, the first of its values is found.
  OrderedDict(std::initializer_list<Item> items) : items_(items) {
    for (size_t i = 0; i < items_.size(); ++i) index_.emplace(items_[i].key(), i);
  }

  const std::string& key_description() const noexcept { return key_description_; }

  /// The first and the last item. Error where there is none.
  Item& front() { return items_[checked("front")]; }
  const Item& front() const { return items_[checked("front")]; }
  Item& back() { return items_[checked("back") + items_.size() - 1]; }
  const Item& back() const { return items_[checked("back") + items_.size() - 1]; }

  /// The item at a position. Error where there is none.
  Item& operator[](size_t index) { return items_[checked(index)]; }
  const Item& operator[](size_t index) const { return items_[checked(index)]; }
  /// The value of a key. Error where there is none.
  Value& operator[](const Key& key) { return items_[position(key)].value(); }
  const Value& operator[](const Key& key) const { return items_[position(key)].value(); }

  /// The value of a key, or nullptr.
  Value* find(const Key& key) noexcept {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &items_[found->second].value();
  }
  const Value* find(const Key& key) const noexcept {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &items_[found->second].value();
  }
  bool contains(const Key& key) const noexcept { return index_.contains(key); }

  Iterator begin() { return items_.begin(); }
  ConstIterator begin() const { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator end() const { return items_.end(); }

  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void reserve(size_t capacity) {
    index_.reserve(capacity);
    items_.reserve(capacity);
  }

  /// Puts an item at the end. Error where the key is there already.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    return insert_item(Item(Key(std::forward<K>(key)), Value(std::forward<V>(value))));
  }
  Value& insert(Key key, Value&& value) { return insert_item(Item(std::move(key), std::move(value))); }
  /// Inserts all items of another one.
  void update(OrderedDict&& other) {
    reserve(size() + other.size());
    for (Item& item : other.items_) insert_item(std::move(item));
    other.clear();
  }
  void update(const OrderedDict& other) { update(OrderedDict(other)); }
  /// Takes a key out. Error where it isn't there.
  void erase(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) tandem::fail("[OrderedDict.erase] Key '", key, "' doesn't exist");
    const size_t gone = found->second;
    index_.erase(found);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(gone));
    for (auto& [name, index] : index_)
      if (index > gone) --index;
  }
  void clear() {
    index_.clear();
    items_.clear();
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    return collect<Key>([](const Item& item) { return item.key(); });
  }
  std::vector<Value> values() const {
    return collect<Value>([](const Item& item) { return item.value(); });
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    return collect<std::pair<Key, Value>>([](const Item& item) { return item.pair(); });
  }

  /// Whether both have the same keys with equal values, in the same order.
  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!(a.items_[i].key() == b.items_[i].key() && a.items_[i].value() == b.items_[i].value())) return false;
    return true;
  }

 private:
  size_t checked(const char* op) const {
    if (items_.empty()) tandem::fail("[OrderedDict.", op, "] Called ", op, "() on an empty OrderedDict");
    return 0;
  }
  size_t checked(size_t index) const {
    if (index >= items_.size())
      tandem::fail<tandem::IndexError>("[OrderedDict] Index ", index, " is out of bounds: there are ", items_.size(), " items");
    return index;
  }
  size_t position(const Key& key) const {
    const auto found = index_.find(key);
    if (found == index_.end()) tandem::fail("[OrderedDict] ", key_description_, " '", key, "' is not defined");
    return found->second;
  }
  Value& insert_item(Item item) {
    if (!index_.emplace(item.key(), items_.size()).second)
      tandem::fail("[OrderedDict.insert] ", key_description_, " '", item.key(), "' already defined");
    return items_.emplace_back(std::move(item)).value();
  }
  template <class T, class F>
  std::vector<T> collect(F part) const {
    std::vector<T> parts;
    parts.reserve(items_.size());
    for (const Item& item : items_) parts.push_back(part(item));
    return parts;
  }

  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
  std::string key_description_ = "Key";
};

}  // namespace torch
