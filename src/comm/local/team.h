// The ranks of one machine that share a segment, and how some of them come to share another one.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "comm/local/segment.h"

namespace tandem::comm {

/// A segment and the way to further ones. Shared by its ranks where they are threads.
class Team {
 public:
  virtual ~Team() = default;
  [[nodiscard]] virtual Segment& segment() = 0;
  /// The team of some ranks, all of which have seats in it. Called by every rank of this team, whose number `rank` is, for its call
  /// `context.call`; gives nullptr to those that are not in it.
  [[nodiscard]] virtual std::shared_ptr<Team> sub_team(const Context& context, int rank, std::span<const int> ranks) = 0;
};

/// A team whose ranks are threads of this process.
[[nodiscard]] std::shared_ptr<Team> make_thread_team(int size);
/// This process's view of a team of processes of this machine, all of which give the same name and size. Waits for all of them.
[[nodiscard]] std::shared_ptr<Team> make_process_team(const std::string& name, int rank, int size, std::chrono::milliseconds timeout);

}  // namespace tandem::comm
