#include "nn/containers.h"

#include <algorithm>

namespace tandem::nn {
namespace {

void check_holds(const char* op, const AnyModule& module) {
  if (!module) fail("[", op, "] the AnyModule holds no module");
}

auto find(auto& items, std::string_view name) {
  return std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
}

}  // namespace

ModuleList& ModuleList::append(AnyModule module, Site /*site*/) {
  check_holds("ModuleList.append", module);
  items_.push_back(std::move(module));
  return *this;
}

ModuleList& ModuleList::extend(const ModuleList& other) {
  const std::vector<AnyModule> more = other.items_;  // a list may be extended by itself
  items_.insert(items_.end(), more.begin(), more.end());
  return *this;
}

void ModuleList::insert(int64_t i, AnyModule module, Site /*site*/) {
  check_holds("ModuleList.insert", module);
  const auto count = static_cast<int64_t>(items_.size());
  if (i < -count || i > count) fail<IndexError>("[ModuleList.insert] index ", i, " is out of range: there are ", count, " modules");
  items_.insert(items_.begin() + (i < 0 ? i + count : i), std::move(module));
}

const AnyModule& ModuleList::item(int64_t i) const {
  const auto count = static_cast<int64_t>(items_.size());
  if (i < -count || i >= count) fail<IndexError>("[ModuleList.at] index ", i, " is out of range: there are ", count, " modules");
  return items_[static_cast<size_t>(i < 0 ? i + count : i)];
}

void ModuleList::fields(Fields& f) {
  for (size_t i = 0; i < items_.size(); ++i) f(std::to_string(i), items_[i].base());
}

ModuleDict::ModuleDict(std::initializer_list<value_type> modules) {
  for (const auto& [name, module] : modules) insert(name, module);
}

void ModuleDict::insert(std::string_view name, AnyModule module, Site /*site*/) {
  check_holds("ModuleDict.insert", module);
  if (name.empty()) fail("[ModuleDict.insert] module name can't be empty string \"\"");
  if (name.find('.') != std::string_view::npos) fail("[ModuleDict.insert] module name can't contain \".\", got: ", name);
  if (const auto found = find(items_, name); found != items_.end()) found->second = std::move(module);
  else items_.emplace_back(std::string(name), std::move(module));
}

bool ModuleDict::contains(std::string_view name) const { return find(items_, name) != items_.end(); }

bool ModuleDict::erase(std::string_view name) {
  const auto found = find(items_, name);
  if (found == items_.end()) return false;
  items_.erase(found);
  return true;
}

std::vector<std::string> ModuleDict::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, module] : items_) names.push_back(name);
  return names;
}

const AnyModule& ModuleDict::item(std::string_view name) const {
  if (const auto found = find(items_, name); found != items_.end()) return found->second;
  std::string have;
  for (const auto& [other, module] : items_) have += (have.empty() ? "\"" : ", \"") + other + "\"";
  fail<IndexError>("[ModuleDict.at] no module \"", name, "\"; there ", items_.size() == 1 ? "is " : "are ", have.empty() ? "none" : have);
}

void ModuleDict::fields(Fields& f) {
  for (const auto& [name, module] : items_) f(name, module.base());
}

}  // namespace tandem::nn
