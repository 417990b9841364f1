// Where the files lie that come with the library.
#pragma once

#include <string>

namespace tandem::runtime {

/// The path of a file in the folder of libtandem.so; only its name where that folder cannot be told.
[[nodiscard]] std::string beside_library(const std::string& file);

}  // namespace tandem::runtime
