// Event files, as TensorBoard reads them: records of bytes with checksums (the TFRecord format), a file that only grows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::io {

/// CRC-32C (Castagnoli), as of RFC 3720.
[[nodiscard]] uint32_t crc32c(std::string_view bytes);

/// The same, masked as TensorFlow does, so that the checksum of bytes that contain checksums is sound.
[[nodiscard]] uint32_t masked_crc32c(std::string_view bytes);

/// One record: its length, that length's checksum, the bytes, their checksum; masked.
[[nodiscard]] std::string event_frame(std::string_view bytes);

/// A new event file in a folder, named events.out.tfevents.SECONDS.HOST.PROCESS.COUNT. Each record is handed to the system in one piece, so
/// that a reader sees whole ones only and nothing is lost where the program dies.
class EventFile {
 public:
  /// Makes the folder where it does not exist. Error with the system's reason. `op` is named in errors.
  EventFile(const char* op, const std::string& folder);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  ~EventFile();

  void add(std::string_view record);
  /// Brings what was added to the disk.
  void flush();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_with(const char* doing) const;
  /// Takes back what stands behind the last whole record.
  void cut_back();

  const char* op_;
  std::string path_;
  int descriptor_ = -1;
  uint64_t whole_ = 0;  // bytes of whole records
  bool torn_ = false;   // a piece of a record stands behind them
};

}  // namespace tandem::io
