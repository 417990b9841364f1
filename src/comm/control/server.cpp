#include "comm/control/server.h"

#include <algorithm>

#include "base/error.h"

namespace tandem::comm::control {
namespace {

// Who has not said Hello may not take up much: so many connections, for so long.
constexpr int kMostStrangers = 64;
constexpr auto kStrangersTime = std::chrono::seconds(10);

}  // namespace

Server::Server(const std::string& ip, std::string token, Calls calls)
    : listening_(listen_on(ip)), token_(std::move(token)), calls_(std::move(calls)) {}

void Server::wait(std::chrono::milliseconds most, std::vector<pollfd>& others) {
  std::vector<pollfd> all = others;
  all.push_back({listening_.get(), POLLIN, 0});
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
    if (all[i].revents & ~POLLOUT) read(*peer);
  }
  if (all[others.size()].revents != 0) accept();
  sweep();
}

void Server::accept() {
  while (Descriptor socket = accept_from(listening_.get())) {
    const auto strangers = std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.known; });
    if (strangers >= kMostStrangers) continue;  // closed again
    const Address from = peer_address(socket.get());
    peers_.push_back(Peer{Link(std::move(socket)), false, {}, from, Clock::now()});
  }
}

void Server::introduce(Peer& peer, const Message& message) {
  Hello hello = decode_hello(message);
  if (!same_token(hello.token, token_)) fail("[control] wrong token");
  hello.token.clear();
  peer.hello = std::move(hello);
  peer.known = true;
  calls_.came(peer);
}

void Server::read(Peer& peer) {
  const bool open = peer.link.receive();
  try {
    while (peer.link.fd() >= 0) {
      const auto message = peer.link.next();
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
}

void Server::sweep() {
  for (Peer& peer : peers_)
    if (!peer.known && Clock::now() - peer.heard > kStrangersTime) drop(peer, "");
  peers_.remove_if([](const Peer& peer) { return peer.link.fd() < 0; });
}

}  // namespace tandem::comm::control
