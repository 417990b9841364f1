#include "observe/smi/smi_ask.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "base/descriptor.h"

namespace tandem::smi::detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostPrograms = 256;
constexpr size_t kMostBytes = size_t{64} << 10;  // of an answer

/// The names of abstract sockets are listed with an @ in place of the zero that they begin with.
std::set<std::string> names_of_programs() {
  const std::string prefix = "@" + runtime::answer_prefix();
  std::set<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; names.size() < kMostPrograms && std::getline(sockets, line);) {
    const size_t at = line.find(prefix);
    if (at != std::string::npos && line.size() - at < sizeof(sockaddr_un::sun_path)) names.insert(line.substr(at + 1));
  }
  return names;
}

/// A program that is being asked.
struct Asked {
  Descriptor socket;
  int64_t pid = 0;
  std::string text;
};

/// Nothing where nobody of this user listens there, or whoever does has too many waiting.
Asked connect_to(const std::string& name) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!socket || connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return {};
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid() || who.pid == getpid()) return {};
  return {std::move(socket), who.pid, {}};
}

/// Reads what there is; whether there may be more.
bool read_more(Asked& asked) {
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t size = recv(asked.socket.get(), part.data(), part.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (size == 0) return false;
    asked.text.append(part.data(), static_cast<size_t>(size));
    if (asked.text.size() > kMostBytes) {
      asked.text.clear();
      return false;
    }
  }
}

}  // namespace

std::vector<runtime::ProgramUse> ask_programs(std::chrono::milliseconds most) {
  const auto end = Clock::now() + most;
  std::vector<Asked> waiting;
  for (const std::string& name : names_of_programs())
    if (Asked asked = connect_to(name); asked.socket) waiting.push_back(std::move(asked));
  std::vector<runtime::ProgramUse> programs;
  while (!waiting.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) break;
    std::vector<pollfd> files;
    for (const Asked& asked : waiting) files.push_back({asked.socket.get(), POLLIN, 0});
    if (poll(files.data(), files.size(), static_cast<int>(left)) < 0 && errno != EINTR) break;
    std::erase_if(waiting, [&](Asked& asked) {
      if (read_more(asked)) return false;
      if (auto use = runtime::from_text(asked.text)) {
        use->pid = asked.pid;
        programs.push_back(std::move(*use));
      }
      return true;
    });
  }
  std::sort(programs.begin(), programs.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return programs;
}

}  // namespace tandem::smi::detail
