// Products of matrices and vectors. References are triple loops.
#include <cmath>
#include <numbers>

#include "cases/case.h"

namespace tandem::cases {
namespace {

/// a (n, k) by b (k, m), in float64.
Tensor product(const Tensor& a, const Tensor& b) {
  return generate({a.size(0), b.size(1)}, [&](const Shape& at_) {
    double sum = 0;
    for (int64_t k = 0; k < a.size(1); ++k) sum += at(a, {at_[0], k}) * at(b, {k, at_[1]});
    return sum;
  });
}

/// For a sum of k products of independent numbers of both signs.
constexpr double kSums = 8;

struct Product : Case {
  static constexpr DTypes dtypes = kNumbers;
  static constexpr double tolerance = kSums;
  static constexpr bool zero_dim = false;
};

struct Mm : Product {
  static constexpr const char* name = "mm";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({5, 4}));
    in.add(randn({33, 70}), randn({70, 45}));
    in.add(randn({1, 40}), randn({40, 1}));
    in.add(randn({3, 0}), randn({0, 2}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, n}), ones({n, 3}));
    in.add(ones({n, 2}), ones({2, 3}));
    in.add(ones({20, n}), ones({n, 40}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return mm(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const { return product(a, b); }
  void bench(Inputs& in, int64_t n) const {
    const auto side = int64_t(std::sqrt(double(n)));
    in.add(randn({side, side}), randn({side, side}));
  }
  double flops(const Tensor& a, const Tensor& b) const { return 2.0 * double(a.numel()) * double(b.size(1)); }
};

struct Bmm : Product {
  static constexpr const char* name = "bmm";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 5}), randn({2, 5, 4}));
    in.add(randn({0, 3, 5}), randn({0, 5, 4}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, 3, n}), ones({2, n, 4}));
    in.add(ones({2, n, 3}), ones({2, 3, 4}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return bmm(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    if (a.size(0) == 0) return zeros({0, a.size(1), b.size(2)}, kFloat64);
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < a.size(0); ++i) parts.push_back(product(a[i], b[i]));
    return stack(parts);
  }
  void bench(Inputs& in, int64_t n) const {
    const auto side = int64_t(std::sqrt(double(n) / 16));
    in.add(randn({16, side, side}), randn({16, side, side}));
  }
  double flops(const Tensor& a, const Tensor& b) const { return 2.0 * double(a.numel()) * double(b.size(2)); }
};

struct Matmul : Product {
  static constexpr const char* name = "matmul";
  void inputs(Inputs& in) const {
    in.add(randn({5}), randn({5}));
    in.add(randn({5}), randn({5, 4}));
    in.add(randn({3, 5}), randn({5}));
    in.add(randn({3, 5}), randn({5, 4}));
    in.add(randn({2, 3, 5}), randn({5, 4}));
    in.add(randn({2, 1, 3, 5}), randn({4, 5, 2}));
    in.add(randn({2, 0}), randn({0, 3}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), ones({n}));
    in.add(ones({n, 3}), ones({3}));
    in.add(ones({n, 2, 3}), ones({3, 4}));
    in.add(ones({2, 3}), ones({n, 3, 4}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return matmul(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    const Tensor x = a.dim() == 1 ? a.unsqueeze(0) : a, y = b.dim() == 1 ? b.unsqueeze(1) : b;
    Tensor all = (x.unsqueeze(-1) * y.unsqueeze(-3)).sum(-2);
    if (b.dim() == 1) all = all.squeeze(-1);
    return a.dim() == 1 ? all.squeeze(b.dim() == 1 ? -1 : -2) : all;
  }
  void bench(Inputs& in, int64_t n) const { Mm().bench(in, n); }
  double flops(const Tensor& a, const Tensor& b) const { return Mm().flops(a, b); }
};

struct Mv : Product {
  static constexpr const char* name = "mv";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({5}));
    in.add(randn({40, 70}), randn({70}));
    in.add(randn({3, 0}), randn({0}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3, n}), ones({n}));
    in.add(ones({n, 3}), ones({3}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return mv(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const { return product(a, b.unsqueeze(1)).squeeze(1); }
  void bench(Inputs& in, int64_t n) const {
    const auto side = int64_t(std::sqrt(double(n)));
    in.add(randn({side, side}), randn({side}));
  }
};

struct Dot : Product {
  static constexpr const char* name = "dot";
  void inputs(Inputs& in) const {
    in.add(randn({70}), randn({70}));
    in.add(randn({0}), randn({0}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return dot(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const { return product(a.unsqueeze(0), b.unsqueeze(1)).view({}); }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n})); }
};

struct Addmm : Product {
  static constexpr const char* name = "addmm";
  static constexpr DTypes without_reference = kIntegers;  // these take whole factors only
  void inputs(Inputs& in) const {
    in.add(randn({4}), randn({3, 5}), randn({5, 4}), 3.0, 2.0);
    in.add(randn({33, 45}), randn({33, 70}), randn({70, 45}), 1.0, 1.0);
    in.add(randn({3, 2}), randn({3, 0}), randn({0, 2}), 1.0, 1.0);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({4}), ones({3, n}), ones({n, 4}), 1.0, 1.0);
    in.add(ones({4}), ones({n, 3}), ones({3, 4}), 1.0, 1.0);
  }
  Tensor run(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha) const { return addmm(c, a, b, beta, alpha); }
  Tensor reference(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha) const {
    return c * beta + product(a, b) * alpha;
  }
  void bench(Inputs& in, int64_t n) const {
    const auto side = int64_t(std::sqrt(double(n)));
    in.add(randn({side}), randn({side, side}), randn({side, side}), 1.0, 1.0);
  }
  double flops(const Tensor&, const Tensor& a, const Tensor& b, double, double) const { return Mm().flops(a, b); }
};

struct Linear : Product {
  static constexpr const char* name = "linear";
  static constexpr const char* torch = "nn.functional.linear";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({4, 5}), randn({4}));
    in.add(randn({2, 3, 5}), randn({4, 5}), randn({4}));
    in.add(randn({5}), randn({4, 5}), Tensor());
    in.add(randn({0, 5}), randn({4, 5}), randn({4}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3, n}), ones({4, n}), ones({4}));
    in.add(ones({n, 3}), ones({4, 3}), ones({4}));
    in.add(ones({n, 3}), ones({1, 3}), ones({1}));
  }
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const { return linear(x, weight, bias); }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    Shape sizes = x.sizes();
    sizes[sizes.size() - 1] = weight.size(0);
    const Tensor y = product(x.reshape({x.numel() / x.size(-1), x.size(-1)}), weight.t()).view(sizes);
    return bias.defined() ? y + bias : y;
  }
  void bench(Inputs& in, int64_t n) const {
    const auto side = int64_t(std::sqrt(double(n)));
    in.add(randn({side, side}), randn({side, side}), randn({side}));
  }
  double flops(const Tensor& x, const Tensor& weight, const Tensor&) const { return 2.0 * double(x.numel()) * double(weight.size(0)); }
};

struct LinearRelu : Linear {
  static constexpr const char* name = "linear_relu";
  static constexpr bool torch = false;
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const { return linear_relu(x, weight, bias); }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    const Tensor y = Linear::reference(x, weight, bias);
    return where(y > 0, y, 0);
  }
};

struct LinearGelu : Linear {
  static constexpr const char* name = "linear_gelu";
  static constexpr bool torch = false;
  static constexpr DTypes dtypes = kFloating;
  Tensor run(const Tensor& x, const Tensor& weight, const Tensor& bias) const { return linear_gelu(x, weight, bias); }
  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    const Tensor y = Linear::reference(x, weight, bias);
    return generate(y.sizes(), [&](const Shape& at_) {
      const double v = at(y, at_);
      return v / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
    });
  }
};

struct Einsum : Product {
  static constexpr const char* name = "einsum";
  void inputs(Inputs& in) const {
    in.add("bij,bjk->bik", std::vector<Tensor>{randn({2, 3, 5}), randn({2, 5, 4})});
    in.add("ij,kj->ik", std::vector<Tensor>{randn({2, 0}), randn({3, 0})});
  }
  void many(Inputs& in, int64_t n) const {
    in.add("bij,bjk->bik", std::vector<Tensor>{ones({2, 3, n}), ones({2, n, 4})});
    in.add("ij,kj->ik", std::vector<Tensor>{ones({n, 3}), ones({2, 3})});
  }
  Tensor run(const std::string& equation, const std::vector<Tensor>& x) const { return einsum(equation, x); }
  Tensor reference(const std::string& equation, const std::vector<Tensor>& x) const {
    return equation == "bij,bjk->bik" ? Bmm().reference(x[0], x[1]) : product(x[0], x[1].t());
  }
  void bench(Inputs& in, int64_t n) const {
    const auto side = int64_t(std::sqrt(double(n) / 16));
    in.add("bij,bjk->bik", std::vector<Tensor>{randn({16, side, side}), randn({16, side, side})});
  }
  double flops(const std::string&, const std::vector<Tensor>& x) const { return Bmm().flops(x[0], x[1]); }
};

}  // namespace

void add_products(std::vector<Operation>& list) {
  list.push_back(operation<Mm>());
  list.push_back(operation<Bmm>());
  list.push_back(operation<Matmul>());
  list.push_back(operation<Mv>());
  list.push_back(operation<Dot>());
  list.push_back(operation<Addmm>());
  list.push_back(operation<Linear>());
  list.push_back(operation<LinearRelu>());
  list.push_back(operation<LinearGelu>());
  list.push_back(operation<Einsum>());
}

}  // namespace tandem::cases
