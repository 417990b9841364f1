// Reductions, running sums, order. References are plain loops over the elements of each row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Reduction : Case {
  static constexpr double tolerance = 4;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), Shape{1}, false);
    in.add(randn({3, 5, 4}), Shape{0, 2}, true);
    in.add(randn({300}), Shape{}, false);
    in.add(randn({4, 70}).t(), Shape{0}, false);
    in.add(randn({}), Shape{}, false);
    in.add(randn({2, 0}), Shape{0}, false);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), Shape{}, false); }
};

struct Sum : Reduction {
  static constexpr const char* name = "sum";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Wide;
  Tensor run(const Tensor& x, const Shape& dims, bool keepdim) const { return dims.empty() ? x.sum() : x.sum(dims, keepdim); }
  Tensor reference(const Tensor& x, const Shape& dims, bool keepdim) const {
    return reduced(x, dims, keepdim, [](const Row& row) { return std::accumulate(row.begin(), row.end(), 0.0); });
  }
};

struct Mean : Reduction {
  static constexpr const char* name = "mean";
  Tensor run(const Tensor& x, const Shape& dims, bool keepdim) const { return dims.empty() ? x.mean() : x.mean(dims, keepdim); }
  Tensor reference(const Tensor& x, const Shape& dims, bool keepdim) const {
    return reduced(x, dims, keepdim, [](const Row& row) { return std::accumulate(row.begin(), row.end(), 0.0) / double(row.size()); });
  }
};

struct Var : Reduction {
  static constexpr const char* name = "var";
  static constexpr double tolerance = 8;
  static double of(const Row& row) {
    const double n = double(row.size()), mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
    double sum = 0;
    for (const double v : row) sum += (v - mean) * (v - mean);
    return sum / (n - 1);
  }
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), Shape{1}, false);
    in.add(randn({3, 5, 4}) + 3, Shape{0, 2}, true);
    in.add(randn({300}), Shape{}, false);
    in.add_kink(randn({}), Shape{}, false);  // of one element: nan
    in.add(randn({2, 0}), Shape{0}, false);
  }
  Tensor run(const Tensor& x, const Shape& dims, bool keepdim) const { return dims.empty() ? x.var() : x.var(dims, 1, keepdim); }
  Tensor reference(const Tensor& x, const Shape& dims, bool keepdim) const { return reduced(x, dims, keepdim, of); }
};

struct Std : Var {
  static constexpr const char* name = "std";
  Tensor run(const Tensor& x, const Shape& dims, bool keepdim) const { return dims.empty() ? x.std() : x.std(dims, 1, keepdim); }
  Tensor reference(const Tensor& x, const Shape& dims, bool keepdim) const {
    return reduced(x, dims, keepdim, [](const Row& row) { return std::sqrt(of(row)); });
  }
};

struct Norm : Case {
  static constexpr const char* name = "norm";
  static constexpr double tolerance = 4;
  static constexpr bool twice = true;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 2.0, Shape{1}, false);
    in.add(randn({3, 5, 4}), 1.0, Shape{0, 2}, true);
    in.add(randn({30}), 3.0, Shape{0}, false);
    in.add(randn({30}), std::numeric_limits<double>::infinity(), Shape{0}, false);
    in.add(randn({2, 0}), 2.0, Shape{0}, false);
  }
  static constexpr bool zero_dim = false;
  Tensor run(const Tensor& x, double p, const Shape& dims, bool keepdim) const { return norm(x, p, dims, keepdim); }
  Tensor reference(const Tensor& x, double p, const Shape& dims, bool keepdim) const {
    return reduced(x, dims, keepdim, [&](const Row& row) {
      double result = 0;
      for (const double v : row) result = std::isinf(p) ? std::max(result, std::fabs(v)) : result + std::pow(std::fabs(v), p);
      return std::isinf(p) ? result : std::pow(result, 1 / p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 2.0, Shape{0}, false); }
};

struct Prod : Case {
  static constexpr const char* name = "prod";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Wide;
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1);
    in.add(randn({3, 4, 2}), -2);
    in.add(randn({}), 0);
    in.add(randn({2, 0}), 1);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return x.prod(dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false, [](const Row& row) { return std::accumulate(row.begin(), row.end(), 1.0, std::multiplies<>()); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0); }
};

/// max, min, amax, amin, argmax, argmin: along one dimension.
struct Extreme : Case {
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool expands = false;  // ties, of which only the first counts for indices: checked by the inputs
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1, false);
    in.add(randn({3, 5, 4}), 0, true);
    in.add(randn({1000}), 0, false);
    in.add_kink(tensor({{1., 3., 3.}, {2., 2., 1.}}), 1, false);  // ties
    in.add_kink(tensor({1., NAN, 3.}), 0, false);
    in.add(randn({}), 0, false);
    in.add(randn({0, 3}), 1, false);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0, false); }

  /// The place of the first largest (smallest) element; nan wins.
  static double place(const Row& row, bool largest) {
    size_t best = 0;
    for (size_t i = 1; i < row.size() && row[best] == row[best]; ++i)
      if (row[i] != row[i] || (largest ? row[i] > row[best] : row[i] < row[best])) best = i;
    return double(best);
  }
  static Tensor places(const Tensor& x, int64_t dim, bool keepdim, bool largest) {
    return reduced(x, dim, keepdim, [&](const Row& row) { return place(row, largest); }).to(kInt64);
  }
  static Tensor values(const Tensor& x, int64_t dim, bool keepdim, bool largest) {
    return reduced(x, dim, keepdim, [&](const Row& row) { return row[size_t(place(row, largest))]; });
  }
};
struct Max : Extreme {
  static constexpr const char* name = "max";
  Results run(const Tensor& x, int64_t dim, bool keepdim) const { return max(x, dim, keepdim); }
  Results reference(const Tensor& x, int64_t dim, bool keepdim) const {
    return ValuesIndices{values(x, dim, keepdim, true), places(x, dim, keepdim, true)};
  }
};
struct Min : Extreme {
  static constexpr const char* name = "min";
  Results run(const Tensor& x, int64_t dim, bool keepdim) const { return min(x, dim, keepdim); }
  Results reference(const Tensor& x, int64_t dim, bool keepdim) const {
    return ValuesIndices{values(x, dim, keepdim, false), places(x, dim, keepdim, false)};
  }
};
struct Amax : Extreme {
  static constexpr const char* name = "amax";
  Tensor run(const Tensor& x, int64_t dim, bool keepdim) const { return amax(x, Shape{dim}, keepdim); }
  Tensor reference(const Tensor& x, int64_t dim, bool keepdim) const { return values(x, dim, keepdim, true); }
};
struct Amin : Extreme {
  static constexpr const char* name = "amin";
  Tensor run(const Tensor& x, int64_t dim, bool keepdim) const { return amin(x, Shape{dim}, keepdim); }
  Tensor reference(const Tensor& x, int64_t dim, bool keepdim) const { return values(x, dim, keepdim, false); }
};
struct Argmax : Extreme {
  static constexpr const char* name = "argmax";
  static constexpr DTypes dtypes = kNumbers;
  static constexpr bool gradient = false;
  Tensor run(const Tensor& x, int64_t dim, bool keepdim) const { return argmax(x, dim, keepdim); }
  Tensor reference(const Tensor& x, int64_t dim, bool keepdim) const { return places(x, dim, keepdim, true); }
};
struct Argmin : Extreme {
  static constexpr const char* name = "argmin";
  static constexpr DTypes dtypes = kNumbers;
  static constexpr bool gradient = false;
  Tensor run(const Tensor& x, int64_t dim, bool keepdim) const { return argmin(x, dim, keepdim); }
  Tensor reference(const Tensor& x, int64_t dim, bool keepdim) const { return places(x, dim, keepdim, false); }
};

struct All : Case {
  static constexpr const char* name = "all";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Any;  // uint8 of uint8, else bool
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(floor(rand({6, 3}) * 4), 1);
    in.add(ones({6, 3}), 0);
    in.add(ones({}), 0);
    in.add(ones({2, 0}), 1);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return x.all(dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false,
                   [](const Row& row) { return double(std::all_of(row.begin(), row.end(), [](double v) { return v != 0; })); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(ones({n}), 0); }
};
struct Any : All {
  static constexpr const char* name = "any";
  Tensor run(const Tensor& x, int64_t dim) const { return x.any(dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return reduced(x, dim, false,
                   [](const Row& row) { return double(std::any_of(row.begin(), row.end(), [](double v) { return v != 0; })); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(zeros({n}), 0); }
};

struct Cumsum : Case {
  static constexpr const char* name = "cumsum";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Wide;
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1);
    in.add(randn({3, 5, 4}), 0);
    in.add(randn({}), 0);
    in.add(randn({0, 3}), 0);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return cumsum(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    if (x.dim() == 0) return x.clone();
    return generate(x.sizes(), [&](Shape position) {
      double sum = 0;
      for (int64_t i = position[size_t(dim)]; i >= 0; --i) {
        position[size_t(dim)] = i;
        sum += at(x, position);
      }
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0); }
};

struct Sort : Case {
  static constexpr const char* name = "sort";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({3, 15}), 1, false);
    in.add(randn({20, 4}), 0, true);
    in.add_kink(tensor({3., 1., 3., NAN, 1., -0., 0.}), 0, false);  // stable, nan last
    in.add_kink(tensor({3., 1., 3., NAN, 1., -0., 0.}), 0, true);
    in.add(randn({}), 0, false);
    in.add(randn({0, 3}), 0, false);
  }
  Results run(const Tensor& x, int64_t dim, bool descending) const { return sort(x, dim, descending); }
  Results reference(const Tensor& x, int64_t dim, bool descending) const {
    if (x.dim() == 0) return ValuesIndices{x.clone(), zeros({}, kInt64)};
    const Tensor rows = x.transpose(dim, -1).contiguous();
    std::vector<double> places;
    const int64_t length = rows.size(-1);
    for (int64_t first = 0; first < rows.numel(); first += length) {
      const double* row = rows.data_ptr<double>() + first;
      std::vector<int64_t> order(static_cast<size_t>(length));
      std::iota(order.begin(), order.end(), 0);
      const auto less = [](double a, double b) { return a < b || (a == a && b != b); };  // nan is largest
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return descending ? less(row[b], row[a]) : less(row[a], row[b]); });
      places.insert(places.end(), order.begin(), order.end());
    }
    size_t i = 0;
    const Tensor indices = generate(rows.sizes(), [&](const Shape&) { return places[i++]; });
    const Tensor values = generate(rows.sizes(), [&](Shape position) {
      position[position.size() - 1] = int64_t(at(indices, position));
      return at(rows, position);
    });
    return ValuesIndices{values.transpose(dim, -1), indices.transpose(dim, -1).to(kInt64)};
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0, false); }
};

/// Which of equal elements come first is not promised, so what the indices lead to is compared.
struct Topk : Case {
  static constexpr const char* name = "topk";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({3, 15}), 4, 1, true);
    in.add(randn({20, 4}), 3, 0, false);
    in.add(randn({}), 1, 0, true);
    in.add(randn({0, 3}), 2, 1, true);
  }
  Results run(const Tensor& x, int64_t k, int64_t dim, bool largest) const {
    const ValuesIndices found = topk(x, k, dim, largest);
    return std::vector<Tensor>{found.values, x.gather(dim, found.indices)};
  }
  Results reference(const Tensor& x, int64_t k, int64_t dim, bool largest) const {
    Tensor values = Sort().reference(x, dim, largest)[0];
    if (x.dim() > 0) values = values.narrow(dim, 0, k);
    return std::vector<Tensor>{values, values};
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 100, 0, true); }
  Results timed(const Tensor& x, int64_t k, int64_t dim, bool largest) const { return topk(x, k, dim, largest); }
};

}  // namespace

void add_reductions(std::vector<Operation>& list) {
  list.push_back(operation<Sum>());
  list.push_back(operation<Mean>());
  list.push_back(operation<Var>());
  list.push_back(operation<Std>());
  list.push_back(operation<Norm>());
  list.push_back(operation<Prod>());
  list.push_back(operation<Max>());
  list.push_back(operation<Min>());
  list.push_back(operation<Amax>());
  list.push_back(operation<Amin>());
  list.push_back(operation<Argmax>());
  list.push_back(operation<Argmin>());
  list.push_back(operation<All>());
  list.push_back(operation<Any>());
  list.push_back(operation<Cumsum>());
  list.push_back(operation<Sort>());
  list.push_back(operation<Topk>());
}

}  // namespace tandem::cases
