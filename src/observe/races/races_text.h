// What a race's report says.
#pragma once

#include "observe/races/access_history.h"
#include "observe/races/races.h"
#include "runtime/stream_record.h"

namespace tandem::races {

/// What is known of a race besides its two uses.
struct Circumstances {
  const runtime::StreamRecord* first = nullptr;   // the streams
  const runtime::StreamRecord* second = nullptr;  // nullptr: the host
  Device memory{};
  bool waited_before = false;                   // the second has waited for the first, but for earlier work
  Site handed_out = Site::none();               // where the memory got a new owner since the first use
  bool new_owner = false;                       // it has
  const runtime::StreamRecord* home = nullptr;  // the stream that the new owner's memory is for
  bool lost = false;                            // a graph uses memory that its tensor has let go of: `first` is no work
};

[[nodiscard]] Report report_of(const observe::Use& first, const observe::Use& second, const Circumstances& circumstances);

}  // namespace tandem::races
