#include "io/event_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/event_file.h"

namespace tandem::io {
namespace {

constexpr size_t kHead = 12, kTail = 4;  // a length and its checksum; the bytes' checksum
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

/// A regular file, open for reading; never waits for who writes a pipe.
class File {
 public:
  File(const char* op, const std::string& path) : op_(op), path_(path) {
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat found = {};
    if (descriptor_ < 0 || fstat(descriptor_, &found) != 0) fail_with("cannot be read");
    if (!S_ISREG(found.st_mode)) fail_closing(" is no regular file");
    size_ = static_cast<uint64_t>(found.st_size);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] std::string read(uint64_t offset, size_t bytes) {
    bytes = static_cast<size_t>(std::min<uint64_t>(bytes, offset < size_ ? size_ - offset : 0));
    std::string out(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = pread(descriptor_, out.data() + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_with("cannot be read");
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    out.resize(done);
    return out;
  }

 private:
  [[noreturn]] void fail_with(const char* what) {
    const int error = errno;
    fail_closing(str(" ", what, ": ", std::strerror(error)));
  }
  [[noreturn]] void fail_closing(const std::string& what) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
    fail("[", op_, "] ", path_, what);
  }

  const char* op_;
  const std::string& path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

bool EventReader::read(const Take& take, size_t most) {
  File file("read events", path_);
  if (file.size() < offset_)
    fail<ShorterError>("[read events] ", path_, " has become shorter: it had ", offset_, " bytes, and has ", file.size());
  size_t wanted = std::max(most, kHead);
  for (;;) {
    const std::string part = file.read(offset_, wanted);
    std::string_view rest = part;
    size_t whole = 0;
    while (rest.size() >= kHead) {
      const auto length = number_at<uint64_t>(rest, 0);
      if (number_at<uint32_t>(rest, 8) != masked_crc32c(rest.substr(0, 8)) || length > kMostBytes)
        fail("[read events] ", path_, " is damaged: the record at byte ", offset_, " has a length that is not its own");
      whole = kHead + static_cast<size_t>(length) + kTail;
      if (rest.size() < whole) break;
      const std::string_view record = rest.substr(kHead, static_cast<size_t>(length));
      if (number_at<uint32_t>(rest, whole - kTail) != masked_crc32c(record))
        fail("[read events] ", path_, " is damaged: the checksum of the record at byte ", offset_, " is wrong");
      const uint64_t offset = offset_ + kHead;
      offset_ += whole;
      rest.remove_prefix(whole);
      take(record, offset);
    }
    if (rest.size() < part.size()) return part.size() == wanted;
    if (part.size() < wanted) return false;  // the last record is not whole yet
    wanted = whole;                          // one that is larger than what was to be read at once
  }
}

std::string read_part(const char* op, const std::string& path, uint64_t offset, size_t bytes) { return File(op, path).read(offset, bytes); }

}  // namespace tandem::io
