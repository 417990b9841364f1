// Names that come close to one that does not exist.
#pragma once

#include <string>
#include <vector>

namespace tandem::tools {

/// "; did you mean digits?": those of `names` that differ from `given` in at most two letters, or else those that contain it or are
/// contained in it; nothing where there are none.
[[nodiscard]] std::string did_you_mean(const std::string& given, const std::vector<std::string>& names);

}  // namespace tandem::tools
