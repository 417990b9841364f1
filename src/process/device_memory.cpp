#include "process/device_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/work_site.h"
#include "process/watcher.h"
#include "runtime/driver.h"
#include "runtime/free_blocks.h"
#include "runtime/observer.h"
#include "runtime/stream_record.h"
#include "tensor/storage.h"

namespace tandem::multiprocessing::detail {
namespace {

/// A piece of another process's memory as this one has it open: all of a segment, since that is what real GPUs can open.
class OpenedSegment {
 public:
  OpenedSegment(int device, const runtime::ShareHandle& handle) : device_(device) {
    address_ = static_cast<char*>(runtime::require_driver().open_memory(device, handle));
  }
  ~OpenedSegment() {
    if (runtime::Driver* const driver = runtime::own_driver()) driver->close_memory(device_, address_);
  }
  OpenedSegment(const OpenedSegment&) = delete;
  OpenedSegment& operator=(const OpenedSegment&) = delete;
  [[nodiscard]] char* address() const { return address_; }

 private:
  const int device_;
  char* address_ = nullptr;
};

struct Opened {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<OpenedSegment>> segments;  // by their handles
};
Opened& opened() {
  static auto* all = new Opened;  // not destroyed: static tensors may outlive it otherwise
  return *all;
}

std::shared_ptr<OpenedSegment> open_segment(int device, const runtime::ShareHandle& handle) {
  const std::string key(reinterpret_cast<const char*>(handle.bytes.data()), handle.bytes.size());
  const std::lock_guard lock(opened().mutex);
  std::erase_if(opened().segments, [](const auto& entry) { return entry.second.expired(); });
  auto& entry = opened().segments[key];
  auto segment = entry.lock();
  if (!segment) entry = segment = std::make_shared<OpenedSegment>(device, handle);
  return segment;
}

/// Somebody else's memory in this process, and what must be known to send it on.
struct Borrowed {
  int device;
  runtime::ShareHandle handle;
  uint64_t segment_bytes, offset;
  std::shared_ptr<OpenedSegment> segment;
  std::shared_ptr<const Descriptor> lease;  // closed when nobody here uses the memory: then its owner may have it back
};

// The storage's last holder has let go; what is queued may still use the memory.
void give_back(void* context) {
  std::unique_ptr<Borrowed> borrowed(static_cast<Borrowed*>(context));
  runtime::Driver* const driver = runtime::own_driver();
  if (!driver) return;
  try {
    const runtime::StreamHandle stream = runtime::current_stream(borrowed->device)->handle;
    if (driver->capturing(stream)) return;
    auto* const lease = new std::shared_ptr<const Descriptor>(std::move(borrowed->lease));
    driver->host_function(
        stream, [](void* last) { delete static_cast<std::shared_ptr<const Descriptor>*>(last); }, lease);
  } catch (const std::exception&) {
    // Nothing can be queued any more: the program is ending.
  }
}

struct Note {
  int32_t device;
  uint64_t segment_bytes, offset, bytes;
  runtime::ShareHandle handle;
};

/// Error unless all of the segment is open. A real GPU's cannot be asked; a virtual one's has another address for users as far as it
/// reaches, at one distance.
void check_reach(const Note& note, char* first, const char* op) {
  if (!runtime::devices_are_virtual()) return;
  const runtime::Driver& driver = runtime::require_driver();
  // As numbers: so far beyond its end a pointer may not point.
  const uintptr_t begin = reinterpret_cast<uintptr_t>(first), last = begin + note.segment_bytes - 1;
  const auto user = [&](uintptr_t address) {
    return reinterpret_cast<uintptr_t>(driver.user_address(note.device, reinterpret_cast<void*>(address)));
  };
  if (user(last) == last || user(last) - user(begin) != last - begin)
    refuse(op, str("a GPU's memory is announced with ", note.segment_bytes, " bytes, and has fewer"));
}

const Borrowed* borrowed_of(const Storage& storage) { return static_cast<const Borrowed*>(storage.context_of(give_back)); }

}  // namespace

void put_device_memory(Parcel& parcel, const Storage& storage) {
  const int device = storage.device().index();
  runtime::Driver& driver = runtime::require_driver();
  {
    const runtime::StreamRecord* const stream = runtime::current_stream(device);
    using runtime::facts::Wait;
    const runtime::Telling told([&] {
      return Wait{.kind = Wait::Stream,
                  .op = parcel.op(),
                  .site = tandem::detail::site_of_work(Site::none()),
                  .device = gpu(device),
                  .stream = stream};
    });
    driver.synchronize_stream(stream->handle, Site::none());
  }
  Note note{device, 0, 0, storage.bytes(), {}};
  if (const Borrowed* const borrowed = borrowed_of(storage)) {
    note.segment_bytes = borrowed->segment_bytes;
    note.offset = borrowed->offset;
    note.handle = borrowed->handle;
    parcel.put(note);
    parcel.put_file(borrowed->lease->get(), borrowed->lease);
    return;
  }
  const auto* const block = static_cast<const runtime::Block*>(storage.block());
  if (!block) fail('[', parcel.op(), "] the tensor is in memory that the library did not allocate: send a clone() of it");
  const runtime::Segment& segment = *block->segment;
  note.segment_bytes = segment.size;
  note.offset = static_cast<uint64_t>(static_cast<const char*>(storage.data()) - segment.address);
  note.handle = driver.share_memory(device, segment.address, segment.size);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail('[', parcel.op(), "] no new pipe: ", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
  auto kept = std::make_shared<Descriptor>(ends[0]);
  const auto lease = std::make_shared<const Descriptor>(ends[1]);
  watch(kept->get(), [kept, storage = Ref<Storage>(const_cast<Storage*>(&storage))]() mutable {
    storage = nullptr;
    kept.reset();
  });
  parcel.put(note);
  parcel.put_file(lease->get(), lease);
}

Ref<Storage> take_device_memory(Received& received) {
  const auto note = received.take<Note>();
  auto lease = std::make_shared<const Descriptor>(received.take_file());
  if (note.device < 0 || note.device >= num_gpus())
    refuse(received.op(), str("cuda:", note.device, " is not here, where there are ", num_gpus(), " GPUs"));
  if (note.segment_bytes == 0 || note.offset > note.segment_bytes || note.bytes > note.segment_bytes - note.offset)
    refuse(received.op(), str(note.bytes, " bytes at ", note.offset, " are outside of a GPU's memory of ", note.segment_bytes));
  auto segment = open_segment(note.device, note.handle);
  check_reach(note, segment->address(), received.op());
  char* const address = segment->address() + note.offset;
  auto borrowed =
      std::make_unique<Borrowed>(Borrowed{note.device, note.handle, note.segment_bytes, note.offset, std::move(segment), std::move(lease)});
  return Ref<Storage>(new Storage(gpu(note.device), address, note.bytes, give_back, borrowed.release()));
}

}  // namespace tandem::multiprocessing::detail
