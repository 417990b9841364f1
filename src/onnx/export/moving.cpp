// Rows of what fills, copies, joins and pads.
#include <cstring>

#include "onnx/export/writer.h"
#include "ops/creation.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::Table;

/// A number of a kernel's as one that may depend on sizes. Error where it does and is not whole.
template <auto Entry, size_t i>
Size whole_number(const Writer& w) {
  Size number;
  for (size_t k = 0; k < kTraces; ++k) {
    const kernels::Value& value = w.argument<Entry, i>(k);
    number.at[k] = value.template to<int64_t>();
    if (value.is_floating && static_cast<double>(number.at[k]) != value.floating) w.refuse_setting();
  }
  return number;
}

void fill(Writer& w) {
  constexpr auto kEntry = &Table::fill;
  const Elements out = *w.elements<kEntry, 0>();
  const kernels::Value& first = w.argument<kEntry, 1>(0);
  bool same = true;
  for (size_t k = 1; k < kTraces; ++k) {
    const double other = w.argument<kEntry, 1>(k).template to<double>(), one = first.to<double>();
    same &= other == one || (other != other && one != one);
  }
  const Value* number = nullptr;
  if (!same) number = w.graph.cast(w.graph.size(whole_number<kEntry, 1>(w)), out.dtype);
  else if (first.is_floating) number = w.graph.number(first.floating, out.dtype);
  else number = w.graph.number(first.integer, out.dtype);
  w.give(out, w.graph.expand(number, out.sizes));
}

void copy(Writer& w) {
  constexpr auto kEntry = &Table::copy;
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  w.give(out, w.read(in));
}

void cat(Writer& w) {
  constexpr auto kEntry = &Table::cat;
  const Elements out = *w.elements<kEntry, 0>();
  Values parts;
  for (const auto& part : w.list<kEntry, 1>())
    if (part) parts.push_back(w.graph.cast(w.read(*part), out.dtype));
  w.give(out, w.graph.concat(parts, w.fixed<kEntry, 2>()));
}

void arange(Writer& w) {
  constexpr auto kEntry = &Table::arange;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>();
  const kernels::Value &start = w.argument<kEntry, 1>(0), &step = w.argument<kEntry, 2>(0);
  const auto number = [&](const kernels::Value& v) {
    return v.is_floating ? graph.number(v.floating, out.dtype) : graph.number(v.integer, out.dtype);
  };
  bool same = true;
  for (size_t k = 1; k < kTraces; ++k) {
    same &= w.argument<kEntry, 1>(k).to<double>() == start.to<double>();
    if (w.argument<kEntry, 2>(k).to<double>() != step.to<double>()) w.refuse_setting();
  }
  const Value* y = graph.node("Range", {graph.number(int64_t{0}, kInt64), graph.size(out.sizes[0]), graph.number(int64_t{1}, kInt64)},
                              {kInt64, out.sizes});
  y = graph.cast(y, out.dtype);
  if (step.to<double>() != 1) y = graph.node("Mul", {y, number(step)}, {out.dtype, out.sizes});
  if (!same) y = graph.node("Add", {y, graph.cast(graph.size(whole_number<kEntry, 1>(w)), out.dtype)}, {out.dtype, out.sizes});
  else if (start.to<double>() != 0) y = graph.node("Add", {y, number(start)}, {out.dtype, out.sizes});
  w.give(out, y);
}

void linspace(Writer& w) {
  constexpr auto kEntry = &Table::linspace;
  const Elements out = *w.elements<kEntry, 0>();
  const double start = w.fixed<kEntry, 1>(), end = w.fixed<kEntry, 2>();
  if (!out.sizes[0].is_fixed()) w.refuse_setting();
  w.give(out, w.graph.constant(tandem::linspace(start, end, out.sizes[0].at[0], {.dtype = out.dtype})));
}

/// The last elements before the first ones, and the first behind the last: what opset 19 has a mode of padding for.
const Value* wrapped(Graph& graph, const Value* x, const Sizes& before, const Sizes& after) {
  for (size_t d = 0; d < before.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!before[d].is_fixed() || !after[d].is_fixed() || before[d].at[0] < 0 || after[d].at[0] < 0) graph.require(19, "circular padding");
    const Size size = x->sizes[d];
    Values parts;
    if (!before[d].is(0)) parts.push_back(graph.slice(x, {axis}, {size - before[d]}, {size}, {1}));
    parts.push_back(x);
    if (!after[d].is(0)) parts.push_back(graph.slice(x, {axis}, {0}, {after[d]}, {1}));
    if (parts.size() > 1) x = graph.concat(parts, axis);
  }
  return x;
}

void pad(Writer& w) {
  constexpr auto kEntry = &Table::pad;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  const kernels::Padding mode = w.fixed<kEntry, 3>();
  const kernels::Value& value = w.argument<kEntry, 4>(0);
  Sizes before, after;
  for (size_t d = 0; d < in.sizes.size(); ++d) {
    Size own;
    for (size_t k = 0; k < kTraces; ++k) own.at[k] = w.argument<kEntry, 2>(k)[static_cast<int64_t>(d)];
    before.push_back(own);
    after.push_back(out.sizes[d] - in.sizes[d] - own);
  }
  Sizes pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  Values inputs = {w.read(in), graph.sizes(pads)};
  const char* name = "constant";
  switch (mode) {
    case kernels::Padding::Constant:
      inputs.push_back(value.is_floating ? graph.number(value.floating, in.dtype) : graph.number(value.integer, in.dtype));
      break;
    case kernels::Padding::Reflect: name = "reflect"; break;
    case kernels::Padding::Replicate: name = "edge"; break;
    case kernels::Padding::Circular:
      if (graph.opset() < 19) return w.give(out, wrapped(graph, inputs[0], before, after));
      name = "wrap";
      break;
  }
  w.give(out, graph.node("Pad", inputs, {in.dtype, out.sizes}, {{"mode", std::string(name)}}));
}

void triangle(Writer& w) {
  constexpr auto kEntry = &Table::triangle;
  Graph& graph = w.graph;
  graph.require(14, "triangles (Trilu)");
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  Size diagonal;
  for (size_t k = 0; k < kTraces; ++k) diagonal.at[k] = w.argument<kEntry, 2>(k);
  const Value* const read = w.read(in);
  const bool rare = !is_floating(read->dtype);  // runtimes have it for few types
  const Value* const x = rare ? graph.cast(read, kInt64) : read;
  w.give(out, graph.node("Trilu", {x, graph.size(diagonal)}, {x->dtype, x->sizes}, {{"upper", int64_t{w.fixed<kEntry, 3>()}}}));
}

/// Resizing, as a product with the matrix of its weights, or by the places that are read.
void resample(Writer& w) {
  constexpr auto kEntry = &Table::resample;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  const Value* const starts = w.read(*w.elements<kEntry, 2>());
  const Value* const indices = w.read(*w.elements<kEntry, 3>());
  const Value* const weights = w.read(*w.elements<kEntry, 4>());
  if (!starts->tensor.defined() || !indices->tensor.defined() || !weights->tensor.defined() || !in.sizes[1].is_fixed()) w.refuse_setting();
  const int64_t from = in.sizes[1].at[0], to = out.sizes[1].at[0];
  const auto* const start = static_cast<const int64_t*>(starts->tensor.data_ptr());
  const auto* const index = static_cast<const int64_t*>(indices->tensor.data_ptr());
  const auto* const weight = static_cast<const double*>(weights->tensor.data_ptr());
  const Value* const x = w.read(in);
  bool reads = true;
  for (int64_t i = 0; i < to; ++i) reads &= start[i + 1] == start[i] + 1 && weight[start[i]] == 1;
  if (reads) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < to; ++i) places.push_back(index[start[i]]);
    return w.give(out, graph.node("Gather", {x, graph.ints(places)}, {in.dtype, out.sizes}, {{"axis", int64_t{1}}}));
  }
  const Tensor matrix = zeros({to, from}, {.dtype = kFloat64});
  auto* const element = static_cast<double*>(matrix.data_ptr());
  for (int64_t i = 0; i < to; ++i)
    for (int64_t t = start[i]; t < start[i + 1]; ++t) element[i * from + index[t]] += weight[t];
  w.give(out, graph.node("MatMul", {graph.constant(matrix.to(in.dtype)), x}, {in.dtype, out.sizes}));
}

}  // namespace

std::span<const Row> moving_rows() {
  static const Row rows[] = {row<&Table::fill>("fill", fill),
                             row<&Table::copy>("copy", copy),
                             row<&Table::cat>("cat", cat),
                             row<&Table::arange>("arange", arange),
                             row<&Table::linspace>("linspace", linspace),
                             row<&Table::pad>("pad", pad),
                             row<&Table::triangle>("triangle", triangle),
                             row<&Table::resample>("resample", resample)};
  return rows;
}

}  // namespace tandem::onnx::exporting
