#include "libtorch/serialize.h"

#include <string>

#include "libtorch/serialize_bytes.h"

namespace torch {

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const tandem::Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, tandem::Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

IValue pickle_load(const std::vector<char>& data, tandem::Site site) {
  return detail::value_of({data.data(), data.size()}, tandem::cpu(), site);
}

std::vector<char> pickle_save(const IValue& value, tandem::Site site) {
  const std::string bytes = detail::bytes_of(value.plain(), site);
  return {bytes.begin(), bytes.end()};
}

}  // namespace torch

namespace torch::detail {

void load_value(serialize::InputArchive archive, std::vector<tandem::Tensor>& tensors) {
  tandem::Tensor tensor;
  for (size_t i = 0; archive.try_read(std::to_string(i), tensor); ++i) tensors.push_back(std::exchange(tensor, {}));
}

}  // namespace torch::detail
