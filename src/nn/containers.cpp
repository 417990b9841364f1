#include "nn/containers.h"

#include "nn/named_items.h"

namespace tandem::nn {
namespace {

void check_holds(const char* op, const AnyModule& module) {
  if (!module) fail("[", op, "] the AnyModule holds no module");
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

const AnyModule& ModuleList::item(int64_t i) const { return items_[detail::place_of("ModuleList.at", "module", i, items_.size())]; }

void ModuleList::fields(Fields& f) {
  for (size_t i = 0; i < items_.size(); ++i) f(std::to_string(i), items_[i].base());
}

ModuleDict::ModuleDict(std::initializer_list<value_type> modules) {
  for (const auto& [name, module] : modules) insert(name, module);
}

void ModuleDict::insert(std::string_view name, AnyModule module, Site /*site*/) {
  check_holds("ModuleDict.insert", module);
  detail::check_part_name("ModuleDict.insert", "module", name);
  detail::put_named(items_, name, std::move(module));
}

bool ModuleDict::contains(std::string_view name) const { return detail::find_named(items_, name) != items_.end(); }

bool ModuleDict::erase(std::string_view name) { return detail::erase_named(items_, name); }

std::vector<std::string> ModuleDict::keys() const { return detail::names_of(items_); }

const AnyModule& ModuleDict::item(std::string_view name) const { return detail::named_part("ModuleDict.at", "module", items_, name); }

void ModuleDict::fields(Fields& f) {
  for (const auto& [name, module] : items_) f(name, module.base());
}

}  // namespace tandem::nn
