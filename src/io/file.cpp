// Plain POSIX calls, since only they give fsync and the system's reason for a failure.
#include "io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace tandem::io {
namespace {

/// The system writes and reads at most 2 GiB a call.
constexpr size_t kMostBytesACall = size_t{1} << 30;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

AtomicFile::AtomicFile(const char* op, std::string path) : op_(op), path_(std::move(path)) {
  static std::atomic<unsigned> count{0};
  // Unique among threads and processes, so that two that save to one path each complete their own file.
  temporary_ = str(path_, ".", static_cast<int>(getpid()), "-", count.fetch_add(1), ".tmp");
  struct stat status = {};
  if (stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    fail("[", op_, "] ", path_, ": cannot write the file: this is a folder");
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with("cannot create the file");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail_with(const char* doing) const { fail("[", op_, "] ", path_, ": ", doing, ": ", std::strerror(errno)); }

void AtomicFile::write(const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, at, std::min(bytes, kMostBytesACall));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with("cannot write the file");
    at += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) fail_with("cannot flush the file to the disk");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with("cannot rename the finished file");
  close(std::exchange(descriptor_, -1));
  // The new name is safe only once the folder is flushed. Some file systems refuse that; the content is whole all the same.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

void write_file(const char* op, const std::string& path, std::string_view bytes) {
  AtomicFile file(op, path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

void remove_leftovers(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string prefix = whole.filename().string() + ".";
  std::error_code error;
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), error)) {
    const std::string name = entry.path().filename().string();
    int process = 0, number = 0, end = 0;
    if (!name.starts_with(prefix)) continue;
    if (std::sscanf(name.c_str() + prefix.size(), "%d-%d.tmp%n", &process, &number, &end) != 2) continue;
    if (end == 0 || prefix.size() + static_cast<size_t>(end) != name.size()) continue;
    if (process > 0 && (kill(process, 0) == 0 || errno != ESRCH)) continue;
    leftovers.push_back(entry.path());
  }
  for (const auto& leftover : leftovers) std::filesystem::remove(leftover, error);
}

InputFile::InputFile(const char* op, std::string path) : op_(op), path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) bad("cannot open the file: ", std::strerror(errno));
  struct stat status = {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(std::exchange(descriptor_, -1));
    bad("cannot read this: it is not a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string InputFile::what() const { return str("[", op_, "] ", path_, ": "); }

std::string InputFile::read(size_t bytes, uint64_t offset) const {
  std::string text(bytes, '\0');
  read(text.data(), bytes, offset);
  return text;
}

void InputFile::read(void* data, size_t bytes, uint64_t offset) const {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, at, std::min(bytes, kMostBytesACall), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) bad("cannot read the file: ", std::strerror(errno));
    if (got == 0) bad("the file ends at byte ", offset, ", ", bytes, " bytes too early");
    at += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
}

}  // namespace tandem::io
