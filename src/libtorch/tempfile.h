// Files and folders that are gone at the end of the scope: c10::make_tempfile.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace torch {

/// A file of its own name, open and empty; removed in the end.
struct TempFile {
  TempFile(std::string name_, int fd_) : fd(fd_), name(std::move(name_)) {}
  TempFile(TempFile&& other) noexcept : fd(std::exchange(other.fd, -1)), name(std::exchange(other.name, {})) {}
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile();

  int fd;
  std::string name;
};

/// A folder of its own name; removed in the end if nothing is left in it.
struct TempDir {
  explicit TempDir(std::string name_) : name(std::move(name_)) {}
  TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, {})) {}
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  std::string name;
};

/// In $TMPDIR, or /tmp: its name is `prefix` and six letters. Error where there can be none; nothing from the forms that try.
[[nodiscard]] TempFile make_tempfile(const std::string& prefix = "torch-file-");
[[nodiscard]] std::optional<TempFile> try_make_tempfile(const std::string& prefix = "torch-file-");
[[nodiscard]] TempDir make_tempdir(const std::string& prefix = "torch-dir-");
[[nodiscard]] std::optional<TempDir> try_make_tempdir(const std::string& prefix = "torch-dir-");

}  // namespace torch
