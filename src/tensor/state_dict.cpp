#include "tensor/state_dict.h"

#include "base/error.h"

namespace tandem {

const Tensor* StateDict::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

const Tensor& StateDict::at(std::string_view name, Site /*site*/) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  std::string have;
  for (size_t i = 0; i < entries_.size() && i < 8; ++i) have += (i ? ", \"" : "\"") + entries_[i].first + "\"";
  if (entries_.size() > 8) have += ", …";
  fail<IndexError>("[StateDict.at] no entry \"", name, "\"; there ", entries_.size() == 1 ? "is " : "are ",
                   entries_.empty() ? "none" : have);
}

Tensor& StateDict::operator[](std::string_view name) {
  const auto found = index_.find(name);
  if (found != index_.end()) return entries_[found->second].second;
  index_.emplace(std::string(name), entries_.size());
  entries_.emplace_back(std::string(name), Tensor());
  return entries_.back().second;
}

bool StateDict::erase(std::string_view name) {
  const auto found = index_.find(name);
  if (found == index_.end()) return false;
  const size_t at = found->second;
  index_.erase(found);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  for (auto& [key, position] : index_) position -= position > at;
  return true;
}

void StateDict::clear() {
  entries_.clear();
  index_.clear();
}

std::vector<std::string> StateDict::keys() const {
  std::vector<std::string> names;
  names.reserve(size());
  for (const auto& entry : entries_) names.push_back(entry.first);
  return names;
}

void StateDict::add(std::string_view prefix, const StateDict& other) {
  for (const auto& [name, tensor] : other) (*this)[std::string(prefix) + name] = tensor;
}

StateDict StateDict::under(std::string_view prefix) const {
  StateDict result;
  for (const auto& [name, tensor] : entries_)
    if (std::string_view(name).starts_with(prefix)) result[std::string_view(name).substr(prefix.size())] = tensor;
  return result;
}

}  // namespace tandem
