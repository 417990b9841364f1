#include "nn/transfer.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "nn/settings.h"
#include "nn/walk.h"
#include "tensor/share.h"
#include "tensor/tensor_impl.h"

namespace tandem {

void multiprocessing::Codec<StateDict>::put(detail::Parcel& parcel, const StateDict& value) {
  parcel.put<uint64_t>(value.size());
  for (const auto& [name, tensor] : value) {
    parcel.put_text(name);
    Codec<Tensor>::put(parcel, tensor);
  }
}

StateDict multiprocessing::Codec<StateDict>::take(detail::Received& received) {
  StateDict value;
  for (size_t left = received.take_count(sizeof(uint64_t)); left > 0; --left) {
    const std::string name(received.take_text());
    value[name] = Codec<Tensor>::take(received);
  }
  return value;
}

void multiprocessing::Codec<nn::AnyModule>::put(detail::Parcel& parcel, const nn::AnyModule& value) {
  nn::AnyModule type = value;
  nn::Settings settings(parcel);
  settings(type);
  if (value) nn::detail::put_module(parcel, value.base());
}

nn::AnyModule multiprocessing::Codec<nn::AnyModule>::take(detail::Received& received) {
  nn::AnyModule value;
  nn::Settings settings(received);
  settings(value);
  if (value) nn::detail::take_module(received, value.base());
  return value;
}

namespace nn {

void ModuleBase::share_memory(Site /*site*/) {
  std::vector<Tensor> tensors;
  detail::Met met;
  detail::walk(*this, false, [&](const detail::Field& field) {
    if (field.is_module()) return;
    if (field.is_pending())
      fail("[Module.share_memory] ", name(), " has parameters that wait for a first forward: call nn::initialize(module, input) before");
    if (!field.tensor->defined() || !met.add(*field.tensor)) return;
    tensors.push_back(*field.tensor);
    if (const Tensor grad = field.tensor->grad(); grad.defined()) tensors.push_back(grad);
  });
  tandem::detail::share_memory(tensors, "Module.share_memory");
}

namespace detail {

using multiprocessing::Codec;

namespace {

// A message has the stops of a walk, each with its name: a module with its mode and what it names in settings(), or a tensor.
enum class Stop : uint8_t { Module, Undefined, Value, Tied, End };

using Sizes = std::map<std::string, std::optional<Shape>>;

/// The tensors of a module by name; without sizes where they wait for a first forward.
Sizes sizes_of(const ModuleBase& module) {
  Sizes sizes;
  walk(module, true, [&](const Field& field) {
    if (field.is_module()) return;
    if (field.is_pending()) sizes[std::string(field.name)] = std::nullopt;
    else if (field.tensor->defined()) sizes[std::string(field.name)] = field.tensor->sizes();
  });
  return sizes;
}

/// A module that names nothing that it was made with: what its constructor made must be what was sent.
struct Undescribed {
  const ModuleBase* module;
  std::string at;
  Sizes made;
};

constexpr const char* kAdvice =
    "in the other process it is made by its default constructor, so that has to make the same, or override settings() and name there what "
    "the constructor was given";

class Taker {
 public:
  Taker(multiprocessing::detail::Received& received, ModuleBase& root) : received_(received), root_(root), settings_(received) {}

  void run() {
    walk(root_, true, [&](const Field& field) { take(field); });
    if (next("") != Stop::End) differs("");
    for (const Undescribed& part : undescribed_) check(part);
    // Setting a module's mode sets those below it too; they come later in the list and get their own again.
    for (const auto& [part, mode] : modes_) part->train(mode);
  }

 private:
  /// What comes next; error unless it has this name.
  Stop next(std::string_view own) {
    const auto stop = received_.take<Stop>();
    sent_ = received_.take_text();
    if (stop > Stop::End) multiprocessing::detail::refuse(received_.op(), str("there is no part of kind ", static_cast<int>(stop)));
    if (sent_ != own) differs(own);
    return stop;
  }
  [[noreturn]] void differs(std::string_view own) const {
    const auto part = [](std::string_view name) { return name.empty() ? std::string("no further part") : str("a part '", name, '\''); };
    fail('[', received_.op(), "] the ", root_.name(), " that was sent has ", part(sent_), ", the one made here has ", part(own), ": ",
         kAdvice);
  }
  void check(const Undescribed& part) const {
    const Sizes now = sizes_of(*part.module);
    const auto text = [](const Sizes& sizes, const std::string& name) {
      const auto found = sizes.find(name);
      return found == sizes.end() ? std::string("missing")
             : found->second      ? str("of size ", *found->second)
                                  : std::string("without a size");
    };
    const auto compare = [&](const std::string& name) {
      const auto sent = now.find(name), made = part.made.find(name);
      if (made != part.made.end() && (!made->second || (sent != now.end() && sent->second == made->second))) return;
      fail('[', received_.op(), "] ", part.at, part.at.empty() ? "" : ".", name, " of the ", part.module->name(), " that was sent is ",
           text(now, name), ", of the one made here ", text(part.made, name), ": ", kAdvice);
    };
    for (const auto& [name, sizes] : now) compare(name);
    for (const auto& [name, sizes] : part.made) compare(name);
  }

  void take(const Field& field) {
    const Stop stop = next(field.name);
    if (field.is_module() != (stop == Stop::Module) || stop == Stop::End) differs(field.name);
    if (stop == Stop::Module) {
      modes_.emplace_back(field.module, Codec<bool>::take(received_));
      if (!settings_.describe(*field.module)) undescribed_.push_back({field.module, std::string(field.name), sizes_of(*field.module)});
    } else if (stop == Stop::Tied) {
      const auto number = received_.take<uint64_t>();
      if (number >= taken_.size()) multiprocessing::detail::refuse(received_.op(), str("there is no tensor ", number, " to be tied to"));
      *field.tensor = taken_[number];
    } else if (stop == Stop::Undefined) {
      *field.tensor = Tensor();
    } else {
      take_value(*field.tensor);
    }
  }
  /// The tensor keeps its identity, unless another one has taken it: the constructor tied what is not.
  void take_value(Tensor& mine) {
    const bool requires_grad = Codec<bool>::take(received_);
    const Tensor value = Codec<Tensor>::take(received_);
    if (!value.defined()) multiprocessing::detail::refuse(received_.op(), "a tensor is not there");
    if (mine.defined() && met_.add(mine)) mine.impl().replace_storage(value.impl());
    else mine = value;
    if (mine.requires_grad() != requires_grad) mine.requires_grad_(requires_grad);
    taken_.push_back(mine);
  }

  multiprocessing::detail::Received& received_;
  ModuleBase& root_;
  Settings settings_;
  std::string sent_;           // the name of the last stop
  std::vector<Tensor> taken_;  // in their order, which what is tied to them counts by
  Met met_;
  std::vector<Undescribed> undescribed_;
  std::vector<std::pair<ModuleBase*, bool>> modes_;
};

}  // namespace

void put_module(multiprocessing::detail::Parcel& parcel, const ModuleBase& module) {
  Settings settings(parcel);
  std::unordered_map<const TensorImpl*, uint64_t> sent;
  const auto put_stop = [&](Stop stop, std::string_view name) {
    parcel.put(stop);
    parcel.put_text(name);
  };
  walk(module, true, [&](const Field& field) {
    if (field.is_module()) {
      put_stop(Stop::Module, field.name);
      Codec<bool>::put(parcel, field.module->training());
      settings.describe(*field.module);
      return;
    }
    if (!field.tensor->defined()) return put_stop(Stop::Undefined, field.name);
    const auto [at, first] = sent.emplace(&field.tensor->impl(), sent.size());
    put_stop(first ? Stop::Value : Stop::Tied, field.name);
    if (!first) return parcel.put<uint64_t>(at->second);
    Codec<bool>::put(parcel, field.tensor->requires_grad());
    Codec<Tensor>::put(parcel, field.tensor->detach());
  });
  put_stop(Stop::End, "");
}

void take_module(multiprocessing::detail::Received& received, ModuleBase& module) { Taker(received, module).run(); }

}  // namespace detail
}  // namespace nn
}  // namespace tandem
