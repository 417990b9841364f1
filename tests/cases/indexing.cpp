// Reading and writing at positions that other tensors name. References find each element by its position.
#include "cases/case.h"

namespace tandem::cases {
namespace {

/// Moves: any dtype, nothing is computed.
struct Moving : Case {
  static constexpr DTypes dtypes = kAnyType;
  static constexpr double tolerance = 1;
};

int64_t wrapped(double index, int64_t size) { return int64_t(index) + (index < 0 ? size : 0); }

struct IndexSelect : Moving {
  static constexpr const char* name = "index_select";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 1, tensor({4, 0, 4}));
    in.add(randn({4, 2, 3}), 0, tensor({1, 2}));
    in.add(randn({4, 5}), 0, zeros({0}, kInt64));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3, 2}), 0, zeros({n}, kInt64));
    in.add(ones({2, 3}), 1, zeros({n}, kInt64));
  }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index) const { return index_select(x, dim, index); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index) const {
    Shape sizes = x.sizes();
    sizes[size_t(dim)] = index.numel();
    return generate(sizes, [&](Shape position) {
      position[size_t(dim)] = int64_t(at(index, {position[size_t(dim)]}));
      return at(x, position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), 0, randint(0, (n + 99) / 100, {(n + 99) / 100})); }
};

struct Gather : Moving {
  static constexpr const char* name = "gather";
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 1, randint(0, 5, {4, 3}));
    in.add(randn({4, 5}), 0, randint(0, 4, {2, 5}));
    in.add(randn({}), 0, tensor(0));
    in.add(randn({4, 5}), 1, zeros({0, 3}, kInt64));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({3, 2}), 0, zeros({n, 2}, kInt64));
    in.add(ones({2, 3}), 1, zeros({2, n}, kInt64));
  }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index) const { return gather(x, dim, index); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index) const {
    return generate(index.sizes(), [&](Shape position) {
      if (!position.empty()) position[size_t(dim)] = int64_t(at(index, position));
      return at(x, position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), 1, randint(0, 1000, {(n + 999) / 1000, 1000})); }
};

struct Scatter : Moving {
  static constexpr const char* name = "scatter";
  static constexpr bool expands = false;  // would write one element twice
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 1, tensor({{0, 3, 1}, {4, 2, 0}}), randn({2, 3}));
    in.add(randn({4, 5}), 0, tensor({{3, 0, 1, 2, 3}}), randn({1, 5}));
    in.add(randn({}), 0, tensor(0), randn({}));
    in.add(randn({4, 5}), 1, zeros({0, 3}, kInt64), randn({0, 3}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({3, 2}), 0, zeros({n, 2}, kInt64), ones({n, 2})); }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const { return scatter(x, dim, index, source); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const {
    return written(x, dim, index, source, false);
  }
  static Tensor written(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, bool add) {
    return generate(x.sizes(), [&](const Shape& position) {
      double value = at(x, position);
      for_each_position(index.sizes(), [&](const Shape& from) {
        Shape to = from;
        if (!to.empty()) to[size_t(dim)] = int64_t(at(index, from));
        if (to == position) value = (add ? value : 0) + at(source, from);
      });
      return value;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 999) / 1000;
    in.add(randn({rows, 1000}), 1, randint(0, 1000, {rows, 1000}), randn({rows, 1000}));
  }
};

struct ScatterAdd : Scatter {
  static constexpr const char* name = "scatter_add";
  static constexpr double tolerance = 4;
  static constexpr bool expands = true;
  void inputs(Inputs& in) const {
    Scatter::inputs(in);
    in.add(randn({4, 5}), 1, randint(0, 5, {4, 5}), randn({4, 5}));  // several to one place
  }
  Tensor run(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const { return scatter_add(x, dim, index, source); }
  Tensor reference(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) const {
    return written(x, dim, index, source, true);
  }
};

struct MaskedFill : Moving {
  static constexpr const char* name = "masked_fill";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}) > 0, 2.0);
    in.add(randn({3, 5}), randn({5}) > 0, -1.0);
    in.add(randn({}), tensor(true), 3.0);
    in.add(randn({0, 5}), randn({5}) > 0, 1.0);
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({n}), zeros({n}) > 0, 1.0); }
  Tensor run(const Tensor& x, const Tensor& mask, double value) const {
    return x.is_floating_point() ? masked_fill(x, mask, value) : masked_fill(x, mask, int64_t(value));
  }
  Tensor reference(const Tensor& x, const Tensor& mask, double value) const {
    return each(x, mask, [&](double v, double m) { return m != 0 ? value : v; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}) > 0, 2.0); }
};

struct MaskedSelect : Moving {
  static constexpr const char* name = "masked_select";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}) > 0);
    in.add(randn({3, 5}), randn({5}) > 0);
    in.add(randn({}), tensor(true));
    in.add(randn({0, 5}), randn({5}) > 0);
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({1}), ones({n}) > 0); }
  Tensor run(const Tensor& x, const Tensor& mask) const { return masked_select(x, mask); }
  Tensor reference(const Tensor& x, const Tensor& mask) const {
    std::vector<double> kept;
    (void)each(x, mask, [&](double v, double m) {
      if (m != 0) kept.push_back(v);
      return v;
    });
    return generate({int64_t(kept.size())}, [&](const Shape& i) { return kept[size_t(i[0])]; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}) > 0); }
};

struct Nonzero : Moving {
  static constexpr const char* name = "nonzero";
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(floor(rand({3, 5}) * 2));
    in.add(floor(rand({100}) * 2));
    in.add(ones({}));
    in.add(randn({0, 5}));
  }
  Tensor run(const Tensor& x) const { return nonzero(x); }
  Tensor reference(const Tensor& x) const {
    std::vector<Shape> places;
    for_each_position(x.sizes(), [&](const Shape& position) {
      if (at(x, position) != 0) places.push_back(position);
    });
    return generate({int64_t(places.size()), x.dim()}, [&](const Shape& i) { return double(places[size_t(i[0])][size_t(i[1])]); })
        .to(kInt64);
  }
  void bench(Inputs& in, int64_t n) const { in.add(floor(rand({n}) * 2)); }
};

struct Argwhere : Nonzero {
  static constexpr const char* name = "argwhere";
  Tensor run(const Tensor& x) const { return argwhere(x); }
};

struct Embedding : Moving {
  static constexpr const char* name = "embedding";
  static constexpr const char* torch = "nn.functional.embedding";
  void inputs(Inputs& in) const {
    in.add(randint(0, 6, {2, 3}), randn({6, 4}));
    in.add(tensor(5), randn({6, 4}));
    in.add(zeros({0}, kInt64), randn({6, 4}));
  }
  void many(Inputs& in, int64_t n) const { in.add(zeros({n}, kInt64), ones({6, 4})); }
  Tensor run(const Tensor& indices, const Tensor& weight) const { return embedding(indices, weight); }
  Tensor reference(const Tensor& indices, const Tensor& weight) const {
    Shape sizes = indices.sizes();
    sizes.push_back(weight.size(1));
    return generate(sizes, [&](Shape position) {
      const int64_t column = position.back();
      position.erase(position.size() - 1);
      return at(weight, {int64_t(at(indices, position)), column});
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randint(0, 10000, {(n + 127) / 128}), randn({10000, 128})); }
};

struct GetItem : Moving {
  static constexpr const char* name = "index";
  static constexpr const char* torch = "Tensor.__getitem__";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5, 3}), tensor({3, 0, -1}));
    in.add(randn({4, 5, 3}), zeros({0}, kInt64));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({4, 5, 3}), zeros({n}, kInt64)); }
  Tensor run(const Tensor& x, const Tensor& rows) const { return x.index({rows, Slice(1, 4), 2}); }
  Tensor reference(const Tensor& x, const Tensor& rows) const {
    return generate({rows.numel(), 3}, [&](const Shape& i) { return at(x, {wrapped(at(rows, {i[0]}), x.size(0)), i[1] + 1, 2}); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 14) / 15, 5, 3}), randint(0, (n + 14) / 15, {(n + 14) / 15})); }
};

struct IndexPut : Moving {
  static constexpr const char* name = "index_put";
  static constexpr double tolerance = 4;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), tensor({3, 0, 3}), randn({3, 5}));  // twice to one row: both are added
    in.add(randn({4, 5}), zeros({0}, kInt64), randn({0, 5}));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({4, 5}), zeros({n}, kInt64), ones({n, 5})); }
  Tensor run(const Tensor& x, const Tensor& rows, const Tensor& values) const {
    const Tensor out = x.clone();
    out.index_put_({rows}, values, true);
    return out;
  }
  Tensor reference(const Tensor& x, const Tensor& rows, const Tensor& values) const {
    return generate(x.sizes(), [&](const Shape& position) {
      double sum = at(x, position);
      for (int64_t i = 0; i < rows.numel(); ++i)
        if (int64_t(at(rows, {i})) == position[0]) sum += at(values, {i, position[1]});
      return sum;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 99) / 100;
    in.add(randn({rows, 100}), randint(0, rows, {rows}), randn({rows, 100}));
  }
};

struct Tril : Moving {
  static constexpr const char* name = "tril";
  static constexpr bool sums = false;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 0);
    in.add(randn({2, 4, 5}), 1);
    in.add(randn({4, 3}), -2);
    in.add(randn({0, 3}), 0);
  }
  Tensor run(const Tensor& x, int64_t diagonal) const { return tril(x, diagonal); }
  Tensor reference(const Tensor& x, int64_t diagonal) const {
    return generate(x.sizes(), [&](const Shape& at_) { return at_[at_.size() - 1] - at_[at_.size() - 2] <= diagonal ? at(x, at_) : 0; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), 0); }
};
struct Triu : Tril {
  static constexpr const char* name = "triu";
  Tensor run(const Tensor& x, int64_t diagonal) const { return triu(x, diagonal); }
  Tensor reference(const Tensor& x, int64_t diagonal) const {
    return generate(x.sizes(), [&](const Shape& at_) { return at_[at_.size() - 1] - at_[at_.size() - 2] >= diagonal ? at(x, at_) : 0; });
  }
};

}  // namespace

void add_indexing(std::vector<Operation>& list) {
  list.push_back(operation<IndexSelect>());
  list.push_back(operation<Gather>());
  list.push_back(operation<Scatter>());
  list.push_back(operation<ScatterAdd>());
  list.push_back(operation<MaskedFill>());
  list.push_back(operation<MaskedSelect>());
  list.push_back(operation<Nonzero>());
  list.push_back(operation<Argwhere>());
  list.push_back(operation<Embedding>());
  list.push_back(operation<GetItem>());
  list.push_back(operation<IndexPut>());
  list.push_back(operation<Tril>());
  list.push_back(operation<Triu>());
}

}  // namespace tandem::cases
