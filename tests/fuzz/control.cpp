// What launcher, agents and ranks take from each other (src/comm/control): the bytes of a connection taken apart, the launcher's server,
// and a rank's side. The first byte says which; the second, into how many parts the rest is cut on its way.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <vector>

#include "comm/control/rank_channel.h"
#include "comm/control/server.h"
#include "fuzz.h"

namespace {

using namespace tandem::comm::control;
using tandem::Descriptor;

/// Sends bytes as they are.
void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    else if (pollfd full{socket, POLLOUT, 0}; errno != EAGAIN || poll(&full, 1, 1000) != 1) return;  // closed by the reader
  }
}

/// A connection that is reset when it ends, so that no port stays taken.
void forget(int socket) {
  const linger reset{1, 0};
  (void)setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

std::string on_the_wire(const Message& message) {
  const auto size = static_cast<uint32_t>(message.fields.size() + 1);
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(size >> shift & 0xff);
  return bytes + static_cast<char>(message.kind) + message.fields;
}

Hello some_hello(Role role) {
  Hello hello;
  hello.token = "secret";
  hello.role = role;
  hello.world_size = hello.local_world_size = 4;
  hello.pid = 4711;
  hello.port = 5000;
  hello.host = "node1";
  return hello;
}

/// What launcher and agents do with a message.
void take_apart(const Message& message) {
  Reader in(message);
  switch (message.kind) {
    case Kind::Hello: {
      const Hello hello = decode_hello(message);
      const Hello again = decode_hello(encode(hello));
      fuzz::expect(again.host == hello.host && again.rank == hello.rank && again.token == hello.token, "a Hello comes back as another one");
      break;
    }
    case Kind::Ended: {
      const Ended ended = decode_ended(message);
      fuzz::expect(ended.code >= 0 && ended.code <= 255, "an exit status that is none");
      break;
    }
    case Kind::Start: (void)in.text(), (void)in.number(); break;
    case Kind::Output: (void)in.number(), (void)in.text(); break;
    case Kind::Taken:
    case Kind::End:
    case Kind::Missing: (void)in.number(); break;
    case Kind::Failed:
    case Kind::Lost:
    case Kind::Refused:
    case Kind::Recorder: fuzz::expect(in.text().size() <= message.fields.size(), "a text longer than its message"); break;
    default: in.finish();
  }
}

std::vector<std::string_view> parts_of(std::string_view bytes, unsigned count) {
  std::vector<std::string_view> parts;
  const size_t size = bytes.size() / (count + 1) + 1;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) parts.push_back(bytes.substr(0, size));
  return parts;
}

void through_a_link(const std::vector<std::string_view>& parts, size_t most) {
  std::array<int, 2> ends{};
  fuzz::expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0, "no sockets");
  const Descriptor other(ends[1]);
  Link link{Descriptor(ends[0])};
  for (const std::string_view part : parts) {
    send_all(other.get(), part);
    (void)link.receive(most);
    while (const auto message = link.next(most)) {
      fuzz::expect(message->fields.size() < most, "a message longer than allowed");
      (void)fuzz::succeeds([&] { take_apart(*message); });
    }
  }
}

/// The server, to which the bytes come from a stranger or, behind a Hello, from somebody that it knows.
void to_a_server(const std::vector<std::string_view>& parts, bool known, Role role) {
  size_t came = 0, gone = 0;
  static std::function<void(Peer&)> on_came;
  static std::function<void()> on_gone;
  static Server server("127.0.0.1", "secret", 4,
                       {[](Peer& peer) { on_came(peer); }, [](Peer&, const Message& message) { take_apart(message); },
                        [](Peer&, const std::string&) { on_gone(); }});
  on_came = [&](Peer& peer) {
    fuzz::expect(peer.hello.token.empty(), "the token is kept");
    ++came;
  };
  on_gone = [&] { ++gone; };
  std::vector<pollfd> none;
  Link link(connect_to(server.address(), 5));
  forget(link.fd());
  if (known) link.send(encode(some_hello(role)));
  for (int i = 0; known && came == 0; ++i) {
    fuzz::expect(i < 1000, "a Hello was not taken");
    server.wait(std::chrono::milliseconds(10), none);
  }
  for (const std::string_view part : parts) {
    send_all(link.fd(), part);
    server.wait(std::chrono::milliseconds(0), none);
  }
  link.close();
  for (int i = 0; i < 3; ++i) server.wait(std::chrono::milliseconds(0), none);  // it may be in the middle of closing
  for (int i = 0; gone < came; ++i) {
    fuzz::expect(i < 1000, "a connection that was closed is kept");
    server.wait(std::chrono::milliseconds(10), none);
  }
}

/// A rank that hears these bytes from its launcher, which then ends.
void to_a_rank(const std::vector<std::string_view>& parts) {
  std::promise<std::string> lost;
  Descriptor listening = listen_on("127.0.0.1");
  RankChannel channel(own_address(listening.get()), some_hello(Role::Rank),
                      {[] { return std::string("1 all_reduce"); }, [&](const std::string& why) { lost.set_value(why); }});
  Accepted accepted = accept_from(listening.get());
  fuzz::expect(static_cast<bool>(accepted.socket), "no connection");
  listening.reset();
  send_all(accepted.socket.get(), on_the_wire({Kind::Welcome, {}}));
  for (const std::string_view part : parts) send_all(accepted.socket.get(), part);
  (void)shutdown(accepted.socket.get(), SHUT_WR);
  fuzz::expect(!lost.get_future().get().empty(), "a rank was told nothing");
  forget(accepted.socket.get());
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto kind = static_cast<unsigned char>(bytes[0]), cuts = static_cast<unsigned char>(bytes[1]);
  const auto parts = parts_of(bytes.substr(2), cuts % 4);
  switch (kind % 8) {
    case 0:
    case 1:
    case 2: return through_a_link(parts, kMostBytes);
    case 3: return through_a_link(parts, 1024);
    case 4: return to_a_server(parts, false, Role::Agent);
    case 5: return to_a_server(parts, true, Role::Agent);
    case 6: return to_a_server(parts, true, Role::Rank);
    default: return to_a_rank(parts);
  }
}

namespace {

/// The input with the lengths of its messages as they are in the bytes.
std::string repaired(std::string bytes) {
  for (size_t at = 2; at + 5 <= bytes.size();) {
    uint32_t size = 0;
    for (int i = 0; i < 4; ++i) size |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)])) << (8 * i);
    const size_t left = bytes.size() - at - 4;
    size = static_cast<uint32_t>(std::min<size_t>(std::max<uint32_t>(size % 600, 1), left));
    for (int i = 0; i < 4; ++i) bytes[at + static_cast<size_t>(i)] = static_cast<char>(size >> (8 * i) & 0xff);
    bytes[at + 4] = static_cast<char>(static_cast<unsigned char>(bytes[at + 4]) % 16);
    at += 4 + size;
  }
  return bytes;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, repaired);
}
