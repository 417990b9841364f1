// The flight recorder: a rank's last collectives, with their state and times, for when something does not end. Always on. It lies in plain
// memory, which other processes may read also after its rank has died.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/call.h"

namespace tandem::comm {

/// How many of the last calls are kept.
inline constexpr int kRecordedCalls = 1024;

enum class CallState : uint8_t { Queued, Started, Completed, Failed };

/// One call as it was recorded. Times are nanoseconds of the system's clock since 1970; 0: not yet.
struct RecordedCall {
  uint64_t number = 0;
  CallState state = CallState::Queued;
  std::string text;             // as str(Call)
  bool point_to_point = false;  // Send or Recv, which have numbers of their own
  int64_t queued = 0, started = 0, ended = 0;
};

/// Bytes that a recorder takes.
[[nodiscard]] size_t recorder_bytes();

/// A rank's recorder in `memory` that begins as zeros. The calls that change it are made by one thread at a time for each call's number.
class Recorder {
 public:
  explicit Recorder(void* memory) : memory_(memory) {}

  /// A call begins its life, and starts at once where `started`; gives where it is kept, for the calls below. Overwrites the oldest one.
  uint64_t queued(const Call& call, std::chrono::steady_clock::time_point now, bool started);
  void started(uint64_t place);
  void ended(uint64_t place, bool well);

 private:
  void* memory_;
};

/// What a recorder's memory holds, oldest first. Of a rank that is alive, calls that change meanwhile are left out.
[[nodiscard]] std::vector<RecordedCall> recorded_calls(const void* memory);
/// The last call as a sentence's end: "in all_reduce of float32 [3] (SUM) at model.cpp:12 (its call 7) for 2.5 s", "idle since its call 7,
/// … , ended 2.5 s ago", "before its first collective".
[[nodiscard]] std::string last_seen(const void* memory);
/// All that it holds: a line a call, each beginning with `who`.
[[nodiscard]] std::string recorded_text(const std::string& who, const void* memory);
/// The same as JSON: {"rank": 0, "calls": [{"number": 1, "state": "completed", "call": "…", "queued": …, "started": …, "ended": …}, …]}.
[[nodiscard]] std::string recorded_json(int rank, const void* memory);

}  // namespace tandem::comm
