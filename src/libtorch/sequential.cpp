#include "libtorch/sequential.h"

namespace torch::nn {

SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
  for (auto& item : modules) push_back(item.key(), std::move(item.value()));
}

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const NamedAnyModule& module : modules) push_back(module.name(), module.module());
}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<tandem::Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  for (size_t i = 0; i < size(); ++i) copy->push_back(names_[i], modules_[i].clone(device));
  return copy;
}

void SequentialImpl::reset() {}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

void SequentialImpl::push_back(AnyModule module) { push_back(std::to_string(modules_.size()), std::move(module)); }

void SequentialImpl::push_back(std::string name, AnyModule module) {
  register_module(name, module.ptr(), tandem::Site::none());
  names_.push_back(std::move(name));
  modules_.push_back(std::move(module));
}

SequentialImpl::Iterator SequentialImpl::begin() { return modules_.begin(); }

SequentialImpl::ConstIterator SequentialImpl::begin() const { return modules_.begin(); }

SequentialImpl::Iterator SequentialImpl::end() { return modules_.end(); }

SequentialImpl::ConstIterator SequentialImpl::end() const { return modules_.end(); }

size_t SequentialImpl::size() const noexcept { return modules_.size(); }

bool SequentialImpl::is_empty() const noexcept { return modules_.empty(); }

std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const { return checked(index).ptr(); }

std::shared_ptr<Module> SequentialImpl::operator[](size_t index) const { return ptr(index); }

AnyModule& SequentialImpl::checked(size_t index) {
  check(index);
  return modules_[index];
}

const AnyModule& SequentialImpl::checked(size_t index) const {
  check(index);
  return modules_[index];
}

void SequentialImpl::check(size_t index) const {
  if (index >= size()) tandem::fail<tandem::IndexError>("[Sequential] Index out of range: ", index, " of ", size(), " modules");
}

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules) : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

void FunctionalImpl::reset() {}

void FunctionalImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Functional()"; }

tandem::Tensor FunctionalImpl::forward(tandem::Tensor input, tandem::Site site) { return function_(std::move(input), site); }

tandem::Tensor FunctionalImpl::operator()(tandem::Tensor input, tandem::Site site) { return forward(std::move(input), site); }

bool FunctionalImpl::is_serializable() const { return false; }

}  // namespace torch::nn
