#include "comm/call.h"

#include <string_view>

#include "base/error.h"

namespace tandem::comm {

const char* name(Collective kind) {
  constexpr const char* names[] = {"all_reduce", "broadcast", "reduce",  "all_gather", "reduce_scatter", "all_to_all",
                                   "gather",     "scatter",   "barrier", "new_group",  "send",           "recv"};
  return names[static_cast<int>(kind)];
}

std::string str(const Call& call) {
  std::string text = name(call.kind);
  if (call.kind == Collective::NewGroup) append_text(text, tandem::str(" of ranks ", call.sizes));
  else if (call.kind != Collective::Barrier) append_text(text, tandem::str(" of ", call.dtype, ' ', call.sizes));
  switch (call.kind) {
    case Collective::AllReduce:
    case Collective::ReduceScatter: append_text(text, tandem::str(" (", name(call.op), ')')); break;
    case Collective::Reduce: append_text(text, tandem::str(" (", name(call.op), ") to rank ", call.root)); break;
    case Collective::Gather: append_text(text, tandem::str(" to rank ", call.root)); break;
    case Collective::Broadcast:
    case Collective::Scatter: append_text(text, tandem::str(" from rank ", call.root)); break;
    case Collective::Send: append_text(text, tandem::str(" to rank ", call.root)); break;
    case Collective::Recv: append_text(text, tandem::str(" from rank ", call.root)); break;
    default: break;
  }
  if (call.tag != 0) append_text(text, tandem::str(" with tag ", call.tag));
  if (!call.label.empty()) append_text(text, tandem::str(" for '", call.label, '\''));
  std::string_view file(call.site.file);
  if (file.empty()) return text;
  return tandem::str(text, " at ", file, ':', call.site.line);
}

}  // namespace tandem::comm
