#include "words.h"

#include <string_view>
#include <utility>

#include "values.h"

namespace tandem::python {
namespace {

constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"td::", ""},
    {" = true", "=True"},
    {" = false", "=False"},
};
constexpr std::pair<std::string_view, std::string_view> kDTypeWords[] = {
    {"kFloat32", "float32"}, {"kFloat64", "float64"}, {"kFloat16", "float16"}, {"kBFloat16", "bfloat16"},
    {"kInt64", "int64"},     {"kInt32", "int32"},     {"kUInt8", "uint8"},     {"kBool", "bool"}};

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

/// "{.strict=False}" becomes "strict=False".
void open_options(std::string& text) {
  for (size_t at = text.find("{."); at != std::string::npos; at = text.find("{.", at)) {
    const size_t end = text.find('}', at);
    if (end == std::string::npos) return;
    text.erase(end, 1);
    text.erase(at, 2);
  }
}

}  // namespace

std::string in_python(std::string text) {
  for (const auto& [from, to] : kWords) replace(text, from, to);
  for (const auto& [from, to] : kDTypeWords) replace(text, from, module_prefix() + std::string(to));
  open_options(text);
  return text;
}

}  // namespace tandem::python
