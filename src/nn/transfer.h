// State dictionaries and modules on their way to other processes.
#pragma once

#include "nn/any_module.h"
#include "nn/module.h"
#include "process/codec.h"
#include "tensor/state_dict.h"

namespace tandem::nn::detail {

/// A module's parameters, buffers, modes and settings; tied tensors are told to be.
void put_module(multiprocessing::detail::Parcel& parcel, const ModuleBase& module);
/// Puts them into a module of the same type, as `blank` makes it. Error where its parts are others.
void take_module(multiprocessing::detail::Received& received, ModuleBase& module);

}  // namespace tandem::nn::detail

namespace tandem::multiprocessing {

template <>
struct Codec<StateDict> {
  static void put(detail::Parcel& parcel, const StateDict& value);
  static StateDict take(detail::Received& received);
};

/// A module is made anew, by its default constructor or from ones, and given what was sent: its settings (see Module::settings), and
/// those of all below it, then its parameters and buffers: the same memory where it is shared (share_memory()) or on a GPU, else copies.
/// Tensors that are tied stay tied. Hooks, gradients and other members stay behind. Error where a type that overrides no settings has a
/// default constructor that makes other parts.
template <class M>
requires nn::IsModule<M> && nn::detail::Makeable<M>
struct Codec<M> {
  static void put(detail::Parcel& parcel, const M& value) {
    nn::detail::check_exact_type(parcel.op(), value, typeid(M));
    nn::detail::put_module(parcel, value);
  }
  static M take(detail::Received& received) {
    M value = nn::detail::blank<M>();
    nn::detail::take_module(received, value);
    return value;
  }
};

/// A module of any type, as if it had been sent as its own; or none.
template <>
struct Codec<nn::AnyModule> {
  static void put(detail::Parcel& parcel, const nn::AnyModule& value);
  static nn::AnyModule take(detail::Received& received);
};

}  // namespace tandem::multiprocessing
