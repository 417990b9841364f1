// Operators that look at sizes, make views, and put tensors together.
#include <algorithm>

#include "onnx/call.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/scatter.h"
#include "ops/view.h"
#include "runtime/tracer.h"

namespace tandem::onnx {
namespace {

/// The sizes of an input, whether it is on the host or not.
Shape sizes_of(const Value& value) { return value.tensor.defined() ? value.tensor.sizes() : value.host.sizes(); }

Tensor numbers(const Shape& values) {
  const Tensor tensor = empty({static_cast<int64_t>(values.size())}, {.dtype = kInt64});
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

void shape(Call& call) {
  const runtime::TracerGuard guard(nullptr);
  const Shape sizes = sizes_of(call.value(0));
  const auto dims = static_cast<int64_t>(sizes.size());
  const auto edge = [&](const char* name, int64_t otherwise) {
    const int64_t at = call.integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + dims : at, 0, dims);
  };
  const int64_t start = edge("start", 0), end = std::max(start, edge("end", dims));
  call.give_host(numbers({sizes.data() + start, static_cast<size_t>(end - start)}));
}

void size(Call& call) {
  const runtime::TracerGuard guard(nullptr);
  call.give_host(numbers({sizes_of(call.value(0)).numel()}).reshape({}));
}

void reshape_to(Call& call) {
  const Tensor x = call.in(0);
  Shape sizes = call.version() < 5 ? call.list("shape", {}) : call.ints(1);
  if (call.integer("allowzero", 0) == 0)
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] == 0 && static_cast<int64_t>(i) < x.dim()) sizes[i] = x.sizes()[i];
  call.give(x.reshape(sizes, call.site()));
}

void flatten_to_matrix(Call& call) {
  const Tensor x = call.in(0);
  const int64_t axis = call.integer("axis", 1), from = axis < 0 ? axis + x.dim() : axis;
  if (from < 0 || from > x.dim()) fail("axis ", axis, " is none of a tensor's of ", x.dim(), " dimensions");
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < x.dim(); ++i) (i < from ? rows : columns) *= x.size(i);
  call.give(x.reshape({rows, columns}, call.site()));
}

void transpose_to(Call& call) {
  const Tensor x = call.in(0);
  Shape order = call.list("perm", {});
  if (order.empty())
    for (int64_t i = x.dim() - 1; i >= 0; --i) order.push_back(i);
  call.give(x.permute(order, call.site()));
}

void squeeze_of(Call& call) {
  const Tensor x = call.in(0);
  const auto axes = call.axes(1);
  if (!axes) return call.give(x.squeeze(call.site()));
  for (const int64_t axis : *axes)
    if (x.size(axis) != 1) fail("dimension ", axis, " has the size ", x.size(axis), ": only one of size 1 can be taken away");
  call.give(x.squeeze(*axes, call.site()));
}

void unsqueeze_of(Call& call) {
  Tensor x = call.in(0);
  Shape axes = call.axes(1).value_or(Shape());
  const int64_t dims = x.dim() + static_cast<int64_t>(axes.size());
  for (int64_t& axis : axes) axis = axis_of(axis, dims);
  std::sort(axes.begin(), axes.end());
  for (const int64_t axis : axes) x = x.unsqueeze(axis, call.site());
  call.give(x);
}

void concat(Call& call) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < call.inputs(); ++i) parts.push_back(call.in(i));
  call.give(cat(parts, call.integer("axis", 1), call.site()));
}

void split_up(Call& call) {
  const Tensor x = call.in(0);
  const int64_t axis = axis_of(call.integer("axis", 0), x.dim()), whole = x.size(axis);
  Shape sizes;
  if (const auto given = call.axes(1, "split")) {
    sizes = *given;
  } else {
    const auto parts = std::max<int64_t>(1, call.integer("num_outputs", static_cast<int64_t>(call.outputs())));
    if (parts > static_cast<int64_t>(call.outputs())) fail("it has ", call.outputs(), " outputs, but wants ", parts, " parts");
    const int64_t each = (whole + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<int64_t>(whole - i * each, 0, each));
  }
  for (const Tensor& part : split(x, sizes, axis, call.site())) call.give(part);
}

/// Part of a dimension: from `start` on, before `end`, as Python's slices have it, steps backwards included.
Tensor part_of(const Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step, Site site) {
  const int64_t whole = x.size(axis);
  if (step > 0) {
    const auto from_front = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + whole : at, 0, whole); };
    return x.slice(axis, from_front(start), from_front(end), step, site);
  }
  if (step == 0) fail("its step is 0");
  // Backwards: the same elements forwards, then flipped.
  const int64_t first = std::clamp<int64_t>(start < 0 ? start + whole : start, -1, whole - 1);
  const int64_t bound = std::clamp<int64_t>(end < 0 ? end + whole : end, -1, whole - 1);
  if (first <= bound) return x.narrow(axis, 0, 0, site);
  const int64_t stride = step == INT64_MIN ? INT64_MAX : -step, count = (first - bound - 1) / stride + 1;
  return flip(x.slice(axis, first - (count - 1) * stride, first + 1, stride, site), {axis}, site);
}

void slice(Call& call) {
  Tensor x = call.in(0);
  const bool by_inputs = call.version() >= 10;
  const Shape starts = by_inputs ? call.ints(1) : call.list("starts", {}), ends = by_inputs ? call.ints(2) : call.list("ends", {});
  Shape axes, steps;
  if (by_inputs ? call.has(3) : call.list("axes").has_value()) axes = by_inputs ? call.ints(3) : *call.list("axes");
  else
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (by_inputs && call.has(4)) steps = call.ints(4);
  else
    for (size_t i = 0; i < starts.size(); ++i) steps.push_back(1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    fail("it has ", starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes and ", steps.size(), " steps");
  for (size_t i = 0; i < starts.size(); ++i) x = part_of(x, axis_of(axes[i], x.dim()), starts[i], ends[i], steps[i], call.site());
  call.give(x);
}

void expand_to(Call& call) {
  const Tensor x = call.in(0);
  const Shape sizes = broadcast_shapes(x.sizes(), call.ints(1));
  (void)call.place(sizes, x.dtype());
  call.give(x.expand(sizes, call.site()).contiguous(call.site()));
}

void tile_by(Call& call) {
  const Tensor x = call.in(0);
  const Shape times = call.ints(1);
  if (times.size() != static_cast<size_t>(x.dim())) fail("it has ", times.size(), " repeats for ", x.dim(), " dimensions");
  Shape sizes = x.sizes();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (times[i] < 0 || __builtin_mul_overflow(sizes[i], times[i], &sizes[i]))
      fail("its repeats are ", times, ", for the sizes ", x.sizes());
  (void)call.place(sizes, x.dtype());
  call.give(x.repeat(times, call.site()));
}

void depth_to_space(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const int64_t b = call.integer("blocksize", 1);
  if (x.dim() != 4 || b < 1 || x.size(1) % (b * b) != 0) fail("its input has the sizes ", x.sizes(), ", for blocks of ", b);
  const int64_t n = x.size(0), c = x.size(1) / (b * b), h = x.size(2), w = x.size(3);
  const bool dcr = call.text("mode", "DCR") == "DCR";
  const Tensor apart = dcr ? x.reshape({n, b, b, c, h, w}, site).permute({0, 3, 4, 1, 5, 2}, site)
                           : x.reshape({n, c, b, b, h, w}, site).permute({0, 1, 4, 2, 5, 3}, site);
  call.give(apart.reshape({n, c, h * b, w * b}, site));
}
void space_to_depth(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const int64_t b = call.integer("blocksize", 1);
  if (x.dim() != 4 || b < 1 || x.size(2) % b != 0 || x.size(3) % b != 0) fail("its input has the sizes ", x.sizes(), ", for blocks of ", b);
  const int64_t n = x.size(0), c = x.size(1), h = x.size(2) / b, w = x.size(3) / b;
  const Shape order = call.text("mode", "DCR") == "DCR" ? Shape{0, 3, 5, 1, 2, 4} : Shape{0, 1, 3, 5, 2, 4};
  call.give(x.reshape({n, c, h, b, w, b}, site).permute(order, site).reshape({n, c * b * b, h, w}, site));
}

/// By pads at the front and the back of each axis. Pads may be negative: they cut off.
Tensor padded(Call& call, Tensor x, const Shape& front, const Shape& back, const std::string& mode, const Scalar& value) {
  const Site site = call.site();
  Shape sizes = x.sizes();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (__builtin_add_overflow(sizes[i], front[i], &sizes[i]) || __builtin_add_overflow(sizes[i], back[i], &sizes[i]))
      fail("its pads are too large");
  (void)call.place(sizes, x.dtype());
  if (mode == "constant") {
    Shape pads;
    for (size_t i = sizes.size(); i-- > 0;) {
      pads.push_back(front[i]);
      pads.push_back(back[i]);
    }
    return constant_pad_nd(x, pads, value, site);
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap") fail("its mode '", mode, "' is none of constant, reflect, edge and wrap");
  // Each axis by the places that its elements come from.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (front[i] == 0 && back[i] == 0) continue;
    const auto axis = static_cast<int64_t>(i);
    const int64_t whole = x.size(axis), period = mode == "reflect" ? std::max<int64_t>(1, 2 * (whole - 1)) : whole;
    if (whole == 0) fail("dimension ", axis, " has no elements to pad it with");
    Shape from;
    for (int64_t at = -front[i]; at < whole + back[i]; ++at) {
      int64_t place = std::clamp<int64_t>(at, 0, whole - 1);
      if (mode != "edge") {
        place = ((at % period) + period) % period;
        if (place >= whole) place = period - place;
      }
      from.push_back(place);
    }
    Tensor index;
    {
      const runtime::TracerGuard guard(nullptr);
      index = numbers(from);
    }
    x = index_select(x, axis, brought(index, x.device(), site), site);
  }
  return x;
}

void pad_by(Call& call) {
  const Tensor x = call.in(0);
  const bool by_inputs = call.version() >= 11;
  const Shape pads = by_inputs ? call.ints(1) : call.list("pads", call.list("paddings", {}));
  Scalar value = by_inputs ? Scalar(0) : Scalar(call.real("value", 0));
  if (by_inputs && call.has(2)) value = call.number(2);
  Shape axes;
  if (call.has(3)) axes = call.ints(3);
  else
    for (int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
  if (pads.size() != 2 * axes.size()) fail("it has ", pads.size(), " pads for ", axes.size(), " axes");
  Shape front, back;
  front.resize(static_cast<size_t>(x.dim()));
  back.resize(static_cast<size_t>(x.dim()));
  std::fill(front.begin(), front.end(), 0);
  std::fill(back.begin(), back.end(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axis_of(axes[i], x.dim()));
    front[axis] = pads[i];
    back[axis] = pads[i + axes.size()];
  }
  call.give(padded(call, x, front, back, call.text("mode", "constant"), value));
}

void center_crop_pad(Call& call) {
  const Tensor x = call.in(0);
  const Shape wanted = call.ints(1);
  Shape axes = call.list("axes", {});
  if (axes.empty())
    for (int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
  if (wanted.size() != axes.size()) fail("it has ", wanted.size(), " sizes for ", axes.size(), " axes");
  Tensor y = x;
  Shape front, back;
  for (int64_t i = 0; i < x.dim(); ++i) {
    front.push_back(0);
    back.push_back(0);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axis_of(axes[i], x.dim()), more = wanted[i] - x.size(axis);
    if (more < 0) {
      y = y.narrow(axis, -more / 2, wanted[i], call.site());
    } else {
      front[static_cast<size_t>(axis)] = more / 2;
      back[static_cast<size_t>(axis)] = more - more / 2;
    }
  }
  call.give(padded(call, y, front, back, "constant", 0));
}

void trilu(Call& call) {
  const int64_t k = call.has(1) ? call.number(1).to<int64_t>() : 0;
  call.give(call.integer("upper", 1) != 0 ? triu(call.in(0), k, call.site()) : tril(call.in(0), k, call.site()));
}

void reverse_sequence(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const Shape lengths = call.ints(1);
  const int64_t time = axis_of(call.integer("time_axis", 0), x.dim()), batch = axis_of(call.integer("batch_axis", 1), x.dim());
  if (static_cast<int64_t>(lengths.size()) != x.size(batch)) fail("it has ", lengths.size(), " lengths for ", x.size(batch), " sequences");
  std::vector<Tensor> all;
  for (int64_t i = 0; i < x.size(batch); ++i) {
    const Tensor one = x.narrow(batch, i, 1, site);
    const int64_t length = lengths[static_cast<size_t>(i)], whole = x.size(time);
    if (length < 0 || length > whole) fail("sequence ", i, " is said to have ", length, " of ", whole, " steps");
    all.push_back(cat({flip(one.narrow(time, 0, length, site), {time}, site), one.narrow(time, length, whole - length, site)}, time, site));
  }
  call.give(all.empty() ? x : cat(all, batch, site));
}

constexpr OperatorRow kRows[] = {
    {"CenterCropPad", 18, center_crop_pad, nullptr, nullptr, 1},
    {"Concat", 1, concat},
    {"DepthToSpace", 1, depth_to_space},
    {"Expand", 8, expand_to, nullptr, nullptr, 1},
    {"Flatten", 1, flatten_to_matrix},
    {"Pad", 1, pad_by, nullptr, nullptr, 1},
    {"Reshape", 1, reshape_to},
    {"ReverseSequence", 10, reverse_sequence},
    {"Shape", 1, shape},
    {"Size", 1, size},
    {"Slice", 1, slice},
    {"SpaceToDepth", 1, space_to_depth},
    {"Split", 1, split_up},
    {"Squeeze", 1, squeeze_of},
    {"Tile", 6, tile_by},
    {"Transpose", 1, transpose_to},
    {"Trilu", 14, trilu},
    {"Unsqueeze", 1, unsqueeze_of},
};

}  // namespace

std::span<const OperatorRow> shape_operators() { return kRows; }

}  // namespace tandem::onnx
