#include "golden.h"

namespace golden {
namespace {

Shape dims_of(Call& c) { return c.has("dim") ? c.ints("dim") : Shape{}; }
std::optional<int64_t> dim_of(Call& c) { return c.integer_or_none("dim"); }
bool keeps(Call& c) { return c.flag("keepdim"); }

/// f(x, dims, keepdim, dtype)
template <class F>
void add_total(Table& table, const std::string& name, F f) {
  table.add((name + "(input, dim: ints=None, keepdim=False, *, dtype=None)").c_str(),
            [f](Call& c) { return f(c.input(), dims_of(c), keeps(c), c.dtype()); });
}

/// f(x, dims, keepdim)
template <class F>
void add_dims(Table& table, const std::string& name, F f) {
  table.add((name + "(input, dim: ints=None, keepdim=False)").c_str(), [f](Call& c) { return f(c.input(), dims_of(c), keeps(c)); });
}

/// var and its like: f(x, dims, correction, keepdim)
template <class F>
void add_spread(Table& table, const std::string& name, F f) {
  table.add((name + "(input, dim: ints=None, *, correction, keepdim=False)").c_str(), [f](Call& c) {
    const auto correction = c.number_or_none("correction");
    return f(c.input(), dims_of(c), correction ? correction->to<double>() : 1, keeps(c));
  });
  const auto unbiased = [f](Call& c) { return f(c.input(), dims_of(c), c.has("unbiased") && !c.flag("unbiased") ? 0 : 1, keeps(c)); };
  table.add((name + "(input, dim: ints, unbiased: bool=True, keepdim=False)").c_str(), unbiased);
  table.add((name + "(input, unbiased: bool=True)").c_str(),
            [f](Call& c) { return f(c.input(), Shape{}, c.flag("unbiased") ? 1 : 0, false); });
}

/// max and min
template <class All, class Along, class Both>
void add_extreme(Table& table, const std::string& name, All all, Along along, Both both) {
  table.add((name + "(input)").c_str(), [all](Call& c) { return all(c.input()); });
  table.add((name + "(input, other: Tensor)").c_str(), [both](Call& c) { return both(c.input(), c.tensor("other")); });
  table.add((name + "(input, dim: int, keepdim=False)").c_str(), [along](Call& c) { return along(c.input(), *dim_of(c), keeps(c)); });
}

/// median and its like
template <class All, class Along>
void add_median(Table& table, const std::string& name, All all, Along along) {
  table.add((name + "(input)").c_str(), [all](Call& c) { return all(c.input()); });
  table.add((name + "(input, dim: int, keepdim=False)").c_str(), [along](Call& c) { return along(c.input(), *dim_of(c), keeps(c)); });
}

Results results_of(const Unique& y) {
  Results all{y.output};
  if (y.inverse_indices.defined()) all.push_back(y.inverse_indices);
  if (y.counts.defined()) all.push_back(y.counts);
  return all;
}

template <class F>
void add_trapezoid(Table& table, const std::string& name, F f) {
  table.add((name + "(y, x: Tensor, *, dim=-1)").c_str(), [f](Call& c) { return f(c.tensor("y"), c.tensor("x"), c.integer("dim")); });
  table.add((name + "(y, *, dx: number=1, dim=-1)").c_str(), [f](Call& c) { return f(c.tensor("y"), c.real("dx"), c.integer("dim")); });
}

}  // namespace

void add_reductions(Table& table) {
  add_total(table, "sum", [](const Tensor& x, const auto&... rest) { return sum(x, rest...); });
  add_total(table, "nansum", [](const Tensor& x, const auto&... rest) { return nansum(x, rest...); });
  add_total(table, "mean", [](const Tensor& x, const auto&... rest) { return mean(x, rest...); });
  add_total(table, "nanmean", [](const Tensor& x, const auto&... rest) { return nanmean(x, rest...); });
  table.add("prod(input, *, dtype=None)", [](Call& c) { return c.dtype() ? prod(c.input(), *c.dtype()) : prod(c.input()); });
  table.add("prod(input, dim: int, keepdim=False, *, dtype=None)",
            [](Call& c) { return prod(c.input(), *dim_of(c), keeps(c), c.dtype()); });
  add_dims(table, "logsumexp", [](const Tensor& x, const Shape& dims, bool keepdim) { return logsumexp(x, dims, keepdim); });
  table.add("trace(input)", [](Call& c) { return trace(c.input()); });
  add_dims(table, "all", [](const Tensor& x, const Shape& dims, bool keepdim) { return all(x, dims, keepdim); });
  add_dims(table, "any", [](const Tensor& x, const Shape& dims, bool keepdim) { return any(x, dims, keepdim); });
  table.add("count_nonzero(input, dim: ints=None)", [](Call& c) { return count_nonzero(c.input(), dims_of(c)); });
  add_spread(table, "var", [](const auto&... args) { return var(args...); });
  add_spread(table, "std", [](const auto&... args) { return tandem::std(args...); });
  add_spread(table, "var_mean", [](const auto&... args) {
    const VarMean y = var_mean(args...);
    return Results{y.var, y.mean};
  });
  add_spread(table, "std_mean", [](const auto&... args) {
    const StdMean y = std_mean(args...);
    return Results{y.std, y.mean};
  });

  add_extreme(
      table, "max", [](const Tensor& x) { return max(x); }, [](const Tensor& x, int64_t dim, bool keepdim) { return max(x, dim, keepdim); },
      [](const Tensor& x, const Tensor& other) { return max(x, other); });
  add_extreme(
      table, "min", [](const Tensor& x) { return min(x); }, [](const Tensor& x, int64_t dim, bool keepdim) { return min(x, dim, keepdim); },
      [](const Tensor& x, const Tensor& other) { return min(x, other); });
  add_dims(table, "amax", [](const Tensor& x, const Shape& dims, bool keepdim) { return amax(x, dims, keepdim); });
  add_dims(table, "amin", [](const Tensor& x, const Shape& dims, bool keepdim) { return amin(x, dims, keepdim); });
  table.add("aminmax(input, *, dim: int=None, keepdim=False)", [](Call& c) {
    const MinMax y = aminmax(c.input(), dim_of(c), keeps(c));
    return Results{y.min, y.max};
  });
  table.add("argmax(input, dim: int=None, keepdim=False)", [](Call& c) { return argmax(c.input(), dim_of(c), keeps(c)); });
  table.add("argmin(input, dim: int=None, keepdim=False)", [](Call& c) { return argmin(c.input(), dim_of(c), keeps(c)); });

  table.add("cumsum(input, dim: int, *, dtype=None)", [](Call& c) { return cumsum(c.input(), *dim_of(c), c.dtype()); });
  table.add("cumprod(input, dim: int, *, dtype=None)", [](Call& c) { return cumprod(c.input(), *dim_of(c), c.dtype()); });
  table.add("cummax(input, dim: int)", [](Call& c) { return cummax(c.input(), *dim_of(c)); });
  table.add("cummin(input, dim: int)", [](Call& c) { return cummin(c.input(), *dim_of(c)); });
  table.add("logcumsumexp(input, dim: int)", [](Call& c) { return logcumsumexp(c.input(), *dim_of(c)); });
  table.add("diff(input, n=1, dim=-1, prepend=None, append=None)", [](Call& c) {
    return diff(c.input(), c.integer("n"), c.integer("dim"), c.tensor_or_none("prepend"), c.tensor_or_none("append"));
  });
  add_trapezoid(table, "trapezoid", [](const auto&... args) { return trapezoid(args...); });
  add_trapezoid(table, "trapz", [](const auto&... args) { return trapz(args...); });

  table.add("kthvalue(input, k: int, dim=-1, keepdim=False)",
            [](Call& c) { return kthvalue(c.input(), c.integer("k"), c.integer("dim"), keeps(c)); });
  add_median(
      table, "median", [](const Tensor& x) { return median(x); },
      [](const Tensor& x, int64_t dim, bool keepdim) { return median(x, dim, keepdim); });
  add_median(
      table, "nanmedian", [](const Tensor& x) { return nanmedian(x); },
      [](const Tensor& x, int64_t dim, bool keepdim) { return nanmedian(x, dim, keepdim); });
  table.add("mode(input, dim=-1, keepdim=False)", [](Call& c) { return mode(c.input(), c.integer("dim"), keeps(c)); });
  const auto add_quantile = [&table](const std::string& name, auto f) {
    table.add((name + "(input, q, dim: int=None, keepdim=False, *, interpolation='linear')").c_str(), [f](Call& c) {
      return c.with("q", [&](const Operand& q) { return f(c.input(), q, dim_of(c), keeps(c), c.text("interpolation")); });
    });
  };
  add_quantile("quantile", [](const auto&... args) { return quantile(args...); });
  add_quantile("nanquantile", [](const auto&... args) { return nanquantile(args...); });

  table.add("norm(input, p: number=2, dim: ints=None, keepdim=False, dtype=None)",
            [](Call& c) { return norm(c.input(), c.has("p") ? c.real("p") : 2, dims_of(c), keeps(c), c.dtype()); });
  table.add("norm(input, p: str, dim: ints=None, keepdim=False, dtype=None)",
            [](Call& c) { return norm(c.input(), c.text("p"), dims_of(c), keeps(c), c.dtype()); });
  table.add("dist(input, other, p: number=2)", [](Call& c) { return dist(c.input(), c.tensor("other"), c.real("p")); });
  table.add("linalg.vector_norm(x, ord: number=2, dim: ints=None, keepdim=False, *, dtype=None)",
            [](Call& c) { return linalg::vector_norm(c.tensor("x"), c.real("ord"), dims_of(c), keeps(c), c.dtype()); });
  table.add("linalg.matrix_norm(A, ord: str='fro', dim: ints=[-2, -1], keepdim=False, *, dtype=None)",
            [](Call& c) { return linalg::matrix_norm(c.tensor("A"), c.text("ord"), c.ints("dim"), keeps(c), c.dtype()); });
  table.add("linalg.matrix_norm(A, ord: number, dim: ints=[-2, -1], keepdim=False, *, dtype=None)",
            [](Call& c) { return linalg::matrix_norm(c.tensor("A"), c.real("ord"), c.ints("dim"), keeps(c), c.dtype()); });
  table.add("linalg.norm(A, ord: number=None, dim: ints=None, keepdim=False, *, dtype=None)", [](Call& c) {
    const auto ord = c.number_or_none("ord");
    return linalg::norm(c.tensor("A"), ord ? std::optional(ord->to<double>()) : std::nullopt, dims_of(c), keeps(c), c.dtype());
  });
  table.add("linalg.norm(A, ord: str, dim: ints=None, keepdim=False, *, dtype=None)",
            [](Call& c) { return linalg::norm(c.tensor("A"), c.text("ord"), dims_of(c), keeps(c), c.dtype()); });

  table.add("unique(input, sorted=True, return_inverse=False, return_counts=False, dim: int=None)", [](Call& c) {
    return results_of(unique(c.input(), {.sorted = c.flag("sorted"),
                                         .return_inverse = c.flag("return_inverse"),
                                         .return_counts = c.flag("return_counts"),
                                         .dim = dim_of(c)}));
  });
  table.add("unique_consecutive(input, return_inverse=False, return_counts=False, dim: int=None)", [](Call& c) {
    return results_of(unique_consecutive(
        c.input(), {.return_inverse = c.flag("return_inverse"), .return_counts = c.flag("return_counts"), .dim = dim_of(c)}));
  });
  table.add("bincount(input, weights=None, minlength=0)",
            [](Call& c) { return bincount(c.input(), c.tensor_or_none("weights"), c.integer("minlength")); });
  table.add("histc(input, bins=100, min: number=0, max: number=0)",
            [](Call& c) { return histc(c.input(), c.integer("bins"), c.real("min"), c.real("max")); });
}

}  // namespace golden
