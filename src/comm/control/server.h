// The launcher's side of the control channel: it listens on one address and keeps the connections of agents and ranks that know the token.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "comm/control/link.h"
#include "comm/control/message.h"

namespace tandem::comm::control {

using Clock = std::chrono::steady_clock;

/// A connection of the server. Known once its Hello has been taken.
struct Peer {
  Link link;
  bool known = false;
  Hello hello;
  Address from;
  Clock::time_point heard;  // when bytes last came, or it connected
};

/// Driven by one thread, which calls `wait` again and again. Connections that have not said Hello are strangers: they may be as many as the
/// expected ones and a few, for a time; beyond that the oldest makes room. Whoever belongs here tries again.
class Server {
 public:
  /// What is done with what comes. A peer is valid until `gone` was called with it. An Error thrown by `said` closes the connection, as any
  /// bytes do that are no messages.
  struct Calls {
    std::function<void(Peer&)> came;  // it has said Hello with the token
    std::function<void(Peer&, const Message&)> said;
    std::function<void(Peer&, const std::string& why)> gone;  // `why` is empty where it closed
  };

  /// Listens on `ip` alone; so many connections that know the token are `expected`. Error where that is not an address of this machine.
  Server(const std::string& ip, std::string token, int expected, Calls calls);

  [[nodiscard]] Address address() const { return own_address(listening_.get()); }
  [[nodiscard]] const std::string& token() const { return token_; }
  /// Waits up to `most` for something to come on a connection or on one of `others`, whose `revents` it fills in, and deals with what came.
  void wait(std::chrono::milliseconds most, std::vector<pollfd>& others);
  /// Deals with what has come on a connection by now.
  void hear(Peer& peer);
  /// Closes a connection; `gone` is called for it.
  void drop(Peer& peer, const std::string& why);

 private:
  void accept();
  bool drop_oldest_stranger();
  void introduce(Peer& peer, const Message& message);
  void sweep();

  Descriptor listening_;
  std::string token_;
  const size_t most_strangers_;
  Calls calls_;
  std::list<Peer> peers_;
  size_t strangers_ = 0;
  Clock::time_point deaf_until_;  // no descriptor was left for who waits
};

}  // namespace tandem::comm::control
