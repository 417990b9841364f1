#include "nn/repr.h"

#include "base/error.h"

namespace tandem::nn::detail {

std::string repr(double number) {
  std::string text = str(number);
  // Python writes 1.0 where the shortest form is 1; "inf", "nan" and 1e-05 stay as they are.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
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

}  // namespace tandem::nn::detail
