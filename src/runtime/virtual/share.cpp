#include "runtime/virtual/share.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <new>
#include <string>

#include "base/error.h"
#include "base/futex.h"

namespace tandem::runtime::virtual_gpu {
namespace {

constexpr size_t kPage = 4096;
constexpr uint32_t kMagic = 0x76736874;

struct Note {
  uint32_t magic;
  int32_t process, file;
  uint64_t inode, offset, bytes;
  char uuid[40];
};
static_assert(sizeof(Note) <= sizeof(ShareHandle));

ino_t inode_of(int file) {
  struct stat found {};
  return fstat(file, &found) == 0 ? found.st_ino : 0;
}

char* map(int file, uint64_t offset, size_t bytes, int access) {
  void* const address = mmap(nullptr, bytes, access, MAP_SHARED, file, static_cast<off_t>(offset));
  return address == MAP_FAILED ? nullptr : static_cast<char*>(address);
}

}  // namespace

ShareHandle share_file(int file, uint64_t offset, uint64_t bytes, std::string_view uuid) {
  Note note{kMagic, getpid(), file, inode_of(file), offset, bytes, {}};
  uuid.copy(note.uuid, sizeof note.uuid - 1);
  ShareHandle handle;
  std::memcpy(handle.bytes.data(), &note, sizeof note);
  return handle;
}

OpenedMemory::OpenedMemory(const ShareHandle& handle, std::string_view uuid) {
  Note note;
  std::memcpy(&note, handle.bytes.data(), sizeof note);
  note.uuid[sizeof note.uuid - 1] = 0;
  if (note.magic != kMagic) fail("[open_memory] these bytes are no handle of a virtual GPU's memory");
  if (uuid != note.uuid) fail("[open_memory] the handle is of GPU ", std::string(note.uuid), ", not of ", std::string(uuid));
  const std::string path = str("/proc/", note.process, "/fd/", note.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const int error = errno;
  if (file < 0 || inode_of(file) != note.inode) {  // a number may have been given to another file since
    if (file >= 0) close(file);
    fail("[open_memory] the memory of process ", note.process,
         " cannot be opened: ", file < 0 && error != ENOENT ? std::strerror(error) : "the process has ended, or given it back");
  }
  struct stat found {};
  if (fstat(file, &found) != 0 || note.bytes == 0 || note.offset > static_cast<uint64_t>(found.st_size) ||
      note.bytes > static_cast<uint64_t>(found.st_size) - note.offset) {
    close(file);
    fail("[open_memory] the handle names ", note.bytes, " bytes at ", note.offset, ", which are not in the memory of process ",
         note.process);
  }
  bytes_ = note.bytes;
  kernels_ = map(file, note.offset, bytes_, PROT_READ | PROT_WRITE);
  user_ = map(file, note.offset, bytes_, PROT_NONE);
  close(file);
  if (kernels_ && user_) return;
  if (kernels_) munmap(kernels_, bytes_);
  if (user_) munmap(user_, bytes_);
  fail("[open_memory] ", bytes_, " bytes of process ", note.process, " cannot be mapped: no addresses are left");
}

OpenedMemory::~OpenedMemory() {
  munmap(user_, bytes_);
  munmap(kernels_, bytes_);
}

// --- Events

struct SharedClock::Page {
  std::atomic<uint64_t> recorded{0}, passed{0};
  std::atomic<int32_t> recorder{0};  // the process that made the last record
  std::atomic<uint32_t> word{0};     // changes with `passed`
};

SharedClock::SharedClock(std::string_view uuid) : uuid_(uuid) {
  file_ = memfd_create("tandem-event", MFD_CLOEXEC);
  char* const page = file_ >= 0 && posix_fallocate(file_, 0, kPage) == 0 ? map(file_, 0, kPage, PROT_READ | PROT_WRITE) : nullptr;
  if (!page) {
    if (file_ >= 0) close(file_);
    fail("[Event] no memory for an event that other processes can open");
  }
  page_ = new (page) Page;
}

SharedClock::SharedClock(const ShareHandle& handle, std::string_view uuid)
    : uuid_(uuid),
      opened_(std::make_unique<OpenedMemory>(handle, uuid)),
      page_(std::launder(reinterpret_cast<Page*>(opened_->kernels()))) {}

SharedClock::~SharedClock() {
  if (file_ < 0) return;
  munmap(page_, kPage);
  close(file_);
}

ShareHandle SharedClock::share() const {
  if (file_ < 0) fail("[ipc_handle] the event was opened from another process: its handle comes from there");
  return share_file(file_, 0, kPage, uuid_);
}

uint64_t SharedClock::record() {
  page_->recorder.store(getpid());
  return page_->recorded.fetch_add(1) + 1;
}

uint64_t SharedClock::recorded() const { return page_->recorded.load(); }

void SharedClock::pass(uint64_t number) {
  uint64_t before = page_->passed.load();
  while (before < number && !page_->passed.compare_exchange_weak(before, number)) {
  }
  page_->word.fetch_add(1);
  tandem::detail::futex_wake(page_->word, INT_MAX, tandem::detail::Futex::Shared);
}

bool SharedClock::passed(uint64_t number) const { return page_->passed.load() >= number; }

void SharedClock::wait(uint64_t number, const std::atomic<bool>* stopping) const {
  const timespec limit{0, 20'000'000};  // then look whether there is still somebody to wait for
  for (;;) {
    const uint32_t word = page_->word.load();
    if (passed(number) || (stopping && stopping->load(std::memory_order_relaxed))) return;
    const int recorder = page_->recorder.load();
    if (kill(recorder, 0) != 0 && errno == ESRCH && !passed(number))
      fail("[wait_event] process ", recorder, " has ended before its stream came to the event");
    tandem::detail::futex_wait(page_->word, word, &limit, tandem::detail::Futex::Shared);
  }
}

}  // namespace tandem::runtime::virtual_gpu
