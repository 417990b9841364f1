// State dictionaries and modules on their way to other processes.
#pragma once

#include <concepts>

#include "nn/clone.h"
#include "nn/module.h"
#include "process/codec.h"
#include "tensor/state_dict.h"

namespace tandem::nn::detail {

/// A module's parameters, buffers and modes.
void put_module(multiprocessing::detail::Parcel& parcel, const ModuleBase& module);
/// Puts them into a module of the same type, made by its default constructor. Error where its parts are others.
void take_module(multiprocessing::detail::Received& received, ModuleBase& module);

}  // namespace tandem::nn::detail

namespace tandem::multiprocessing {

template <>
struct Codec<StateDict> {
  static void put(detail::Parcel& parcel, const StateDict& value);
  static StateDict take(detail::Received& received);
};

/// A module arrives as one that its default constructor has made, whose parameters and buffers are those that were sent: the same memory
/// where it is shared (share_memory()) or on a GPU, else copies. Hooks and other fields stay behind. Error where the default constructor
/// makes other parts.
template <class M>
requires nn::IsModule<M> && std::default_initializable<M>
struct Codec<M> {
  static void put(detail::Parcel& parcel, const M& value) {
    nn::detail::check_exact_type(parcel.op(), value, typeid(M));
    nn::detail::put_module(parcel, value);
  }
  static M take(detail::Received& received) {
    M value;
    nn::detail::take_module(received, value);
    return value;
  }
};

}  // namespace tandem::multiprocessing
