#include "libtorch/tempfile.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "io/scratch_file.h"

namespace torch {

using tandem::io::temporary_pattern;

TempFile::~TempFile() {
  if (fd >= 0) ::close(fd);
  if (!name.empty()) ::unlink(name.c_str());
}

TempDir::~TempDir() {
  if (!name.empty()) ::rmdir(name.c_str());
}

std::optional<TempFile> try_make_tempfile(const std::string& prefix) {
  std::string name = temporary_pattern(prefix);
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return std::nullopt;
  return std::make_optional<TempFile>(std::move(name), fd);
}

std::optional<TempDir> try_make_tempdir(const std::string& prefix) {
  std::string name = temporary_pattern(prefix);
  if (::mkdtemp(name.data()) == nullptr) return std::nullopt;
  return std::make_optional<TempDir>(std::move(name));
}

TempFile make_tempfile(const std::string& prefix) {
  auto file = try_make_tempfile(prefix);
  if (!file) tandem::fail("[make_tempfile] there can be no file ", temporary_pattern(prefix), ": ", std::strerror(errno));
  return std::move(*file);
}

TempDir make_tempdir(const std::string& prefix) {
  auto folder = try_make_tempdir(prefix);
  if (!folder) tandem::fail("[make_tempdir] there can be no folder ", temporary_pattern(prefix), ": ", std::strerror(errno));
  return std::move(*folder);
}

}  // namespace torch
