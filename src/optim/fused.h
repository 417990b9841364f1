// Checks of options, and getting parameters ready for an optimizer's fused kernel: one list a group and device, built anew each step in
// memory that stays. For the library.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/launch.h"
#include "optim/optimizer.h"
#include "tensor/tensor.h"

namespace tandem::optim::detail {

/// Names values to a visitor, in this order: each_named(visitor, "lr", lr, "eps", eps).
template <class Value, class... Rest>
void each_named(Visitor& visitor, const char* name, Value& value, Rest&... rest) {
  visitor(name, value);
  if constexpr (sizeof...(rest) > 0) each_named(visitor, rest...);
}

/// What every optimizer refuses alike.
inline void check_not_negative(const char* optimizer, const char* what, double value) {
  if (!(value >= 0)) fail("[", optimizer, "] Invalid ", what, ": ", value, ": give a number from 0 on");
}
inline constexpr const char* kBelowOne = ": give a number from 0 on and below 1, such as 0.9";
inline void check_betas(const char* optimizer, const std::pair<double, double>& betas) {
  if (!(betas.first >= 0 && betas.first < 1)) fail("[", optimizer, "] Invalid beta parameter at index 0: ", betas.first, kBelowOne);
  if (!(betas.second >= 0 && betas.second < 1)) fail("[", optimizer, "] Invalid beta parameter at index 1: ", betas.second, kBelowOne);
}
/// What Adam and its variants refuse alike.
template <class Options>
void check_adam_options(const char* optimizer, const Options& options) {
  check_not_negative(optimizer, "learning rate", options.lr);
  check_not_negative(optimizer, "epsilon value", options.eps);
  check_betas(optimizer, options.betas);
  check_not_negative(optimizer, "weight_decay value", options.weight_decay);
}

/// What a kernel is given for one parameter: dense memory of one dtype on one device.
struct Ready {
  TensorImpl *parameter, *gradient;
};

/// Lists of `Item`s, a kernel call each. Parameters and gradients that a kernel cannot take as they are get dense stand-ins until `run` is
/// done. All groups are made ready before anything runs, so that a step that runs out of memory has changed nothing and can be taken again.
template <class Item>
class FusedStep {
 public:
  /// The parameter and its gradient as the kernel wants them; {nullptr, nullptr} where there is no gradient. Counts the parameter as
  /// changed.
  Ready ready(const Tensor& parameter, const char* op, Site site) {
    TensorImpl& p = parameter.impl();
    TensorImpl* g = p.grad.ref().get();
    if (!g) return {nullptr, nullptr};
    if (g->sizes != p.sizes) fail("[", op, "] a parameter has sizes ", p.sizes, " and its gradient ", g->sizes);
    p.bump_version();
    if (p.contiguous && g->contiguous && g->dtype == p.dtype && g->device == p.device) return {&p, g};
    return stand_in(parameter, op, site);
  }
  std::vector<Item>& list_of(size_t group, Device device) {
    for (size_t i = 0; i < used_; ++i)
      if (lists_[i].group == group && lists_[i].device == device) return lists_[i].items;
    if (used_ == lists_.size()) lists_.emplace_back();
    List& list = lists_[used_++];
    list.group = group;
    list.device = device;
    return list.items;
  }
  /// Calls `f(group, device, span)` for each list, and writes stand-ins back.
  template <class F>
  void run(F&& f, Site site) {
    for (size_t i = 0; i < used_; ++i) {
      auto& [group, device, items] = lists_[i];
      f(group, device, kernels::Span<Item>{items.data(), static_cast<int64_t>(items.size())});
    }
    // By the kernel alone: Tensor::copy_ makes a view, whose memory may be refused when other parameters have been changed.
    for (const auto& [parameter, dense] : written_) ops::launch(parameter, "copy_", site, &kernels::Table::copy, parameter, dense);
    clear();
  }
  void clear() {
    for (auto& list : lists_) list.items.clear();
    used_ = 0;
    written_.clear();
    held_.clear();
  }

 private:
  Ready stand_in(const Tensor& parameter, const char* op, Site site) {
    const Tensor& gradient = parameter.grad();
    if (gradient.device() != parameter.device())
      fail("[", op, "] a parameter is on ", parameter.device(), " and its gradient on ", gradient.device(),
           ": move the module before backward, or call zero_grad");
    Tensor dense = parameter.contiguous(site);
    if (!dense.is_same(parameter)) written_.emplace_back(parameter, dense);
    held_.push_back(gradient.to(parameter.dtype(), {}, site).contiguous(site));
    return {&dense.impl(), &held_.back().impl()};
  }

  struct List {
    size_t group = 0;
    Device device;
    std::vector<Item> items;
  };
  std::vector<List> lists_;  // the first used_ of them
  size_t used_ = 0;
  std::vector<std::pair<Tensor, Tensor>> written_;  // parameter, dense stand-in
  std::vector<Tensor> held_;
};

/// `state` on its parameter's device and of its dtype: it follows where the module was moved.
inline void follow(Tensor& state, const TensorImpl& parameter, Site site) {
  if (state.defined() && (state.device() != parameter.device || state.dtype() != parameter.dtype))
    state = state.to(parameter.device, parameter.dtype, {}, site);
}

template <class Kernel>
void check_kernel(Kernel kernel, const char* op, Device device) {
  if (!kernel) fail<NotImplementedError>("[", op, "] has no kernel for ", device, " yet");
}

}  // namespace tandem::optim::detail
