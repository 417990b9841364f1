// Normalizations. References take mean and deviation of each group by name.
#include <cmath>
#include <numeric>

#include "cases/case.h"

namespace tandem::cases {
namespace {

constexpr double kEps = 1e-5;

/// x with each group of elements (those for which `group` gives the same number) brought to mean 0 and variance 1.
Tensor normalized(const Tensor& x, int64_t groups, const std::function<int64_t(const Shape&)>& group, bool center = true,
                  double eps = kEps) {
  std::vector<double> sum(size_t(groups), 0), squares(size_t(groups), 0), count(size_t(groups), 0);
  for_each_position(x.sizes(), [&](const Shape& position) {
    const auto g = size_t(group(position));
    sum[g] += at(x, position);
    ++count[g];
  });
  const auto mean = [&](size_t g) { return center ? sum[g] / count[g] : 0; };
  for_each_position(x.sizes(), [&](const Shape& position) {
    const auto g = size_t(group(position));
    squares[g] += std::pow(at(x, position) - mean(g), 2);
  });
  return generate(x.sizes(), [&](const Shape& position) {
    const auto g = size_t(group(position));
    return (at(x, position) - mean(g)) / std::sqrt(squares[g] / count[g] + eps);
  });
}
/// y * weight + bias with one of each a channel, dimension 1.
Tensor scaled(const Tensor& y, const Tensor& weight, const Tensor& bias) {
  return generate(y.sizes(), [&](const Shape& position) { return at(y, position) * at(weight, {position[1]}) + at(bias, {position[1]}); });
}

/// n blocks of `sizes`, those of 0 and of 2 in turn: a mean and a deviation of 1 over all of them.
Tensor zeros_and_twos(int64_t n, Shape sizes) {
  Shape all{n}, column{n};
  for (const int64_t size : sizes) {
    all.push_back(size);
    column.push_back(1);
  }
  return (arange(n).remainder(2) * 2).to(kFloat32).view(column).expand(all).contiguous();
}

struct Normalization : Case {
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, empty_input = false;
  static constexpr bool expands = false;  // a group of equal numbers: nothing but rounding is left
  static constexpr DTypes dtypes = kFloating;
};

struct LayerNorm : Normalization {
  static constexpr const char* name = "layer_norm";
  static constexpr const char* torch = "nn.functional.layer_norm";
  static constexpr bool empty_input = true;
  void inputs(Inputs& in) const {
    in.add(randn({4, 6}) + 1, randn({6}), randn({6}));
    in.add(randn({2, 3, 70}), randn({70}), randn({70}));
    in.add(randn({0, 6}), randn({6}), randn({6}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(zeros_and_twos(n, {4}), ones({4}), ones({4}));
    in.add(zeros_and_twos(n, {}).view({1, n}), ones({n}), ones({n}));
  }
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const { return layer_norm(x, weight.sizes(), weight, bias); }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    const Tensor rows = x.reshape({x.numel() / x.size(-1), x.size(-1)});
    return (normalized(rows, rows.size(0), [](const Shape& p) { return p[0]; }) * weight + bias).reshape(x.sizes());
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), randn({1000}), randn({1000})); }
};

struct RmsNorm : Normalization {
  static constexpr const char* name = "rms_norm";
  static constexpr const char* torch = "nn.functional.rms_norm";
  static constexpr bool empty_input = true;
  void inputs(Inputs& in) const {
    in.add(randn({4, 6}) + 1, randn({6}));
    in.add(randn({2, 3, 70}), randn({70}));
    in.add(randn({0, 6}), randn({6}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n, 4}), ones({4}));
    in.add(ones({1, n}), ones({n}));
  }
  Tensor run(const Tensor& x, const Tensor& weight) const { return rms_norm(x, weight.sizes(), weight, kEps); }
  Tensor reference(const Tensor& x, const Tensor& weight) const {
    const Tensor rows = x.reshape({x.numel() / x.size(-1), x.size(-1)});
    return (normalized(
                rows, rows.size(0), [](const Shape& p) { return p[0]; }, false) *
            weight)
        .reshape(x.sizes());
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), randn({1000})); }
};

struct GroupNorm : Normalization {
  static constexpr const char* name = "group_norm";
  static constexpr const char* torch = "nn.functional.group_norm";
  void inputs(Inputs& in) const {
    in.add(randn({2, 6, 4}), 3, randn({6}), randn({6}));
    in.add(randn({2, 4, 3, 5}), 2, randn({4}), randn({4}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(zeros_and_twos(n, {4, 2}), 2, ones({4}), ones({4}));
    in.add(zeros_and_twos(n, {}).view({1, 2, n / 2}), 1, ones({2}), ones({2}));
  }
  Tensor run(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias) const {
    return group_norm(x, groups, weight, bias);
  }
  Tensor reference(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias) const {
    const int64_t size = x.size(1) / groups;
    return scaled(normalized(x, x.size(0) * groups, [&](const Shape& p) { return p[0] * groups + p[1] / size; }), weight, bias);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), 8, randn({64}), randn({64})); }
};

struct BatchNorm : Normalization {
  static constexpr const char* name = "batch_norm";
  static constexpr const char* torch = "nn.functional.batch_norm";
  void inputs(Inputs& in) const {
    in.add(randn({6, 3}), randn({3}), randn({3}));
    in.add(randn({2, 4, 3, 5}), randn({4}), randn({4}));
  }
  void many(Inputs& in, int64_t n) const { in.add(zeros_and_twos(n, {3}), ones({3}), ones({3})); }
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return batch_norm(x, Tensor(), Tensor(), {.weight = weight, .bias = bias, .training = true});
  }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return scaled(normalized(x, x.size(1), [](const Shape& p) { return p[1]; }), weight, bias);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), randn({64}), randn({64})); }
};

/// By running statistics, which are counted as 0.5 and 2.
struct BatchNormInference : BatchNorm {
  static constexpr const char* name = "batch_norm_inference";
  static constexpr const char* torch = "nn.functional.batch_norm(training=False)";
  static constexpr bool expands = true;
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return batch_norm(x, full_like(weight.detach(), 0.5), full_like(weight.detach(), 2), {.weight = weight, .bias = bias});
  }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return scaled((x - 0.5) / std::sqrt(2 + kEps), weight, bias);
  }
};

struct InstanceNorm : Normalization {
  static constexpr const char* name = "instance_norm";
  static constexpr const char* torch = "nn.functional.instance_norm";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 7}), randn({3}), randn({3}));
    in.add(randn({2, 4, 3, 5}), randn({4}), randn({4}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(zeros_and_twos(n, {3, 2}), ones({3}), ones({3}));
    in.add(zeros_and_twos(n, {}).view({1, 2, n / 2}), ones({2}), ones({2}));
  }
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    InstanceNormOptions options;
    options.weight = weight;
    options.bias = bias;
    return instance_norm(x, options);
  }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return scaled(normalized(x, x.size(0) * x.size(1), [&](const Shape& p) { return p[0] * x.size(1) + p[1]; }), weight, bias);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), randn({64}), randn({64})); }
};

struct LocalResponseNorm : Normalization {
  static constexpr const char* name = "local_response_norm";
  static constexpr const char* torch = "nn.functional.local_response_norm";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // means of squares are whole
  static constexpr Gives gives = Gives::Any;
  void inputs(Inputs& in) const {
    in.add(randn({2, 5, 4}), 3);
    in.add(randn({2, 4, 3, 2}), 2);
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({1, n, 2}), n / 10); }
  Tensor run(const Tensor& x, int64_t size) const { return local_response_norm(x, size, 0.1); }
  Tensor reference(const Tensor& x, int64_t size) const {
    return generate(x.sizes(), [&](const Shape& position) {
      double sum = 0;
      Shape near = position;
      for (int64_t c = position[1] - size / 2; c < position[1] - size / 2 + size; ++c) {
        near[1] = c;
        if (c >= 0 && c < x.size(1)) sum += at(x, near) * at(x, near);
      }
      return at(x, position) / std::pow(1 + 0.1 * sum / double(size), 0.75);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 50175) / 50176, 64, 28, 28}), 5); }
};

struct NormalizeCase : Normalization {
  static constexpr const char* name = "normalize";
  static constexpr const char* torch = "nn.functional.normalize";
  static constexpr bool empty_input = true, expands = true;
  void inputs(Inputs& in) const {
    in.add(randn({4, 6}), 2.0, 1);
    in.add(randn({2, 3, 5}), 1.0, 0);
    in.add(randn({0, 6}), 2.0, 1);
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({1, n}), 2.0, 1); }
  Tensor run(const Tensor& x, double p, int64_t dim) const { return normalize(x, p, dim); }
  Tensor reference(const Tensor& x, double p, int64_t dim) const {
    return x / reduced(x, dim, true, [&](const Row& row) {
             double sum = 0;
             for (const double v : row) sum += std::pow(std::fabs(v), p);
             return std::pow(sum, 1 / p);
           });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), 2.0, 1); }
};

}  // namespace

void add_normalizations(std::vector<Operation>& list) {
  list.push_back(operation<LayerNorm>());
  list.push_back(operation<RmsNorm>());
  list.push_back(operation<GroupNorm>());
  list.push_back(operation<BatchNorm>());
  list.push_back(operation<BatchNormInference>());
  list.push_back(operation<InstanceNorm>());
  list.push_back(operation<LocalResponseNorm>());
  list.push_back(operation<NormalizeCase>());
}

}  // namespace tandem::cases
