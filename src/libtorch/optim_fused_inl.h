// The functions of FusedOptimizer. For the sources that instantiate it.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/warning.h"
#include "libtorch/optim_fused.h"
#include "libtorch/optim_serialize.h"
#include "libtorch/optim_state_inl.h"
#include "optim/optimizer.h"

namespace torch::optim::detail {

/// Sets what tandem names alike from `source`, options or a state; without it, as a state is before the first step.
template <class Source>
class Setter final : public tandem::optim::detail::Visitor {
 public:
  explicit Setter(const Source* source) : source_(source) {}
  void operator()(std::string_view name, double& number) override { set(name, number); }
  void operator()(std::string_view name, int64_t& number) override { set(name, number); }
  void operator()(std::string_view name, bool& flag) override { set(name, flag); }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override { set(name, numbers); }
  void operator()(std::string_view name, tandem::Tensor& tensor) override { set(name, tensor); }

 private:
  template <class T>
  void set(std::string_view name, T& value) {
    if (!source_) {
      value = T{};
      return;
    }
    Source::each(*source_, [&](std::string_view field, const auto& from) {
      using From = std::remove_cvref_t<decltype(from)>;
      if constexpr (std::is_same_v<From, T>) {
        if (field == name) value = from;
      } else if constexpr (std::is_same_v<From, std::tuple<double, double>> && std::is_same_v<T, std::pair<double, double>>) {
        if (field == name) value = {std::get<0>(from), std::get<1>(from)};
      }
    });
  }
  const Source* source_;
};

/// Gets a parameter's state from tandem's optimizer into `state`.
template <class ParamState>
class StateGetter final : public tandem::optim::detail::Visitor {
 public:
  explicit StateGetter(ParamState& state) : state_(state) {}
  void operator()(std::string_view name, double& number) override { get(name, number); }
  void operator()(std::string_view name, int64_t& number) override { get(name, number); }
  void operator()(std::string_view name, bool& flag) override { get(name, flag); }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override { get(name, numbers); }
  void operator()(std::string_view name, tandem::Tensor& tensor) override {
    is_there_ |= tensor.defined();
    get(name, tensor);
  }
  /// Whether a step has made any of it.
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  template <class T>
  void get(std::string_view name, const T& value) {
    ParamState::each(state_, [&](std::string_view field, auto& to) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(to)>, T>) {
        if (field == name) to = value;
      }
    });
  }
  ParamState& state_;
  bool is_there_ = false;
};

/// The same options for tandem's optimizer. What libtorch has no name for stays as usual.
template <class Native, class Options>
typename Native::Options native_of(const OptimizerOptions& given) {
  const auto& options = static_cast<const Options&>(given);
  if constexpr (requires { options.native(); }) {
    return options.native();
  } else {
    typename Native::Options native;
    Setter<Options> setter(&options);
    native.each(setter);
    return native;
  }
}

template <class Native, class Options, class ParamState>
FusedOptimizer<Native, Options, ParamState>::FusedOptimizer(std::vector<OptimizerParamGroup> groups, Options defaults, tandem::Site site)
    : Optimizer(std::move(groups), std::make_unique<Options>(std::move(defaults)), site) {
  for (const OptimizerParamGroup& group : param_groups_) native_of<Native, Options>(group.options()).check();
  native_of<Native, Options>(*defaults_).check();
}

template <class Native, class Options, class ParamState>
FusedOptimizer<Native, Options, ParamState>::FusedOptimizer(std::vector<tandem::Tensor> params, Options defaults, tandem::Site site)
    : FusedOptimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults), site) {}

template <class Native, class Options, class ParamState>
FusedOptimizer<Native, Options, ParamState>::FusedOptimizer(FusedOptimizer&&) noexcept = default;

template <class Native, class Options, class ParamState>
FusedOptimizer<Native, Options, ParamState>::~FusedOptimizer() = default;

template <class Native, class Options, class ParamState>
tandem::Tensor FusedOptimizer<Native, Options, ParamState>::step(LossClosure closure) {
  const tandem::Site site = torch::detail::statement();
  tandem::Tensor loss = loss_of(closure);
  if (!ready(site)) return loss;
  native_->step(site);
  if (is_shown_) get_states();
  return loss;
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::save(serialize::OutputArchive& archive) const {
  optim::serialize<ParamState, Options>(archive, *this);
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::load(serialize::InputArchive& archive) {
  if (IValue version; archive.try_read("pytorch_version", version)) optim::serialize<ParamState, Options>(archive, *this);
  else load_old(archive);
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::show_state() {
  if (is_shown_) return;
  is_shown_ = true;
  get_states();
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::load_old(serialize::InputArchive& archive) {
  tandem::warn(tandem::str("[load] the archive is in the old serialization format of optimizers, of before libtorch 1.5; ",
                           "save it again for the new one"));
  show_state();
  const auto& params = param_groups_.at(0).params();
  ParamState names;
  ParamState::each(names, [&](std::string_view field, const auto& like) {
    using Value = std::remove_cvref_t<decltype(like)>;
    const char* name = ParamState::old_name(field);
    if (!name) return;
    std::vector<tandem::Tensor> buffers;
    optim::serialize(archive, name, buffers);
    for (size_t i = 0; i < buffers.size() && i < params.size(); ++i) {
      auto& state = state_[key_of(params[i])];
      if (!state) state = std::make_unique<ParamState>();
      ParamState::each(static_cast<ParamState&>(*state), [&](std::string_view other, auto& value) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Value>) {
          if (other != field) return;
          if constexpr (std::is_same_v<Value, tandem::Tensor>) value = buffers[i];
          else if constexpr (std::is_same_v<Value, int64_t>) value = buffers[i].template item<int64_t>(tandem::Site::none());
        }
      });
    }
  });
}

template <class Native, class Options, class ParamState>
bool FusedOptimizer<Native, Options, ParamState>::ready(tandem::Site site) {
  if (!has_same_parameters()) make(site);
  if (!native_) return false;
  size_t g = 0;
  for (OptimizerParamGroup& group : param_groups_) {
    if (group.params().empty()) continue;
    const OptimizerOptions& options = group.has_options() ? group.options() : *defaults_;
    static_cast<typename Native::Options&>(native_->param_groups()[g++]) = native_of<Native, Options>(options);
  }
  if (is_shown_) set_states();
  return true;
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::get_states() {
  size_t native_group = 0;
  for (OptimizerParamGroup& group : param_groups_) {
    const bool is_known = native_ && native_group < native_->param_groups().size();
    for (size_t i = 0; i < group.params().size(); ++i)
      get_state(group, i, is_known ? &native_->param_groups()[native_group].params : nullptr, native_group);
    if (!group.params().empty()) ++native_group;
  }
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::set_states() {
  size_t g = 0;
  for (OptimizerParamGroup& group : param_groups_) {
    if (group.params().empty()) continue;
    for (size_t i = 0; i < group.params().size(); ++i) {
      const auto found = state_.find(key_of(group.params()[i]));
      set_state(g, i, found == state_.end() ? nullptr : static_cast<const ParamState*>(found->second.get()));
    }
    ++g;
  }
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::set_state(size_t group, size_t parameter, const ParamState* state) {
  Setter<ParamState> setter(state);
  native_->each_state(group, parameter, setter);
}

template <class Native, class Options, class ParamState>
bool FusedOptimizer<Native, Options, ParamState>::read_state(size_t group, size_t parameter, ParamState& state) {
  StateGetter<ParamState> getter(state);
  native_->each_state(group, parameter, getter);
  return getter.is_there();
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::get_state(const OptimizerParamGroup& group, size_t i,
                                                            const std::vector<tandem::Tensor>* known, size_t native_group) {
  const tandem::Tensor& parameter = group.params()[i];
  const std::string key = key_of(parameter);
  const auto found = state_.find(key);
  ParamState read;
  if (found != state_.end()) read = static_cast<const ParamState&>(*found->second);
  bool is_there = known && i < known->size() && (*known)[i].is_same(parameter) && read_state(native_group, i, read);
  if constexpr (requires { ParamState::start(parameter, std::declval<const Options&>()); }) {
    if (!is_there && found == state_.end()) {
      read = ParamState::start(parameter, static_cast<const Options&>(group.has_options() ? group.options() : *defaults_));
      is_there = true;
    }
  }
  if (!is_there) return;
  if (found != state_.end()) static_cast<ParamState&>(*found->second) = std::move(read);
  else state_.emplace(key, std::make_unique<ParamState>(std::move(read)));
}

template <class Native, class Options, class ParamState>
bool FusedOptimizer<Native, Options, ParamState>::has_same_parameters() const {
  size_t g = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    const auto& params = group.params();
    if (params.empty()) continue;
    if (!native_ || g == native_->param_groups().size()) return false;
    const auto& known = native_->param_groups()[g++].params;
    if (known.size() != params.size()) return false;
    for (size_t i = 0; i < params.size(); ++i)
      if (!known[i].is_same(params[i])) return false;
  }
  return !native_ || g == native_->param_groups().size();
}

template <class Native, class Options, class ParamState>
void FusedOptimizer<Native, Options, ParamState>::make(tandem::Site site) {
  const bool had_states = native_ != nullptr;
  if (had_states) show_state();
  native_.reset();
  for (const OptimizerParamGroup& group : param_groups_) {
    if (group.params().empty()) continue;
    const OptimizerOptions& given = group.has_options() ? group.options() : *defaults_;
    const auto options = native_of<Native, Options>(given);
    if (!native_) {
      native_ = std::make_unique<Native>(group.params(), options, site);
    } else if constexpr (requires { native_->add_param_group(group.params(), options, site); }) {
      native_->add_param_group(group.params(), options, site);
    }
  }
}

}  // namespace torch::optim::detail
