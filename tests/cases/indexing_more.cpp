// Taking, adding and copying along a dimension or by flat places; repetitions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Moving : Case {
  static constexpr DTypes dtypes = kAnyType;
};

struct IndexAdd : Moving {
  static constexpr const char* name = "index_add";
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 0, tensor({3, 0, 3}), randn({3, 5}));
    in.add(randn({4, 5}), 1, tensor({1, 2}), randn({4, 2}));
    in.add(randn({4, 5}), 0, zeros({0}, kInt64), randn({0, 5}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({4, 5}), 0, zeros({n}, kInt64), ones({n, 5}));
    in.add(ones({5, 4}), 1, zeros({n}, kInt64), ones({5, n}));
  }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const { return index_add(x, dim, index, source); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const {
    return generate(x.sizes(), [&](const Shape& position) {
      double sum = at(x, position);
      Shape from = position;
      for (int64_t i = 0; i < index.numel(); ++i) {
        from[size_t(dim)] = i;
        if (int64_t(at(index, {i})) == position[size_t(dim)]) sum += at(source, from);
      }
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 99) / 100;
    in.add(randn({rows, 100}), 0, randint(0, rows, {rows}), randn({rows, 100}));
  }
};

struct IndexCopy : IndexAdd {
  static constexpr const char* name = "index_copy";
  static constexpr bool expands = false;  // which of several to one place stays is not promised
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 0, tensor({3, 0}), randn({2, 5}));
    in.add(randn({4, 5}), 1, tensor({1, 2}), randn({4, 2}));
    in.add(randn({4, 5}), 0, zeros({0}, kInt64), randn({0, 5}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({n, 5}), 0, arange(n), ones({n, 5})); }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const { return index_copy(x, dim, index, source); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const {
    return generate(x.sizes(), [&](const Shape& position) {
      Shape from = position;
      for (int64_t i = 0; i < index.numel(); ++i) {
        from[size_t(dim)] = i;
        if (int64_t(at(index, {i})) == position[size_t(dim)]) return at(source, from);
      }
      return at(x, position);
    });
  }
};

struct IndexFill : Moving {
  static constexpr const char* name = "index_fill";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 0, tensor({3, 0}));
    in.add(randn({4, 5}), 1, tensor({1, 2}));
    in.add(randn({4, 5}), 0, zeros({0}, kInt64));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({4, 5}), 0, zeros({n}, kInt64)); }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index) const { return index_fill(x, dim, index, 1); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index) const {
    return generate(x.sizes(), [&](const Shape& position) {
      for (int64_t i = 0; i < index.numel(); ++i)
        if (int64_t(at(index, {i})) == position[size_t(dim)]) return 1.0;
      return at(x, position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), 0, randint(0, (n + 99) / 100, {(n + 99) / 100})); }
};

struct Take : Moving {
  static constexpr const char* name = "take";
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), tensor({{19, 0, -1}, {7, 7, 3}}));
    in.add(randn({4, 5}), tensor(4));
    in.add(randn({4, 5}), zeros({0}, kInt64));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({4, 5}), zeros({n}, kInt64)); }
  Tensor run(const Tensor& x, const Tensor& index) const { return take(x, index); }
  Tensor reference(const Tensor& x, const Tensor& index) const {
    const Tensor flat = x.reshape({-1});
    return each(index, [&](double i) { return at(flat, {int64_t(i) + (i < 0 ? x.numel() : 0)}); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randint(0, n, {n})); }
};

struct TakeAlongDim : Moving {
  static constexpr const char* name = "take_along_dim";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), randint(0, 5, {4, 3}), 1);
    in.add(randn({4, 5}), randint(0, 4, {2, 5}), 0);
    in.add(randn({4, 5}), zeros({4, 0}, kInt64), 1);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3, 2}), zeros({n, 2}, kInt64), 0);
    in.add(ones({2, 3}), zeros({2, n}, kInt64), 1);
  }
  Tensor run(const Tensor& x, const Tensor& index, int64_t dim) const { return take_along_dim(x, index, dim); }
  Tensor reference(const Tensor& x, const Tensor& index, int64_t dim) const {
    return generate(index.sizes(), [&](Shape position) {
      position[size_t(dim)] = int64_t(at(index, position));
      return at(x, position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), randint(0, 1000, {(n + 999) / 1000, 1000}), 1); }
};

struct ScatterReduce : Moving {
  static constexpr const char* name = "scatter_reduce";
  static constexpr double tolerance = 4;
  static constexpr bool expands = false;  // ties
  void inputs(Inputs& in) const {
    for (const char* how : {"sum", "amax", "amin"}) in.add(randn({4, 5}), 1, randint(0, 5, {4, 5}), randn({4, 5}), how);
    in.add(rand({4, 5}) + 0.5, 0, randint(0, 4, {4, 5}), rand({4, 5}) + 0.5, "prod");
    in.add(randn({}), 0, tensor(0), randn({}), "sum");
    in.add(randn({4, 5}), 1, zeros({0, 3}, kInt64), randn({0, 3}), "sum");
  }
  void many(Inputs& in, int64_t n) const {
    for (const char* how : {"sum", "mean", "amax", "amin", "prod"}) {
      in.add(ones({3, 2}), 0, zeros({n, 2}, kInt64), ones({n, 2}), how);
      in.add(ones({2, 3}), 1, zeros({2, n}, kInt64), ones({2, n}), how);
    }
  }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const std::string& how) const {
    return scatter_reduce(x, dim, index, source, how);
  }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const std::string& how) const {
    return generate(x.sizes(), [&](const Shape& position) {
      double value = at(x, position);
      for_each_position(index.sizes(), [&](const Shape& from) {
        Shape to = from;
        if (!to.empty()) to[size_t(dim)] = int64_t(at(index, from));
        if (!(to == position)) return;
        const double v = at(source, from);
        value = how == "sum" ? value + v : how == "prod" ? value * v : how == "amax" ? std::max(value, v) : std::min(value, v);
      });
      return value;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 999) / 1000;
    in.add(randn({rows, 1000}), 1, randint(0, 1000, {rows, 1000}), randn({rows, 1000}), "sum");
  }
};

struct MaskedScatter : Moving {
  static constexpr const char* name = "masked_scatter";
  static constexpr const char* torch = "Tensor.masked_scatter";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}) > 0, randn({15}));
    in.add(randn({0, 5}), randn({0, 5}) > 0, randn({3}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({n}), ones({n}) > 0, ones({n})); }
  Tensor run(const Tensor& x, const Tensor& mask, const Tensor& source) const { return masked_scatter(x, mask, source); }
  Tensor reference(const Tensor& x, const Tensor& mask, const Tensor& source) const {
    int64_t used = 0;
    const Tensor flat = source.reshape({-1});
    return generate(x.sizes(), [&](const Shape& position) { return at(mask, position) != 0 ? at(flat, {used++}) : at(x, position); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}) > 0, randn({n})); }
};

struct RepeatInterleave : Moving {
  static constexpr const char* name = "repeat_interleave";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 2}), 2, 0);
    in.add(randn({3, 2}), 3, 1);
    in.add(randn({0, 2}), 2, 1);
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({3, 2}), n, 0); }
  Tensor run(const Tensor& x, int64_t repeats, int64_t dim) const { return repeat_interleave(x, repeats, dim); }
  Tensor reference(const Tensor& x, int64_t repeats, int64_t dim) const {
    Shape sizes = x.sizes();
    sizes[size_t(dim)] *= repeats;
    return generate(sizes, [&](Shape position) {
      position[size_t(dim)] /= repeats;
      return at(x, position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 500}), 2, 1); }
};

}  // namespace

void add_more_indexing(std::vector<Operation>& list) {
  list.push_back(operation<IndexAdd>());
  list.push_back(operation<IndexCopy>());
  list.push_back(operation<IndexFill>());
  list.push_back(operation<Take>());
  list.push_back(operation<TakeAlongDim>());
  list.push_back(operation<ScatterReduce>());
  list.push_back(operation<MaskedScatter>());
  list.push_back(operation<RepeatInterleave>());
}

}  // namespace tandem::cases
