#include "libtorch/containers.h"

namespace torch::nn {

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<tandem::Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}

void ModuleListImpl::reset() {}

void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

ModuleListImpl::Iterator ModuleListImpl::begin() { return modules_.begin(); }

ModuleListImpl::ConstIterator ModuleListImpl::begin() const { return modules_.begin(); }

ModuleListImpl::Iterator ModuleListImpl::end() { return modules_.end(); }

ModuleListImpl::ConstIterator ModuleListImpl::end() const { return modules_.end(); }

size_t ModuleListImpl::size() const noexcept { return modules_.size(); }

bool ModuleListImpl::is_empty() const noexcept { return modules_.empty(); }

std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const { return checked(index); }

std::shared_ptr<Module> ModuleListImpl::operator[](size_t index) const { return checked(index); }

const std::shared_ptr<Module>& ModuleListImpl::checked(size_t index) const {
  if (index >= size()) tandem::fail<tandem::IndexError>("[ModuleList] Index out of range: ", index, " of ", size(), " modules");
  return modules_[index];
}

void ModuleListImpl::insert_module(size_t index, std::shared_ptr<Module> module) {
  if (index > size()) tandem::fail<tandem::IndexError>("[ModuleList.insert] Index out of range: ", index, " of ", size(), " modules");
  register_module(std::to_string(size()), module, tandem::Site::none());
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i < size(); ++i) replace_module(std::to_string(i), modules_[i], tandem::Site::none());
}

ModuleDictImpl::ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) { update(modules); }

ModuleDictImpl::ModuleDictImpl(const Modules& modules) { update(modules); }

std::vector<std::pair<std::string, std::shared_ptr<Module>>> ModuleDictImpl::items() const { return modules_.pairs(); }

std::vector<std::string> ModuleDictImpl::keys() const { return modules_.keys(); }

std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return modules_.values(); }

ModuleDictImpl::Iterator ModuleDictImpl::begin() { return modules_.begin(); }

ModuleDictImpl::ConstIterator ModuleDictImpl::begin() const { return modules_.begin(); }

ModuleDictImpl::Iterator ModuleDictImpl::end() { return modules_.end(); }

ModuleDictImpl::ConstIterator ModuleDictImpl::end() const { return modules_.end(); }

size_t ModuleDictImpl::size() const noexcept { return modules_.size(); }

bool ModuleDictImpl::empty() const noexcept { return modules_.is_empty(); }

bool ModuleDictImpl::contains(const std::string& key) const noexcept { return modules_.contains(key); }

void ModuleDictImpl::clear() { modules_.clear(); }

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<tandem::Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& module : modules_) copy->insert(module.key(), module.value()->clone(device));
  return copy;
}

void ModuleDictImpl::reset() {}

void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }

std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const { return modules_[key]; }

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  const std::shared_ptr<Module> module = modules_[key];
  modules_.erase(key);
  return module;
}

void ModuleDictImpl::update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  for (const auto& [name, module] : modules) insert(name, module);
}

void ModuleDictImpl::insert(const std::string& name, const std::shared_ptr<Module>& module) {
  if (named_children().contains(name)) replace_module(name, module, tandem::Site::none());
  else register_module(name, module, tandem::Site::none());
  if (auto* held = modules_.find(name)) *held = module;
  else modules_.insert(name, module);
}

}  // namespace torch::nn
