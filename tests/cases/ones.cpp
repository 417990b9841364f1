// Many ones at one place, in the half types. A sum that is rounded after each of them stops at 256 in bfloat16 and at 2,048 in float16; a
// sum that is rounded once is the nearest number to that of float64. So it is asked of every operation and its gradient.
#include <cmath>
#include <map>

#include "cases/notes.h"

namespace tandem::cases {
namespace {

constexpr int64_t kMany = 3000;

/// Half the distance between neighbours in [1, 2).
double rounding_of(DType dtype) { return dtype == kBFloat16 ? 0x1p-8 : 0x1p-11; }

/// Where a result is not float64's rounded once.
struct Rule {
  double roundings;  // how many of them, relative
  double near;       // and an absolute one: what is left of numbers that cancel
  const char* reason;
};
const Rule kOnce{1, 0, ""};

const Rule& rule_of(const std::string& name) {
  constexpr double kThird = 1. / kMany;
  static const Rule second{6, 0, "a second derivative is composed of operations of the half type, as PyTorch's"},
      step{30, 1, "the state is rounded at each step, and what depends on it"},
      saved{9, 0, "the gradient is exp(x - y) with y, a logarithm near 8, as it was rounded"},
      cancelled{1, kThird, "the gradient, 0, is what is left of rounded results"};
  static const std::map<std::string, Rule> rules = {
      {"tanh", {3, 0, "the gradient is 1 - y^2 with y as it was rounded"}},
      {"sinc", {1, 1e-5, "sin(pi) of float32's pi"}},
      {"gelu_backward", second},
      {"gelu_tanh_backward", second},
      {"mish_backward", second},
      {"softmax", cancelled},
      {"softmin", cancelled},
      {"log_softmax", {1, 9, "the gradient, 0, is 1 - exp(y) with y, a logarithm near 8, as it was rounded"}},
      {"logsumexp", saved},
      {"logcumsumexp", saved},
      {"soft_margin_loss", {2, 0, "the losses are rounded before they are summed up"}},
      {"matrix_power", {2, 0, "a product of rounded products"}},
      {"local_response_norm", {8, 0, "a mean, a power and a quotient, each rounded, and their gradients"}},
      {"normalize", {1, 0.05, "the gradient, 0, is what is left of rounded quotients"}},
      {"affine_grid", {2, 2, "coordinates are rounded before they are multiplied and summed up"}},
      {"cosine_similarity", {2, 1e-3, "a product of rounded quotients; its gradient, 0, is what is left of them"}},
      {"rnn_tanh", step},
      {"rnn_relu", step},
      {"gru", step},
      {"lstm", step},
      {"gumbel_softmax", {1, 1, "it compares random results of both types"}},
  };
  const auto found = rules.find(name);
  return found == rules.end() ? kOnce : found->second;
}

/// Results, and the gradients of the floating arguments where there are such, on the host.
std::vector<std::pair<std::string, Tensor>> all_of(const Operation& operation, const Sample& sample, DType dtype, Device device) {
  manual_seed(1);
  std::vector<Tensor> leaves;
  const Arguments arguments = map(sample.arguments, [&](const Tensor& x) {
    if (!x.is_floating_point()) return x.to(device);
    Tensor leaf = x.detach().to(device, dtype, {.copy = true});
    if (operation.gradient && sample.differentiable) leaves.push_back(leaf.requires_grad_());
    return leaf;
  });
  const Results results = run(operation.run, arguments, device);
  std::vector<std::pair<std::string, Tensor>> all;
  std::vector<Tensor> recorded, incoming;
  for (size_t i = 0; i < results.size(); ++i) {
    all.emplace_back(str("result ", i), results[i].detach().cpu());
    if (!results[i].requires_grad()) continue;
    recorded.push_back(results[i]);
    incoming.push_back(ones_like(results[i].detach()));
  }
  if (recorded.empty()) return all;
  const auto gradients = grad(recorded, leaves, {.grad_outputs = incoming, .allow_unused = true});
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) all.emplace_back(str("the gradient of tensor ", i), gradients[i].cpu());
  return all;
}

/// Empty where `ours`, of a half type, is `exact` as near as the rule asks.
std::string farther(const Tensor& ours, const Tensor& exact, const Rule& rule) {
  if (!(ours.sizes() == exact.sizes())) return str("sizes ", ours.sizes(), ", in float64 ", exact.sizes());
  const auto a = doubles(ours), b = doubles(exact), nearest = doubles(exact.to(ours.dtype()));
  const double unit = rounding_of(ours.dtype()), least = ours.dtype() == kFloat16 ? 0x1p-24 : 1e-12;  // of zeros
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == nearest[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    // A sum in float32 may lie on the other side of a middle.
    if (!(std::abs(a[i] - b[i]) <= 1.01 * rule.roundings * unit * std::abs(b[i]) + rule.near * unit + least))
      return str("element ", i, " is ", a[i], ", in float64 ", b[i]);
  }
  return "";
}

}  // namespace

Findings check_ones(const Operation& operation, Device device) {
  Notes notes(operation);
  const Rule& rule = rule_of(operation.name);
  size_t number = 0;
  for (const Sample& sample : samples_of_many(operation)) {
    bool floating = false;
    (void)map(sample.arguments, [&](const Tensor& x) {
      floating |= x.is_floating_point();
      return x;
    });
    if (floating && has(operation.dtypes, kFloat64)) {
      std::vector<std::pair<std::string, Tensor>> exact;
      for (const DType dtype : {kBFloat16, kFloat16}) {
        if (!has(operation.dtypes, dtype)) continue;
        notes.about(sample, number, name(dtype));
        notes.guard([&] {
          if (exact.empty()) exact = all_of(operation, sample, kFloat64, cpu());
          const auto ours = all_of(operation, sample, dtype, device);
          for (size_t i = 0; i < ours.size(); ++i) {
            if (!is_half(ours[i].second.dtype())) continue;
            const std::string what = farther(ours[i].second, exact.at(i).second, rule);
            notes.add(what.empty() ? what : ours[i].first + ": " + what);
          }
        });
      }
    }
    ++number;
  }
  return notes.take();
}

std::vector<Sample> samples_of_many(const Operation& operation) {
  manual_seed(1);
  if (operation.many) return operation.many(kMany);
  std::vector<Sample> samples;
  if (!operation.sums) samples = operation.samples();
  else if (operation.bench) samples.push_back(operation.bench(kMany));
  for (Sample& sample : samples)
    sample.arguments = map(sample.arguments, [](const Tensor& x) { return x.is_floating_point() ? ones_like(x) : x; });
  return samples;
}

}  // namespace tandem::cases
