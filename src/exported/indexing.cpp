// Operations that read or write chosen elements.
#include "ops/indexing.h"

#include "exported/call.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/scatter.h"
#include "ops/sort.h"

namespace tandem::exported {
namespace {

/// A list of tensors, where None is all of a dimension.
std::vector<Index> indices_of(Call& call) {
  std::vector<Index> indices;
  for (const Tensor& index : call.tensors("indices")) indices.push_back(index.defined() ? Index(index) : Index(Slice()));
  return indices;
}

void at(Call& call) { call.give(call.tensor("self").index(indices_of(call), call.site())); }
void put_at(Call& call) {
  call.give(index_put(call.tensor("self"), indices_of(call), call.tensor("values"), call.truth("accumulate", false), call.site()));
}
void rows(Call& call) { call.give(index_select(call.tensor("self"), call.integer("dim"), call.tensor("index"), call.site())); }
void gathered(Call& call) { call.give(gather(call.tensor("self"), call.integer("dim"), call.tensor("index"), call.site())); }
void taken(Call& call) { call.give(take_along_dim(call.tensor("self"), call.tensor("indices"), call.integer_or_none("dim"), call.site())); }

void scattered(Call& call) {
  const Tensor x = call.tensor("self"), index = call.tensor("index");
  const int64_t dim = call.integer("dim");
  const std::string reduce = call.text("reduce", "");
  const Operand source = call.operand(call.has("src") ? "src" : "value");
  call.give(reduce.empty() ? scatter(x, dim, index, source, call.site()) : scatter(x, dim, index, source, reduce, call.site()));
}
void scattered_sums(Call& call) {
  call.give(scatter_add(call.tensor("self"), call.integer("dim"), call.tensor("index"), call.tensor("src"), call.site()));
}
void scattered_by(Call& call) {
  call.give(scatter_reduce(call.tensor("self"), call.integer("dim"), call.tensor("index"), call.tensor("src"), call.text("reduce", ""),
                           call.truth("include_self", true), call.site()));
}
void rows_added(Call& call) {
  call.give(index_add(call.tensor("self"), call.integer("dim"), call.tensor("index"), call.tensor("source"), call.number("alpha", 1),
                      call.site()));
}

/// slice_scatter and select_scatter: a copy with other values in a part.
template <bool kSelect>
void part_replaced(Call& call) {
  const Site site = call.site();
  Tensor copy = call.tensor("self").clone(site);
  const int64_t dim = call.integer("dim", 0);
  const Tensor part = kSelect ? copy.select(dim, call.integer("index"), site)
                              : copy.slice(dim, call.integer_or_none("start"), call.integer_or_none("end"), call.integer("step", 1), site);
  part.copy_(call.tensor("src"), false, site);
  call.give(copy);
}

template <Tensor (*Keep)(const Tensor&, int64_t, Site)>
void triangle(Call& call) {
  call.give(Keep(call.tensor("self"), call.integer("diagonal", 0), call.site()));
}
void places(Call& call) { call.give(nonzero(call.tensor("self"), call.site())); }
void masked(Call& call) { call.give(masked_select(call.tensor("self"), call.tensor("mask"), call.site())); }
void buckets(Call& call) {
  const Tensor boundaries = call.tensor("boundaries");
  const bool narrow = call.truth("out_int32", false), right = call.truth("right", false);
  call.give(bucketize(call.operand("self"), boundaries, narrow, right, call.site()));
}

constexpr OperatorRow kRows[] = {
    {"bucketize", buckets},
    {"gather", gathered},
    {"index", at, true},
    {"index_add", rows_added},
    {"index_put", put_at},
    {"index_select", rows},
    {"masked_select", masked},
    {"nonzero", places},
    {"scatter", scattered},
    {"scatter_add", scattered_sums},
    {"scatter_reduce", scattered_by},
    {"select_scatter", part_replaced<true>},
    {"slice_scatter", part_replaced<false>},
    {"take_along_dim", taken},
    {"tril", triangle<tril>},
    {"triu", triangle<triu>},
};

}  // namespace

std::span<const OperatorRow> indexing_operators() { return kRows; }

}  // namespace tandem::exported
