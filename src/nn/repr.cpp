#include "nn/repr.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "nn/module.h"

namespace tandem::nn::detail {

std::string repr(double number) {
  // Python writes exponents below 1e-4 and from 1e16 on, the shortest digits either way, and 1.0 for 1.
  const double size = std::abs(number);
  const bool fixed = number == 0 || (size >= 1e-4 && size < 1e16);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number, fixed ? std::chars_format::fixed : std::chars_format::scientific).ptr;
  const std::string digits(text, end);
  return fixed && digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

std::string repr(std::optional<double> number) { return number ? repr(*number) : "None"; }

std::string repr(const Scalar& number) { return number.is_floating() ? repr(number.to<double>()) : str(number.to<int64_t>()); }

const char* repr(bool flag) { return flag ? "True" : "False"; }

std::string repr(const Shape& sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += str(i ? ", " : "", sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

std::string repr(const PerDim& values) {
  if (values.empty()) return "None";
  return values.values().size() == 1 ? str(values.values()[0]) : repr(values.values());
}

std::string repr(const ModuleBase& module) { return str(module.name(), '(', module.extra_repr(), ')'); }

}  // namespace tandem::nn::detail
