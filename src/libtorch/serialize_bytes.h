// Files of torch.save's as bytes in memory: what streams and functions are given, and give.
#pragma once

#include <string>
#include <string_view>

#include "io/torch_file.h"

namespace torch::detail {

/// The bytes of the file that torch.save writes of `value`.
std::string bytes_of(const tandem::io::PlainValue& value, tandem::Site site);

/// The value in such bytes.
tandem::io::PlainValue value_of(std::string_view bytes, tandem::Device device, tandem::Site site);

}  // namespace torch::detail
