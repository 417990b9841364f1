// Files as io/ needs them: written whole or not at all, read at positions. Errors name the operation, the file and the system's reason.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tandem::io {

/// What is done where the folder that a file is to lie in is not there. As in PyTorch, NumPy and PIL, a file of data that a program saves
/// is refused: its name may be mistyped. Reports, traces and snapshots, which are often asked for from outside the program, make it.
enum class MissingFolder { IsRefused, IsMade };

/// A new file that takes its name only when it is complete. Without `commit` it leaves nothing behind.
///
/// Where `path` is a symbolic link, the file it leads to is replaced. A file that is replaced hands on its mode and, where the system
/// allows it, its owner. Until then the bytes are in a temporary beside it, which is locked as long as its writer lives: the first
/// AtomicFile of a folder removes those whose writers were killed, in whichever container or on whichever host that was.
class AtomicFile {
 public:
  /// Starts a file beside `path`. `op` is named in errors. Error where `path` is a folder, a pipe or a device.
  AtomicFile(const char* op, std::string path, MissingFolder missing = MissingFolder::IsRefused);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, size_t bytes);
  /// Flushes the bytes to the disk: for files that are to take their names together, so that only renaming is left.
  void flush();
  /// Flushes the bytes to the disk, renames the file to its path and flushes that, too.
  void commit();

 private:
  [[noreturn]] void fail_with(const char* doing) const;
  void open_temporary(mode_t mode);

  const char* op_;
  std::string path_, target_, temporary_;  // as it was given, where links lead, and what is written
  int descriptor_ = -1;
};

/// Writes a file whole or not at all. `op` is named in errors.
void write_file(const char* op, const std::string& path, std::string_view bytes, MissingFolder missing = MissingFolder::IsRefused);

/// Calls a system function until no signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Writes at least one byte, and says how many; -1, with errno set, where that fails. A file that would grow past the process's limit is
/// such a failure, EFBIG, and no signal that ends the program.
[[nodiscard]] ssize_t write_some(int descriptor, const void* data, size_t bytes);

/// A file to read from: a regular one, so that opening and reading it never wait for anything but a disk.
class InputFile {
 public:
  InputFile(const char* op, std::string path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Reads exactly `bytes` from `offset` on. Error where the file ends before.
  void read(void* data, size_t bytes, uint64_t offset) const;
  [[nodiscard]] std::string read(size_t bytes, uint64_t offset) const;
  /// The whole file as memory, read from the disk as it is used. What is changed there stays out of the file. It outlives the InputFile;
  /// where the file is shortened meanwhile, what is gone ends the program. nullptr where the system has no room for it.
  [[nodiscard]] std::shared_ptr<char> map() const;
  /// What errors begin with: `[op] path: `.
  [[nodiscard]] std::string what() const;
  /// Throws `[op] path: what is wrong`.
  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const;

 private:
  const char* op_;
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace tandem::io

#include "base/error.h"

template <class... Parts>
void tandem::io::InputFile::bad(const Parts&... parts) const {
  fail(what(), parts...);
}
