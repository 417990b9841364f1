#include "nn/parameter_containers.h"

#include "nn/named_items.h"

namespace tandem::nn {
namespace {

// As torch.nn.Parameter makes one of a tensor: what is a result of others stays one.
Tensor as_parameter(const char* op, Tensor tensor, Site site) {
  if (!tensor.defined()) fail("[", op, "] the tensor is undefined");
  if (is_floating(tensor.dtype()) && tensor.is_leaf() && !tensor.requires_grad(site)) tensor.requires_grad_(true, site);
  return tensor;
}

// As PyTorch prints one: "Parameter containing: [float32 of size 2x3]".
std::string shown(const std::string& name, const Tensor& parameter) {
  std::string sizes;
  for (const int64_t size : parameter.sizes()) sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
  std::string text = str("(", name, "): Parameter containing: [", parameter.dtype(), " of size ", sizes);
  if (!parameter.device().is_cpu()) text += str(" (", parameter.device(), ")");
  return text + "]";
}

}  // namespace

ParameterList::ParameterList(std::initializer_list<Tensor> parameters) : ParameterList(std::vector<Tensor>(parameters)) {}

ParameterList::ParameterList(const std::vector<Tensor>& parameters) { extend(parameters, Site::none()); }

ParameterList& ParameterList::append(Tensor parameter, Site site) {
  items_.push_back(as_parameter("ParameterList.append", std::move(parameter), site));
  return *this;
}

ParameterList& ParameterList::extend(const std::vector<Tensor>& parameters, Site site) {
  for (const Tensor& parameter : parameters) append(parameter, site);
  return *this;
}

Tensor& ParameterList::at(int64_t i, Site /*site*/) { return items_[detail::place_of("ParameterList.at", "parameter", i, items_.size())]; }

void ParameterList::fields(Fields& f) {
  for (size_t i = 0; i < items_.size(); ++i) f(std::to_string(i), items_[i]);
}

std::string ParameterList::extra_repr() const {
  std::string text;
  for (size_t i = 0; i < items_.size(); ++i) text += (i ? "\n" : "") + shown(std::to_string(i), items_[i]);
  return text;
}

ParameterDict::ParameterDict(std::initializer_list<value_type> parameters) {
  for (const auto& [name, parameter] : parameters) insert(name, parameter, Site::none());
}

void ParameterDict::insert(std::string_view name, Tensor parameter, Site site) {
  detail::check_part_name("ParameterDict.insert", "parameter", name);
  detail::put_named(items_, name, as_parameter("ParameterDict.insert", std::move(parameter), site));
}

bool ParameterDict::contains(std::string_view name) const { return detail::find_named(items_, name) != items_.end(); }

bool ParameterDict::erase(std::string_view name) { return detail::erase_named(items_, name); }

std::vector<std::string> ParameterDict::keys() const { return detail::names_of(items_); }

Tensor& ParameterDict::at(std::string_view name, Site /*site*/) {
  return detail::named_part("ParameterDict.at", "parameter", items_, name);
}

void ParameterDict::fields(Fields& f) {
  for (auto& [name, parameter] : items_) f(name, parameter);
}

std::string ParameterDict::extra_repr() const {
  std::string text;
  for (const auto& [name, parameter] : items_) text += (text.empty() ? "" : "\n") + shown(name, parameter);
  return text;
}

}  // namespace tandem::nn
