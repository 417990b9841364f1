// Archives as .npz files are: entries by name, stored or deflated. Up to 4 GiB, without encryption.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace tandem::io {

/// Writes an archive with stored entries.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file, const char* op, std::string path) : file_(file), op_(op), path_(std::move(path)) {}
  /// An entry whose bytes are `head` and then `data`.
  void add(const std::string& name, std::string_view head, std::string_view data);
  /// Writes the directory, which ends the archive.
  void finish();

 private:
  void check_size(uint64_t bytes) const;

  AtomicFile& file_;
  const char* op_;
  std::string path_;
  std::string directory_;
  uint64_t offset_ = 0;
  uint32_t entries_ = 0;
};

struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t compressed = 0, size = 0;  // bytes
  uint64_t header = 0;                // where the entry's own header begins
};

/// What the archive's directory lists. Error where it is damaged.
[[nodiscard]] std::vector<ZipEntry> read_zip_directory(const InputFile& file);
/// An entry's bytes, unpacked and checked against its checksum.
[[nodiscard]] std::string read_zip_entry(const InputFile& file, const ZipEntry& entry);

}  // namespace tandem::io
