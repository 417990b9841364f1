#include "libtorch/parameter_containers.h"

namespace torch::nn::detail {

void print_parameters(std::ostream& stream, const char* kind, const OrderedDict<std::string, tandem::Tensor>& parameters) {
  stream << "torch::nn::" << kind << "(\n";
  for (const auto& item : parameters)
    stream << '(' << item.key() << "): Parameter containing: [" << tandem::scalar_name(item->dtype(tandem::Site::none())) << " of size "
           << item->sizes(tandem::Site::none()) << "]\n";
  stream << ')';
}

}  // namespace torch::nn::detail

namespace torch::nn {

void ParameterListImpl::reset() {}

void ParameterListImpl::pretty_print(std::ostream& stream) const { detail::print_parameters(stream, "ParameterList", parameters_); }

void ParameterListImpl::append(const tandem::Tensor& parameter) {
  const tandem::Site site = tandem::Site::none();
  register_parameter(std::to_string(size()), parameter, parameter.requires_grad(site), site);
}

void ParameterListImpl::append(const Item& item) { append(item.value()); }

ParameterListImpl::Iterator ParameterListImpl::begin() { return parameters_.begin(); }

ParameterListImpl::ConstIterator ParameterListImpl::begin() const { return parameters_.begin(); }

ParameterListImpl::Iterator ParameterListImpl::end() { return parameters_.end(); }

ParameterListImpl::ConstIterator ParameterListImpl::end() const { return parameters_.end(); }

size_t ParameterListImpl::size() const noexcept { return parameters_.size(); }

bool ParameterListImpl::is_empty() const noexcept { return parameters_.is_empty(); }

tandem::Tensor& ParameterListImpl::at(size_t index) { return parameters_[checked(index)].value(); }

const tandem::Tensor& ParameterListImpl::at(size_t index) const { return parameters_[checked(index)].value(); }

tandem::Tensor& ParameterListImpl::operator[](size_t index) { return at(index); }

const tandem::Tensor& ParameterListImpl::operator[](size_t index) const { return at(index); }

size_t ParameterListImpl::checked(size_t index) const {
  if (index >= size()) tandem::fail<tandem::IndexError>("[ParameterList] Index out of range: ", index, " of ", size(), " parameters");
  return index;
}

ParameterDictImpl::ParameterDictImpl(const OrderedDict<std::string, tandem::Tensor>& parameters) { parameters_.update(parameters); }

void ParameterDictImpl::reset() {}

void ParameterDictImpl::pretty_print(std::ostream& stream) const { detail::print_parameters(stream, "ParameterDict", parameters_); }

tandem::Tensor& ParameterDictImpl::insert(std::string key, tandem::Tensor parameter, tandem::Site site) {
  const bool requires_grad = parameter.requires_grad(site);
  return register_parameter(std::move(key), std::move(parameter), requires_grad, site);
}

tandem::Tensor ParameterDictImpl::pop(const std::string& key) {
  tandem::Tensor parameter = parameters_[key];
  parameters_.erase(key);
  return parameter;
}

void ParameterDictImpl::clear() { parameters_.clear(); }

std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }

std::vector<tandem::Tensor> ParameterDictImpl::values() const { return parameters_.values(); }

ParameterDictImpl::Iterator ParameterDictImpl::begin() { return parameters_.begin(); }

ParameterDictImpl::ConstIterator ParameterDictImpl::begin() const { return parameters_.begin(); }

ParameterDictImpl::Iterator ParameterDictImpl::end() { return parameters_.end(); }

ParameterDictImpl::ConstIterator ParameterDictImpl::end() const { return parameters_.end(); }

size_t ParameterDictImpl::size() const noexcept { return parameters_.size(); }

bool ParameterDictImpl::empty() const noexcept { return parameters_.is_empty(); }

bool ParameterDictImpl::contains(const std::string& key) const noexcept { return parameters_.contains(key); }

tandem::Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }

const tandem::Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }

tandem::Tensor& ParameterDictImpl::operator[](const std::string& key) { return parameters_[key]; }

const tandem::Tensor& ParameterDictImpl::operator[](const std::string& key) const { return parameters_[key]; }

}  // namespace torch::nn
