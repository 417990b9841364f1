// Reading event files while they grow (io/event_file.h writes them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tandem::io {

/// A file has fewer bytes than were read of it: somebody has written it anew.
class ShorterError : public Error {
 public:
  using Error::Error;
};

/// Reads an event file from where the last call ended. The file is open only during a call; what it holds may be anything.
class EventReader {
 public:
  explicit EventReader(std::string path) : path_(std::move(path)) {}

  /// A record, and where its bytes begin in the file.
  using Take = std::function<void(std::string_view record, uint64_t offset)>;
  /// Hands over the whole records that are there by now, about `most` bytes of them. True: there are more. What `take` throws passes
  /// through, and the record counts as read. ShorterError, and Error where the file is gone or no regular file, or where a checksum is
  /// wrong: nothing behind that can be found.
  bool read(const Take& take, size_t most);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  uint64_t offset_ = 0;  // of the next record
};

/// Bytes of a regular file, fewer where it ends before. Error with the system's reason; does not wait where the path is a pipe.
[[nodiscard]] std::string read_part(const char* op, const std::string& path, uint64_t offset, size_t bytes);

}  // namespace tandem::io
