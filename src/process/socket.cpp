#include "process/socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "process/error.h"

namespace tandem::multiprocessing::detail {
namespace {

constexpr size_t kMostBytes = size_t{64} << 10;
constexpr size_t kMostFiles = 253;
constexpr size_t kControl = CMSG_SPACE(kMostFiles * sizeof(int));

}  // namespace

std::pair<Descriptor, Descriptor> socket_pair(const char* op) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    fail('[', op, "] no new socket: ", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void check_socket(int file, const char* op) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      domain != AF_UNIX || type != SOCK_SEQPACKET)
    refuse(op, "a descriptor is no end of a connection");
}

bool send(int socket, const Message& message, const Deadline& deadline, Peers& peers, const char* op) {
  iovec part{const_cast<char*>(message.bytes.data()), message.bytes.size()};
  alignas(cmsghdr) char control[kControl];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!message.files.empty()) {
    const size_t count = std::min(message.files.size(), kMostFiles);  // Parcel::finish saw to it
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    std::memset(control, 0, header.msg_controllen);
    cmsghdr* const first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; ++i) std::memcpy(CMSG_DATA(first) + i * sizeof(int), &message.files[i].file, sizeof(int));
  }
  for (;;) {
    if (sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EAGAIN || error == EWOULDBLOCK) {
      if (!peers.wait(socket, POLLOUT, deadline, op)) return false;
      continue;
    }
    if (error == EPIPE || error == ECONNRESET) fail<ConnectionClosed>('[', op, "] the other end is closed: nobody can receive this");
    if (error == ETOOMANYREFS)
      fail('[', op, "] too many descriptors are on their way and not received yet: receive some first, or raise `ulimit -n`");
    fail('[', op, "] the message cannot be sent: ", std::strerror(error));
  }
}

std::optional<Received> receive(int socket, const Deadline& deadline, Peers& peers, const char* op) {
  char buffer[kMostBytes];
  for (;;) {
    iovec part{buffer, sizeof buffer};
    alignas(cmsghdr) char control[kControl];
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) {
      const int error = errno;
      // A reset is told once, where the other end closed with messages unread; what it had sent is still here.
      if (error == EINTR || error == ECONNRESET) continue;
      if (error == EAGAIN || error == EWOULDBLOCK) {
        if (!peers.wait(socket, POLLIN, deadline, op)) return std::nullopt;
        continue;
      }
      fail('[', op, "] nothing can be received: ", std::strerror(error));
    }
    std::vector<Descriptor> files;
    for (cmsghdr* next = CMSG_FIRSTHDR(&header); next; next = CMSG_NXTHDR(&header, next)) {
      if (next->cmsg_level != SOL_SOCKET || next->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (next->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      files.reserve(files.size() + count);
      for (size_t i = 0; i < count; ++i) {
        int file;
        std::memcpy(&file, CMSG_DATA(next) + i * sizeof(int), sizeof file);
        files.emplace_back(file);
      }
    }
    if (got == 0 && files.empty()) fail<ConnectionClosed>('[', op, "] the other end is closed, and nothing is left to receive");
    if (header.msg_flags & MSG_CTRUNC)
      fail('[', op, "] the descriptors of a message cannot be opened here, and it is lost: too many files are open; raise `ulimit -n`");
    if (header.msg_flags & MSG_TRUNC) refuse(op, str("a message of more than ", kMostBytes, " bytes"));
    return Received(std::vector<char>(buffer, buffer + got), std::move(files), op);
  }
}

}  // namespace tandem::multiprocessing::detail
