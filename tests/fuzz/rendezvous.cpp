// What the processes of a machine tell each other where they meet (src/comm/local/rendezvous.h). The first byte says who is told: rank 0 by
// strangers before the other rank comes, that rank by whoever listens in rank 0's place, or a rank that waits for a segment.
#include "comm/local/rendezvous.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "fuzz.h"

namespace {

using namespace tandem::comm;
using tandem::Descriptor;

constexpr std::chrono::milliseconds kTime = std::chrono::seconds(10), kShortTime(100);
constexpr uint64_t kMagic = 0x74616e64656d0001U;

std::string name() { return "fuzz-" + std::to_string(getpid()); }

socklen_t address_of(sockaddr_un& address) {
  const std::string whole = "tandem-" + std::to_string(geteuid()) + "-" + name();
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, whole.data(), whole.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + whole.size());
}

Descriptor make_socket() { return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

/// None where the host has gone.
Descriptor connected(const std::future<bool>& host) {
  sockaddr_un address;
  const socklen_t length = address_of(address);
  while (host.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    Descriptor socket = make_socket();
    if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return socket;
    std::this_thread::yield();
  }
  return {};
}

/// A packet: as it is, behind rank 0's magic number, or behind that of a rank and its number.
std::string packet_of(std::string_view bytes) {
  if (bytes.empty()) return "";
  const auto kind = static_cast<unsigned char>(bytes[0]);
  std::string packet;
  if (kind % 4 != 0) packet.assign(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);
  return packet + std::string(bytes.substr(1));
}

void tell(int socket, const std::string& packet) { (void)send(socket, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT); }

void to_the_host(const std::vector<std::string>& packets) {
  auto host = std::async(std::launch::async, [] { return fuzz::succeeds([] { (void)meet(name(), 0, 2, kTime); }); });
  std::vector<Descriptor> strangers;
  for (const std::string& packet : packets) {
    strangers.push_back(connected(host));
    tell(strangers.back().get(), packet);
  }
  // Not where the host has gone: whoever says that he is rank 1 is believed, being of the same user.
  const bool met = host.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready && fuzz::succeeds([] {
                     const Connections all = meet(name(), 1, 2, kShortTime);
                     fuzz::expect(all.pids.size() == 2 && all.pids[0] == getpid(), "a rank met somebody else");
                   });
  const bool hosted = host.get();
  fuzz::expect(hosted || !met, "a rank met nobody");
}

void to_a_rank(const std::vector<std::string>& packets) {
  sockaddr_un address;
  const socklen_t length = address_of(address);
  Descriptor listening = make_socket();
  fuzz::expect(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), length) == 0 && listen(listening.get(), 4) == 0, "no socket");
  auto rank = std::async(std::launch::async, [] { (void)fuzz::succeeds([] { (void)meet(name(), 1, 2, kTime); }); });
  // libFuzzer has a clock that interrupts.
  const Descriptor socket(TEMP_FAILURE_RETRY(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  std::array<char, 16> hello{};
  const ssize_t got = TEMP_FAILURE_RETRY(recv(socket.get(), hello.data(), hello.size(), 0));
  fuzz::expect(got == static_cast<ssize_t>(hello.size()), "no Hello");
  listening.reset();
  for (const std::string& packet : packets) tell(socket.get(), packet);
  (void)shutdown(socket.get(), SHUT_RDWR);
  rank.get();
}

void to_who_waits_for_a_segment(const std::vector<std::string>& packets, unsigned files) {
  std::array<int, 2> ends{};
  fuzz::expect(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0, "no sockets");
  Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  const std::string& packet = packets[0];
  iovec part{const_cast<char*>(packet.data()), packet.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (const size_t count = files % 4; count > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; ++i) std::memcpy(CMSG_DATA(head) + i * sizeof(int), &ends[0], sizeof(int));
  }
  (void)sendmsg(from.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  from.reset();
  uint64_t number = 0;
  std::memcpy(&number, packet.data(), std::min(packet.size(), sizeof number));
  (void)fuzz::succeeds([&] { (void)receive_descriptor(to.get(), number, Clock::now() + kTime); });
}

/// Descriptors that a reader has been given and has not closed.
int open_files() {
  const int next = dup(0);
  close(next);
  return next;
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto kind = static_cast<unsigned char>(bytes[0]), files = static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  std::vector<std::string> packets;
  do {  // each begins with its length
    const size_t size = bytes.empty() ? 0 : std::min<size_t>(bytes.size() - 1, static_cast<unsigned char>(bytes[0]) * size_t{4});
    packets.push_back(packet_of(bytes.empty() ? bytes : bytes.substr(1, size)));
    bytes.remove_prefix(std::min(bytes.size(), 1 + size));
  } while (!bytes.empty() && packets.size() < 8);
  const int before = open_files();
  switch (kind % 3) {
    case 0: to_the_host(packets); break;
    case 1: to_a_rank(packets); break;
    default: to_who_waits_for_a_segment(packets, files);
  }
  expect(open_files() == before, "a descriptor is left open");
}
