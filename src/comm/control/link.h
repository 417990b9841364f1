// One connection of the control channel, and the sockets under it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "comm/control/message.h"

namespace tandem::comm::control {

/// An IPv4 address in figures, and a port.
struct Address {
  std::string ip;
  int port = 0;
  [[nodiscard]] std::string str() const;
};
/// From "10.0.0.1:4000". Error that names `what` for anything else.
[[nodiscard]] Address parse_address(const std::string& text, const char* what);

/// Sends and receives messages over a connected socket without ever waiting: bytes that do not go at once are kept. For one thread.
class Link {
 public:
  explicit Link(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  /// Takes in the bytes that are there, until about `most` are not looked at yet. False where the other side has closed, or the connection
  /// broke: `next` still gives what came before.
  [[nodiscard]] bool receive(size_t most = 4 * kMostBytes);
  /// The next whole message. Error where the bytes are none, or one of more than `most` bytes is announced.
  [[nodiscard]] std::optional<Message> next(size_t most = kMostBytes);
  void send(const Message& message);
  /// Sends what is kept, as far as it goes.
  void flush();
  /// Whether bytes are kept that `flush` has still to send.
  [[nodiscard]] bool sending() const { return !out_.empty(); }
  void close() { socket_.reset(); }

 private:
  Descriptor socket_;
  std::string in_, out_;
};

/// A socket that listens on `ip`, at a port that was free, and on no other address. Error where the machine has no such address.
[[nodiscard]] Descriptor listen_on(const std::string& ip);
/// The socket's own address and the other side's.
[[nodiscard]] Address own_address(int socket);
[[nodiscard]] Address peer_address(int socket);
/// The next connection that waits on a listening socket, and whether one waits that this process has no descriptor for; neither where none
/// waits.
struct Accepted {
  Descriptor socket;
  bool out_of_files = false;
};
[[nodiscard]] Accepted accept_from(int listening);
/// A connection, made within `seconds`. Error that says why there is none.
[[nodiscard]] Descriptor connect_to(const Address& address, double seconds);
/// This machine's address on the way to `ip`; nothing is sent. Empty where there is no way.
[[nodiscard]] std::string address_towards(const std::string& ip);
/// The IPv4 address that a host's name stands for; empty where it stands for none.
[[nodiscard]] std::string resolve(const std::string& host);
/// The machine's own name.
[[nodiscard]] std::string host_name();

}  // namespace tandem::comm::control
