#include "golden.h"

namespace golden {
namespace {

int64_t dim_of(Call& c) { return c.integer("dim"); }
std::vector<Index> tensors_as_indices(Call& c, const std::string& name) {
  std::vector<Index> indices;
  for (const Tensor& index : c.tensors(name)) indices.emplace_back(index);
  return indices;
}

}  // namespace

void add_indexing(Table& table) {
  table.add("__getitem__(input, indices)", [](Call& c) { return c.input().index(c.indices("indices")); });
  table.add("index_put(input, indices: Tensors, values, accumulate=False)",
            [](Call& c) { return index_put(c.input(), tensors_as_indices(c, "indices"), c.tensor("values"), c.flag("accumulate")); });
  table.add("index_select(input, dim: int, index)", [](Call& c) { return index_select(c.input(), dim_of(c), c.tensor("index")); });
  table.add("index_add(input, dim: int, index, source, *, alpha: number=1)",
            [](Call& c) { return index_add(c.input(), dim_of(c), c.tensor("index"), c.tensor("source"), c.number("alpha")); });
  table.add("index_copy(input, dim: int, index, source)",
            [](Call& c) { return index_copy(c.input(), dim_of(c), c.tensor("index"), c.tensor("source")); });
  table.add("index_fill(input, dim: int, index, value)", [](Call& c) {
    return c.with("value", [&](const Operand& value) { return index_fill(c.input(), dim_of(c), c.tensor("index"), value); });
  });
  table.add("take(input, index)", [](Call& c) { return take(c.input(), c.tensor("index")); });
  table.add("put(input, index, source, accumulate=False)",
            [](Call& c) { return put(c.input(), c.tensor("index"), c.tensor("source"), c.flag("accumulate")); });
  table.add("masked_fill(input, mask, value)",
            [](Call& c) { return c.with("value", [&](const Operand& value) { return masked_fill(c.input(), c.tensor("mask"), value); }); });
  table.add("masked_select(input, mask)", [](Call& c) { return masked_select(c.input(), c.tensor("mask")); });
  table.add("masked_scatter(input, mask, source)", [](Call& c) { return masked_scatter(c.input(), c.tensor("mask"), c.tensor("source")); });
  table.add("nonzero(input, *, as_tuple=False)",
            [](Call& c) { return c.flag("as_tuple") ? Results(where(c.input())) : Results(nonzero(c.input())); });
  table.add("argwhere(input)", [](Call& c) { return argwhere(c.input()); });
  table.add("where(condition)", [](Call& c) { return where(c.tensor("condition")); });
  // PyTorch's own samples call where as a method: the condition comes second.
  table.add("where(input, condition: Tensor, other)", [](Call& c) {
    return c.with("input",
                  [&](const Operand& a) { return c.with("other", [&](const Operand& b) { return where(c.tensor("condition"), a, b); }); });
  });

  table.add("gather(input, dim: int, index, *, sparse_grad=False)",
            [](Call& c) { return gather(c.input(), dim_of(c), c.tensor("index")); });
  table.add("take_along_dim(input, indices, dim: int=None)",
            [](Call& c) { return take_along_dim(c.input(), c.tensor("indices"), c.integer_or_none("dim")); });
  table.add("scatter(input, dim: int, index, src, *, reduce: str=None)", [](Call& c) {
    return c.with("src", [&](const Operand& source) {
      if (c.has("reduce")) return scatter(c.input(), dim_of(c), c.tensor("index"), source, c.text("reduce"));
      return scatter(c.input(), dim_of(c), c.tensor("index"), source);
    });
  });
  table.add("scatter_add(input, dim: int, index, src)",
            [](Call& c) { return scatter_add(c.input(), dim_of(c), c.tensor("index"), c.tensor("src")); });
  table.add("scatter_reduce(input, dim: int, index, src, reduce: str, *, include_self=True)", [](Call& c) {
    return scatter_reduce(c.input(), dim_of(c), c.tensor("index"), c.tensor("src"), c.text("reduce"), c.flag("include_self"));
  });
  table.add("repeat_interleave(input, repeats: int, dim: int=None, *, output_size: int=None)", [](Call& c) {
    return repeat_interleave(c.input(), c.integer("repeats"), c.integer_or_none("dim"), c.integer_or_none("output_size"));
  });
  table.add("repeat_interleave(input, repeats: Tensor, dim: int=None, *, output_size: int=None)", [](Call& c) {
    return repeat_interleave(c.input(), c.tensor("repeats"), c.integer_or_none("dim"), c.integer_or_none("output_size"));
  });
  table.add("repeat_interleave(repeats: Tensor, *, output_size: int=None)",
            [](Call& c) { return repeat_interleave(c.tensor("repeats"), c.integer_or_none("output_size")); });

  table.add("sort(input, dim: int=-1, descending=False, stable=False)",
            [](Call& c) { return sort(c.input(), dim_of(c), c.flag("descending")); });
  table.add("argsort(input, dim: int=-1, descending=False, stable=False)",
            [](Call& c) { return argsort(c.input(), dim_of(c), c.flag("descending")); });
  table.add("msort(input)", [](Call& c) { return msort(c.input()); });
  table.add("topk(input, k: int, dim: int=-1, largest=True, sorted=True)",
            [](Call& c) { return topk(c.input(), c.integer("k"), dim_of(c), c.flag("largest"), c.flag("sorted")); });
  table.add("searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side: str=None, sorter=None)", [](Call& c) {
    const std::string side = c.has("side") ? c.text("side") : "";
    SearchOptions options{.out_int32 = c.flag("out_int32"), .right = c.flag("right"), .sorter = c.tensor_or_none("sorter")};
    if (!side.empty()) options.side = side;
    return c.with("input", [&](const Operand& values) { return searchsorted(c.tensor("sorted_sequence"), values, options); });
  });
  table.add("bucketize(input, boundaries, *, out_int32=False, right=False)", [](Call& c) {
    return c.with("input", [&](const Operand& x) { return bucketize(x, c.tensor("boundaries"), c.flag("out_int32"), c.flag("right")); });
  });
  table.add("isin(elements, test_elements, *, assume_unique=False, invert=False)", [](Call& c) {
    return c.with("elements", [&](const Operand& x) {
      return c.with("test_elements", [&](const Operand& tests) { return isin(x, tests, c.flag("assume_unique"), c.flag("invert")); });
    });
  });

  table.add("nn.functional.one_hot(input, num_classes=-1)", [](Call& c) { return one_hot(c.input(), c.integer("num_classes")); });
  // PyTorch's own samples pass the weight first.
  table.add(
      "nn.functional.embedding(weight, input, padding_idx: int=None, max_norm: number=None, norm_type: number=2, "
      "scale_grad_by_freq=False, sparse=False)",
      [](Call& c) {
        const auto max_norm = c.number_or_none("max_norm");
        return embedding(c.input(), c.tensor("weight"), c.integer_or_none("padding_idx"),
                         max_norm ? std::optional(max_norm->to<double>()) : std::nullopt, c.real("norm_type"),
                         c.flag("scale_grad_by_freq"));
      });
  table.add("tril(input, diagonal=0)", [](Call& c) { return tril(c.input(), c.integer("diagonal")); });
  table.add("triu(input, diagonal=0)", [](Call& c) { return triu(c.input(), c.integer("diagonal")); });
}

}  // namespace golden
