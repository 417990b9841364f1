// Archives as .npz and .pt files are: entries by name, stored or deflated, without encryption; beyond 4 GiB, too (zip64).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "io/inflate.h"

namespace tandem::io {

/// Writes an archive with stored entries. Numbers of `wide_from` and more are written as zip64 has them.
class ZipWriter {
 public:
  static constexpr uint64_t kMostNarrow = 0xfffffffe;

  ZipWriter(AtomicFile& file, const char* op, std::string path, uint64_t wide_from = kMostNarrow + 1)
      : file_(file), op_(op), path_(std::move(path)), wide_from_(wide_from) {}
  /// An entry whose bytes are `head` and then `data`.
  void add(const std::string& name, std::string_view head, std::string_view data);
  /// Writes the directory, which ends the archive.
  void finish();

 private:
  AtomicFile& file_;
  const char* op_;
  std::string path_;
  const uint64_t wide_from_;
  std::string directory_;
  uint64_t offset_ = 0, entries_ = 0;
};

struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t compressed = 0, size = 0;  // bytes
  uint64_t header = 0, begin = 0;     // where the entry's own header begins, and its bytes
};

/// What the archive's directory lists, in the order of the file. Error where it is damaged, and where entries share bytes: so all of them
/// together unpack to no more than deflate can make of the file.
[[nodiscard]] std::vector<ZipEntry> read_zip_directory(const InputFile& file);

/// An entry's bytes from front to back, unpacked.
class ZipEntryReader {
 public:
  ZipEntryReader(const InputFile& file, const ZipEntry& entry);
  ZipEntryReader(const ZipEntryReader&) = delete;
  ZipEntryReader& operator=(const ZipEntryReader&) = delete;

  /// Exactly `bytes` more. Error where there are fewer.
  void read(void* to, size_t bytes);
  /// Passes over the rest.
  void skip();
  /// To be called when all were read. Error where there are more, or where they do not fit the checksum.
  void finish();

 private:
  [[nodiscard]] std::string_view next_piece();
  [[noreturn]] void bad_size() const;

  const InputFile& file_;
  const ZipEntry& entry_;
  uint64_t offset_ = 0;  // of the entry's bytes, as they lie in the file
  uint64_t given_ = 0;   // bytes, unpacked
  uint32_t crc_ = 0;
  std::string piece_;
  std::optional<Inflater> inflater_;
};

}  // namespace tandem::io
