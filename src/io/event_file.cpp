#include "io/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "io/file.h"

namespace tandem::io {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1U ^ ((remainder & 1U) != 0 ? 0x82f63b78U : 0U);
    table[byte] = remainder;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string host_name() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

/// The time in ten digits, so that names sort by it.
std::string file_name() {
  static std::atomic<unsigned> count{0};  // two of one process in the same second
  const std::string seconds = tandem::detail::formatted("%010lld", static_cast<long long>(std::time(nullptr)));
  return str("events.out.tfevents.", seconds, ".", host_name(), ".", static_cast<int>(getpid()), ".", count.fetch_add(1));
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xffU] ^ crc >> 8U;
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15U | crc << 17U) + 0xa282ead8U;
}

std::string event_frame(std::string_view bytes) {
  std::string frame;
  frame.reserve(bytes.size() + 16);
  put<uint64_t>(frame, bytes.size());
  put<uint32_t>(frame, masked_crc32c(frame));
  frame += bytes;
  put<uint32_t>(frame, masked_crc32c(bytes));
  return frame;
}

EventFile::EventFile(const char* op, const std::string& folder) : op_(op) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("[", op_, "] cannot make the folder ", folder, ": ", error.message());
  // Where the clock was set back, or stands still between a container's starts, a file of that name may be there already.
  do {
    path_ = (std::filesystem::path(folder) / file_name()).string();
    descriptor_ = uninterrupted([&] { return open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666); });
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_with("cannot create the file");
}

EventFile::~EventFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void EventFile::fail_with(const char* doing) const { fail("[", op_, "] ", path_, ": ", doing, ": ", std::strerror(errno)); }

void EventFile::cut_back() {
  if (uninterrupted([&] { return ftruncate(descriptor_, static_cast<off_t>(whole_)); }) != 0) fail_with("cannot take back half a record");
  torn_ = false;
}

void EventFile::add(std::string_view record) {
  const std::string frame = event_frame(record);
  // A piece of a record would make a reader give up on all that follows.
  if (torn_) cut_back();
  for (size_t done = 0; done < frame.size();) {
    const ssize_t written = write_some(descriptor_, frame.data() + done, frame.size() - done);
    if (written < 0) {
      const int reason = errno;
      if (torn_) cut_back();
      errno = reason;
      fail_with("cannot write the file");
    }
    done += static_cast<size_t>(written);
    torn_ = done < frame.size();
  }
  whole_ += frame.size();
}

void EventFile::flush() {
  if (uninterrupted([&] { return fsync(descriptor_); }) != 0) fail_with("cannot flush the file to the disk");
}

}  // namespace tandem::io
