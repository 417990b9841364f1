// What the flight recorders hold, as text and as JSON.
#include <cstdio>

#include "comm/group.h"

namespace tandem::comm {
namespace {

const char* name(CallState state) {
  constexpr const char* names[] = {"queued", "started", "completed", "failed"};
  return names[static_cast<int>(state)];
}

void append_json(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string recorded_text(const std::string& who, const void* memory) {
  std::string out;
  for (const RecordedCall& call : recorded_calls(memory)) {
    out += tandem::str(who, ": ", call.number, ' ', call.text, ", ", name(call.state));
    const int64_t microseconds = (call.ended - call.started) / 1000;
    if (call.ended && call.started) out += tandem::str(" in ", static_cast<double>(microseconds) / 1000, " ms");
    out += '\n';
  }
  return out;
}

std::string recorded_json(int rank, const void* memory) {
  std::string out = tandem::str("{\"rank\": ", rank, ", \"calls\": [");
  bool first = true;
  for (const RecordedCall& call : recorded_calls(memory)) {
    out += tandem::str(first ? "" : ", ", "{\"number\": ", call.number, ", \"state\": \"", name(call.state), "\", \"call\": ");
    append_json(out, call.text);
    out += tandem::str(", \"queued\": ", call.queued, ", \"started\": ", call.started, ", \"ended\": ", call.ended, '}');
    first = false;
  }
  return out + "]}";
}

std::string Group::recorded_text() const {
  std::string out;
  for (int rank = 0; rank < size(); ++rank)
    if (const void* memory = recorder_of(rank)) out += comm::recorded_text(describe(rank), memory);
  return out;
}

std::string Group::recorded_json() const {
  std::string out = "{\"ranks\": [";
  bool first = true;
  for (int rank = 0; rank < size(); ++rank) {
    const void* memory = recorder_of(rank);
    if (!memory) continue;
    out += tandem::str(first ? "" : ", ", comm::recorded_json(rank, memory));
    first = false;
  }
  return out + "]}";
}

}  // namespace tandem::comm
