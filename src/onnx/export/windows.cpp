// Rows of convolutions and pooling. Kernels see (n, c, d, h, w); leading spatial dimensions that are not there have size 1.
#include "onnx/export/writer.h"
#include "ops/creation.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::Table;
using kernels::Windows;

/// How many spatial dimensions are there, as far as it shows: those that do nothing are left out, but for the last.
size_t unused_dims(const Elements& in, const Elements& out, const Windows& windows) {
  size_t unused = 0;
  while (unused < 2 && in.sizes[2 + unused].is(1) && out.sizes[2 + unused].is(1) && windows.kernel[unused] == 1 &&
         windows.stride[unused] == 1 && windows.padding[unused] == 0)
    ++unused;
  return unused;
}

Elements without(Elements x, size_t unused) {
  x.sizes.erase(x.sizes.begin() + 2, x.sizes.begin() + 2 + static_cast<int64_t>(unused));
  x.strides.erase(x.strides.begin() + 2, x.strides.begin() + 2 + static_cast<int64_t>(unused));
  return x;
}

std::vector<int64_t> used(const int64_t (&three)[3], size_t unused) { return {three + unused, three + 3}; }

/// The padding at the end: what the windows of `out` reach behind `in`, which is the same for all sizes.
std::vector<int64_t> pads(Writer& w, const Elements& in, const Elements& out, const Windows& windows, size_t unused) {
  std::vector<int64_t> all = used(windows.padding, unused);
  for (size_t d = unused; d < 3; ++d) {
    const Size reach = (out.sizes[2 + d] - 1) * windows.stride[d] + (windows.dilation[d] * (windows.kernel[d] - 1) + 1);
    Size behind = reach - in.sizes[2 + d] - windows.padding[d];
    if (behind.at_most(windows.padding[d])) behind = windows.padding[d];
    if (!behind.is_fixed()) w.refuse_setting();
    all.push_back(behind.at[0]);
  }
  return all;
}

void convolution(Writer& w) {
  constexpr auto kEntry = &Table::convolution;
  Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>(), weight = *w.elements<kEntry, 2>();
  const auto bias = w.elements<kEntry, 3>();
  const Windows windows = w.argument<kEntry, 4>(0);
  size_t unused = unused_dims(in, out, windows);
  while (unused > 0 && !weight.sizes[1 + unused].is(1)) --unused;
  const std::vector<int64_t> padding = used(windows.padding, unused);
  std::vector<int64_t> both = padding;
  both.insert(both.end(), padding.begin(), padding.end());
  Attributes attributes = {{"kernel_shape", used(windows.kernel, unused)},
                           {"strides", used(windows.stride, unused)},
                           {"pads", both},
                           {"dilations", used(windows.dilation, unused)},
                           {"group", w.fixed<kEntry, 5>()}};
  out = without(out, unused);
  Values inputs = {w.read(without(in, unused)), w.read(without(weight, unused))};
  if (bias) inputs.push_back(w.read(*bias));
  w.give(out, w.graph.node("Conv", inputs, {out.dtype, out.sizes}, attributes));
}

void transposed_convolution(Writer& w) {
  constexpr auto kEntry = &Table::convolution_input;
  Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>(), weight = *w.elements<kEntry, 2>();
  const Windows windows = w.argument<kEntry, 3>(0);
  size_t unused = unused_dims(out, in, windows);
  while (unused > 0 && !weight.sizes[1 + unused].is(1)) --unused;
  std::vector<int64_t> both = used(windows.padding, unused), more;
  for (size_t d = unused; d < 3; ++d) {
    const Size plain = (in.sizes[2 + d] - 1) * windows.stride[d] + (windows.dilation[d] * (windows.kernel[d] - 1) + 1);
    const Size rest = out.sizes[2 + d] - plain + 2 * windows.padding[d];
    if (!rest.is_fixed()) w.refuse_setting();
    more.push_back(rest.at[0]);
  }
  const std::vector<int64_t> before = both;
  both.insert(both.end(), before.begin(), before.end());
  Attributes attributes = {{"kernel_shape", used(windows.kernel, unused)},
                           {"strides", used(windows.stride, unused)},
                           {"pads", both},
                           {"output_padding", more},
                           {"dilations", used(windows.dilation, unused)},
                           {"group", w.fixed<kEntry, 4>()}};
  out = without(out, unused);
  const Values inputs = {w.read(without(in, unused)), w.read(without(weight, unused))};
  w.give(out, w.graph.node("ConvTranspose", inputs, {out.dtype, out.sizes}, attributes));
}

/// Windows of adaptive pooling, where they are the same everywhere.
Windows adaptive(Writer& w, const Elements& in, const Elements& out) {
  Windows windows;
  for (size_t d = 0; d < 3; ++d) {
    const Size &from = in.sizes[2 + d], &to = out.sizes[2 + d];
    if (from == to) continue;
    if (!from.is_fixed() || !to.is_fixed() || from.at[0] % to.at[0] != 0)
      w.graph.refuse("windows of adaptive pooling from ", text_of({from}), " to ", text_of({to}),
                     " elements differ in size, or depend on the inputs; pool to 1 element, or to a fixed size that divides the input's");
    windows.kernel[d] = windows.stride[d] = from.at[0] / to.at[0];
  }
  return windows;
}

/// Whether each image becomes one element.
bool is_global(const Elements& out) { return out.sizes[2].is(1) && out.sizes[3].is(1) && out.sizes[4].is(1); }

/// Runtimes pool few types of whole numbers.
const Value* as_floats(Graph& graph, const Value* x) { return is_floating(x->dtype) ? x : graph.cast(x, kFloat64); }

/// The largest element of each image.
void pool_globally(Writer& w, Elements out, Elements in) {
  size_t unused = 0;
  while (unused < 2 && in.sizes[2 + unused].is(1)) ++unused;
  in = without(std::move(in), unused);
  out = without(std::move(out), unused);
  const Value* const x = as_floats(w.graph, w.read(in));
  w.give(out, w.graph.node("GlobalMaxPool", {x}, {x->dtype, out.sizes}));
}

void max_pool(Writer& w) {
  constexpr auto kEntry = &Table::max_pool;
  Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 2>();
  const auto indices = w.elements<kEntry, 1>();
  const kernels::Pooling pooling = w.argument<kEntry, 3>(0);
  if (pooling.adaptive && is_global(out) && !indices) return pool_globally(w, out, in);
  const Windows windows = pooling.adaptive ? adaptive(w, in, out) : pooling.windows;
  const size_t unused = unused_dims(in, out, windows);
  Attributes attributes = {{"kernel_shape", used(windows.kernel, unused)},
                           {"strides", used(windows.stride, unused)},
                           {"pads", pads(w, in, out, windows, unused)},
                           {"dilations", used(windows.dilation, unused)}};
  out = without(out, unused);
  const Value* const x = as_floats(w.graph, w.read(without(in, unused)));
  if (!indices) return w.give(out, w.graph.node("MaxPool", {x}, {x->dtype, out.sizes}, attributes));
  // ONNX counts through batch and channels, too.
  const auto both = w.graph.nodes("MaxPool", {x}, {{x->dtype, out.sizes}, {kInt64, out.sizes}}, attributes);
  w.give(out, both[0]);
  Size volume = 1;
  for (size_t d = 2; d < 5; ++d) volume = volume * in.sizes[d];
  w.give(without(*indices, unused), w.graph.node("Mod", {both[1], w.graph.size(volume)}, {kInt64, out.sizes}));
}

void avg_pool(Writer& w) {
  constexpr auto kEntry = &Table::avg_pool;
  Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  const kernels::Pooling pooling = w.argument<kEntry, 2>(0);
  if (!is_floating(out.dtype)) w.graph.refuse("ONNX has no average pooling of ", out.dtype, "; convert with to(kFloat32)");
  const Windows windows = pooling.adaptive ? adaptive(w, in, out) : pooling.windows;
  const size_t unused = unused_dims(in, out, windows);
  const std::vector<int64_t> padding = pads(w, in, out, windows, unused);
  const size_t dims = padding.size() / 2;
  bool ragged = false;  // windows reach over the end by ceil_mode
  for (size_t d = 0; d < dims; ++d) ragged |= padding[d] != padding[dims + d];
  bool counts = pooling.count_include_pad;
  if (pooling.divisor != 0) counts = true;
  Elements from = without(in, unused);
  const Value* const x = w.read(from);
  if (ragged && counts && pooling.divisor == 0)
    w.graph.refuse("average pooling with ceil_mode whose last windows are cut short counts padding otherwise in ONNX; ",
                   "use count_include_pad = false, or ceil_mode = false");
  Attributes attributes = {{"kernel_shape", used(windows.kernel, unused)},
                           {"strides", used(windows.stride, unused)},
                           {"pads", padding},
                           {"count_include_pad", int64_t{counts}}};
  out = without(out, unused);
  const Value* y = w.graph.node("AveragePool", {x}, {x->dtype, out.sizes}, attributes);
  if (pooling.divisor != 0) {
    int64_t size = 1;
    for (const int64_t k : windows.kernel) size *= k;
    const double factor = static_cast<double>(size) / static_cast<double>(pooling.divisor);
    y = w.graph.node("Mul", {y, w.graph.number(factor, x->dtype)}, {x->dtype, out.sizes});
  }
  w.give(out, y);
}

/// Of windows over (n, c, 1, h, w) and their elements, (n, c, 1, kh, kw, 1, windows down, windows across): the images and the elements as a
/// convolution has them, with one channel, and its weight, which takes each element of a window by itself.
struct Columns {
  Sizes images, elements;
  const Value* weight;
  Attributes attributes;

  Columns(Writer& w, const Elements& image, const Elements& columns, const Windows& windows)
      : images{image.sizes[0] * image.sizes[1], 1, image.sizes[3], image.sizes[4]} {
    const int64_t height = windows.kernel[1], width = windows.kernel[2], count = height * width;
    elements = {images[0], count, columns.sizes[6], columns.sizes[7]};
    weight = w.graph.constant(eye(count).to(image.dtype).view({count, 1, height, width}));
    attributes = {{"kernel_shape", used(windows.kernel, 1)},
                  {"strides", used(windows.stride, 1)},
                  {"pads", std::vector<int64_t>{windows.padding[1], windows.padding[2], windows.padding[1], windows.padding[2]}},
                  {"dilations", used(windows.dilation, 1)}};
  }
};

void unfold(Writer& w) {
  constexpr auto kEntry = &Table::unfold;
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  const Columns columns(w, in, out, w.argument<kEntry, 2>(0));
  const Value* const x = w.graph.reshape(w.read(in), columns.images);
  const Value* const y = w.graph.node("Conv", {x, columns.weight}, {in.dtype, columns.elements}, columns.attributes);
  w.give(out, w.graph.reshape(y, out.sizes));
}

void fold(Writer& w) {
  constexpr auto kEntry = &Table::fold;
  const Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 1>();
  const Windows windows = w.argument<kEntry, 2>(0);
  Columns columns(w, out, in, windows);
  std::vector<int64_t> more;  // rows and columns that no window reaches
  for (size_t d = 1; d < 3; ++d) {
    const Size reached = (in.sizes[5 + d] - 1) * windows.stride[d] + (windows.dilation[d] * (windows.kernel[d] - 1) + 1);
    const Size rest = out.sizes[2 + d] + 2 * windows.padding[d] - reached;
    if (!rest.is_fixed()) w.refuse_setting();
    more.push_back(rest.at[0]);
  }
  columns.attributes.push_back({"output_padding", more});
  const Value* const x = w.graph.reshape(w.graph.cast(w.read(in), out.dtype), columns.elements);  // sums of half types are wider
  const Value* const y = w.graph.node("ConvTranspose", {x, columns.weight}, {out.dtype, columns.images}, columns.attributes);
  w.give(out, w.graph.reshape(y, out.sizes));
}

}  // namespace

std::span<const Row> window_rows() {
  static const Row rows[] = {row<&Table::convolution>("convolution", convolution),
                             row<&Table::convolution_input>("convolution_input", transposed_convolution),
                             row<&Table::max_pool>("max_pool", max_pool),
                             row<&Table::avg_pool>("avg_pool", avg_pool),
                             row<&Table::unfold>("unfold", unfold),
                             row<&Table::fold>("fold", fold)};
  return rows;
}

}  // namespace tandem::onnx::exporting
