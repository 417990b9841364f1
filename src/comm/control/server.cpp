#include "comm/control/server.h"

#include <algorithm>

#include "base/error.h"

namespace tandem::comm::control {
namespace {

// Who has not said Hello may not take up much: so many connections beside those that are expected, so many bytes, for so long.
constexpr size_t kMostStrangers = 64;
constexpr size_t kMostHello = 1024;
constexpr auto kStrangersTime = std::chrono::seconds(10);
// Whoever connects without an end does not keep the server from those that it knows.
constexpr int kMostAtOnce = 256;
// Without a descriptor for the next connection, which waits on, the server does not look at it for so long.
constexpr auto kDeafTime = std::chrono::milliseconds(100);

}  // namespace

Server::Server(const std::string& ip, std::string token, int expected, Calls calls)
    : listening_(listen_on(ip)),
      token_(std::move(token)),
      most_strangers_(static_cast<size_t>(expected) + kMostStrangers),
      calls_(std::move(calls)) {}

void Server::wait(std::chrono::milliseconds most, std::vector<pollfd>& others) {
  std::vector<pollfd> all = others;
  all.push_back({Clock::now() < deaf_until_ ? -1 : listening_.get(), POLLIN, 0});
  for (Peer& peer : peers_) all.push_back({peer.link.fd(), static_cast<short>(POLLIN | (peer.link.sending() ? POLLOUT : 0)), 0});
  const auto ms = static_cast<int>(std::max<int64_t>(most.count(), 0));
  if (::poll(all.data(), all.size(), ms) < 0) {  // a signal: the caller looks at what it set
    for (pollfd& other : others) other.revents = 0;
    return;
  }
  std::copy_n(all.begin(), others.size(), others.begin());
  size_t i = others.size() + 1;
  for (auto peer = peers_.begin(); i < all.size(); ++i, ++peer) {  // a dropped peer stays in the list until it is swept
    if (all[i].revents == 0 || peer->link.fd() != all[i].fd) continue;
    if (all[i].revents & POLLOUT) peer->link.flush();
    if (all[i].revents & ~POLLOUT) hear(*peer);
  }
  if (all[others.size()].revents != 0) accept();
  sweep();
}

void Server::accept() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    Accepted next = accept_from(listening_.get());
    if (next.out_of_files && !drop_oldest_stranger()) deaf_until_ = Clock::now() + kDeafTime;
    if (!next.socket) return;
    if (strangers_ >= most_strangers_) (void)drop_oldest_stranger();
    const Address from = peer_address(next.socket.get());
    peers_.push_back(Peer{Link(std::move(next.socket)), false, {}, from, Clock::now()});
    ++strangers_;
  }
}

/// After a look at what strangers have said, since whoever has said Hello is none. False where there is no stranger.
bool Server::drop_oldest_stranger() {
  for (Peer& peer : peers_)
    if (!peer.known && peer.link.fd() >= 0) hear(peer);
  const auto oldest = std::find_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.known && peer.link.fd() >= 0; });
  if (oldest == peers_.end()) return false;
  drop(*oldest, "");
  return true;
}

void Server::introduce(Peer& peer, const Message& message) {
  try {
    Hello hello = decode_hello(message);
    if (!same_token(hello.token, token_)) fail("[control] wrong token");
    hello.token.clear();
    peer.hello = std::move(hello);
    peer.known = true;
    --strangers_;
    calls_.came(peer);
    peer.link.send({Kind::Welcome, {}});
  } catch (const Error& error) {
    peer.link.send(Writer(Kind::Refused).text(error.what()).done());
    throw;
  }
}

void Server::hear(Peer& peer) {
  const auto most = [&] { return peer.known ? kMostBytes : kMostHello; };
  const bool open = peer.link.receive(4 * most());
  try {
    while (peer.link.fd() >= 0) {
      const auto message = peer.link.next(most());
      if (!message) break;
      peer.heard = Clock::now();
      if (peer.known) calls_.said(peer, *message);
      else introduce(peer, *message);
    }
  } catch (const Error& error) {
    drop(peer, error.what());
    return;
  }
  if (!open) drop(peer, "");
}

void Server::drop(Peer& peer, const std::string& why) {
  if (peer.link.fd() < 0) return;
  peer.link.close();
  if (peer.known) calls_.gone(peer, why);
  else --strangers_;
}

void Server::sweep() {
  for (Peer& peer : peers_)
    if (!peer.known && Clock::now() - peer.heard > kStrangersTime) drop(peer, "");
  peers_.remove_if([](const Peer& peer) { return peer.link.fd() < 0; });
}

}  // namespace tandem::comm::control
