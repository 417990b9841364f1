// Reductions that leave something out or give several results, norms, running ones, differences.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cases/case.h"

namespace tandem::cases {
namespace {

/// Along one dimension.
struct AlongDim : Case {
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1);
    in.add(randn({3, 5, 4}), 0);
    in.add(randn({}), 0);
    in.add(randn({0, 3}), 1);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0); }
};

struct Nansum : AlongDim {
  static constexpr const char* name = "nansum";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Wide;
  void inputs(Inputs& in) const {
    AlongDim::inputs(in);
    in.add_kink(tensor({1., NAN, 3.}), 0);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return x.dim() ? nansum(x, Shape{dim}) : nansum(x); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false, [](const Row& row) {
      return std::accumulate(row.begin(), row.end(), 0.0, [](double sum, double v) { return std::isnan(v) ? sum : sum + v; });
    });
  }
};

struct Nanmean : AlongDim {
  static constexpr const char* name = "nanmean";
  void inputs(Inputs& in) const {
    AlongDim::inputs(in);
    in.add_kink(tensor({1., NAN, 3.}), 0);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return x.dim() ? nanmean(x, Shape{dim}) : nanmean(x); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false, [](const Row& row) {
      double sum = 0, count = 0;
      for (const double v : row)
        if (!std::isnan(v)) sum += v, ++count;
      return sum / count;
    });
  }
};

struct Logsumexp : AlongDim {
  static constexpr const char* name = "logsumexp";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Floating;
  Tensor run(const Tensor& x, int64_t dim) const { return logsumexp(x, Shape{dim}); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false, [](const Row& row) {
      return std::log(std::accumulate(row.begin(), row.end(), 0.0, [](double sum, double v) { return sum + std::exp(v); }));
    });
  }
};

struct CountNonzero : AlongDim {
  static constexpr const char* name = "count_nonzero";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(floor(rand({3, 5}) * 3), 1);
    in.add(floor(rand({30}) * 3), 0);
    in.add(ones({}), 0);
    in.add(ones({2, 0}), 1);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return x.dim() ? count_nonzero(x, Shape{dim}) : count_nonzero(x); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false, [](const Row& row) { return double(row.size()) - double(std::count(row.begin(), row.end(), 0.0)); })
        .to(kInt64);
  }
};

struct Trace : Case {
  static constexpr const char* name = "trace";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Wide;
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}));
    in.add(randn({0, 3}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({n / 3, n / 3})); }
  Tensor run(const Tensor& x) const { return trace(x); }
  Tensor reference(const Tensor& x) const {
    double sum = 0;
    for (int64_t i = 0; i < std::min(x.size(0), x.size(1)); ++i) sum += at(x, {i, i});
    return full({}, sum, kFloat64);
  }
};

struct VarMeanCase : Case {
  static constexpr const char* name = "var_mean";
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1);
    in.add(randn({3, 5, 4}) + 2, 0);
    in.add_kink(randn({}), 0);
    in.add(randn({2, 0}), 0);
  }
  Results run(const Tensor& x, int64_t dim) const {
    const auto both = x.dim() ? var_mean(x, Shape{dim}) : var_mean(x);
    return std::vector<Tensor>{both.var, both.mean};
  }
  Results reference(const Tensor& x, int64_t dim) const {
    const auto mean_of = [](const Row& row) { return std::accumulate(row.begin(), row.end(), 0.0) / double(row.size()); };
    return std::vector<Tensor>{reduced(x, dim, false,
                                       [&](const Row& row) {
                                         double sum = 0;
                                         for (const double v : row) sum += (v - mean_of(row)) * (v - mean_of(row));
                                         return sum / (double(row.size()) - 1);
                                       }),
                               reduced(x, dim, false, mean_of)};
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0); }
};

struct Aminmax : AlongDim {
  static constexpr const char* name = "aminmax";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool expands = false;
  Results run(const Tensor& x, int64_t dim) const {
    const auto both = aminmax(x, dim);
    return std::vector<Tensor>{both.min, both.max};
  }
  Results reference(const Tensor& x, int64_t dim) const {
    return std::vector<Tensor>{reduced(x, dim, false, [](const Row& row) { return *std::min_element(row.begin(), row.end()); }),
                               reduced(x, dim, false, [](const Row& row) { return *std::max_element(row.begin(), row.end()); })};
  }
};

// --- Norms

double p_norm(const Row& row, double p) {
  double result = 0;
  for (const double v : row) result = std::isinf(p) ? std::max(result, std::fabs(v)) : result + std::pow(std::fabs(v), p);
  return std::isinf(p) ? result : std::pow(result, 1 / p);
}

struct VectorNorm : Case {
  static constexpr const char* name = "vector_norm";
  static constexpr const char* torch = "linalg.vector_norm";
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 2.0, 1);
    in.add(randn({3, 5, 4}), 1.0, 0);
    in.add(randn({30}), 3.0, 0);
    in.add(randn({2, 0}), 2.0, 0);
  }
  Tensor run(const Tensor& x, double p, int64_t dim) const { return linalg::vector_norm(x, p, Shape{dim}); }
  Tensor reference(const Tensor& x, double p, int64_t dim) const {
    return reduced(x, dim, false, [&](const Row& row) { return p_norm(row, p); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 2.0, 0); }
};

struct LinalgNorm : VectorNorm {
  static constexpr const char* name = "linalg_norm";
  static constexpr const char* torch = "linalg.norm";
  Tensor run(const Tensor& x, double p, int64_t dim) const { return linalg::norm(x, p, Shape{dim}); }
};

struct MatrixNorm : Case {
  static constexpr const char* name = "matrix_norm";
  static constexpr const char* torch = "linalg.matrix_norm";
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), "fro");
    in.add(randn({2, 4, 3}), "fro");
    in.add(randn({2, 0, 3}), "fro");
  }
  Tensor run(const Tensor& x, const std::string& order) const { return linalg::matrix_norm(x, order); }
  Tensor reference(const Tensor& x, const std::string&) const {
    return reduced(x, Shape{-2, -1}, false, [](const Row& row) { return p_norm(row, 2); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), "fro"); }
};

struct Dist : Case {
  static constexpr const char* name = "dist";
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({5}), 2.0);
    in.add(randn({7}), randn({7}), 3.0);
    in.add(randn({}), randn({}), 2.0);
    in.add(randn({0, 3}), randn({3}), 2.0);
  }
  Tensor run(const Tensor& a, const Tensor& b, double p) const { return dist(a, b, p); }
  Tensor reference(const Tensor& a, const Tensor& b, double p) const {
    return reduced(a - b, Shape{}, false, [&](const Row& row) { return p_norm(row, p); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), 2.0); }
};

// --- Running ones

struct Cumprod : AlongDim {
  static constexpr const char* name = "cumprod";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Wide;
  Tensor run(const Tensor& x, int64_t dim) const { return cumprod(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return mapped(x, dim, [](Row row) {
      std::partial_sum(row.begin(), row.end(), row.begin(), std::multiplies<>());
      return row;
    });
  }
};

struct Logcumsumexp : AlongDim {
  static constexpr const char* name = "logcumsumexp";
  Tensor run(const Tensor& x, int64_t dim) const { return logcumsumexp(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return mapped(x, dim, [](Row row) {
      double sum = 0;
      for (double& v : row) v = std::log(sum += std::exp(v));
      return row;
    });
  }
};

/// The greatest (least) so far and where the last such stands.
struct Cummax : AlongDim {
  static constexpr const char* name = "cummax";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool expands = false;
  static Results running(const Tensor& x, int64_t dim, bool greatest) {
    const auto run = [&](const Row& row, bool places) {
      Row out;
      size_t best = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        if (greatest ? row[i] >= row[best] : row[i] <= row[best]) best = i;
        out.push_back(places ? double(best) : row[best]);
      }
      return out;
    };
    return std::vector<Tensor>{mapped(x, dim, [&](const Row& row) { return run(row, false); }),
                               mapped(x, dim, [&](const Row& row) { return run(row, true); }).to(kInt64)};
  }
  Results run(const Tensor& x, int64_t dim) const { return cummax(x, dim); }
  Results reference(const Tensor& x, int64_t dim) const { return running(x, dim, true); }
};
struct Cummin : Cummax {
  static constexpr const char* name = "cummin";
  Results run(const Tensor& x, int64_t dim) const { return cummin(x, dim); }
  Results reference(const Tensor& x, int64_t dim) const { return running(x, dim, false); }
};

struct Diff : Case {
  static constexpr const char* name = "diff";
  static constexpr DTypes dtypes = kAnyType, without_reference = only(kBool);  // xor
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1, 1);
    in.add(randn({5, 3}), 2, 0);
    in.add(randn({0, 3}), 1, 1);
  }
  Tensor run(const Tensor& x, int64_t n, int64_t dim) const { return diff(x, n, dim); }
  Tensor reference(const Tensor& x, int64_t n, int64_t dim) const {
    Tensor out = x;
    for (int64_t i = 0; i < n; ++i)
      out = mapped(out, dim, [](const Row& row) {
        Row steps;
        for (size_t k = 1; k < row.size(); ++k) steps.push_back(row[k] - row[k - 1]);
        return steps;
      });
    return out;
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 1, 0); }
};

struct Trapezoid : Case {
  static constexpr const char* name = "trapezoid";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // sums of neighbours are whole
  static constexpr Gives gives = Gives::Any;
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 0.5, 1);
    in.add(randn({5, 3}), 1.0, 0);
    in.add(randn({0, 3}), 1.0, 1);
  }
  Tensor run(const Tensor& y, double dx, int64_t dim) const { return trapezoid(y, dx, dim); }
  Tensor reference(const Tensor& y, double dx, int64_t dim) const {
    return reduced(y, dim, false, [&](const Row& row) {
      double sum = 0;
      for (size_t i = 1; i < row.size(); ++i) sum += (row[i] + row[i - 1]) / 2 * dx;
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 1.0, 0); }
};

}  // namespace

void add_more_reductions(std::vector<Operation>& list) {
  list.push_back(operation<Nansum>());
  list.push_back(operation<Nanmean>());
  list.push_back(operation<Logsumexp>());
  list.push_back(operation<CountNonzero>());
  list.push_back(operation<Trace>());
  list.push_back(operation<VarMeanCase>());
  list.push_back(operation<Aminmax>());
  list.push_back(operation<VectorNorm>());
  list.push_back(operation<LinalgNorm>());
  list.push_back(operation<MatrixNorm>());
  list.push_back(operation<Dist>());
  list.push_back(operation<Cumprod>());
  list.push_back(operation<Logcumsumexp>());
  list.push_back(operation<Cummax>());
  list.push_back(operation<Cummin>());
  list.push_back(operation<Diff>());
  list.push_back(operation<Trapezoid>());
}

}  // namespace tandem::cases
