// Unpacking what deflate packed, piece by piece: gzip files and the entries of zip archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace tandem::io {

/// No stream of deflate gives more bytes than this for each of its own: a match of 258 bytes takes two bits.
inline constexpr uint64_t kMostInflated = 1032;

/// Unpacks bytes from front to back. It takes memory for one piece of the packed bytes only, so damage is found before much is filled.
class Inflater {
 public:
  /// The bare stream, as in zip archives, or gzip's members, one after another.
  enum class Form { Deflate, Gzip };

  /// `next` gives the packed bytes piece by piece, and none once all were given. Errors begin with `what`.
  Inflater(Form form, std::function<std::string_view()> next, std::string what);
  /// Up to `bytes` more; fewer only at the end. Error where the packed bytes are damaged or end too early.
  [[nodiscard]] size_t read(void* to, size_t bytes);

 private:
  /// Goes on to the next gzip member, if there is one.
  void end_member();

  Form form_;
  std::function<std::string_view()> next_;
  std::string what_;
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
  std::string_view input_;  // given, but not yet taken
  uint64_t taken_ = 0;      // packed bytes
  bool done_ = false;
};

}  // namespace tandem::io
