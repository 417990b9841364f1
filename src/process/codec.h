// How values travel between processes: numbers, texts, tensors, and what is made of them.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "process/parcel.h"
#include "runtime/device.h"

namespace tandem::multiprocessing {

/// Puts a T into a message and takes it out in another process. There is one for numbers and other types that can be copied as bytes
/// (which must not hold addresses: those mean nothing elsewhere), strings, optional values, vectors, pairs and tuples, shapes, dtypes,
/// devices, tensors, state dictionaries, modules, and all that this namespace shares: queues, connections, events, locks, values, arrays.
template <class T>
struct Codec;

template <class T>
concept Sendable = requires(detail::Parcel& parcel, detail::Received& received, const T& value) {
  Codec<T>::put(parcel, value);
  { Codec<T>::take(received) } -> std::same_as<T>;
};

template <detail::Plain T>
struct Codec<T> {
  static void put(detail::Parcel& parcel, const T& value) { parcel.put(value); }
  static T take(detail::Received& received) { return received.take<T>(); }
};

template <>
struct Codec<bool> {
  static void put(detail::Parcel& parcel, bool value) { parcel.put<uint8_t>(value); }
  static bool take(detail::Received& received) { return received.take<uint8_t>() != 0; }
};

template <>
struct Codec<DType> {
  static void put(detail::Parcel& parcel, DType value) { parcel.put(static_cast<uint8_t>(value)); }
  static DType take(detail::Received& received);
};

template <>
struct Codec<Device> {
  static void put(detail::Parcel& parcel, const Device& value);
  static Device take(detail::Received& received);
};

template <>
struct Codec<std::string> {
  static void put(detail::Parcel& parcel, const std::string& value) { parcel.put_text(value); }
  static std::string take(detail::Received& received) { return std::string(received.take_text()); }
};

template <>
struct Codec<Shape> {
  static void put(detail::Parcel& parcel, const Shape& value);
  static Shape take(detail::Received& received);
};

/// A tensor of the host that is_shared() travels itself: both processes see one memory. Another one of the host is copied. One on a GPU
/// travels itself, after its stream has come to this point. It arrives as a leaf, with its requires_grad. Error for a tensor that requires
/// a gradient and is no leaf. As PyTorch's multiprocessing, which shares what it sends.
template <>
struct Codec<Tensor> {
  static void put(detail::Parcel& parcel, const Tensor& value);
  static Tensor take(detail::Received& received);
};

template <class T>
struct Codec<std::vector<T>> {
  static void put(detail::Parcel& parcel, const std::vector<T>& value) {
    parcel.put<uint64_t>(value.size());
    for (const T& item : value) Codec<T>::put(parcel, item);
  }
  static std::vector<T> take(detail::Received& received) {
    const size_t count = received.take_count(1);
    std::vector<T> value;
    for (size_t i = 0; i < count; ++i) value.push_back(Codec<T>::take(received));
    return value;
  }
};

template <class T>
requires(!detail::Plain<std::optional<T>>) struct Codec<std::optional<T>> {
  static void put(detail::Parcel& parcel, const std::optional<T>& value) {
    Codec<bool>::put(parcel, value.has_value());
    if (value) Codec<T>::put(parcel, *value);
  }
  static std::optional<T> take(detail::Received& received) {
    if (!Codec<bool>::take(received)) return std::nullopt;
    return Codec<T>::take(received);
  }
};

template <class A, class B>
requires(!detail::Plain<std::pair<A, B>>) struct Codec<std::pair<A, B>> {
  static void put(detail::Parcel& parcel, const std::pair<A, B>& value) {
    Codec<A>::put(parcel, value.first);
    Codec<B>::put(parcel, value.second);
  }
  static std::pair<A, B> take(detail::Received& received) { return {Codec<A>::take(received), Codec<B>::take(received)}; }
};

template <class... T>
requires(!detail::Plain<std::tuple<T...>>) struct Codec<std::tuple<T...>> {
  static void put(detail::Parcel& parcel, const std::tuple<T...>& value) {
    std::apply([&](const T&... item) { (Codec<T>::put(parcel, item), ...); }, value);
  }
  static std::tuple<T...> take(detail::Received& received) { return std::tuple<T...>{Codec<T>::take(received)...}; }
};

}  // namespace tandem::multiprocessing
