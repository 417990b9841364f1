// Plain POSIX calls, since only they give fsync and the system's reason for a failure.
#include "io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tandem::io {
namespace {

/// The system writes and reads at most 2 GiB a call.
constexpr size_t kMostBytesACall = size_t{1} << 30;

/// A temporary is called NAME.tandem-0123456789abcdef.tmp. The number is random: a process number would be the same in each container.
constexpr std::string_view kMark = ".tandem-", kDigits = "0123456789abcdef", kEnd = ".tmp";
constexpr size_t kNumberDigits = 16;

std::string temporary_name(const std::string& path) {
  std::array<unsigned char, kNumberDigits / 2> bytes = {};
  if (uninterrupted([&] { return getrandom(bytes.data(), bytes.size(), 0); }) != static_cast<ssize_t>(bytes.size())) return {};
  std::string name = path;
  name += kMark;
  for (const unsigned char byte : bytes) {
    name += kDigits[byte >> 4U];
    name += kDigits[byte & 15U];
  }
  return name += kEnd;
}

bool is_temporary(std::string_view name) {
  constexpr size_t kTail = kMark.size() + kNumberDigits + kEnd.size();
  if (name.size() <= kTail) return false;
  name.remove_prefix(name.size() - kTail);
  return name.starts_with(kMark) && name.ends_with(kEnd) &&
         name.substr(kMark.size(), kNumberDigits).find_first_not_of(kDigits) == std::string_view::npos;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What a path leads to through symbolic links, whether it exists or not; empty, with errno set, where they go round in circles.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the system's own limit
  std::filesystem::path at = path;
  std::error_code none;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(at, none)) return at.string();
    at = at.parent_path() / std::filesystem::read_symlink(at, none);
  }
  errno = ELOOP;
  return {};
}

/// Takes a file that nobody has locked. The lock ends with its holder, however that ends, and is seen from every container and, on volumes
/// that know locks, from every host.
bool lock(int descriptor) {
  return uninterrupted([&] { return flock(descriptor, LOCK_EX | LOCK_NB); }) == 0;
}

/// Removes the temporaries in a folder whose writers are dead.
void remove_leftovers(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_temporary(entry->path().filename().string())) found.push_back(entry->path().string());
  for (const std::string& path : found) {
    const int descriptor = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (lock(descriptor)) unlink(path.c_str());
    close(descriptor);
  }
}

/// The same, once for each folder.
void remove_leftovers_once(const std::string& folder) {
  static std::mutex mutex;
  static auto& looked_at = *new std::set<std::string>;  // lives on for threads that save while the program ends
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(folder, error).string();
  {
    const std::lock_guard guard(mutex);
    if (!looked_at.insert(absolute).second) return;
  }
  remove_leftovers(absolute);
}

/// Where a file that is not there was looked for.
std::string advice_for_missing(const std::string& path) {
  if (path.empty()) return "; give its path";
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error), folder = whole.parent_path();
  if (error) return "";
  if (!std::filesystem::is_directory(folder, error)) return "; there is no folder " + folder.string();
  return "; the folder " + folder.string() + " has no such file";
}

/// Sees to it that the folder of `target`, where links from `path` lead, is there: with `IsMade` it is made, with those above it.
void need_folder_of(const char* op, const std::string& path, const std::string& target, MissingFolder missing) {
  const std::string folder = folder_of(target);
  std::error_code error;
  if (missing == MissingFolder::IsRefused) {
    if (std::filesystem::is_directory(folder, error)) return;
    if (std::filesystem::exists(folder, error))
      fail("[", op, "] ", path, ": cannot create the file: ", folder, " is no folder: give another path");
    if (error) return;  // what is wrong is told by the file's opening
    fail("[", op, "] ", path, ": cannot create the file: there is no folder ", folder, ": make it first");
  }
  std::filesystem::create_directories(folder, error);
  if (error) fail("[", op, "] ", path, ": cannot make its folder ", folder, ": ", error.message());
}

}  // namespace

AtomicFile::AtomicFile(const char* op, std::string path, MissingFolder missing)
    : op_(op), path_(std::move(path)), target_(behind_links(path_)) {
  if (target_.empty()) fail_with("cannot create the file");
  struct stat old = {};
  const bool replaces = stat(path_.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) fail("[", op, "] ", path_, ": cannot write the file: this is a folder");
  if (replaces && !S_ISREG(old.st_mode)) fail("[", op, "] ", path_, ": cannot write the file: this is a pipe or a device, no regular file");
  need_folder_of(op, path_, target_, missing);
  remove_leftovers_once(folder_of(target_));
  // What only the owner may read is at no moment there for others.
  open_temporary(replaces ? 0600 : 0666);
  if (!replaces) return;
  mode_t mode = old.st_mode & 0777U;
  if (fchown(descriptor_, old.st_uid, old.st_gid) != 0 && fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode &= 0707U | (mode & 7U) << 3U;  // another group, which may do no more than everyone
  (void)fchmod(descriptor_, mode);      // a file system without modes refuses this
}

void AtomicFile::open_temporary(mode_t mode) {
  constexpr int kMostAttempts = 100;
  for (int i = 0; i < kMostAttempts; ++i) {
    temporary_ = temporary_name(target_);
    if (temporary_.empty()) fail_with("cannot have a random number for a temporary's name");
    descriptor_ = uninterrupted([&] { return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
    if (descriptor_ < 0 && errno != EEXIST) break;
    if (descriptor_ < 0) continue;
    // Between its making and its locking another process may have taken it for a leftover: then it is gone, or will be at once.
    const bool in_others_hands = !lock(descriptor_) && errno == EWOULDBLOCK;
    if (!in_others_hands && access(temporary_.c_str(), F_OK) == 0) return;
    unlink(temporary_.c_str());
    close(std::exchange(descriptor_, -1));
  }
  fail_with("cannot create the file");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  unlink(temporary_.c_str());
  close(descriptor_);
}

void AtomicFile::fail_with(const char* doing) const { fail("[", op_, "] ", path_, ": ", doing, ": ", std::strerror(errno)); }

void AtomicFile::write(const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write_some(descriptor_, at, bytes);
    if (written < 0) fail_with("cannot write the file");
    at += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::flush() {
  if (uninterrupted([&] { return fsync(descriptor_); }) != 0) fail_with("cannot flush the file to the disk");
}

void AtomicFile::commit() {
  flush();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with("cannot rename the finished file");
  close(std::exchange(descriptor_, -1));  // all bytes are on the disk, so there is nothing left that could fail
  // The new name is safe only once the folder is flushed. Some file systems have no such call; what is told here is that a disk failed.
  const int folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  const int flushed = uninterrupted([&] { return fsync(folder); }), reason = errno;
  close(folder);
  errno = reason;
  if (flushed != 0 && (reason == EIO || reason == ENOSPC || reason == EDQUOT))
    fail_with("the file is written, but cannot flush its folder to the disk");
}

void write_file(const char* op, const std::string& path, std::string_view bytes, MissingFolder missing) {
  AtomicFile file(op, path, missing);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

ssize_t write_some(int descriptor, const void* data, size_t bytes) {
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  ssize_t written = uninterrupted([&] { return ::write(descriptor, data, std::min(bytes, kMostBytesACall)); });
  int reason = errno;
  if (written == 0) {  // no disk does this, but a caller's loop would never end
    written = -1;
    reason = EIO;
  }
  const bool raised = written < 0 && reason == EFBIG && sigismember(&before, SIGXFSZ) == 0;
  if (const timespec at_once = {}; raised) sigtimedwait(&limit, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return written;
}

InputFile::InputFile(const char* op, std::string path) : op_(op), path_(std::move(path)) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  descriptor_ = uninterrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
  if (descriptor_ < 0) {
    const int reason = errno;
    bad("cannot open the file: ", std::strerror(reason), reason == ENOENT ? advice_for_missing(path_) : "");
  }
  struct stat status = {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(std::exchange(descriptor_, -1));
    bad("cannot read this: it is ", S_ISDIR(status.st_mode) ? "a folder" : "not a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::shared_ptr<char> InputFile::map() const {
  if (size_ == 0) return nullptr;
  void* const data = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor_, 0);
  if (data == MAP_FAILED) return nullptr;
  return {static_cast<char*>(data), [size = size_](char* mapped) { munmap(mapped, size); }};
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
    const ssize_t got = uninterrupted([&] { return pread(descriptor_, at, std::min(bytes, kMostBytesACall), static_cast<off_t>(offset)); });
    if (got < 0) bad("cannot read the file: ", std::strerror(errno));
    if (got == 0) bad("the file ends at byte ", offset, ", ", bytes, " bytes too early");
    at += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
}

}  // namespace tandem::io
