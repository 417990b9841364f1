// How modules look: PyTorch's text.
#include <ostream>

#include "nn/module.h"

namespace tandem::nn {
namespace {

// A child's text stands two columns further in than its parent's, from its second line on.
std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

}  // namespace

std::string to_string(const Module& module) {
  const auto children = const_cast<Module&>(module).named_children();
  const std::string extra = module.extra_repr();
  std::string text = module.name() + "(";
  if (children.empty()) return text + (extra.find('\n') == std::string::npos ? extra : "\n  " + indented(extra) + "\n") + ")";
  if (!extra.empty()) text += "\n  " + indented(extra);
  for (const auto& [name, child] : children) text += "\n  (" + name + "): " + indented(to_string(*child));
  return text + "\n)";
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << to_string(module); }

}  // namespace tandem::nn
