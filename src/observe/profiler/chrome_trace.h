// A profile as a file that chrome://tracing and ui.perfetto.dev open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/profiler/profile_event.h"

namespace tandem::profiler {

/// A thread of the host as viewers show it.
struct ThreadName {
  int64_t thread = 0;
  std::string name;
};

/// Writes events in Chrome's "Trace Event Format" (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): a process for
/// the host and one for each GPU, a thread for each thread and stream, arrows from launches to what they queued and from operations to
/// their gradients, and the memory as a counter. Whole or not at all; error where it cannot be written.
void write_chrome_trace(const char* op, const std::string& path, const std::vector<Event>& events, const std::vector<ThreadName>& threads,
                        size_t dropped);

/// The events of a file that was written so, but for moments of memory. Error where it is none.
[[nodiscard]] std::vector<Event> read_chrome_trace(const std::string& path);

}  // namespace tandem::profiler
