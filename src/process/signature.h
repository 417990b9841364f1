// Which function a worker is to run, said so that another run of the same program finds it. For the library.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "process/codec.h"

namespace tandem::multiprocessing::detail {

using AnyFunction = void (*)();

/// A type of functions that workers can run: to call one, its arguments must be taken out of a message by their types. Registered by each
/// use of Process or spawn with such a function, before main begins.
struct Signature {
  Signature(const char* function_type, void (*run_function)(AnyFunction, Received&));
  ~Signature();
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  const char* type;
  void (*run)(AnyFunction function, Received& arguments);
};

template <class R, class... P>
void run_function(AnyFunction function, Received& arguments) {
  std::tuple<std::decay_t<P>...> values{Codec<std::decay_t<P>>::take(arguments)...};
  arguments.finish();
  std::apply([&](auto&... value) { reinterpret_cast<R (*)(P...)>(function)(static_cast<P>(static_cast<P&&>(value))...); }, values);
}

template <class R, class... P>
inline const Signature signature_of{typeid(R(*)(P...)).name(), run_function<R, P...>};

/// Says which function it is: the module by its build id, the place in it, and the signature. Error where it lies in no module.
void put_function(Parcel& parcel, AnyFunction function, const Signature& signature);
/// The function and its signature in this process. Error where the module is not here, or has no such function.
[[nodiscard]] std::pair<AnyFunction, const Signature*> take_function(Received& received);
/// Error unless both are the same.
void check_signature(const Signature& taken, const Signature& wanted, const char* op);

}  // namespace tandem::multiprocessing::detail

namespace tandem::multiprocessing {

/// A plain function, of the program or of a library that it is linked with, whose arguments could be sent, too.
template <class R, class... P>
struct Codec<R (*)(P...)> {
  static void put(detail::Parcel& parcel, R (*function)(P...)) {
    detail::put_function(parcel, reinterpret_cast<detail::AnyFunction>(function), detail::signature_of<R, P...>);
  }
  static auto take(detail::Received& received) -> R (*)(P...) {
    const auto [function, signature] = detail::take_function(received);
    detail::check_signature(*signature, detail::signature_of<R, P...>, received.op());
    return reinterpret_cast<R (*)(P...)>(function);
  }
};

}  // namespace tandem::multiprocessing
