// A profile as a page of flame graphs.
#pragma once

#include <string>
#include <vector>

#include "observe/profiler/profile_event.h"

namespace tandem::profiler {

/// A page of HTML that needs nothing else: a graph of the host's time, one of the GPUs' where they worked, by what queued the work, and the
/// lines that took most. A frame is as wide as its time; a click or Enter enlarges it. Without scripts all of it is there, too.
[[nodiscard]] std::string flame_graph_page(const std::vector<Event>& events);

}  // namespace tandem::profiler
