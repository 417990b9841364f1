// Order statistics, searching, counting.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cases/case.h"

namespace tandem::cases {
namespace {

Row sorted(Row row) {
  std::sort(row.begin(), row.end());
  return row;
}

/// Where equal elements stand is not promised, so what the indices lead to is compared.
Results values_twice(const Tensor& x, const ValuesIndices& found, int64_t dim, bool keepdim) {
  const Tensor indices = keepdim || x.dim() == 0 ? found.indices : found.indices.unsqueeze(dim);
  const Tensor values = x.gather(dim, indices);
  return std::vector<Tensor>{found.values, keepdim || x.dim() == 0 ? values : values.squeeze(dim)};
}

struct Argsort : Case {
  static constexpr const char* name = "argsort";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 15}), 1);
    in.add(randn({20, 4}), 0);
    in.add(randn({}), 0);
    in.add(randn({0, 3}), 0);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return x.gather(dim, argsort(x, dim)); }
  Tensor reference(const Tensor& x, int64_t dim) const { return mapped(x, dim, sorted); }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0); }
  Tensor timed(const Tensor& x, int64_t dim) const { return argsort(x, dim); }
};

struct Msort : Case {
  static constexpr const char* name = "msort";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({20, 4}));
    in.add(randn({0, 3}));
  }
  Tensor run(const Tensor& x) const { return msort(x); }
  Tensor reference(const Tensor& x) const { return mapped(x, 0, sorted); }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n})); }
};

struct Statistic : Case {
  static constexpr DTypes dtypes = kNumbers;
  static constexpr bool expands = false;  // ties
  void inputs(Inputs& in) const {
    in.add(randn({3, 7}), 1, false);
    in.add(randn({6, 4}), 0, true);
    in.add(randn({}), 0, false);
    in.add(randn({0, 3}), 1, false);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0, false); }
};

struct Median : Statistic {
  static constexpr const char* name = "median";
  Results run(const Tensor& x, int64_t dim, bool keepdim) const { return values_twice(x, median(x, dim, keepdim), dim, keepdim); }
  Results reference(const Tensor& x, int64_t dim, bool keepdim) const {
    const Tensor value = reduced(x, dim, keepdim, [](const Row& row) { return sorted(row)[(row.size() - 1) / 2]; });
    return std::vector<Tensor>{value, value};
  }
  Results timed(const Tensor& x, int64_t dim, bool keepdim) const { return median(x, dim, keepdim); }
};

struct Kthvalue : Statistic {
  static constexpr const char* name = "kthvalue";
  void inputs(Inputs& in) const {
    in.add(randn({3, 7}), 1, false);
    in.add(randn({6, 4}), 0, true);
    in.add(randn({0, 3}), 1, false);
  }
  static constexpr bool zero_dim = false;
  Results run(const Tensor& x, int64_t dim, bool keepdim) const { return values_twice(x, kthvalue(x, 2, dim, keepdim), dim, keepdim); }
  Results reference(const Tensor& x, int64_t dim, bool keepdim) const {
    const Tensor value = reduced(x, dim, keepdim, [](const Row& row) { return sorted(row)[1]; });
    return std::vector<Tensor>{value, value};
  }
  Results timed(const Tensor& x, int64_t dim, bool keepdim) const { return kthvalue(x, 2, dim, keepdim); }
};

/// The most frequent element, the least of several.
struct Mode : Statistic {
  static constexpr const char* name = "mode";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add_kink(floor(rand({3, 9}) * 3), 1, false);
    in.add(randn({6, 4}), 0, true);
    in.add(randn({}), 0, false);
    in.add(randn({0, 3}), 1, false);
  }
  Results run(const Tensor& x, int64_t dim, bool keepdim) const { return values_twice(x, mode(x, dim, keepdim), dim, keepdim); }
  Results reference(const Tensor& x, int64_t dim, bool keepdim) const {
    const Tensor value = reduced(x, dim, keepdim, [](const Row& row) {
      std::map<double, int> counts;
      for (const double v : row) ++counts[v];
      return std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
    });
    return std::vector<Tensor>{value, value};
  }
  Results timed(const Tensor& x, int64_t dim, bool keepdim) const { return mode(x, dim, keepdim); }
};

struct Quantile : Case {
  static constexpr const char* name = "quantile";
  static constexpr DTypes dtypes = only(kFloat32) | only(kFloat64);
  static constexpr double tolerance = 4;
  static constexpr bool expands = false, empty_input = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 7}), 0.3, 1);
    in.add(randn({6, 4}), 0.75, 0);
    in.add(randn({}), 0.5, 0);
  }
  Tensor run(const Tensor& x, double q, int64_t dim) const { return quantile(x, q, dim); }
  Tensor reference(const Tensor& x, double q, int64_t dim) const {
    return reduced(x, dim, false, [&](const Row& given) {
      const Row row = sorted(given);
      const double place = q * double(row.size() - 1), below = std::floor(place);
      const double low = row[size_t(below)], high = row[std::min(row.size() - 1, size_t(below) + 1)];
      return low + (place - below) * (high - low);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.5, 0); }
};

struct Searchsorted : Case {
  static constexpr const char* name = "searchsorted";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(tensor({0.5, 1., 1., 2., 4.}), randn({4, 3}) * 2);
    in.add(tensor({0.5, 1., 2., 4.}), randn({}));
    in.add(tensor({0.5, 1., 2., 4.}), randn({0, 2}));
  }
  Tensor run(const Tensor& sequence, const Tensor& values) const { return searchsorted(sequence, values); }
  Tensor reference(const Tensor& sequence, const Tensor& values) const {
    return each(values,
                [&](double v) {
                  int64_t i = 0;
                  while (i < sequence.numel() && at(sequence, {i}) < v) ++i;
                  return double(i);
                })
        .to(kInt64);
  }
  void bench(Inputs& in, int64_t n) const { in.add(arange(0, 1000).to(kFloat32), rand({n}) * 1000); }
};

struct Bucketize : Case {
  static constexpr const char* name = "bucketize";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 3}), tensor({0.5, 1., 2., 4.}));
    in.add(randn({}), tensor({0.5, 1., 2., 4.}));
    in.add(randn({0, 2}), tensor({0.5, 1., 2., 4.}));
  }
  Tensor run(const Tensor& values, const Tensor& bounds) const { return bucketize(values, bounds); }
  Tensor reference(const Tensor& values, const Tensor& bounds) const { return Searchsorted().reference(bounds, values); }
  void bench(Inputs& in, int64_t n) const { in.add(rand({n}) * 1000, arange(0, 1000).to(kFloat32)); }
};

struct Isin : Case {
  static constexpr const char* name = "isin";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(floor(rand({4, 3}) * 6), tensor({1., 4., 5.}));
    in.add(floor(rand({}) * 6), tensor({1., 4., 5.}));
    in.add(floor(rand({0, 3}) * 6), tensor({1., 4., 5.}));
  }
  Tensor run(const Tensor& x, const Tensor& among) const { return isin(x, among); }
  Tensor reference(const Tensor& x, const Tensor& among) const {
    return each(x, [&](double v) {
             double found = 0;
             for (int64_t i = 0; i < among.numel(); ++i) found = at(among, {i}) == v ? 1 : found;
             return found;
           }) != 0;
  }
  void bench(Inputs& in, int64_t n) const { in.add(floor(rand({n}) * 1000), arange(0, 100).to(kFloat32)); }
};

struct Bincount : Case {
  static constexpr const char* name = "bincount";
  static constexpr bool gradient = false, zero_dim = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Any;
  void inputs(Inputs& in) const {
    in.add(tensor({3, 1, 1, 0, 5}));
    in.add(zeros({0}, kInt64));
  }
  Tensor run(const Tensor& x) const { return bincount(x); }
  Tensor reference(const Tensor& x) const {
    int64_t most = -1;
    for (int64_t i = 0; i < x.numel(); ++i) most = std::max(most, int64_t(at(x, {i})));
    return generate({most + 1},
                    [&](const Shape& bin) {
                      double count = 0;
                      for (int64_t i = 0; i < x.numel(); ++i) count += int64_t(at(x, {i})) == bin[0];
                      return count;
                    })
        .to(kInt64);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randint(0, 1000, {n})); }
};

struct Histc : Case {
  static constexpr const char* name = "histc";
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(randn({50}));
    in.add(randn({}));
    in.add(randn({0, 3}));
  }
  Tensor run(const Tensor& x) const { return histc(x, 5, -2, 2); }
  Tensor reference(const Tensor& x) const {
    const Tensor flat = x.reshape({-1});
    return generate({5}, [&](const Shape& bin) {
      double count = 0;
      for (int64_t i = 0; i < flat.numel(); ++i) {
        const double v = at(flat, {i});
        if (v >= -2 && v <= 2) count += std::min<int64_t>(4, int64_t((v + 2) / 0.8)) == bin[0];
      }
      return count;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n})); }
};

struct UniqueCase : Case {
  static constexpr const char* name = "unique";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(floor(rand({4, 5}) * 6));
    in.add(randn({}));
    in.add(randn({0}));
  }
  Results run(const Tensor& x) const {
    const auto found = unique(x, {.return_inverse = true, .return_counts = true});
    return std::vector<Tensor>{found.output, found.inverse_indices, found.counts};
  }
  Results reference(const Tensor& x) const {
    std::map<double, int64_t> counts;
    (void)each(x, [&](double v) { return double(++counts[v]); });
    Row values, numbers;
    for (const auto& [value, count] : counts) {
      values.push_back(value);
      numbers.push_back(double(count));
    }
    const auto listed = [](const Row& row) { return generate({int64_t(row.size())}, [&](const Shape& i) { return row[size_t(i[0])]; }); };
    return std::vector<Tensor>{
        listed(values),
        each(x, [&](double v) { return double(std::lower_bound(values.begin(), values.end(), v) - values.begin()); }).to(kInt64),
        listed(numbers).to(kInt64)};
  }
  void bench(Inputs& in, int64_t n) const { in.add(floor(rand({n}) * 1000)); }
  Tensor timed(const Tensor& x) const { return unique(x).output; }
};

struct OneHot : Case {
  static constexpr const char* name = "one_hot";
  static constexpr const char* torch = "nn.functional.one_hot";
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(tensor({{3, 1}, {0, 2}}));
    in.add(tensor(2));
    in.add(zeros({0, 2}, kInt64));
  }
  Tensor run(const Tensor& x) const { return one_hot(x, 4); }
  Tensor reference(const Tensor& x) const {
    Shape sizes = x.sizes();
    sizes.push_back(4);
    return generate(sizes,
                    [&](Shape position) {
                      const int64_t label = position.back();
                      position.erase(position.size() - 1);
                      return double(int64_t(at(x, position)) == label);
                    })
        .to(kInt64);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randint(0, 4, {n / 4 + 1})); }
};

}  // namespace

void add_order(std::vector<Operation>& list) {
  list.push_back(operation<Argsort>());
  list.push_back(operation<Msort>());
  list.push_back(operation<Median>());
  list.push_back(operation<Kthvalue>());
  list.push_back(operation<Mode>());
  list.push_back(operation<Quantile>());
  list.push_back(operation<Searchsorted>());
  list.push_back(operation<Bucketize>());
  list.push_back(operation<Isin>());
  list.push_back(operation<Bincount>());
  list.push_back(operation<Histc>());
  list.push_back(operation<UniqueCase>());
  list.push_back(operation<OneHot>());
}

}  // namespace tandem::cases
