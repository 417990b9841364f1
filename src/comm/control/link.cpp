#include "comm/control/link.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/number_in.h"

namespace tandem::comm::control {
namespace {

std::string error_text(int number) { return std::generic_category().message(number); }

sockaddr_in socket_address(const Address& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<uint16_t>(address.port));
  if (inet_pton(AF_INET, address.ip.c_str(), &where.sin_addr) != 1)
    fail("[control] '", address.ip, "' is no IPv4 address such as 10.0.0.1");
  return where;
}

Address address_of(const sockaddr_in& where) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &where.sin_addr, text.data(), text.size());
  return {text.data(), ntohs(where.sin_port)};
}

Descriptor make_socket(int type) {
  Descriptor made(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail("[control] no socket can be made: ", error_text(errno));
  return made;
}

/// Small messages go at once.
void send_at_once(int socket) {
  const int yes = 1;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

std::string Address::str() const { return tandem::str(ip, ":", port); }

Address parse_address(const std::string& text, const char* what) {
  const size_t colon = text.rfind(':');
  Address address;
  in_addr ignored{};
  if (colon != std::string::npos) {
    address.ip = text.substr(0, colon);
    address.port = tandem::detail::number_in<int>(std::string_view(text).substr(colon + 1)).value_or(0);
  }
  if (address.port < 1 || address.port > 65535 || inet_pton(AF_INET, address.ip.c_str(), &ignored) != 1)
    fail(what, " must be an address and a port, such as 10.0.0.1:4000, not '", text, "'");
  return address;
}

bool Link::receive(size_t most) {
  std::array<char, 16384> bytes;
  while (in_.size() <= most) {
    const ssize_t got = recv(fd(), bytes.data(), bytes.size(), 0);
    if (got > 0) in_.append(bytes.data(), static_cast<size_t>(got));
    else if (got == 0) return false;
    else if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
    else if (errno != EINTR) return false;
  }
  return true;
}

std::optional<Message> Link::next(size_t most) {
  if (in_.size() < 4) return std::nullopt;
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i) size |= static_cast<uint32_t>(static_cast<unsigned char>(in_[i])) << (8 * i);
  if (size < 1 || size > most) fail("[control] a message of ", size, " bytes is announced, but there are from 1 to ", most);
  if (in_.size() < 4 + size_t{size}) return std::nullopt;
  Message message{static_cast<Kind>(in_[4]), in_.substr(5, size - 1)};
  in_.erase(0, 4 + size_t{size});
  return message;
}

void Link::send(const Message& message) {
  const auto size = static_cast<uint32_t>(message.fields.size() + 1);
  for (int shift = 0; shift < 32; shift += 8) out_ += static_cast<char>(size >> shift & 0xff);
  out_ += static_cast<char>(message.kind);
  out_ += message.fields;
  flush();
}

void Link::flush() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent > 0) out_.erase(0, static_cast<size_t>(sent));
    else if (sent < 0 && errno == EINTR) continue;
    else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    else out_.clear();  // it is gone; `receive` tells
  }
}

Descriptor listen_on(const std::string& ip) {
  Descriptor listening = make_socket(SOCK_STREAM);
  const sockaddr_in where = socket_address({ip, 0});
  if (bind(listening.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 || listen(listening.get(), SOMAXCONN) != 0)
    fail("[control] this machine cannot listen on ", ip, ": ", error_text(errno));
  return listening;
}

Address own_address(int socket) {
  sockaddr_in where{};
  socklen_t size = sizeof where;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&where), &size) != 0) fail("[control] a socket has no address: ", error_text(errno));
  return address_of(where);
}

Address peer_address(int socket) {
  sockaddr_in where{};
  socklen_t size = sizeof where;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&where), &size) != 0) return {"0.0.0.0", 0};  // it has gone already
  return address_of(where);
}

Accepted accept_from(int listening) {
  for (;;) {
    Descriptor accepted(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (accepted) {
      send_at_once(accepted.get());
      return {std::move(accepted), false};
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;  // the next one, then
    return {{}, errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM};
  }
}

Descriptor connect_to(const Address& address, double seconds) {
  const sockaddr_in where = socket_address(address);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto left_ms = [&] {
    return static_cast<int>(
        std::max<int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count()));
  };
  for (;;) {
    Descriptor made = make_socket(SOCK_STREAM);
    int error = 0;
    if (connect(made.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
      error = errno;
      if (error == EINPROGRESS) {
        pollfd waiting{made.get(), POLLOUT, 0};
        int ready = 0;
        do ready = poll(&waiting, 1, left_ms());
        while (ready < 0 && errno == EINTR);
        socklen_t size = sizeof error;
        error = ETIMEDOUT;
        if (ready > 0) (void)getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error == 0) {
      send_at_once(made.get());
      return made;
    }
    if (left_ms() == 0 || error == ECONNREFUSED) fail("[control] cannot connect to ", address.str(), ": ", error_text(error));
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(100, left_ms())));  // a route that is not there yet
  }
}

std::string address_towards(const std::string& ip) {
  const Descriptor asking = make_socket(SOCK_DGRAM);
  const sockaddr_in where = socket_address({ip, 9});
  if (connect(asking.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) return {};
  return own_address(asking.get()).ip;
}

std::string resolve(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_INET;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return {};
  std::string ip;
  if (found) ip = address_of(*reinterpret_cast<const sockaddr_in*>(found->ai_addr)).ip;
  freeaddrinfo(found);
  return ip;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || !name[0]) return "localhost";
  return name.data();
}

}  // namespace tandem::comm::control
