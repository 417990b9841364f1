// A connection between two processes: what is sent at one end comes out at the other, in order.
#pragma once

#include <memory>
#include <utility>

#include "process/codec.h"
#include "process/deadline.h"

namespace tandem::multiprocessing {

namespace detail {

/// One end of a connection, whatever it carries. Copies are the same end.
class Channel {
 public:
  Channel() = default;
  Channel(Descriptor socket, std::shared_ptr<Peers> peers);

  /// The two ends of a new one.
  [[nodiscard]] static std::pair<Channel, Channel> make(const char* op);
  void put(Parcel& parcel) const;
  [[nodiscard]] static Channel take(Received& received);

  /// False when there was no room in time.
  bool send(Parcel& parcel, const Deadline& deadline) const;
  [[nodiscard]] std::optional<Received> receive(const Deadline& deadline, const char* op) const;
  /// Whether something can be received, or the other end is closed.
  [[nodiscard]] bool poll(const Deadline& deadline, const char* op) const;

 private:
  std::shared_ptr<const Descriptor> socket_;
  std::shared_ptr<Peers> peers_;  // of both ends: who fails with one of them in its hands will not answer
};

}  // namespace detail

/// One end of a pipe. Copies are the same end; any thread or process may use it, and each message goes to one of them. A wait for a process
/// that was started with one of the ends, and fails, is a ProcessError that says how; a worker ends together with its parent.
template <class T>
class Connection {
 public:
  /// For pipe().
  explicit Connection(detail::Channel channel) : channel_(std::move(channel)) {}

  /// Sends a value; waits while as much as the system takes (about 200 small messages) is on its way. ConnectionClosed where the other end
  /// is gone; errors as of Codec<T>.
  void send(const T& value) const {
    detail::Parcel parcel("Connection.send");
    Codec<T>::put(parcel, value);
    channel_.send(parcel, detail::Deadline(std::nullopt));
  }
  /// Waits for the next value. ConnectionClosed where the other end is gone and nothing is left.
  [[nodiscard]] T recv() const {
    auto received = channel_.receive(detail::Deadline(std::nullopt), "Connection.recv");
    T value = Codec<T>::take(*received);
    received->finish();
    return value;
  }
  /// Whether recv() would not wait, within `timeout`: at once unless given. As multiprocessing's Connection.poll.
  [[nodiscard]] bool poll(Timeout timeout = std::chrono::nanoseconds(0)) const {
    return channel_.poll(detail::Deadline(timeout), "Connection.poll");
  }

 private:
  friend struct Codec<Connection>;
  detail::Channel channel_;
};

template <class T>
struct Codec<Connection<T>> {
  static void put(detail::Parcel& parcel, const Connection<T>& value) { value.channel_.put(parcel); }
  static Connection<T> take(detail::Received& received) { return Connection<T>(detail::Channel::take(received)); }
};

/// The two ends of a new connection; both send and receive. Error where no more files may be open. As multiprocessing.Pipe.
template <class T>
[[nodiscard]] std::pair<Connection<T>, Connection<T>> pipe() {
  auto [one, other] = detail::Channel::make("pipe");
  return {Connection<T>(std::move(one)), Connection<T>(std::move(other))};
}

}  // namespace tandem::multiprocessing
