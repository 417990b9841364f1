#include "comm/call.h"

#include <string_view>

#include "base/error.h"

namespace tandem::comm {

namespace {

enum class Told : uint8_t { Elements, Ranks, Nothing };

/// A row of collectives.def.
struct Row {
  const char* name;
  Told sizes;
  bool reduces;
  std::string_view root;
};

constexpr Row kRows[] = {
#define TD_COLLECTIVE(kind, name, sizes, reduces, root) {name, Told::sizes, reduces, root},
#include "comm/collectives.def"
};

constexpr const Row& row_of(Collective kind) { return kRows[static_cast<int>(kind)]; }

}  // namespace

const char* name(Collective kind) { return row_of(kind).name; }

std::string str(const Call& call) {
  const Row& row = row_of(call.kind);
  std::string text = row.name;
  if (row.sizes == Told::Ranks) append_text(text, tandem::str(" of ranks ", call.sizes));
  else if (row.sizes == Told::Elements) append_text(text, tandem::str(" of ", call.dtype, ' ', call.sizes));
  if (row.reduces) append_text(text, tandem::str(" (", name(call.op), ')'));
  if (!row.root.empty()) append_text(text, tandem::str(' ', row.root, " rank ", call.root));
  if (call.tag != 0) append_text(text, tandem::str(" with tag ", call.tag));
  if (!call.label.empty()) append_text(text, tandem::str(" for '", call.label, '\''));
  std::string_view file(call.site.file);
  if (file.empty()) return text;
  return tandem::str(text, " at ", file, ':', call.site.line);
}

}  // namespace tandem::comm
