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

void make_tensors(const Json& value, const std::function<bool(const std::string& key)>& wanted, Tensors& tensors) {
  if (value.is_object() && value.contains("tensor")) {
    const Tensor& made = tensors.at(value);
    if (wanted(value["tensor"].get<std::string>())) made.requires_grad_();
  } else if (value.is_array() || value.is_object()) {
    for (const auto& e : value) make_tensors(e, wanted, tensors);
  }
}

std::string different_results(const Results& results, const Json& test, const Tensors& tensors) {
  const Json& expected = test["results"];
  if (results.size() != expected.size()) return std::to_string(results.size()) + " results instead of " + std::to_string(expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string different = difference(results[i], tensors.stored(expected[i]), test["rtol"], test["atol"]);
    if (!different.empty()) return "result " + std::to_string(i) + ": " + different;
  }
  return "";
}

void run_backward(const Results& results, const Json& test, const Tensors& tensors) {
  const Json& cotangents = test["cotangents"];
  Tensor total;
  for (size_t i = 0; i < results.size(); ++i) {
    if (cotangents[i].is_null()) continue;
    const Tensor part = (results[i] * tensors.stored(cotangents[i]).to(tensors.device())).sum();
    total = total.defined() ? total + part : part;
  }
  total.backward();
}

std::string different_gradient(const std::string& of, const Tensor& gradient, const Json& expected, const Json& test,
                               const Tensors& tensors) {
  if (!gradient.defined()) return "no gradient of " + of;
  const std::string different = difference(gradient, tensors.stored(expected), test["rtol"], test["atol"]);
  return different.empty() ? "" : "gradient of " + of + ": " + different;
}

}  // namespace golden
