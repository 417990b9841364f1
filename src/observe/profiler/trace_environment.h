// TANDEM_TRACE: a profile of a whole run, written when the program ends. For the program `tandem` and the library.
#pragma once

#include <string>

namespace tandem::profiler {

/// The variable that names the file.
inline constexpr const char* kTraceVariable = "TANDEM_TRACE";

/// The file of one process: a rank's number, or a worker's, stands before the ending: trace.json, trace.rank1.json, trace.worker77.json.
[[nodiscard]] std::string trace_file_of_this_process(const std::string& path);

}  // namespace tandem::profiler
