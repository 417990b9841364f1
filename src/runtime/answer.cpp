#include "runtime/answer.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/descriptor.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/number_in.h"
#include "base/thread.h"
#include "runtime/allocators.h"
#include "runtime/driver.h"

namespace tandem::runtime {
namespace {

constexpr std::string_view kFirstLine = "tandem smi 1";
constexpr size_t kMostName = 120;

/// Names may hold anything: what has a meaning in our lines or on a terminal becomes a question mark.
std::string plain(std::string_view name) {
  std::string out(name.substr(0, kMostName));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

std::string program_name() {
  std::array<char, 4096> path = {};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view whole(path.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return plain(whole.substr(whole.rfind('/') + 1));
}

/// Ranks of one job and workers of one process share what they call a GPU.
std::string group_of_this_process() {
  for (const char* job : {"TANDEM_LAUNCH_TOKEN", "PMIX_NAMESPACE"})
    if (const auto value = environment(job)) return str("job-", std::hash<std::string>()(*value));
  return str("pid-", environment("TANDEM_WORKER_SOCKET") ? getppid() : getpid());
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto found = tandem::detail::number_in<Number>(text);
  number = found.value_or(Number{});
  return found.has_value();
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// --- Listening

constinit std::atomic<int> the_listener{-1};

void leave_to_parent() {
  // The child's descriptor would keep the name, with nobody behind it.
  if (const int listener = the_listener.exchange(-1); listener >= 0) close(listener);
}

bool is_own_user(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

void answer(int listener) {
  for (;;) {
    const Descriptor asking(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!asking) {
      if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK) return;
      if (errno != EINTR && errno != ECONNABORTED) poll(nullptr, 0, 100);  // no descriptors left: later there may be
      continue;
    }
    if (!is_own_user(asking.get())) continue;
    try {
      const std::string text = to_text(own_use());
      // It fits into a new socket's buffer, so nobody who does not read holds this thread up.
      (void)send(asking.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } catch (...) {  // NOLINT(bugprone-empty-catch): who asks sees that there is no answer
    }
  }
}

/// A socket that listens at a name of its own; none where the system refuses.
Descriptor listen_anew() {
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) return {};
  // The number of a process is unique in its container alone, but names are known in all of those that share a network.
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) return {};
  const std::string name = str(answer_prefix(), getpid(), '-', random);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener.get(), 64) != 0) return {};
  return listener;
}

/// The thread runs this library's code until the process ends, whatever dlclose is called on.
void keep_library_loaded() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&answer), &here) && here.dli_fname)
    (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

ProgramUse own_use() {
  static const std::string* const group = new std::string(group_of_this_process());  // not destroyed: the thread may ask until the end
  ProgramUse use{.pid = getpid(), .name = program_name(), .group = *group, .gpus = {}};
  refuse_forked();
  const Driver* const driver = runtime::driver();
  for (int i = 0; driver && i < driver->device_count(); ++i) {
    const cuda::DeviceProperties& properties = driver->properties(i);
    CachingAllocator* const allocator = detail::device_allocator_or_null(i);
    GpuUse gpu{.index = i,
               .is_virtual = properties.is_virtual,
               .name = plain(properties.name),
               .uuid = properties.uuid,
               .memory_total = properties.total_memory,
               .memory_used = allocator ? allocator->reserved_bytes() : 0,
               .tensor_bytes = allocator ? allocator->recent_peak_bytes() : 0,
               .utilization = {}};
    if (gpu.is_virtual) {  // asks nobody else
      const cuda::DeviceFigures figures = driver->figures(i);
      gpu.memory_used = figures.memory_used;
      gpu.utilization = figures.utilization;
    }
    use.gpus.push_back(std::move(gpu));
  }
  return use;
}

std::string to_text(const ProgramUse& use) {
  std::string text = str(kFirstLine, '\n', use.name, '\n', use.group, '\n');
  for (const GpuUse& gpu : use.gpus)
    text += str(gpu.index, '\t', gpu.is_virtual ? 1 : 0, '\t', gpu.uuid, '\t', gpu.memory_total, '\t', gpu.memory_used, '\t',
                gpu.tensor_bytes, '\t', gpu.utilization.value_or(-1), '\t', gpu.name, '\n');
  return text + "end\n";
}

std::optional<ProgramUse> from_text(std::string_view text) {
  if (!text.ends_with("\nend\n")) return {};
  text.remove_suffix(1);
  const auto lines = split(text, '\n');
  if (lines.size() < 4 || lines.size() > 4 + kMaxDevices || lines[0] != kFirstLine) return {};
  ProgramUse use;
  use.name = plain(lines[1]);
  use.group = plain(lines[2]);
  for (size_t i = 3; i + 1 < lines.size(); ++i) {
    const auto parts = split(lines[i], '\t');
    GpuUse gpu;
    int is_virtual = 0, utilization = -1;
    if (parts.size() != 8 || !read(parts[0], gpu.index) || !read(parts[1], is_virtual) || !read(parts[3], gpu.memory_total) ||
        !read(parts[4], gpu.memory_used) || !read(parts[5], gpu.tensor_bytes) || !read(parts[6], utilization))
      return {};
    if (gpu.index < 0 || gpu.index >= kMaxDevices || utilization < -1 || utilization > 100) return {};
    gpu.is_virtual = is_virtual == 1;
    gpu.uuid = plain(parts[2]);
    gpu.name = plain(parts[7]);
    if (utilization >= 0) gpu.utilization = utilization;
    use.gpus.push_back(std::move(gpu));
  }
  return use;
}

std::string answer_prefix() { return str("tandem-smi-", geteuid(), '-'); }

void start_answering() noexcept {
  static constinit std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  try {
    (void)tandem::detail::in_forked_children(leave_to_parent);
    Descriptor listener = listen_anew();
    if (!listener) return;
    keep_library_loaded();
    const int number = listener.get();
    the_listener.store(number);
    tandem::detail::start_thread("tandem-smi", [number] { answer(number); }).detach();
    (void)listener.release();
  } catch (...) {
    the_listener.store(-1);
  }
}

}  // namespace tandem::runtime
