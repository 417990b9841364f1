#include "comm/local/rendezvous.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/file_limit.h"

namespace tandem::comm {
namespace {

constexpr const char* kCall = "[init_process_group] ";
constexpr uint64_t kMagic = 0x74616e64656d0001U;  // who else connects is not one of us

// Who has not said which rank it is may be few beside the ranks that are still to come, and not for long: the oldest makes room. A rank
// that had to tries again.
constexpr size_t kMostStrangers = 16;
constexpr auto kStrangersTime = std::chrono::seconds(2);
// Rank 0 keeps the time for all and says who is missing, so the others wait a little longer.
constexpr auto kHostsTime = std::chrono::seconds(5);

struct Hello {
  uint64_t magic = kMagic;
  int32_t rank = 0, size = 0;
};
/// Rank 0's answer; the ranks' process numbers follow where `why` is empty.
struct Answer {
  uint64_t magic = kMagic;
  char why[496] = {};
};

std::string seconds(std::chrono::milliseconds time) { return tandem::str(static_cast<double>(time.count()) / 1000, " s"); }

Descriptor make_socket(int flags = 0) {
  Descriptor file(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (file.get() < 0) fail(kCall, "no new socket: ", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
  return file;
}

/// An address without a file, which is gone with its last socket.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  const std::string whole = "tandem-" + std::to_string(geteuid()) + "-" + name;
  if (whole.size() > sizeof address.sun_path - 1)
    fail(kCall, "init_method may have about 80 characters, but '", name, "' has ", name.size());
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, whole.data(), whole.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + whole.size());
}

std::optional<ucred> peer_of(int file) {
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) return {};
  return who;
}

/// Whether another user's process listens there.
bool belongs_to_another(const sockaddr_un& address, socklen_t length) {
  const Descriptor asking = make_socket(SOCK_NONBLOCK);
  return connect(asking.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0 && !peer_of(asking.get());
}

/// Waits for something to read, or the other end's going; false where the time is over.
bool wait_readable(std::vector<pollfd>& files, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    const int count = poll(files.data(), files.size(), static_cast<int>(std::min<int64_t>(left, 1000)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) fail(kCall, "poll failed: ", std::strerror(errno));
  }
}

std::string missing_ranks(const std::vector<int>& pids) {
  std::string text;
  for (size_t rank = 0; rank < pids.size(); ++rank)
    if (pids[rank] == 0) text += tandem::str(text.empty() ? "" : ", ", rank);
  return text;
}

/// Rank 0's part.
class Host {
 public:
  Host(const std::string& name, int size, Clock::time_point deadline) : deadline_(deadline), listener_(make_socket()) {
    met_.sockets.resize(static_cast<size_t>(size));
    met_.pids.resize(static_cast<size_t>(size));
    met_.pids[0] = getpid();
    sockaddr_un address;
    const socklen_t length = address_of(name, address);
    // Another job's, or our own last one's, may still be there for a moment.
    while (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      if (errno != EADDRINUSE || Clock::now() >= deadline)
        fail(kCall, "the ranks cannot meet at '", name, "': ", std::strerror(errno),
             errno == EADDRINUSE ? "; another program meets there, or two ranks call themselves 0" : "");
      if (belongs_to_another(address, length))
        fail(kCall, "another user's program meets at '", name, "': give an .init_method that others cannot guess, or use `tandem launch`");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (listen(listener_.get(), SOMAXCONN) != 0) fail(kCall, "listening failed: ", std::strerror(errno));
  }

  Connections meet(std::chrono::milliseconds timeout) {
    while (std::count(met_.pids.begin(), met_.pids.end(), 0) > 0) {
      std::vector<pollfd> files{{listener_.get(), POLLIN, 0}};
      for (const Stranger& stranger : strangers_) files.push_back({stranger.socket.get(), POLLIN, 0});
      const size_t known_from = files.size();
      std::vector<size_t> ranks;
      for (size_t rank = 1; rank < met_.sockets.size(); ++rank) {
        if (met_.pids[rank] == 0) continue;
        files.push_back({met_.sockets[rank].get(), POLLIN, 0});  // says nothing more, so this is its end
        ranks.push_back(rank);
      }
      const auto next = strangers_.empty() ? deadline_ : std::min(deadline_, strangers_.front().came + kStrangersTime);
      if (!wait_readable(files, next) && Clock::now() >= deadline_)
        refuse(tandem::str("after ", seconds(timeout), " these ranks of ", met_.pids.size(), " have not come: ", missing_ranks(met_.pids)));
      for (size_t i = known_from; i < files.size(); ++i)
        if (files[i].revents)
          refuse(
              tandem::str("rank ", ranks[i - known_from], " (pid ", met_.pids[ranks[i - known_from]], ") ended before all ranks had come"));
      for (size_t i = known_from; i-- > 1;)
        if (files[i].revents) greet(i - 1);
      while (!strangers_.empty() && Clock::now() >= strangers_.front().came + kStrangersTime) strangers_.erase(strangers_.begin());
      if (files[0].revents) accept();
    }
    for (size_t rank = 1; rank < met_.sockets.size(); ++rank) answer(met_.sockets[rank].get(), "");
    return std::move(met_);
  }

 private:
  struct Stranger {
    Descriptor socket;
    Clock::time_point came;
  };

  void accept() {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      const int error = errno;
      if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return;  // it has gone again
      if (strangers_.empty()) refuse(tandem::str("a rank cannot be let in: ", std::strerror(error), "; raise `ulimit -n`"));
      strangers_.erase(strangers_.begin());
      return;
    }
    if (!peer_of(socket.get())) return;  // another user's
    if (strangers_.size() >= kMostStrangers + met_.pids.size()) {
      for (size_t i = strangers_.size(); i-- > 0;) {  // unless it has said meanwhile who it is
        pollfd said{strangers_[i].socket.get(), POLLIN, 0};
        if (poll(&said, 1, 0) == 1) greet(i);
      }
      if (strangers_.size() >= kMostStrangers + met_.pids.size()) strangers_.erase(strangers_.begin());
    }
    strangers_.push_back({std::move(socket), Clock::now()});
  }

  // Somebody has said who he is.
  void greet(size_t i) {
    Descriptor socket = std::move(strangers_[i].socket);
    strangers_.erase(strangers_.begin() + static_cast<std::ptrdiff_t>(i));
    Hello hello;
    const auto who = peer_of(socket.get());
    if (!who || recv(socket.get(), &hello, sizeof hello, MSG_DONTWAIT) != sizeof hello || hello.magic != kMagic) return;
    const auto size = static_cast<int32_t>(met_.pids.size());
    if (hello.size != size)
      return refuse_one(socket, tandem::str("rank ", hello.rank, " speaks of ", hello.size, " ranks, rank 0 of ", size));
    if (hello.rank < 1 || hello.rank >= size) return refuse_one(socket, tandem::str("there is no rank ", hello.rank, " of ", size));
    const auto rank = static_cast<size_t>(hello.rank);
    if (met_.pids[rank] != 0)
      return refuse_one(socket, tandem::str("two processes call themselves rank ", rank, ": ", met_.pids[rank], " and ", who->pid));
    met_.pids[rank] = who->pid;
    met_.sockets[rank] = std::move(socket);
  }

  void answer(int socket, const std::string& why) const {
    std::vector<std::byte> bytes(sizeof(Answer) + (why.empty() ? met_.pids.size() * sizeof(int) : 0));
    Answer head;
    std::memcpy(head.why, why.data(), std::min(why.size(), sizeof head.why - 1));
    std::memcpy(bytes.data(), &head, sizeof head);
    if (why.empty()) std::memcpy(bytes.data() + sizeof head, met_.pids.data(), met_.pids.size() * sizeof(int));
    (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);  // who is gone is found out later
  }
  // One rank too many, or one of another program: no rank can go on.
  void refuse_one(const Descriptor& socket, const std::string& why) {
    answer(socket.get(), why);
    refuse(why);
  }
  [[noreturn]] void refuse(const std::string& why) {
    for (size_t rank = 1; rank < met_.sockets.size(); ++rank)
      if (met_.sockets[rank].get() >= 0) answer(met_.sockets[rank].get(), why);
    fail(kCall, why);
  }

  Clock::time_point deadline_;
  Descriptor listener_;
  std::vector<Stranger> strangers_;  // in the order in which they came
  Connections met_;
};

/// Connects to rank 0; none where nobody is there, and `once` that ends the waiting.
Descriptor connect_to_host(const std::string& name, int rank, Clock::time_point deadline, std::chrono::milliseconds timeout, bool once) {
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  Descriptor socket = make_socket(SOCK_NONBLOCK);  // nor does it wait for whoever listens and lets nobody in
  auto nap = std::chrono::microseconds(200);
  while (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
    const int error = errno;
    if (once && error == ECONNREFUSED) return {};
    if ((error != ECONNREFUSED && error != EAGAIN && error != EINTR) || Clock::now() >= deadline)
      fail(kCall, "after ", seconds(timeout), " rank ", rank, " has not met rank 0 at '", name, "': ", std::strerror(error));
    std::this_thread::sleep_for(nap);
    nap = std::min<std::chrono::microseconds>(nap * 2, std::chrono::milliseconds(20));
  }
  if (!peer_of(socket.get())) fail(kCall, "'", name, "' belongs to another user");
  return socket;
}

Connections join(const std::string& name, int rank, int size, Clock::time_point deadline, std::chrono::milliseconds timeout) {
  Descriptor socket;
  std::vector<std::byte> bytes(sizeof(Answer) + static_cast<size_t>(size) * sizeof(int));
  ssize_t got = 0;
  for (bool again = false; got <= 0; again = true) {
    socket = connect_to_host(name, rank, deadline, timeout, again);
    // Without an answer rank 0 has ended, or has closed this connection to make room, and is still there.
    if (!socket || Clock::now() >= deadline + kHostsTime) fail(kCall, "rank 0 ended before all ranks had come");
    const Hello hello{kMagic, rank, size};
    (void)::send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL);
    std::vector<pollfd> files{{socket.get(), POLLIN, 0}};
    if (!wait_readable(files, deadline + kHostsTime))
      fail(kCall, "after ", seconds(timeout), " rank 0 has not said that all ranks have come");
    got = recv(socket.get(), bytes.data(), bytes.size(), 0);
  }
  if (got < static_cast<ssize_t>(sizeof(Answer))) fail(kCall, "rank 0 at '", name, "' is of another version");
  Answer head;
  std::memcpy(&head, bytes.data(), sizeof head);
  head.why[sizeof head.why - 1] = 0;
  if (head.why[0]) fail(kCall, static_cast<const char*>(head.why));
  if (head.magic != kMagic || got != static_cast<ssize_t>(bytes.size())) fail(kCall, "rank 0 at '", name, "' is of another version");
  Connections met;
  met.pids.resize(static_cast<size_t>(size));
  std::memcpy(met.pids.data(), bytes.data() + sizeof head, met.pids.size() * sizeof(int));
  met.sockets.push_back(std::move(socket));
  return met;
}

/// Watches over the others' processes.
void watch(Connections& met, int own) {
  met.processes.resize(met.pids.size());
  for (size_t rank = 0; rank < met.pids.size(); ++rank) {
    if (static_cast<int>(rank) == own) continue;
    Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, met.pids[rank], 0)));
    if (!process && errno != ESRCH) fail(kCall, "rank ", rank, " (pid ", met.pids[rank], ") cannot be watched: ", std::strerror(errno));
    met.processes[rank] = std::move(process);
  }
}

}  // namespace

Connections meet(const std::string& name, int rank, int size, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  // The processes, and the connections of rank 0.
  tandem::detail::require_files(2 * static_cast<size_t>(size), tandem::str(kCall, size, " ranks").c_str());
  Connections met = rank == 0 ? Host(name, size, deadline).meet(timeout) : join(name, rank, size, deadline, timeout);
  watch(met, rank);
  return met;
}

void send_descriptor(int socket, uint64_t number, int file) {
  iovec part{&number, sizeof number};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &file, sizeof(int));
  while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return;  // it has ended, which whoever waits for it finds out
    fail("a segment cannot be handed to another rank: ", std::strerror(errno));
  }
}

Descriptor receive_descriptor(int socket, uint64_t number, Clock::time_point deadline) {
  std::vector<pollfd> files{{socket, POLLIN, 0}};
  if (!wait_readable(files, deadline)) fail("rank 0 has not given a segment in time");
  uint64_t given = 0;
  iovec part{&given, sizeof given};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  std::vector<Descriptor> files_given;  // all of them have been opened here, however many were asked for
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int opened = -1;
      std::memcpy(&opened, CMSG_DATA(head) + i * sizeof opened, sizeof opened);
      files_given.emplace_back(opened);
    }
  }
  if (got <= 0) fail("rank 0 has ended before it gave a segment");
  if (message.msg_flags & MSG_CTRUNC) fail("a segment cannot be opened: too many files are open; raise `ulimit -n`");
  if (got != sizeof given || given != number || files_given.size() != 1)
    fail("rank 0 gave another segment than the one that was waited for");
  return std::move(files_given.front());
}

}  // namespace tandem::comm
