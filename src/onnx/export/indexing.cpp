// Rows of what gathers and scatters.
#include "onnx/export/writer.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::Table;

void embedding(Writer& w) {
  constexpr auto kEntry = &Table::embedding;
  const Elements out = *w.elements<kEntry, 0>();
  const Value* const table = w.read(*w.elements<kEntry, 1>());
  const Value* const indices = w.read(*w.elements<kEntry, 2>());
  w.give(out, w.graph.node("Gather", {table, indices}, {out.dtype, out.sizes}, {{"axis", int64_t{0}}}));
}

/// The index tensors of some dimensions side by side: (sizes…, how many).
const Value* stacked(Writer& w, const std::vector<Elements>& indices, const Sizes& sizes) {
  Sizes column = sizes;
  column.push_back(1);
  Values parts;
  for (const Elements& each : indices) {
    const Value* const x = w.read(each, true);
    parts.push_back(w.graph.reshape(w.graph.expand(x, sizes), column));
  }
  return w.graph.concat(parts, static_cast<int64_t>(sizes.size()));
}

void index(Writer& w) {
  constexpr auto kEntry = &Table::index;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  const auto given = w.list<kEntry, 2>();
  std::vector<Elements> indices;
  std::vector<int64_t> order, rest;
  for (size_t d = 0; d < in.sizes.size(); ++d) {
    if (d < given.size() && given[d]) {
      indices.push_back(*given[d]);
      order.push_back(static_cast<int64_t>(d));
    } else {
      rest.push_back(static_cast<int64_t>(d));
    }
  }
  const Sizes sizes(out.sizes.begin(), out.sizes.end() - static_cast<int64_t>(rest.size()));
  const Value* x = w.read(in);
  if (indices.size() == 1) {
    const int64_t axis = order[0];
    const Value* const at = graph.expand(w.read(indices[0], true), sizes);
    Sizes gathered(x->sizes.begin(), x->sizes.begin() + axis);
    gathered.insert(gathered.end(), sizes.begin(), sizes.end());
    gathered.insert(gathered.end(), x->sizes.begin() + axis + 1, x->sizes.end());
    const Value* const y = graph.node("Gather", {x, at}, {x->dtype, gathered}, {{"axis", axis}});
    std::vector<int64_t> turned;
    const auto dims = static_cast<int64_t>(sizes.size());
    for (int64_t d = 0; d < dims; ++d) turned.push_back(axis + d);
    for (int64_t d = 0; d < axis; ++d) turned.push_back(d);
    for (int64_t d = axis + dims; d < static_cast<int64_t>(gathered.size()); ++d) turned.push_back(d);
    return w.give(out, graph.transpose(y, turned));
  }
  order.insert(order.end(), rest.begin(), rest.end());
  x = graph.transpose(x, order);
  w.give(out, graph.node("GatherND", {x, stacked(w, indices, sizes)}, {x->dtype, out.sizes}));
}

void index_put(Writer& w) {
  constexpr auto kEntry = &Table::index_put;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>(), values = *w.elements<kEntry, 1>();
  std::vector<Elements> indices;
  for (const auto& each : w.list<kEntry, 2>()) {
    if (!each) graph.refuse("indices with a slice before or between them cannot be written to ONNX; use scatter, or permute first");
    indices.push_back(*each);
  }
  const bool adds = w.fixed<kEntry, 3>();
  if (adds) graph.require(16, "sums at indices (ScatterND)");
  const Sizes sizes(values.sizes.begin(), values.sizes.end() - static_cast<int64_t>(out.sizes.size() - indices.size()));
  Attributes attributes;
  if (adds) attributes.push_back({"reduction", std::string("add")});
  w.give(out, graph.node("ScatterND", {w.read(out), stacked(w, indices, sizes), w.read(values)}, {out.dtype, out.sizes}, attributes));
}

void gather(Writer& w) {
  constexpr auto kEntry = &Table::gather;
  const Elements out = *w.elements<kEntry, 0>();
  const Value* const x = w.read(*w.elements<kEntry, 1>());
  const Value* const at = w.read(*w.elements<kEntry, 2>());
  w.give(out, w.graph.node("GatherElements", {x, at}, {x->dtype, out.sizes}, {{"axis", int64_t{w.fixed<kEntry, 3>()}}}));
}

void scatter(Writer& w) {
  constexpr auto kEntry = &Table::scatter;
  Graph& graph = w.graph;
  const kernels::Scatter mode = w.fixed<kEntry, 0>();
  const Elements out = *w.elements<kEntry, 1>(), at = *w.elements<kEntry, 2>();
  Elements source = *w.elements<kEntry, 3>();
  source.sizes = at.sizes;  // it may have more
  Attributes attributes = {{"axis", int64_t{w.fixed<kEntry, 4>()}}};
  const char* name = nullptr;
  int64_t since = 16;
  switch (mode) {
    case kernels::Scatter::Set: break;
    case kernels::Scatter::Add: name = "add"; break;
    case kernels::Scatter::Multiply: name = "mul"; break;
    case kernels::Scatter::Max: name = "max", since = 18; break;
    case kernels::Scatter::Min: name = "min", since = 18; break;
  }
  if (name) {
    graph.require(since, "combining what is scattered");
    attributes.push_back({"reduction", std::string(name)});
  }
  w.give(out, graph.node("ScatterElements", {w.read(out), w.read(at), w.read(source)}, {out.dtype, out.sizes}, attributes));
}

}  // namespace

std::span<const Row> indexing_rows() {
  static const Row rows[] = {row<&Table::embedding>("embedding", embedding), row<&Table::index>("index", index),
                             row<&Table::index_put>("index_put", index_put), row<&Table::gather>("gather", gather),
                             row<&Table::scatter>("scatter", scatter)};
  return rows;
}

}  // namespace tandem::onnx::exporting
