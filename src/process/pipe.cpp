#include "process/pipe.h"

#include <poll.h>

#include "process/error.h"
#include "process/socket.h"

namespace tandem::multiprocessing::detail {

Channel::Channel(Descriptor socket, std::shared_ptr<Peers> peers)
    : socket_(std::make_shared<const Descriptor>(std::move(socket))), peers_(std::move(peers)) {}

std::pair<Channel, Channel> Channel::make(const char* op) {
  auto [one, other] = socket_pair(op);
  const auto peers = std::make_shared<Peers>();
  return {Channel(std::move(one), peers), Channel(std::move(other), peers)};
}

void Channel::put(Parcel& parcel) const {
  parcel.put_file(socket_->get(), socket_);
  parcel.give(peers_);
}

Channel Channel::take(Received& received) {
  Descriptor socket = received.take_file();
  check_socket(socket.get(), received.op());
  return {std::move(socket), std::make_shared<Peers>()};
}

bool Channel::send(Parcel& parcel, const Deadline& deadline) const {
  try {
    return detail::send(socket_->get(), parcel.finish(), deadline, *peers_, parcel.op());
  } catch (const ConnectionClosed&) {
    peers_->explain_closed(parcel.op());
    throw;
  }
}

std::optional<Received> Channel::receive(const Deadline& deadline, const char* op) const {
  try {
    return detail::receive(socket_->get(), deadline, *peers_, op);
  } catch (const ConnectionClosed&) {
    peers_->explain_closed(op);
    throw;
  }
}

bool Channel::poll(const Deadline& deadline, const char* op) const { return peers_->wait(socket_->get(), POLLIN, deadline, op); }

}  // namespace tandem::multiprocessing::detail
