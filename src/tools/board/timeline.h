// The last step of a trace (observe/chrome_trace.h writes them), for a picture of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tandem::tools::board {

/// {"rows": [{"name", "events": [[start, length, name, category], ...]}], "length", "what"}, in microseconds from the step's beginning. The
/// step is the last "ProfilerStep#" of a profile; of a whole run, the last two thousand events. {"why"} where there is no such picture.
[[nodiscard]] nlohmann::ordered_json timeline_of(const std::string& path);

}  // namespace tandem::tools::board
