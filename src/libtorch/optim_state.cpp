#include "libtorch/optim_state.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "libtorch/optim_state_inl.h"

namespace torch::guts {

std::string to_string(const void* address) {
  char text[2 + 2 * sizeof address + 1];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

}  // namespace torch::guts

namespace torch::optim {

void detail::fail_without(const char* what, const char* base) {
  tandem::fail("[optim] ", what, " has not been implemented for torch::optim::", base, ": override it in your class");
}

std::string detail::key_of(const tandem::Tensor& parameter) { return guts::to_string(parameter.ref().get()); }

bool detail::is_same(const tandem::Tensor& a, const tandem::Tensor& b) {
  return a.defined() && b.defined() ? a.equal(b, tandem::Site::none()) : a.defined() == b.defined();
}

bool detail::is_same(const std::deque<tandem::Tensor>& a, const std::deque<tandem::Tensor>& b) { return is_same_list(a, b); }

bool detail::is_same(const std::optional<std::vector<tandem::Tensor>>& a, const std::optional<std::vector<tandem::Tensor>>& b) {
  return a && b ? is_same_list(*a, *b) : a.has_value() == b.has_value();
}

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const { detail::fail_without("clone()", "OptimizerParamState"); }

void OptimizerParamState::serialize(serialize::InputArchive& /*archive*/) { detail::fail_without("serialize()", "OptimizerParamState"); }

void OptimizerParamState::serialize(serialize::OutputArchive& /*archive*/) const {
  detail::fail_without("serialize()", "OptimizerParamState");
}

std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const { detail::fail_without("clone()", "OptimizerOptions"); }

void OptimizerOptions::serialize(serialize::InputArchive& /*archive*/) { detail::fail_without("serialize()", "OptimizerOptions"); }

void OptimizerOptions::serialize(serialize::OutputArchive& /*archive*/) const { detail::fail_without("serialize()", "OptimizerOptions"); }

double OptimizerOptions::get_lr() const { detail::fail_without("get_lr()", "OptimizerOptions"); }

void OptimizerOptions::set_lr(double /*lr*/) { detail::fail_without("set_lr()", "OptimizerOptions"); }

OptimizerParamGroup::OptimizerParamGroup(std::vector<tandem::Tensor> params) : params_(std::move(params)) {}

OptimizerParamGroup::OptimizerParamGroup(std::vector<tandem::Tensor> params, std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}

OptimizerParamGroup& OptimizerParamGroup::operator=(const OptimizerParamGroup& other) { return *this = OptimizerParamGroup(other); }

bool OptimizerParamGroup::has_options() const { return options_ != nullptr; }

OptimizerOptions& OptimizerParamGroup::options() { return checked(); }

const OptimizerOptions& OptimizerParamGroup::options() const { return checked(); }

void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }

OptimizerOptions& OptimizerParamGroup::checked() const {
  if (!options_) tandem::fail("[OptimizerParamGroup] the group has no options: give it some, or add it by add_param_group");
  return *options_;
}

}  // namespace torch::optim
