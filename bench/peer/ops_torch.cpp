// The peer's side of the operations benchmark: those of `./dev bench ops` (tests/cases) that are compared, name by name and with the
// same sizes, written for libtorch. bench/ops.py compiles it against the wheel's headers; it is no part of tandem's build.
// Usage: ops_torch [--threads N] [--ms MILLISECONDS] [--size N] [--only NAME]…; prints JSON.
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>

#include "bench/measure.h"

using tandem::bench::measure;
using tandem::bench::Measured;
using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

using Body = std::function<void()>;
/// Makes the inputs for about n elements and gives what is measured.
using Make = std::function<Body(int64_t n)>;

Tensor drawn(int64_t n, double low, double high) { return torch::rand({n}) * (high - low) + low; }

Make unary(Tensor (*f)(const Tensor&), double low = -3, double high = 3) {
  return [=](int64_t n) -> Body {
    const Tensor x = drawn(n, low, high);
    return [=] { auto y = f(x); };
  };
}
Make binary(Tensor (*f)(const Tensor&, const Tensor&), double low = -3, double high = 3, double low_b = -3, double high_b = 3) {
  return [=](int64_t n) -> Body {
    const Tensor a = drawn(n, low, high), b = drawn(n, low_b, high_b);
    return [=] { auto y = f(a, b); };
  };
}
/// The sum of 100 rows of 1000 and a tensor of other sizes.
Make added(std::vector<int64_t> sizes) {
  return [=](int64_t) -> Body {
    const Tensor a = torch::randn({100, 1000}), b = torch::randn(sizes);
    return [=] { auto y = torch::add(a, b); };
  };
}
/// f of a normal tensor of sizes that come from n.
template <class F>
Make of(std::vector<int64_t> (*sizes)(int64_t), F f) {
  return [=](int64_t n) -> Body {
    const Tensor x = torch::randn(sizes(n));
    return [=] { auto y = f(x); };
  };
}
std::vector<int64_t> flat(int64_t n) { return {n}; }
std::vector<int64_t> rows(int64_t n) { return {(n + 999) / 1000, 1000}; }
std::vector<int64_t> square(int64_t n) { return {int64_t(std::sqrt(double(n))), int64_t(std::sqrt(double(n)))}; }
std::vector<int64_t> images(int64_t) { return {8, 64, 56, 56}; }

// A function of libtorch may be overloaded or take more: a lambda of its tensors picks the one that is meant.
#define UNARY(name, ...)                                                        \
  {                                                                             \
#name, unary([](const Tensor& x) { return torch::name(x); }, ##__VA_ARGS__) \
  }
#define BINARY(name, ...)                                                                            \
  {                                                                                                  \
#name, binary([](const Tensor& a, const Tensor& b) { return torch::name(a, b); }, ##__VA_ARGS__) \
  }

const std::map<std::string, Make>& cases() {
  static const std::map<std::string, Make> all = {
      UNARY(neg), UNARY(abs), UNARY(sign), UNARY(square), UNARY(floor), UNARY(ceil), UNARY(round), UNARY(trunc), UNARY(frac), UNARY(exp),
      UNARY(exp2), UNARY(expm1), UNARY(log, 0.1, 4), UNARY(log2, 0.1, 4), UNARY(log10, 0.1, 4), UNARY(log1p, 0.1, 4), UNARY(sqrt, 0.1, 4),
      UNARY(rsqrt, 0.1, 4), UNARY(reciprocal, 0.1, 4), UNARY(sin), UNARY(cos), UNARY(tan, -1.2, 1.2), UNARY(asin, -.95, .95),
      UNARY(acos, -.95, .95), UNARY(atan), UNARY(sinh), UNARY(cosh), UNARY(tanh), UNARY(asinh), UNARY(acosh, 1.1, 4),
      UNARY(atanh, -.95, .95), UNARY(erf), UNARY(erfc), UNARY(sigmoid), UNARY(relu), UNARY(isnan), UNARY(isfinite), UNARY(logical_not),
      BINARY(add), BINARY(sub), BINARY(mul), BINARY(div, -3, 3, 0.1, 4), BINARY(remainder, -3, 3, 0.1, 4), BINARY(fmod, -3, 3, 0.1, 4),
      BINARY(pow, 0.2, 3, 0.2, 3), BINARY(atan2), BINARY(hypot), BINARY(maximum), BINARY(minimum), BINARY(eq), BINARY(lt),
      BINARY(logical_and), BINARY(logaddexp), BINARY(copysign),
      {"add_row", added({1000})},
      {"add_column", added({100, 1})},
      {"silu", unary([](const Tensor& x) { return F::silu(x); })},
      {"mish", unary([](const Tensor& x) { return F::mish(x); })},
      {"gelu", of(flat, [](const Tensor& x) { return F::gelu(x); })},
      {"hardswish", unary([](const Tensor& x) { return torch::hardswish(x); }, -6, 6)},
      {"elu", of(flat, [](const Tensor& x) { return torch::elu(x, 1.3); })},
      {"leaky_relu", of(flat, [](const Tensor& x) { return torch::leaky_relu(x, 0.1); })},
      {"clamp", of(flat, [](const Tensor& x) { return torch::clamp(x, -1, 1); })},
      {"clone", of(flat, [](const Tensor& x) { return x.clone(); })},
      {"sum", of(flat, [](const Tensor& x) { return x.sum(); })},
      {"mean", of(flat, [](const Tensor& x) { return x.mean(); })},
      {"var", of(flat, [](const Tensor& x) { return x.var(); })},
      {"norm", of(flat, [](const Tensor& x) { return x.norm(2, 0); })},
      {"amax", of(flat, [](const Tensor& x) { return x.amax(0); })},
      {"argmax", of(flat, [](const Tensor& x) { return x.argmax(0); })},
      {"cumsum", of(flat, [](const Tensor& x) { return x.cumsum(0); })},
      {"sort", of(flat, [](const Tensor& x) { return std::get<0>(x.sort(0)); })},
      {"topk", of(flat, [](const Tensor& x) { return std::get<0>(x.topk(100, 0)); })},
      {"softmax", of(rows, [](const Tensor& x) { return torch::softmax(x, 1); })},
      {"log_softmax", of(rows, [](const Tensor& x) { return torch::log_softmax(x, 1); })},
      {"layer_norm",
       [](int64_t n) -> Body {
         const Tensor x = torch::randn(rows(n)), weight = torch::randn({1000}), bias = torch::randn({1000});
         return [=] { auto y = torch::layer_norm(x, {1000}, weight, bias); };
       }},
      {"transpose", of(rows, [](const Tensor& x) { return x.transpose(0, 1).contiguous(); })},
      {"flip", of(rows, [](const Tensor& x) { return x.flip({1}); })},
      {"cat",
       [](int64_t n) -> Body {
         const Tensor a = torch::randn({n / 2}), b = torch::randn({n - n / 2});
         return [=] { auto y = torch::cat({a, b}); };
       }},
      {"rand_like", of(flat, [](const Tensor& x) { return torch::rand_like(x); })},
      {"randn_like", of(flat, [](const Tensor& x) { return torch::randn_like(x); })},
      {"bernoulli",
       [](int64_t n) -> Body {
         const Tensor p = torch::full({n}, 0.25);
         return [=] { auto y = torch::bernoulli(p); };
       }},
      {"dropout",
       [](int64_t n) -> Body {
         const Tensor x = torch::ones({n});
         return [=] { auto y = torch::dropout(x, 0.5, true); };
       }},
      {"max_pool2d", of(images, [](const Tensor& x) { return torch::max_pool2d(x, 2); })},
      {"gather",
       [](int64_t n) -> Body {
         const Tensor x = torch::randn(rows(n)), index = torch::randint(0, 1000, rows(n));
         return [=] { auto y = x.gather(1, index); };
       }},
      {"masked_fill",
       [](int64_t n) -> Body {
         const Tensor x = torch::randn({n}), mask = torch::randn({n}) > 0;
         return [=] { auto y = x.masked_fill(mask, 2.0); };
       }},
      {"where",
       [](int64_t n) -> Body {
         const Tensor condition = torch::randn({n}) > 0, a = torch::randn({n}), b = torch::randn({n});
         return [=] { auto y = torch::where(condition, a, b); };
       }},
      {"cross_entropy",
       [](int64_t n) -> Body {
         const Tensor x = torch::randn(rows(n)), target = torch::randint(0, 1000, {(n + 999) / 1000});
         return [=] { auto y = F::cross_entropy(x, target); };
       }},
      {"mse_loss",
       [](int64_t n) -> Body {
         const Tensor a = torch::randn({n}), b = torch::randn({n});
         return [=] { auto y = torch::mse_loss(a, b); };
       }},
      {"mm",
       [](int64_t n) -> Body {
         const Tensor a = torch::randn(square(n)), b = torch::randn(square(n));
         return [=] { auto y = torch::mm(a, b); };
       }},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  double ms = 100;
  int64_t size = 1'000'000;
  std::vector<std::string> only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--threads")) torch::set_num_threads(std::atoi(argv[i + 1]));
    if (!std::strcmp(argv[i], "--ms")) ms = std::atof(argv[i + 1]);
    if (!std::strcmp(argv[i], "--size")) size = std::atoll(argv[i + 1]);
    if (!std::strcmp(argv[i], "--only")) only.emplace_back(argv[i + 1]);
  }
  const torch::NoGradGuard no_grad;
  std::vector<Measured> results;
  for (const auto& [name, make] : cases()) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    torch::manual_seed(0);
    results.push_back(measure(name, ms, make(size)));
  }
  std::cout << tandem::bench::to_json("libtorch " TORCH_VERSION, torch::get_num_threads(), results);
}
