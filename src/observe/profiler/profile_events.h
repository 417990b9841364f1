// From a recorder's records to the events that users see. For the library.
#pragma once

#include <vector>

#include "observe/profiler/profile_event.h"
#include "observe/profiler/profile_recorder.h"

namespace tandem::profiler {

/// The events of a recorder that has stopped, by their start, with their links.
[[nodiscard]] std::vector<Event> events_of(const Recorder& recorder);

}  // namespace tandem::profiler
