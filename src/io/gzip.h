// Files from front to back, unpacked where they are gzip.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/file.h"
#include "io/inflate.h"

namespace tandem::io {

/// A file's bytes; those it was packed from where its first two are gzip's.
class ByteStream {
 public:
  /// `op` is named in errors.
  ByteStream(const char* op, std::string path);
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Up to `bytes` more; fewer only at the end.
  [[nodiscard]] size_t read(void* to, size_t bytes);
  [[nodiscard]] bool packed() const { return inflater_.has_value(); }
  /// How many bytes there are in all; of a packed file, how many there can be at most.
  [[nodiscard]] uint64_t most() const { return packed() ? file_.size() * kMostInflated : file_.size(); }
  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    file_.bad(parts...);
  }

 private:
  [[nodiscard]] std::string_view next_piece();

  InputFile file_;
  uint64_t offset_ = 0;
  std::string piece_;
  std::optional<Inflater> inflater_;
};

/// What gzip packed: all members, one after another. Error that begins with `what` where the bytes are damaged or end too early.
[[nodiscard]] std::string gunzip(std::string_view packed, std::string_view what);

/// All bytes of a file, unpacked where they are gzip. `op` is named in errors.
[[nodiscard]] std::string read_bytes(const char* op, const std::string& path);

}  // namespace tandem::io
