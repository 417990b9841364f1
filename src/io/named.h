// Names out of files as errors show them: a damaged file can hold anything.
#pragma once

#include <string>

namespace tandem::io {

/// Printable, and short.
inline std::string shown(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, 100)) out += static_cast<unsigned char>(c) < 32 ? '?' : c;
  return out + (name.size() > 100 ? "…" : "");
}

/// The same, quoted.
inline std::string in_quotes(const std::string& name) { return "'" + shown(name) + "'"; }

/// The first of them.
template <class Names>
std::string listed(const Names& names) {
  constexpr size_t kMostListed = 50;
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kMostListed) return text + ", …";
    text += (count > 1 ? ", " : "") + in_quotes(name);
  }
  return count == 0 ? "none" : text;
}

}  // namespace tandem::io
