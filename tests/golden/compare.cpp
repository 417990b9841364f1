#include <cmath>

#include "golden.h"

namespace golden {
namespace {

std::string shape_text(const Tensor& x) {
  std::string text = "[";
  for (int64_t d = 0; d < x.dim(); ++d) text += (d ? ", " : "") + std::to_string(x.size(d));
  return text + "] " + name(x.dtype());
}

}  // namespace

std::string difference(const Tensor& ours, const Tensor& theirs, double rtol, double atol) {
  if (rtol == 0 && atol == 0 && is_floating(theirs.dtype())) {  // a call of integers: what PyTorch's tests grant the result's type
    rtol = theirs.dtype() == kFloat64 ? 1e-7 : 1.3e-6;
    atol = theirs.dtype() == kFloat64 ? 1e-7 : 1e-5;
  }
  if (ours.sizes() != theirs.sizes() || ours.dtype() != theirs.dtype()) return shape_text(ours) + " instead of " + shape_text(theirs);
  const DType common = is_floating(ours.dtype()) ? kFloat64 : kInt64;
  const Tensor a = ours.detach().cpu().to(common).contiguous(), b = theirs.detach().cpu().to(common).contiguous();
  const auto compare = [&]<class T>(const T* x, const T* y) -> std::string {
    for (int64_t i = 0; i < a.numel(); ++i) {
      if (x[i] == y[i]) continue;
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x[i]) && std::isnan(y[i])) continue;
        if (std::abs(x[i] - y[i]) <= atol + rtol * std::abs(y[i])) continue;
      }
      return "element " + std::to_string(i) + " of " + shape_text(ours) + " is " + std::to_string(x[i]) + " instead of " +
             std::to_string(y[i]);
    }
    return "";
  };
  return common == kFloat64 ? compare(a.data_ptr<double>(), b.data_ptr<double>()) : compare(a.data_ptr<int64_t>(), b.data_ptr<int64_t>());
}

}  // namespace golden
