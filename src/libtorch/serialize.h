// torch::save and torch::load.
#pragma once

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "libtorch/serialize_archive.h"

namespace torch {

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const tandem::Tensor& tensor);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, tandem::Tensor& tensor);

/// Saves a module, an optimizer, a sampler, or what else has an operator<< into an archive, to a file, an ostream, or a function that is
/// given the bytes: `torch::save(net, "net.pt")`. Python's torch.load reads the file: of a module it gives the state_dict.
template <class Value, class To>
void save(const Value& value, To&& to, tandem::Site site = tandem::Site::here()) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<To>(to), site);
}
/// Saves a tensor, as Python's torch.save does.
template <class To>
void save(const tandem::Tensor& tensor, To&& to, tandem::Site site = tandem::Site::here()) {
  serialize::OutputArchive::of(tensor).save_to(std::forward<To>(to), site);
}
/// Saves a list of tensors, as Python's torch.save does.
template <class To>
void save(const std::vector<tandem::Tensor>& tensors, To&& to, tandem::Site site = tandem::Site::here()) {
  serialize::OutputArchive::of(tensors).save_to(std::forward<To>(to), site);
}

namespace detail {

/// Calls load_from with its optional device left out where `from` names none.
template <class... From>
serialize::InputArchive archive_from(tandem::Site site, From&&... from) {
  serialize::InputArchive archive;
  if constexpr (requires { archive.load_from(from..., std::nullopt, site); }) archive.load_from(from..., std::nullopt, site);
  else archive.load_from(from..., site);
  return archive;
}
template <class Value>
void load_value(serialize::InputArchive archive, Value& value) {
  archive >> value;
}
/// Behind those that are there.
void load_value(serialize::InputArchive archive, std::vector<tandem::Tensor>& tensors);

}  // namespace detail

/// Loads what save has saved, from a file or an istream, into `value`; a vector of tensors gets them behind those that it has.
template <class Value, class From>
void load(Value& value, From&& from, tandem::Site site = tandem::Site::here()) {
  detail::load_value(detail::archive_from(site, from), value);
}
/// The same with a device for new tensors; or from bytes in memory and their count, or functions that read bytes and count them.
template <class Value, class From, class More>
requires(!std::convertible_to<More, tandem::Site>) void load(Value& value, From&& from, More&& more,
                                                             tandem::Site site = tandem::Site::here()) {
  detail::load_value(detail::archive_from(site, from, more), value);
}
/// From bytes in memory, or functions, with a device for new tensors.
template <class Value, class From, class More>
void load(Value& value, From&& from, More&& more, std::optional<tandem::Device> device, tandem::Site site = tandem::Site::here()) {
  detail::load_value(detail::archive_from(site, from, more, device), value);
}

/// What a file of torch.save's, in Python or here, holds, from its bytes.
[[nodiscard]] IValue pickle_load(const std::vector<char>& data, tandem::Site site = tandem::Site::here());
/// The bytes of such a file.
[[nodiscard]] std::vector<char> pickle_save(const IValue& value, tandem::Site site = tandem::Site::here());

}  // namespace torch
