#include "observe/races/races_text.h"

#include <charconv>

#include "base/error.h"

namespace tandem::races {
namespace {

using observe::Use;
using runtime::StreamRecord;

std::string at(Site site) { return site.line ? str(site.file, ':', site.line) : "a line that is not known"; }
std::string hexadecimal(uintptr_t address) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(digits, digits + sizeof digits, address, 16).ptr);
}
std::string named(const StreamRecord* stream) {
  return stream ? str("stream ", stream->id, " of ", gpu(stream->device)) : std::string("the host");
}

Operation operation(const Use& use, const StreamRecord* stream) {
  Operation operation;
  operation.name = use.op;
  operation.file = use.site.file;
  operation.line = use.site.line;
  operation.writes = use.writes;
  if (stream) {
    operation.device = gpu(stream->device);
    operation.stream = stream->id;
  }
  return operation;
}

std::string told(const Use& use, const StreamRecord* stream) {
  std::string text = str(use.writes ? "written" : "read", " by ", named(stream), " in ", use.op, " at ", at(use.site));
  if (use.replay.line) text += str(" (of a graph, replayed at ", at(use.replay), ')');
  return text;
}

std::string missing_wait(const Use& first, const Use& second, const Circumstances& circumstances) {
  const std::string line = at(second.replay.line ? second.replay : second.site);
  if (circumstances.lost) return str("a tensor that keeps the memory for as long as ", line, " replays the graph");
  if (circumstances.new_owner && circumstances.first != circumstances.home)
    return str("record_stream with ", named(circumstances.first), " on the tensor that had the memory before, or a wait of ",
               named(circumstances.home), " for ", named(circumstances.first), " before that tensor is let go");
  if (!circumstances.second)
    return str("a synchronize of ", named(circumstances.first), ", or of an event recorded on it behind ", first.op, ", before ", line);
  return str(named(circumstances.second), " must wait_stream for ", named(circumstances.first),
             ", or wait for an event recorded on it behind ", first.op, ", before ", line);
}

}  // namespace

Report report_of(const Use& first, const Use& second, const Circumstances& circumstances) {
  Report report;
  report.first = operation(first, circumstances.first);
  report.second = operation(second, circumstances.second);
  report.device = circumstances.memory;
  report.address = reinterpret_cast<const void*>(second.begin);
  report.bytes = second.bytes;
  report.sizes = second.sizes;
  report.dtype = second.dtype;
  report.missing = missing_wait(first, second, circumstances);
  const std::string tensor = str("a tensor of ", name(second.dtype), ' ', second.sizes, " (", second.bytes, " bytes from ",
                                 hexadecimal(second.begin), ") on ", circumstances.memory);
  if (circumstances.lost) {
    report.text = str("a graph uses ", tensor, " that was let go after the capture: ", told(second, circumstances.second), ", ",
                      circumstances.new_owner ? "but the memory was handed out again, at " : "whose memory was asked for at ",
                      at(circumstances.handed_out), ". Missing: ", report.missing, '.');
    return report;
  }
  report.text = str("race on ", tensor, ": ", told(first, circumstances.first), ", then ", told(second, circumstances.second),
                    ", which does not wait for it.");
  if (circumstances.new_owner)
    report.text += str(" Between the two the memory was handed out again, at ", at(circumstances.handed_out), ", for ",
                       named(circumstances.home), '.');
  if (circumstances.waited_before && circumstances.second)
    report.text += str(" There was a wait of ", named(circumstances.second), " for ", named(circumstances.first),
                       ", but for work queued before that: its event was recorded too early, or the wait asked for too soon.");
  report.text += str(" Missing: ", report.missing, '.');
  return report;
}

}  // namespace tandem::races
