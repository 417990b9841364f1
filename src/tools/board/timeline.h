// The last step of a trace (observe/profiler/chrome_trace.h writes them), for a picture of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tandem::tools::board {

/// {"rows": [{"device", "stream", "events": [[start, length, name, category, whole length, bytes, "file:line"], ...]}], "length", "what",
/// "idle": [{"device", "share"}]}, in microseconds from the step's beginning; an event that begins before it, or ends behind it, is cut to
/// it. The step is the last "ProfilerStep#" of a profile; of a whole run the last training step, which an optimizer ends, or else the last
/// two thousand events. {"why"} where there is no such picture.
[[nodiscard]] nlohmann::ordered_json timeline_of(const std::string& path);

}  // namespace tandem::tools::board
