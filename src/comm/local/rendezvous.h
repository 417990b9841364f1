// Where processes of one machine meet before they share a segment: a Unix socket whose name is no file. Rank 0 waits there for the others,
// and hands them descriptors.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "comm/backend.h"

namespace tandem::comm {

/// The ranks' connections to rank 0: at rank 0 one for each of the others (none for itself), elsewhere one, to rank 0.
struct Connections {
  std::vector<Descriptor> sockets;
  std::vector<int> pids;  // of all ranks
  /// Of the others' processes, a pidfd each; none for a rank's own and for one that has ended already.
  std::vector<Descriptor> processes;
};

/// Meets all ranks at `name`, which they agree on. Only processes of the same user are let in, of which those that do not say who they are
/// are few and leave soon. Errors: ranks that do not come in time, each named; two that call themselves by one number; ranks that disagree
/// on how many they are; one that ends meanwhile; fewer open files than that many ranks need.
[[nodiscard]] Connections meet(const std::string& name, int rank, int size, std::chrono::milliseconds timeout);

/// Hands a descriptor over, under a number that the receiver expects.
void send_descriptor(int socket, uint64_t number, int file);
/// Waits for the one with that number. Errors: none in time, the other end gone, another number.
[[nodiscard]] Descriptor receive_descriptor(int socket, uint64_t number, Clock::time_point deadline);

}  // namespace tandem::comm
