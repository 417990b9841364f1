#include "libtorch/tempfile.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace torch {

namespace {
std::string pattern(const std::string& prefix) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/" + prefix + "XXXXXX";
}
}  // namespace

TempFile::~TempFile() {
  if (fd >= 0) ::close(fd);
  if (!name.empty()) ::unlink(name.c_str());
}

TempDir::~TempDir() {
  if (!name.empty()) ::rmdir(name.c_str());
}

std::optional<TempFile> try_make_tempfile(const std::string& prefix) {
  std::string name = pattern(prefix);
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return std::nullopt;
  return std::make_optional<TempFile>(std::move(name), fd);
}

std::optional<TempDir> try_make_tempdir(const std::string& prefix) {
  std::string name = pattern(prefix);
  if (::mkdtemp(name.data()) == nullptr) return std::nullopt;
  return std::make_optional<TempDir>(std::move(name));
}

TempFile make_tempfile(const std::string& prefix) {
  auto file = try_make_tempfile(prefix);
  if (!file) tandem::fail("[make_tempfile] there can be no file ", pattern(prefix), ": ", std::strerror(errno));
  return std::move(*file);
}

TempDir make_tempdir(const std::string& prefix) {
  auto folder = try_make_tempdir(prefix);
  if (!folder) tandem::fail("[make_tempdir] there can be no folder ", pattern(prefix), ": ", std::strerror(errno));
  return std::move(*folder);
}

}  // namespace torch
