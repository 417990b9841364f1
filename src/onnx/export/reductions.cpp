// Rows of reductions, running totals and sorting.
#include "onnx/export/ordered.h"
#include "onnx/export/writer.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::Reduce;
using kernels::Table;

/// A reduction without its dimensions afterwards. Axes are an input from opset 18 on, of sums from 13 on.
const Value* reduced(Graph& graph, const char* op, const Value* x, const std::vector<int64_t>& axes) {
  Sizes sizes;
  for (size_t d = 0; d < x->sizes.size(); ++d)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end()) sizes.push_back(x->sizes[d]);
  if (axes.empty()) return x;
  if (graph.opset() >= 18 || std::string_view(op) == "ReduceSum")
    return graph.node(op, {x, graph.ints(axes)}, {x->dtype, sizes}, {{"keepdims", int64_t{0}}});
  return graph.node(op, {x}, {x->dtype, sizes}, {{"axes", axes}, {"keepdims", int64_t{0}}});
}

/// What a kernel of a reduction sees, with its dimensions in memory's order.
struct Reduced {
  Elements in;
  std::vector<int64_t> axes;
  std::vector<size_t> kept;  // the order of those that stay

  Reduced(const Elements& given, int32_t count) {
    const std::vector<size_t> order = order_of(given);
    in = in_order(given, order);
    const size_t first = given.sizes.size() - static_cast<size_t>(count);
    for (size_t d = first; d < given.sizes.size(); ++d) axes.push_back(place_of(d, order));
    std::sort(axes.begin(), axes.end());
    for (const size_t d : order)
      if (d < first) kept.push_back(d);
  }
};

DType wide(DType dtype) { return dtype == kBool || dtype == kUInt8 || dtype == kInt8 || dtype == kInt16 ? kInt64 : dtype; }

void reduce(Writer& w) {
  constexpr auto kEntry = &Table::reduce;
  Graph& graph = w.graph;
  const Reduce kind = w.fixed<kEntry, 0>();
  const Elements out = *w.elements<kEntry, 1>();
  const Reduced form(*w.elements<kEntry, 2>(), w.fixed<kEntry, 3>());
  const Value* x = w.read(form.in);
  const auto unary = [&](const char* op, const Value* v) { return graph.node(op, {v}, {v->dtype, v->sizes}); };
  const auto squares = [&] { return graph.node("Mul", {x, x}, {x->dtype, x->sizes}); };
  if (kind == Reduce::Any || kind == Reduce::All || kind == Reduce::CountNonzero) {
    x = graph.cast(graph.cast(x, kBool), kInt64);
  } else {
    x = graph.cast(x, wide(out.dtype));
  }
  const Value* y = nullptr;
  const auto by = [&](const char* op) { return reduced(graph, op, x, form.axes); };
  switch (kind) {
    case Reduce::Sum:
    case Reduce::CountNonzero: y = by("ReduceSum"); break;
    case Reduce::Mean: y = by("ReduceMean"); break;
    case Reduce::Prod: y = by("ReduceProd"); break;
    case Reduce::Max:
    case Reduce::Any: y = by("ReduceMax"); break;
    case Reduce::Min:
    case Reduce::All: y = by("ReduceMin"); break;
    case Reduce::Norm1: y = by("ReduceL1"); break;
    case Reduce::Norm2: y = by("ReduceL2"); break;
    case Reduce::NormInf: y = reduced(graph, "ReduceMax", unary("Abs", x), form.axes); break;
    case Reduce::SumOfSquares: y = by("ReduceSumSquare"); break;
    case Reduce::MeanOfSquares: y = reduced(graph, "ReduceMean", squares(), form.axes); break;
  }
  w.give(in_order(out, form.kept), y);
}

void arg_reduce(Writer& w) {
  constexpr auto kEntry = &Table::arg_reduce;
  Graph& graph = w.graph;
  const bool largest = w.fixed<kEntry, 0>();
  const auto values = w.elements<kEntry, 1>(), indices = w.elements<kEntry, 2>();
  const Elements in = *w.elements<kEntry, 3>();
  const auto count = static_cast<size_t>(w.fixed<kEntry, 4>());
  const Value* x = nullptr;
  int64_t axis = 0;
  std::vector<size_t> kept;
  if (count == 1) {
    const Reduced form(in, 1);
    x = w.read(form.in);
    axis = form.axes[0];
    kept = form.kept;
  } else {
    Sizes sizes(in.sizes.begin(), in.sizes.end() - static_cast<int64_t>(count));
    Size rest = 1;
    for (size_t d = sizes.size(); d < in.sizes.size(); ++d) rest = rest * in.sizes[d];
    axis = static_cast<int64_t>(sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) kept.push_back(d);
    sizes.push_back(rest);
    x = graph.reshape(w.read(in), sizes);
  }
  x = graph.cast(x, wide(x->dtype));
  Sizes sizes = x->sizes;
  sizes.erase(sizes.begin() + axis);
  if (values) w.give(in_order(*values, kept), reduced(graph, largest ? "ReduceMax" : "ReduceMin", x, {axis}));
  if (indices)
    w.give(in_order(*indices, kept),
           graph.node(largest ? "ArgMax" : "ArgMin", {x}, {kInt64, sizes}, {{"axis", axis}, {"keepdims", int64_t{0}}}));
}

void variance(Writer& w) {
  constexpr auto kEntry = &Table::variance;
  Graph& graph = w.graph;
  const auto out = w.elements<kEntry, 0>(), mean = w.elements<kEntry, 1>();
  const Reduced form(*w.elements<kEntry, 2>(), w.fixed<kEntry, 3>());
  const double correction = w.fixed<kEntry, 4>();
  const Value* const x = w.read(form.in);
  const Value* const center = reduced(graph, "ReduceMean", x, form.axes);
  if (mean) w.give(in_order(*mean, form.kept), center);
  Sizes kept = x->sizes;
  Size count = 1;
  for (const int64_t axis : form.axes) {
    count = count * kept[static_cast<size_t>(axis)];
    kept[static_cast<size_t>(axis)] = 1;
  }
  const auto two = [&](const char* op, const Value* a, const Value* b) { return graph.node(op, {a, b}, {a->dtype, a->sizes}); };
  const Value* const apart = two("Sub", x, graph.reshape(center, kept));
  const Value* const sum = reduced(graph, "ReduceSum", two("Mul", apart, apart), form.axes);
  const Value* by = graph.cast(graph.size(count), x->dtype);
  if (count.is_fixed()) by = graph.number(std::max(0.0, static_cast<double>(count.at[0]) - correction), x->dtype);
  else if (correction != 0) by = graph.node("Sub", {by, graph.number(correction, x->dtype)}, {x->dtype, {}});
  w.give(in_order(*out, form.kept), two("Div", sum, by));
}

void scan(Writer& w) {
  constexpr auto kEntry = &Table::scan;
  if (w.fixed<kEntry, 0>() != kernels::Scan::Sum)
    w.graph.refuse("ONNX has running sums and no other running totals; compute it outside of the module that is exported");
  const Elements out = *w.elements<kEntry, 1>(), in = *w.elements<kEntry, 2>();
  const std::vector<size_t> order = order_of(in);
  const Value* const read = w.read(in_order(in, order));
  const Value* const x = w.graph.cast(read, wide(read->dtype));
  const int64_t axis = place_of(in.sizes.size() - 1, order);
  w.give(in_order(out, order), w.graph.node("CumSum", {x, w.graph.number(axis, kInt64)}, {x->dtype, x->sizes}));
}

void sorted(Writer& w, const Elements& values, const Elements& indices, const Elements& in, bool descending, int64_t first) {
  Graph& graph = w.graph;
  const Value* const read = w.read(in);
  const Value* const x = graph.cast(read, wide(read->dtype));
  Sizes sizes = x->sizes;
  const auto last = static_cast<int64_t>(sizes.size()) - 1;
  sizes.back() = values.sizes.back() + first;
  const auto both = graph.nodes("TopK", {x, graph.sizes({sizes.back()})}, {{x->dtype, sizes}, {kInt64, sizes}},
                                {{"axis", last}, {"largest", int64_t{descending}}, {"sorted", int64_t{1}}});
  const auto part = [&](const Value* y) { return first == 0 ? y : graph.slice(y, {last}, {first}, {sizes.back()}, {1}); };
  w.give(values, part(both[0]));
  w.give(indices, part(both[1]));
}

void sort_part(Writer& w) {
  constexpr auto kEntry = &Table::sort_part;
  sorted(w, *w.elements<kEntry, 0>(), *w.elements<kEntry, 1>(), *w.elements<kEntry, 2>(), w.fixed<kEntry, 3>(), w.fixed<kEntry, 4>());
}

}  // namespace

std::span<const Row> reduction_rows() {
  static const Row rows[] = {row<&Table::reduce>("reduce", reduce), row<&Table::arg_reduce>("arg_reduce", arg_reduce),
                             row<&Table::variance>("variance", variance), row<&Table::scan>("scan", scan),
                             row<&Table::sort_part>("sort_part", sort_part)};
  return rows;
}

}  // namespace tandem::onnx::exporting
