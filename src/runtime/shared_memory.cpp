#include "runtime/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "base/cgroup.h"
#include "base/error.h"

namespace tandem::runtime {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// What this process has mapped, by the file's own number.
struct Mapped {
  std::mutex mutex;
  std::map<std::pair<dev_t, ino_t>, std::weak_ptr<SharedMemory>> files;
};
Mapped& mapped() {
  static auto* all = new Mapped;  // not destroyed: static tensors may outlive it otherwise
  return *all;
}

struct stat look_at(int file) {
  struct stat found {};
  if (fstat(file, &found) != 0) fail("[shared memory] a descriptor cannot be looked at: ", std::strerror(errno));
  return found;
}

}  // namespace

SharedMemory::SharedMemory(Descriptor file, size_t bytes) : file_(std::move(file)), bytes_(bytes) {
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (address == MAP_FAILED) fail<OutOfMemoryError>("[shared memory] ", bytes, " bytes cannot be mapped: ", std::strerror(errno));
  data_ = static_cast<char*>(address);
}

SharedMemory::~SharedMemory() {
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  if (data_) munmap(data_, bytes_);
  std::erase_if(all.files, [](const auto& entry) { return entry.second.expired(); });
}

std::shared_ptr<SharedMemory> SharedMemory::create(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  Descriptor file(memfd_create("tandem-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file)
    fail("[shared memory] no new file for ", bytes, " bytes: ", std::strerror(errno),
         "; each shared tensor keeps one open: raise `ulimit -n`, or share a whole module at once by its share_memory()");
  // Reserved, so that a full machine shows here and not as SIGBUS later. What could never be had is refused before it is tried.
  int error = bytes > tandem::detail::usable_memory() ? ENOMEM : 0;
  while (error == 0 && (error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes))) == EINTR) error = 0;
  if (error != 0) fail<OutOfMemoryError>("[shared memory] ", bytes, " bytes of shared memory are refused: ", std::strerror(error));
  if (fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) fail("[shared memory] the file cannot be sealed: ", std::strerror(errno));
  const struct stat found = look_at(file.get());
  std::shared_ptr<SharedMemory> memory(new SharedMemory(std::move(file), bytes));
  const std::lock_guard lock(mapped().mutex);
  mapped().files[{found.st_dev, found.st_ino}] = memory;
  return memory;
}

std::shared_ptr<SharedMemory> SharedMemory::open(Descriptor file) {
  const struct stat found = look_at(file.get());
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW) || (seals & F_SEAL_WRITE) || found.st_size <= 0)
    fail("[shared memory] what another process sent is no shared memory: a writable memfd that is sealed against growing and shrinking");
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  auto& entry = all.files[{found.st_dev, found.st_ino}];
  if (auto known = entry.lock()) return known;
  std::shared_ptr<SharedMemory> memory(new SharedMemory(std::move(file), static_cast<size_t>(found.st_size)));
  entry = memory;
  return memory;
}

}  // namespace tandem::runtime
