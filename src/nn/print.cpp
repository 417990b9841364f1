// Modules as text, as PyTorch prints them.
#include <ostream>

#include "nn/containers.h"

namespace tandem::nn {
namespace {

// Indents all lines but the first by two columns.
std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

}  // namespace

std::string to_string(const ModuleBase& module) {
  // named_children() is not const, as it gives modules that can be changed; here they are only read.
  const auto children = const_cast<ModuleBase&>(module).named_children();
  const std::string extra = module.extra_repr();
  std::string text = module.name() + "(";
  if (children.empty()) return text + (extra.find('\n') == std::string::npos ? extra : "\n  " + indented(extra) + "\n") + ")";
  if (!extra.empty()) text += "\n  " + indented(extra);
  // In a ModuleList, neighbours with the same text are shown once: "(0-5): 6 x TransformerEncoderLayer(…".
  const bool merges = dynamic_cast<const ModuleList*>(&module) != nullptr;
  std::vector<std::string> texts;
  for (const auto& [name, child] : children) texts.push_back(to_string(*child));
  for (size_t i = 0, end = 0; i < texts.size(); i = end) {
    end = i + 1;
    while (merges && end < texts.size() && texts[end] == texts[i]) ++end;
    const std::string& last = children[end - 1].first;
    text += end - i == 1 ? "\n  (" + last + "): " : str("\n  (", children[i].first, "-", last, "): ", end - i, " x ");
    text += indented(texts[i]);
  }
  return text + "\n)";
}

std::ostream& operator<<(std::ostream& out, const ModuleBase& module) { return out << to_string(module); }

}  // namespace tandem::nn
