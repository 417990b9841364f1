// Rows of products of matrices.
#include "onnx/export/writer.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::Activation;
using kernels::Table;

const Value* activated(Graph& graph, const Value* y, Activation activation) {
  const auto one = [&](const char* op) { return graph.node(op, {y}, {y->dtype, y->sizes}); };
  switch (activation) {
    case Activation::None: return y;
    case Activation::Relu: return one("Relu");
    case Activation::Tanh: return one("Tanh");
    case Activation::Sigmoid: return one("Sigmoid");
    case Activation::Gelu: break;
  }
  const auto two = [&](const char* op, const Value* a, const Value* b) { return graph.node(op, {a, b}, {y->dtype, y->sizes}); };
  const auto number = [&](double x) { return graph.number(x, y->dtype); };
  const Value* const cube = two("Mul", two("Mul", y, y), y);
  const Value* const inside = two("Mul", number(0.79788456080286535588), two("Add", y, two("Mul", number(0.044715), cube)));
  const Value* const tanh = graph.node("Tanh", {inside}, {y->dtype, y->sizes});
  return two("Mul", two("Mul", number(0.5), y), two("Add", tanh, number(1)));
}

Elements swapped(Elements x) {
  const size_t n = x.sizes.size();
  std::swap(x.sizes[n - 1], x.sizes[n - 2]);
  std::swap(x.strides[n - 1], x.strides[n - 2]);
  return x;
}

void matmul(Writer& w) {
  constexpr auto kMatmul = &Table::matmul;
  Graph& graph = w.graph;
  Elements out = *w.elements<kMatmul, 0>(), a = *w.elements<kMatmul, 1>();
  const Elements b = *w.elements<kMatmul, 2>();
  std::optional<Elements> bias = w.elements<kMatmul, 3>();
  const kernels::Epilogue epilogue = w.argument<kMatmul, 4>(0);
  for (size_t k = 1; k < kTraces; ++k)
    if (w.argument<kMatmul, 4>(k).alpha != epilogue.alpha || w.argument<kMatmul, 4>(k).beta != epilogue.beta) w.refuse_setting();
  // Rows that are several dimensions of what they come from are these dimensions in the product, too.
  if (const Elements* const source = w.source(a); a.sizes.size() == 2 && source && source->sizes.size() > 2) {
    const Elements inner = *source;
    Sizes rows = {a.sizes[0]}, strides = {a.strides[0]}, of_out = {out.strides[0]}, of_bias = {bias ? bias->strides[0] : Size(0)};
    const Sizes own = strides;
    split_like(inner, own, rows, {&strides, &of_out, &of_bias});
    const auto put = [&](Elements& x, Sizes at) {
      x.sizes.erase(x.sizes.begin());
      x.strides.erase(x.strides.begin());
      x.sizes.insert(x.sizes.begin(), rows.begin(), rows.end());
      x.strides.insert(x.strides.begin(), at.begin(), at.end());
    };
    put(a, strides);
    put(out, of_out);
    if (bias) put(*bias, of_bias);
  }
  const Value* const left = w.read(a);
  const bool floats = is_floating(out.dtype), plain = a.sizes.size() == 2 && floats;
  const bool turned = b.sizes.size() == 2 && b.strides[0].is(1) && !b.strides[1].is(1);
  const Value* added = bias && epilogue.beta != 0 ? w.read(*bias, true) : nullptr;
  if (added)
    while (added->sizes.size() > 1 && added->sizes[0].is(1))
      added = graph.reshape(added, Sizes(added->sizes.begin() + 1, added->sizes.end()));
  const Value* y = nullptr;
  if (plain) {
    Attributes attributes;
    if (epilogue.alpha != 1) attributes.push_back({"alpha", epilogue.alpha});
    if (added && epilogue.beta != 1) attributes.push_back({"beta", epilogue.beta});
    if (turned) attributes.push_back({"transB", int64_t{1}});
    Values in = {left, turned ? w.read(swapped(b)) : w.read(b)};
    if (added) in.push_back(added);
    y = graph.node("Gemm", in, {out.dtype, out.sizes}, attributes);
  } else {
    DType type = out.dtype;
    if (type == kInt8 || type == kUInt8 || type == kInt16) type = kInt64;
    const auto in_type = [&](const Value* x) { return graph.cast(x, type); };
    const Value* const right = turned ? graph.transpose(w.read(swapped(b)), {1, 0}) : w.read(b, true);
    y = graph.node("MatMul", {in_type(left), in_type(right)}, {type, out.sizes});
    const auto scaled = [&](const Value* x, double by) {
      if (by == 1) return x;
      const Value* const factor = floats ? graph.number(by, type) : graph.number(static_cast<int64_t>(by), type);
      return graph.node("Mul", {x, factor}, {type, x->sizes});
    };
    y = scaled(y, epilogue.alpha);
    if (added) y = graph.node("Add", {y, scaled(in_type(added), epilogue.beta)}, {type, out.sizes});
  }
  w.give(out, activated(graph, y, epilogue.activation));
}

}  // namespace

std::span<const Row> product_rows() {
  static const Row rows[] = {row<&Table::matmul>("matmul", matmul)};
  return rows;
}

}  // namespace tandem::onnx::exporting
