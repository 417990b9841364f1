// Messages over sockets between processes of this machine. Each arrives whole or not at all. For the library.
#pragma once

#include <optional>
#include <utility>

#include "process/deadline.h"
#include "process/parcel.h"
#include "process/peers.h"

namespace tandem::multiprocessing::detail {

/// Two connected ends. Error where no more files may be open.
[[nodiscard]] std::pair<Descriptor, Descriptor> socket_pair(const char* op);
/// Error unless `file`, which came from another process, is such an end.
void check_socket(int file, const char* op);

/// Sends; false when there was no room in time. ConnectionClosed where the other end is gone; errors of `peers`.
bool send(int socket, const Message& message, const Deadline& deadline, Peers& peers, const char* op);
/// The next message; nothing when none came in time. ConnectionClosed where the other end is gone and nothing is left; Error where its
/// descriptors cannot be opened here.
[[nodiscard]] std::optional<Received> receive(int socket, const Deadline& deadline, Peers& peers, const char* op);

}  // namespace tandem::multiprocessing::detail
