// Text and numbers as HTML has them.
#pragma once

#include <string>
#include <string_view>

namespace tandem::io {

/// With &, <, >, and quotes as entities: for text and for attribute values in double quotes.
[[nodiscard]] std::string escaped(std::string_view text);
/// Base64, as data: addresses have it.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace tandem::io
