// Products made from others, and linear algebra. Where a decomposition is not unique, what is compared is what makes it one: factors are
// multiplied again.
#include <algorithm>
#include <cmath>

#include "cases/case.h"

namespace tandem::cases {
namespace {

/// a (n, k) by b (k, m), batches too.
Tensor product(const Tensor& a, const Tensor& b) { return (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2); }
int64_t side_of(int64_t n) { return int64_t(std::sqrt(double(n))); }

struct Product : Case {
  static constexpr DTypes dtypes = kNumbers;
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false;
};

struct Outer : Product {
  static constexpr const char* name = "outer";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({3}), randn({4}));
    in.add(randn({0}), randn({4}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({n}), ones({2})); }
  Tensor run(const Tensor& a, const Tensor& b) const { return outer(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return each(a.unsqueeze(1), b, [](double x, double y) { return x * y; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({side_of(n)}), randn({side_of(n)})); }
};

struct Inner : Product {
  static constexpr const char* name = "inner";
  void inputs(Inputs& in) const {
    in.add(randn({2, 5}), randn({3, 5}));
    in.add(randn({5}), randn({5}));
    in.add(randn({2, 0}), randn({3, 0}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, n}), ones({3, n}));
    in.add(ones({n, 2}), ones({3, 2}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return inner(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    if (a.dim() == 1) return (a * b).sum();
    return product(a, b.t());
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({side_of(n), side_of(n)}), randn({side_of(n), side_of(n)})); }
  double flops(const Tensor& a, const Tensor& b) const { return 2.0 * double(a.numel()) * double(b.size(0)); }
};

struct Vdot : Product {
  static constexpr const char* name = "vdot";
  void inputs(Inputs& in) const {
    in.add(randn({70}), randn({70}));
    in.add(randn({0}), randn({0}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return vdot(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const { return (a * b).sum(); }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n})); }
};

struct Addmv : Product {
  static constexpr const char* name = "addmv";
  void inputs(Inputs& in) const {
    in.add(randn({3}), randn({3, 5}), randn({5}));
    in.add(randn({3}), randn({3, 0}), randn({0}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3}), ones({3, n}), ones({n}));
    in.add(ones({1}), ones({n, 3}), ones({3}));
  }
  Tensor run(const Tensor& c, const Tensor& a, const Tensor& b) const { return addmv(c, a, b, 3, 2); }
  Tensor reference(const Tensor& c, const Tensor& a, const Tensor& b) const { return c * 3 + product(a, b.unsqueeze(1)).squeeze(1) * 2; }
  void bench(Inputs& in, int64_t n) const { in.add(randn({side_of(n)}), randn({side_of(n), side_of(n)}), randn({side_of(n)})); }
};

struct Addr : Product {
  static constexpr const char* name = "addr";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), randn({3}), randn({4}));
    in.add(randn({0, 4}), randn({0}), randn({4}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({2}), ones({n}), ones({2})); }
  Tensor run(const Tensor& c, const Tensor& a, const Tensor& b) const { return addr(c, a, b, 3, 2); }
  Tensor reference(const Tensor& c, const Tensor& a, const Tensor& b) const { return c * 3 + a.unsqueeze(1) * b * 2; }
  static constexpr DTypes dtypes = kAnyType;
  void bench(Inputs& in, int64_t n) const { in.add(randn({side_of(n), side_of(n)}), randn({side_of(n)}), randn({side_of(n)})); }
};

struct Baddbmm : Product {
  static constexpr const char* name = "baddbmm";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4}), randn({2, 3, 5}), randn({2, 5, 4}));
    in.add(randn({0, 3, 4}), randn({0, 3, 5}), randn({0, 5, 4}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, 3, 4}), ones({2, 3, n}), ones({2, n, 4}));
    in.add(ones({2, 1, 4}), ones({2, n, 3}), ones({2, 3, 4}));
  }
  Tensor run(const Tensor& c, const Tensor& a, const Tensor& b) const { return baddbmm(c, a, b, 3, 2); }
  Tensor reference(const Tensor& c, const Tensor& a, const Tensor& b) const { return c * 3 + product(a, b) * 2; }
  void bench(Inputs& in, int64_t n) const {
    const int64_t s = side_of(n / 16);
    in.add(randn({16, s, s}), randn({16, s, s}), randn({16, s, s}));
  }
  double flops(const Tensor&, const Tensor& a, const Tensor& b) const { return 2.0 * double(a.numel()) * double(b.size(2)); }
};

struct Addbmm : Baddbmm {
  static constexpr const char* name = "addbmm";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), randn({2, 3, 5}), randn({2, 5, 4}));
    in.add(randn({3, 4}), randn({0, 3, 5}), randn({0, 5, 4}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3, 4}), ones({n, 3, 2}), ones({n, 2, 4}));
    in.add(ones({4}), ones({2, n, 3}), ones({2, 3, 4}));
  }
  Tensor run(const Tensor& c, const Tensor& a, const Tensor& b) const { return addbmm(c, a, b, 3, 2); }
  Tensor reference(const Tensor& c, const Tensor& a, const Tensor& b) const { return c * 3 + product(a, b).sum(0) * 2; }
  void bench(Inputs& in, int64_t n) const {
    const int64_t s = side_of(n / 16);
    in.add(randn({s, s}), randn({16, s, s}), randn({16, s, s}));
  }
};

struct Tensordot : Product {
  static constexpr const char* name = "tensordot";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4}), randn({3, 4, 5}));
    in.add(randn({2, 3, 0}), randn({3, 0, 5}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({2, 3, n / 3}), ones({3, n / 3, 5})); }
  Tensor run(const Tensor& a, const Tensor& b) const { return tensordot(a, b, 2); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    const int64_t k = a.size(1) * a.size(2);
    return product(a.reshape({a.size(0), k}), b.reshape({k, b.size(2)}));
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t s = side_of(n) / 20 * 20;
    in.add(randn({s, 20, s / 20}), randn({20, s / 20, s}));
  }
  double flops(const Tensor& a, const Tensor& b) const { return 2.0 * double(a.numel()) * double(b.size(2)); }
};

struct Kron : Product {
  static constexpr const char* name = "kron";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({2, 3}), randn({4, 2}));
    in.add(randn({0, 3}), randn({4, 2}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({2, 3}), ones({60, n / 60})); }
  Tensor run(const Tensor& a, const Tensor& b) const { return kron(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return generate({a.size(0) * b.size(0), a.size(1) * b.size(1)}, [&](const Shape& p) {
      return at(a, {p[0] / b.size(0), p[1] / b.size(1)}) * at(b, {p[0] % b.size(0), p[1] % b.size(1)});
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({20, 20}), randn({side_of(n) / 20, side_of(n) / 20})); }
};

struct Cross : Product {
  static constexpr const char* name = "cross";
  void inputs(Inputs& in) const {
    in.add(randn({4, 3}), randn({4, 3}));
    in.add(randn({0, 3}), randn({0, 3}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({n, 3}), ones({1, 3})); }
  Tensor run(const Tensor& a, const Tensor& b) const { return cross(a, b, 1); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return generate(a.sizes(), [&](const Shape& p) {
      const int64_t i = (p[1] + 1) % 3, j = (p[1] + 2) % 3;
      return at(a, {p[0], i}) * at(b, {p[0], j}) - at(a, {p[0], j}) * at(b, {p[0], i});
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n / 3, 3}), randn({n / 3, 3})); }
};

struct ChainMatmul : Product {
  static constexpr const char* name = "chain_matmul";
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({2, 5}), randn({5, 3}), randn({3, 4})});
    in.add(std::vector<Tensor>{randn({2, 0}), randn({0, 3}), randn({3, 4})});
  }
  void many(Inputs& in, int64_t n) const { in.add(std::vector<Tensor>{ones({2, n}), ones({n, 3}), ones({3, 4})}); }
  Tensor run(const std::vector<Tensor>& x) const { return chain_matmul(x); }
  Tensor reference(const std::vector<Tensor>& x) const { return product(product(x[0], x[1]), x[2]); }
  void bench(Inputs& in, int64_t n) const {
    const int64_t s = side_of(n);
    in.add(std::vector<Tensor>{randn({s, s}), randn({s, s}), randn({s, s})});
  }
  double flops(const std::vector<Tensor>& x) const { return 4.0 * std::pow(double(x[0].size(0)), 3); }
};
struct MultiDot : ChainMatmul {
  static constexpr const char* name = "multi_dot";
  static constexpr const char* torch = "linalg.multi_dot";
  Tensor run(const std::vector<Tensor>& x) const { return linalg::multi_dot(x); }
};

struct Bilinear : Product {
  static constexpr const char* name = "bilinear";
  static constexpr const char* torch = "nn.functional.bilinear";
  static constexpr double tolerance = 16;
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), randn({3, 5}), randn({2, 4, 5}), randn({2}));
    in.add(randn({0, 4}), randn({0, 5}), randn({2, 4, 5}), randn({2}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n, 2}), ones({n, 3}), ones({2, 2, 3}), ones({2}));
    in.add(ones({2, 50}), ones({2, n / 50}), ones({2, 50, n / 50}), ones({2}));
  }
  Tensor run(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias) const { return bilinear(a, b, weight, bias); }
  Tensor reference(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias) const {
    return generate({a.size(0), weight.size(0)}, [&](const Shape& p) {
      double sum = at(bias, {p[1]});
      for_each_position({a.size(1), b.size(1)}, [&](const Shape& k) {
        sum += at(a, {p[0], k[0]}) * at(weight, {p[1], k[0], k[1]}) * at(b, {p[0], k[1]});
      });
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n / 1000, 50}), randn({n / 1000, 50}), randn({20, 50, 50}), randn({20})); }
};

struct Cdist : Product {
  static constexpr const char* name = "cdist";
  static constexpr DTypes dtypes = kFloating;
  static constexpr double tolerance = 16;
  static constexpr bool expands = false;  // two equal rows have no derivative
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({4, 5}), 2.0);
    in.add(randn({2, 3, 5}), randn({2, 4, 5}), 3.0);
    in.add(randn({0, 5}), randn({4, 5}), 2.0);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, n}), zeros({3, n}), 2.0);
    in.add(ones({n, 4}), zeros({2, 4}), 2.0);
    in.add(ones({n, 4}), zeros({2, 4}), 1.0);
  }
  Tensor run(const Tensor& a, const Tensor& b, double p) const { return cdist(a, b, p); }
  Tensor reference(const Tensor& a, const Tensor& b, double p) const {
    const Tensor differences = a.unsqueeze(-2) - b.unsqueeze(-3);
    return reduced(differences, -1, false, [&](const Row& row) {
      double sum = 0;
      for (const double v : row) sum += std::pow(std::fabs(v), p);
      return std::pow(sum, 1 / p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({side_of(n), 32}), randn({side_of(n), 32}), 2.0); }
};

// --- torch.linalg

struct Linalg : Case {
  static constexpr DTypes dtypes = only(kFloat32) | only(kFloat64);
  static constexpr double tolerance = 100;
  static constexpr bool zero_dim = false, expands = false;
  static Tensor well_conditioned(const Shape& sizes) { return randn(sizes) + eye(sizes.back()) * (2 * double(sizes.back())); }
  static Tensor symmetric(const Shape& sizes) {
    const Tensor x = randn(sizes);
    return x + x.transpose(-2, -1) + diag_embed(arange(1, sizes.back() + 1).to(kFloat32) * 5);
  }
  void inputs(Inputs& in) const {
    in.add(well_conditioned({4, 4}));
    in.add(well_conditioned({2, 3, 3}));
    in.add(randn({0, 3, 3}));
  }
  void bench(Inputs& in, int64_t n) const {
    in.add(well_conditioned({std::min<int64_t>(side_of(n), 300), std::min<int64_t>(side_of(n), 300)}));
  }
  static Tensor identity_like(const Tensor& a) { return eye(a.size(-1), {}, {.dtype = kFloat64}).expand(a.sizes()); }
};

/// Gauss and Jordan, with the largest pivot; b's columns are solved for. Gives the determinant too.
Tensor solved(const Tensor& a, const Tensor& b, std::vector<double>* determinants = nullptr) {
  const int64_t n = a.size(-1), m = b.size(-1);
  const Tensor matrices = a.reshape({-1, n, n}).clone(), right = b.reshape({matrices.size(0), n, m}).clone();
  for (int64_t batch = 0; batch < matrices.size(0); ++batch) {
    auto* A = matrices.data_ptr<double>() + batch * n * n;
    auto* B = right.data_ptr<double>() + batch * n * m;
    double determinant = 1;
    for (int64_t c = 0; c < n; ++c) {
      int64_t pivot = c;
      for (int64_t r = c; r < n; ++r)
        if (std::fabs(A[r * n + c]) > std::fabs(A[pivot * n + c])) pivot = r;
      if (pivot != c) {
        std::swap_ranges(A + c * n, A + (c + 1) * n, A + pivot * n);
        std::swap_ranges(B + c * m, B + (c + 1) * m, B + pivot * m);
        determinant = -determinant;
      }
      determinant *= A[c * n + c];
      for (int64_t r = 0; r < n; ++r) {
        if (r == c) continue;
        const double factor = A[r * n + c] / A[c * n + c];
        for (int64_t k = 0; k < n; ++k) A[r * n + k] -= factor * A[c * n + k];
        for (int64_t k = 0; k < m; ++k) B[r * m + k] -= factor * B[c * m + k];
      }
    }
    for (int64_t r = 0; r < n; ++r)
      for (int64_t k = 0; k < m; ++k) B[r * m + k] /= A[r * n + r];
    if (determinants) determinants->push_back(determinant);
  }
  return right.reshape(b.sizes());
}
Tensor determinant(const Tensor& a) {
  if (a.numel() == 0) return zeros({0}, kFloat64);
  std::vector<double> all;
  (void)solved(a, a, &all);
  Shape sizes = a.sizes();
  sizes.resize(sizes.size() - 2);
  size_t i = 0;
  return generate(sizes, [&](const Shape&) { return all[i++]; });
}

struct Inv : Linalg {
  static constexpr const char* name = "inv";
  static constexpr const char* torch = "linalg.inv";
  Tensor run(const Tensor& a) const { return linalg::inv(a); }
  Tensor reference(const Tensor& a) const { return a.numel() ? solved(a, identity_like(a)) : a; }
};

struct Det : Linalg {
  static constexpr const char* name = "det";
  static constexpr const char* torch = "linalg.det";
  Tensor run(const Tensor& a) const { return linalg::det(a); }
  Tensor reference(const Tensor& a) const { return determinant(a); }
};

struct Slogdet : Linalg {
  static constexpr const char* name = "slogdet";
  static constexpr const char* torch = "linalg.slogdet";
  Results run(const Tensor& a) const {
    const auto both = linalg::slogdet(a);
    return std::vector<Tensor>{both.sign, both.logabsdet};
  }
  Results reference(const Tensor& a) const {
    const Tensor d = determinant(a);
    return std::vector<Tensor>{each(d, [](double v) { return v < 0 ? -1.0 : 1.0; }),
                               each(d, [](double v) { return std::log(std::fabs(v)); })};
  }
};

struct Solve : Linalg {
  static constexpr const char* name = "solve";
  static constexpr const char* torch = "linalg.solve";
  void inputs(Inputs& in) const {
    in.add(well_conditioned({4, 4}), randn({4, 2}));
    in.add(well_conditioned({2, 3, 3}), randn({2, 3, 1}));
    in.add(randn({0, 3, 3}), randn({0, 3, 2}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return linalg::solve(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const { return a.numel() ? solved(a, b) : b; }
  void bench(Inputs& in, int64_t n) const {
    const int64_t s = std::min<int64_t>(side_of(n), 300);
    in.add(well_conditioned({s, s}), randn({s, s}));
  }
};

struct SolveTriangular : Solve {
  static constexpr const char* name = "solve_triangular";
  static constexpr const char* torch = "linalg.solve_triangular";
  Tensor run(const Tensor& a, const Tensor& b) const { return linalg::solve_triangular(a, b, true); }
  Tensor reference(const Tensor& a, const Tensor& b) const { return a.numel() ? solved(a.triu(), b) : b; }
};

/// Of A Aᵀ + 1, so that a change of any element of A leaves it symmetric.
struct Cholesky : Linalg {
  static constexpr const char* name = "cholesky";
  static constexpr const char* torch = "linalg.cholesky";
  static Tensor positive(const Tensor& a) {
    return matmul(a, a.transpose(-2, -1)) + eye(a.size(-1), {}, {.dtype = a.dtype(), .device = a.device()});
  }
  Tensor run(const Tensor& a) const { return linalg::cholesky(positive(a)); }
  Tensor reference(const Tensor& a) const {
    const Tensor p = positive(a).contiguous(), out = zeros(a.sizes(), kFloat64);
    const int64_t n = a.size(-1);
    for (int64_t batch = 0; batch < a.numel() / (n * n); ++batch) {
      const double* A = p.data_ptr<double>() + batch * n * n;
      double* L = out.data_ptr<double>() + batch * n * n;
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = 0; c <= r; ++c) {
          double sum = A[r * n + c];
          for (int64_t k = 0; k < c; ++k) sum -= L[r * n + k] * L[c * n + k];
          L[r * n + c] = r == c ? std::sqrt(sum) : sum / L[c * n + c];
        }
    }
    return out;
  }
};

struct Qr : Linalg {
  static constexpr const char* name = "qr";
  static constexpr const char* torch = "linalg.qr";
  void inputs(Inputs& in) const {
    in.add(well_conditioned({4, 4}));
    in.add(randn({2, 5, 3}));
    in.add(randn({0, 3, 3}));
  }
  Results run(const Tensor& a) const {
    const auto qr = linalg::qr(a);
    return std::vector<Tensor>{matmul(qr.Q, qr.R), matmul(qr.Q.transpose(-2, -1), qr.Q), qr.R.tril(-1)};
  }
  Results reference(const Tensor& a) const {
    Shape square = a.sizes();
    square[square.size() - 2] = square.back();
    return std::vector<Tensor>{a, eye(a.size(-1), {}, {.dtype = kFloat64}).expand(square), zeros(square, kFloat64)};
  }
  Tensor timed(const Tensor& a) const { return linalg::qr(a).R; }
};

struct Svd : Qr {
  static constexpr const char* name = "svd";
  static constexpr const char* torch = "linalg.svd";
  Results run(const Tensor& a) const {
    const auto svd = linalg::svd(a, false);
    return std::vector<Tensor>{matmul(svd.U * svd.S.unsqueeze(-2), svd.Vh), matmul(svd.Vh, svd.Vh.transpose(-2, -1)),
                               (svd.S * svd.S).sum(-1)};
  }
  Results reference(const Tensor& a) const {
    const Results of_qr = Qr::reference(a);
    return std::vector<Tensor>{a, of_qr[1], (a * a).sum(Shape{-2, -1})};
  }
  Tensor timed(const Tensor& a) const { return linalg::svd(a, false).S; }
};

struct Eigh : Linalg {
  static constexpr const char* name = "eigh";
  static constexpr const char* torch = "linalg.eigh";
  static Tensor even(const Tensor& a) { return (a + a.transpose(-2, -1)) / 2; }
  void inputs(Inputs& in) const {
    in.add(symmetric({4, 4}));
    in.add(symmetric({2, 3, 3}));
    in.add(randn({0, 3, 3}));
  }
  Results run(const Tensor& a) const {
    const auto parts = linalg::eigh(a.is_floating_point() ? even(a) : a);
    const Tensor &values = parts.eigenvalues, &vectors = parts.eigenvectors;
    const Tensor back = matmul(vectors * values.unsqueeze(-2), vectors.transpose(-2, -1));
    return std::vector<Tensor>{back, matmul(vectors, vectors.transpose(-2, -1)), values.sum(-1)};
  }
  Results reference(const Tensor& a) const {
    return std::vector<Tensor>{even(a), identity_like(a), a.numel() ? a.diagonal(0, -2, -1).sum(-1) : zeros({0}, kFloat64)};
  }
  Tensor timed(const Tensor& a) const { return linalg::eigh(a).eigenvalues; }
};

/// A A⁺ A = A, and A⁺ A symmetric.
struct Pinv : Qr {
  static constexpr const char* name = "pinv";
  static constexpr const char* torch = "linalg.pinv";
  Results run(const Tensor& a) const {
    const Tensor inverse = linalg::pinv(a), projection = matmul(inverse, a);
    return std::vector<Tensor>{matmul(a, projection), projection - projection.transpose(-2, -1)};
  }
  Results reference(const Tensor& a) const { return std::vector<Tensor>{a, Qr::reference(a)[2]}; }
  Tensor timed(const Tensor& a) const { return linalg::pinv(a); }
};

struct MatrixRank : Linalg {
  static constexpr const char* name = "matrix_rank";
  static constexpr const char* torch = "linalg.matrix_rank";
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(well_conditioned({4, 4}));
    in.add(ones({2, 3, 3}));
    in.add(randn({0, 3, 3}));
  }
  Tensor run(const Tensor& a) const { return linalg::matrix_rank(a); }
  Tensor reference(const Tensor& a) const { return a.dim() == 2 ? tensor(4) : ones({a.size(0)}, kInt64); }
};

struct Lstsq : Solve {
  static constexpr const char* name = "lstsq";
  static constexpr const char* torch = "linalg.lstsq";
  void inputs(Inputs& in) const {
    in.add(randn({6, 3}), randn({6, 2}));
    in.add(well_conditioned({2, 3, 3}), randn({2, 3, 1}));
  }
  static constexpr bool empty_input = false;
  Tensor run(const Tensor& a, const Tensor& b) const { return linalg::lstsq(a, b).solution; }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    const Tensor t = a.transpose(-2, -1);
    return solved(product(t, a), product(t, b));
  }
};

struct MatrixPower : Linalg {
  static constexpr const char* name = "matrix_power";
  static constexpr const char* torch = "linalg.matrix_power";
  static constexpr DTypes dtypes = kNumbers;
  void inputs(Inputs& in) const {
    in.add(randn({3, 3}), 3);
    in.add(randn({2, 3, 3}), 2);
    in.add(randn({0, 3, 3}), 2);
  }
  Tensor run(const Tensor& a, int64_t n) const { return linalg::matrix_power(a, n); }
  Tensor reference(const Tensor& a, int64_t n) const { return n == 2 ? product(a, a) : product(product(a, a), a); }
  void bench(Inputs& in, int64_t n) const { in.add(randn({side_of(n), side_of(n)}), 3); }
  double flops(const Tensor& a, int64_t) const { return 4.0 * std::pow(double(a.size(0)), 3); }
};

}  // namespace

void add_linalg(std::vector<Operation>& list) {
  list.push_back(operation<Outer>());
  list.push_back(operation<Inner>());
  list.push_back(operation<Vdot>());
  list.push_back(operation<Addmv>());
  list.push_back(operation<Addr>());
  list.push_back(operation<Baddbmm>());
  list.push_back(operation<Addbmm>());
  list.push_back(operation<Tensordot>());
  list.push_back(operation<Kron>());
  list.push_back(operation<Cross>());
  list.push_back(operation<ChainMatmul>());
  list.push_back(operation<MultiDot>());
  list.push_back(operation<Bilinear>());
  list.push_back(operation<Cdist>());
  list.push_back(operation<Inv>());
  list.push_back(operation<Det>());
  list.push_back(operation<Slogdet>());
  list.push_back(operation<Solve>());
  list.push_back(operation<SolveTriangular>());
  list.push_back(operation<Cholesky>());
  list.push_back(operation<Qr>());
  list.push_back(operation<Svd>());
  list.push_back(operation<Eigh>());
  list.push_back(operation<Pinv>());
  list.push_back(operation<MatrixRank>());
  list.push_back(operation<Lstsq>());
  list.push_back(operation<MatrixPower>());
}

}  // namespace tandem::cases
