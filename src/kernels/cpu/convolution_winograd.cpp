// Convolutions of windows of 3x3 that step by one, by Winograd's algorithm: tiles of 4x4 places of the result are made of 6x6 places of the
// image with a quarter of the multiplications. Strips of tiles are transformed, multiplied and transformed back while they are in the
// cache; a vector holds channels. The gradient of the input is a convolution with the weight reversed; that of the weight sums products
// of the images' and the gradient's values over the strips of a run in order, and over the runs in order, whoever computes them.
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/convolution_plan.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/winograd_range.h"
#include "kernels/cpu/workspace.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kValues = 36, kTile = 4, kSeen = 6, kElements = 9;  // of a tile; places of its sides; elements of a window
constexpr int64_t kTerms = 128;                                       // of a sum at a time
constexpr int64_t kWeights = 32;                                      // windows that are transformed at a time

constexpr int64_t kNone[2] = {};

// A place may be as large as kWinogradLarge or more where the largest place that a window sees is not less than a kFar-th of its tile's
// largest, and no product overflows: see `spoils`. A weight may not. Else plain sums do it.
constexpr float kFar = 0x1p10F, kLargest = 0x1p50F;

int64_t whole(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

/// One side of a convolution: images of what is read, of what is made, or of its gradient.
struct Side {
  float* data;
  int64_t channels, height, width;

  [[nodiscard]] float* row(int64_t image, int64_t channel, int64_t y) const {
    return data + ((image * channels + channel) * height + y) * width;
  }
  [[nodiscard]] int64_t plane() const { return height * width; }
};

/// A plan's sizes in the terms of this algorithm. `from` is read, `to` is made, or is the gradient that comes with it.
struct Winograd {
  const ConvolutionPlan& plan;
  const WinogradFunctions& transforms = isa().winograd;
  const ImageFunctions& lay = isa().images;
  const int64_t lanes = lay.lanes();
  Side from, to;
  int64_t before[2];  // zeros
  // Which of them has a number that is large: only these are looked at closely.
  mutable std::atomic<bool> large_from = false, large_to = false, large_weight = false;
  int64_t tile_rows, tile_columns;  // of an image
  int64_t filled_from, filled_to;   // channels in whole vectors

  Winograd(const ConvolutionPlan& plan, float* out, float* in)
      : plan(plan),
        from(plan.part == ConvolutionPart::Input ? Side{out, plan.oc, plan.out[1], plan.out[2]}
                                                 : Side{in, plan.ic, plan.in[1], plan.in[2]}),
        to(plan.part == ConvolutionPart::Input ? Side{in, plan.ic, plan.in[1], plan.in[2]} : Side{out, plan.oc, plan.out[1], plan.out[2]}),
        tile_rows(ceil_div(to.height, kTile)),
        tile_columns(ceil_div(to.width, kTile)),
        filled_from(whole(from.channels, lanes)),
        filled_to(whole(to.channels, lanes)) {
    for (int d = 0; d < 2; ++d)
      before[d] = plan.part == ConvolutionPart::Input ? 2 - plan.windows.padding[d + 1] : plan.windows.padding[d + 1];
  }

  [[nodiscard]] int64_t tiles() const { return plan.piece * tile_columns; }
  [[nodiscard]] int64_t laid_width() const { return tile_columns * kTile + kSeen - kTile; }
  // From a value to the next, with a line between that keeps them out of the same lines of the first cache.
  [[nodiscard]] int64_t step_of(int64_t rows, int64_t channels) const { return rows * channels + lanes; }
  [[nodiscard]] int64_t step(int64_t channels) const { return step_of(tiles(), channels); }
  /// Of the block that begins at channel `first`.
  [[nodiscard]] int64_t channels_from(int64_t first) const { return std::min(plan.block, filled_to - first); }
  [[nodiscard]] bool reversed() const { return plan.part == ConvolutionPart::Input; }
};

/// The parts of a task's scratch memory.
struct Scratch {
  float *rows, *from, *to;  // of one vector of channels; the values of what is read, and of what is made or its gradient
  float* weight;            // of a few tiles: the values of the weight or the sums of its gradient, for a block; what is read is shared
  size_t bytes;

  Scratch(const Winograd& w, void* memory) {
    WorkspaceParts parts(memory);
    rows = parts.take<float>(std::max((w.plan.piece * kTile + kSeen - kTile) * w.laid_width(), kWeights * kElements) * w.lanes);
    from = w.plan.few ? nullptr : parts.take<float>(kValues * w.step(w.filled_from));
    to = parts.take<float>(kValues * w.step(w.plan.block));
    weight = w.plan.few ? parts.take<float>(kValues * w.step_of(w.from.channels, w.plan.block)) : nullptr;
    bytes = parts.bytes();
  }
};

/// Calls f(image, row of tiles, how many rows of tiles, their first in the strips) for the images that strips `begin` … `end` - 1 lie in.
template <class F>
void each_image(const Winograd& w, int64_t begin, int64_t end, F f) {
  for (int64_t strip = begin; strip < end;) {
    const int64_t row = strip % w.tile_rows, count = std::min(w.tile_rows - row, end - strip);
    f(strip / w.tile_rows, row, count, strip - begin);
    strip += count;
  }
}

/// Lays rows of an image out by `w.lanes` channels from `channel` on: `count` rows of `width` places, the first being the image's row `y`
/// and its place `-left`; zeros where the image has none.
void lay_rows(const Winograd& w, const Side& side, int64_t image, int64_t channel, int64_t y, int64_t count, int64_t width, int64_t left,
              float* rows) {
  const int64_t channels = std::min(w.lanes, side.channels - channel), there = std::min(side.width, width - left);
  const auto clear = [&](float* at, int64_t places) { std::memset(at, 0, static_cast<size_t>(places * w.lanes) * sizeof(float)); };
  for (int64_t r = 0; r < count; ++r, rows += width * w.lanes) {
    if (y + r < 0 || y + r >= side.height) {
      clear(rows, width);
      continue;
    }
    clear(rows, left);
    w.lay.interleave(rows + left * w.lanes, side.row(image, channel, y + r), side.plane(), channels, there);
    clear(rows + (left + there) * w.lanes, width - left - there);
  }
}

/// The values of a side for strips begin … end - 1 and `channels` of its channels from `first_channel` on, whole vectors, which lie
/// `stride` floats apart from tile to tile. A tile takes `seen` places each way, the first of them `before` its place in the result.
void lay_values(const Winograd& w, const Side& side, bool (*transform)(const WinogradTiles&, float), std::atomic<bool>& large, int64_t seen,
                const int64_t* before, int64_t begin, int64_t end, int64_t first_channel, int64_t channels, float* values, int64_t stride,
                float* rows) {
  const int64_t width = w.tile_columns * kTile + seen - kTile;
  bool found = false;
  for (int64_t c = 0; c < channels; c += w.lanes)
    each_image(w, begin, end, [&](int64_t image, int64_t row, int64_t count, int64_t first) {
      lay_rows(w, side, image, first_channel + c, row * kTile - before[0], count * kTile + seen - kTile, width, before[1], rows);
      for (int64_t r = 0; r < count; ++r)
        found |= transform({.values = values + (first + r) * w.tile_columns * stride + c,
                            .places = rows + r * kTile * width * w.lanes,
                            .step = w.step(stride),
                            .tile = stride,
                            .row = width * w.lanes,
                            .column = w.lanes,
                            .next = kTile * w.lanes,
                            .count = w.tile_columns},
                           kWinogradLarge);
    });
  if (found) large = true;
}
/// Of what is read.
void lay_from(const Winograd& w, int64_t begin, int64_t end, int64_t first_channel, int64_t channels, float* values, float* rows) {
  lay_values(w, w.from, w.transforms.input, w.large_from, kSeen, w.before, begin, end, first_channel, channels, values + first_channel,
             w.filled_from, rows);
}
/// Of the result's gradient, for a block.
void lay_gradient(const Winograd& w, int64_t begin, int64_t end, int64_t first_channel, int64_t channels, const Scratch& scratch) {
  lay_values(w, w.to, w.transforms.gradient, w.large_to, kTile, kNone, begin, end, first_channel, channels, scratch.to, channels,
             scratch.rows);
}

/// The result's channels from `first_channel` on, of the values of what is made.
void lay_result(const Winograd& w, int64_t begin, int64_t end, int64_t first_channel, int64_t channels, const float* bias,
                const Scratch& scratch) {
  const int64_t width = w.tile_columns * kTile;
  alignas(64) float added[64];
  for (int64_t c = 0; c < channels; c += w.lanes) {
    const int64_t channel = first_channel + c, count = std::min(w.lanes, w.to.channels - channel);
    for (int64_t i = 0; bias && i < w.lanes; ++i) added[i] = i < count ? bias[channel + i] : 0;
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t image = strip / w.tile_rows, y = strip % w.tile_rows * kTile;
      w.transforms.output({.values = scratch.to + (strip - begin) * w.tile_columns * channels + c,
                           .places = scratch.rows,
                           .step = w.step(channels),
                           .tile = channels,
                           .row = width * w.lanes,
                           .column = w.lanes,
                           .next = kTile * w.lanes,
                           .count = w.tile_columns,
                           .bias = bias ? added : nullptr});
      for (int64_t r = 0; r < std::min(kTile, w.to.height - y); ++r)
        w.lay.deinterleave(w.to.row(image, channel, y + r), w.to.plane(), scratch.rows + r * width * w.lanes, count, w.to.width);
    }
  }
}

/// The weight's values for a vector of the channels that are made, from `channel` on: for each of the 36 what is read by what is made, of a
/// block of `channels`.
void lay_weight(const Winograd& w, float* values, int64_t step, int64_t channels, const float* weight, int64_t channel, float* rows) {
  const int64_t ic = w.plan.ic, sign = w.reversed() ? -1 : 1, count = std::min(w.lanes, w.to.channels - channel);
  const auto transform = [&](int64_t from, int64_t windows) {
    const bool large = w.transforms.weight({.values = values + from * channels + channel % w.plan.block,
                                            .places = w.reversed() ? rows + (kElements - 1) * w.lanes : rows,
                                            .step = step,
                                            .tile = channels,
                                            .row = sign * 3 * w.lanes,
                                            .column = sign * w.lanes,
                                            .next = kElements * w.lanes,
                                            .count = windows},
                                           kWinogradLarge);
    if (large) w.large_weight = true;
  };
  if (!w.reversed()) {
    for (int64_t from = 0; from < ic; from += kWeights) {
      const int64_t windows = std::min(kWeights, ic - from);
      w.lay.interleave(rows, weight + (channel * ic + from) * kElements, ic * kElements, count, windows * kElements);
      transform(from, windows);
    }
    return;
  }
  for (int64_t from = 0; from < w.from.channels; ++from) {
    w.lay.interleave(rows, weight + (from * ic + channel) * kElements, kElements, count, kElements);
    transform(from, 1);
  }
}

/// The weight's gradient for a vector of its outputs, from `channel` on: the sums of all `runs` are those of a block of `channels`.
void lay_weight_gradient(const Winograd& w, const float* sums, int64_t step, int64_t channels, int64_t runs, int64_t run, float* weight,
                         int64_t channel, float* rows) {
  const int64_t ic = w.plan.ic;
  for (int64_t from = 0; from < ic; from += kWeights) {
    const int64_t windows = std::min(kWeights, ic - from);
    w.transforms.weight_gradient({.values = const_cast<float*>(sums) + from * channels + channel % w.plan.block,
                                  .places = rows,
                                  .step = step,
                                  .tile = channels,
                                  .row = 3 * w.lanes,
                                  .column = w.lanes,
                                  .next = kElements * w.lanes,
                                  .count = windows,
                                  .copies = runs,
                                  .copy = run});
    w.lay.deinterleave(weight + (channel * ic + from) * kElements, ic * kElements, rows, std::min(w.lanes, w.plan.oc - channel),
                       windows * kElements);
  }
}

/// Products of `tiles` tiles' values with those of the weight, for a block of channels; sums of kTerms at a time, which halves the error of
/// many.
void multiply(const Winograd& w, float* to, const float* from, const float* weight, int64_t weight_step, int64_t tiles, int64_t channels) {
  const ProductFunctionsOf<float>& products = product_functions<float>();
  for (int64_t i = 0; i < kValues; ++i)
    for (int64_t k = 0; k < w.from.channels; k += kTerms)
      (k == 0 ? products.rows : products.add_rows)({.out = to + i * w.step(channels),
                                                    .a = from + i * w.step(w.filled_from) + k,
                                                    .b = weight + i * weight_step + k * channels,
                                                    .m = tiles,
                                                    .n = channels,
                                                    .k = std::min(kTerms, w.from.channels - k),
                                                    .out_row = channels,
                                                    .a_row = w.filled_from,
                                                    .a_column = 1,
                                                    .b_row = channels,
                                                    .b_column = 1});
}
/// Products of the values of what is read with those of the result's gradient, summed over `tiles` tiles; added to `sums` unless `fresh`.
void multiply_gradient(const Winograd& w, float* sums, int64_t sums_step, bool fresh, const float* from, const float* to, int64_t tiles,
                       int64_t channels) {
  const auto products = fresh ? product_functions<float>().rows : product_functions<float>().add_rows;
  for (int64_t i = 0; i < kValues; ++i)
    products({.out = sums + i * sums_step,
              .a = from + i * w.step(w.filled_from),
              .b = to + i * w.step(channels),
              .m = w.from.channels,
              .n = channels,
              .k = tiles,
              .out_row = channels,
              .a_row = 1,
              .a_column = w.filled_from,
              .b_row = channels,
              .b_column = 1});
}

/// Strips side by side, which share the weight's values.
void convolve(const Queue& queue, const Winograd& w, const float* weight, const float* bias, char* workspace) {
  const ConvolutionPlan& plan = w.plan;
  auto* const values = reinterpret_cast<float*>(workspace);
  char* const scratch = workspace + plan.weight_bytes;
  const int64_t step = w.step_of(w.from.channels, w.filled_to), strips = plan.n * w.tile_rows;
  for_tasks(queue, plan, w.filled_to / w.lanes, scratch, [&](int64_t vector, char* memory) {
    const int64_t channel = vector * w.lanes, first = channel / w.plan.block * w.plan.block;
    lay_weight(w, values + first * w.from.channels, step, w.channels_from(first), weight, channel, Scratch(w, memory).rows);
  });
  for_tasks(queue, plan, plan.pieces, scratch, [&](int64_t task, char* memory) {
    const Scratch own(w, memory);
    const int64_t begin = strips * task / plan.pieces, end = strips * (task + 1) / plan.pieces;
    lay_from(w, begin, end, 0, w.filled_from, own.from, own.rows);
    for (int64_t first = 0; first < w.filled_to; first += w.plan.block) {
      const int64_t channels = w.channels_from(first);
      multiply(w, own.to, own.from, values + first * w.from.channels, step, (end - begin) * w.tile_columns, channels);
      lay_result(w, begin, end, first, channels, bias, own);
    }
  });
}

/// Runs of pieces, and blocks of outputs, side by side.
void gradient(const Queue& queue, const Winograd& w, float* weight, char* workspace) {
  const ConvolutionPlan& plan = w.plan;
  const int64_t strips = plan.n * w.tile_rows, count = kValues * plan.ic * w.plan.block;
  char* const scratch = workspace + plan.weight_bytes * static_cast<size_t>(plan.weights());
  const auto sums_of = [&](int64_t run, int64_t b) { return reinterpret_cast<float*>(workspace) + (run * plan.blocks + b) * count; };
  for_tasks(queue, plan, plan.runs * plan.blocks, scratch, [&](int64_t task, char* memory) {
    const Scratch own(w, memory);
    const int64_t run = task / plan.blocks, b = task % plan.blocks, first = b * w.plan.block, channels = w.channels_from(first);
    const int64_t first_piece = plan.pieces * run / plan.runs, last_piece = plan.pieces * (run + 1) / plan.runs;
    for (int64_t p = first_piece; p < last_piece; ++p) {
      const int64_t begin = strips * p / plan.pieces, end = strips * (p + 1) / plan.pieces;
      lay_from(w, begin, end, 0, w.filled_from, own.from, own.rows);
      lay_gradient(w, begin, end, first, channels, own);
      multiply_gradient(w, sums_of(run, b), plan.ic * channels, p == first_piece, own.from, own.to, (end - begin) * w.tile_columns,
                        channels);
    }
  });
  for_tasks(queue, plan, w.filled_to / w.lanes, scratch, [&](int64_t vector, char* memory) {
    const int64_t channel = vector * w.lanes, b = channel / w.plan.block, channels = w.channels_from(b * w.plan.block);
    lay_weight_gradient(w, sums_of(0, b), plan.ic * channels, channels, plan.runs, plan.blocks * count, weight, channel,
                        Scratch(w, memory).rows);
  });
}

/// Few tiles: blocks of the channels that are made side by side, which share the values of what is read.
void convolve_few(const Queue& queue, const Winograd& w, float* weight, const float* bias, char* workspace) {
  const ConvolutionPlan& plan = w.plan;
  auto* const values = reinterpret_cast<float*>(workspace);
  char* const scratch = workspace + plan.weight_bytes;
  const int64_t strips = plan.n * w.tile_rows;
  for_tasks(queue, plan, w.filled_from / w.lanes, scratch,
            [&](int64_t vector, char* memory) { lay_from(w, 0, strips, vector * w.lanes, w.lanes, values, Scratch(w, memory).rows); });
  for_tasks(queue, plan, plan.blocks, scratch, [&](int64_t b, char* memory) {
    const Scratch own(w, memory);
    const int64_t first = b * w.plan.block, channels = w.channels_from(first), step = w.step_of(w.from.channels, channels);
    if (plan.part == ConvolutionPart::Weight) {
      lay_gradient(w, 0, strips, first, channels, own);
      multiply_gradient(w, own.weight, step, true, values, own.to, w.tiles(), channels);
      for (int64_t c = first; c < first + channels; c += w.lanes)
        lay_weight_gradient(w, own.weight, step, channels, 1, 0, weight, c, own.rows);
      return;
    }
    for (int64_t c = first; c < first + channels; c += w.lanes) lay_weight(w, own.weight, step, channels, weight, c, own.rows);
    multiply(w, own.to, values, own.weight, step, w.tiles(), channels);
    lay_result(w, 0, strips, first, channels, bias, own);
  });
}

/// The largest magnitude over the channels of each place of a strip, `rows` rows of `width` places from place (y, x) of an image on;
/// infinity for nan, 0 where the image has no place.
void lay_magnitudes(const Side& side, int64_t image, int64_t y, int64_t x, int64_t rows, int64_t width, float* most) {
  std::fill_n(most, rows * width, 0.0F);
  const int64_t first = std::max<int64_t>(0, x), count = std::min(side.width, x + width) - first;
  for (int64_t c = 0; c < side.channels; ++c)
    for (int64_t r = std::max<int64_t>(0, -y); r < std::min(rows, side.height - y); ++r) {
      const float* const from = side.row(image, c, y + r) + first;
      float* const to = most + r * width + first - x;
      for (int64_t i = 0; i < count; ++i) {
        const float size = std::fabs(from[i]), known = to[i];
        const float larger = size <= kLargest ? size : std::numeric_limits<float>::infinity();
        to[i] = larger > known ? larger : known;
      }
    }
}

/// Whether some tile of `seen` places each way, the first of them `before` its place in the result, has a place that is too large for the
/// results of the tile that do not see it.
bool spoils(const Queue& queue, const Winograd& w, const Side& side, int64_t seen, const int64_t* before, char* workspace) {
  const int64_t width = w.tile_columns * kTile + seen - kTile, window = seen - kTile + 1;  // places of a window, each way
  const auto largest = [width](const float* at, int64_t places) {
    float of_all = 0;
    for (int64_t y = 0; y < places; ++y)
      for (int64_t x = 0; x < places; ++x) of_all = std::max(of_all, at[y * width + x]);
    return of_all;
  };
  std::atomic<bool> found = false;
  const auto look = [&](int64_t strip, float* most) {
    const int64_t row = strip % w.tile_rows * kTile, height = std::min(kTile, w.to.height - row);
    lay_magnitudes(side, strip / w.tile_rows, row - before[0], -before[1], seen, width, most);
    for (int64_t column = 0; column < w.to.width; column += kTile) {
      const float of_tile = largest(most + column, seen);
      if (of_tile > kLargest) return true;
      if (of_tile < kWinogradLarge / 6) continue;
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = column; x < std::min(column + kTile, w.to.width); ++x)
          if (largest(most + y * width + x, window) * kFar < of_tile) return true;
    }
    return false;
  };
  for_tasks(queue, w.plan, w.plan.n * w.tile_rows, workspace + w.plan.weight_bytes * static_cast<size_t>(w.plan.weights()),
            [&](int64_t strip, char* memory) {
              if (!found && look(strip, Scratch(w, memory).rows)) found = true;
            });
  return found;
}

}  // namespace

size_t winograd_weight_bytes(const ConvolutionPlan& plan) {
  const Winograd w(plan, nullptr, nullptr);
  const int64_t step = plan.few                               ? w.step(w.filled_from)
                       : plan.part == ConvolutionPart::Weight ? w.from.channels * w.plan.block
                                                              : w.step_of(w.from.channels, w.filled_to);
  return align_up(static_cast<size_t>(kValues * step) * sizeof(float));
}
size_t winograd_scratch(const ConvolutionPlan& plan) { return Scratch(Winograd(plan, nullptr, nullptr), nullptr).bytes; }

bool convolve_winograd(const Queue& queue, const ConvolutionPlan& plan, float* out, float* in, float* weight, const float* bias,
                       char* workspace) {
  const Winograd w(plan, out, in);
  if (plan.few) convolve_few(queue, w, weight, bias, workspace);
  else if (plan.part == ConvolutionPart::Weight) gradient(queue, w, weight, workspace);
  else convolve(queue, w, weight, bias, workspace);
  return !w.large_weight && !(w.large_from && spoils(queue, w, w.from, kSeen, w.before, workspace)) &&
         !(w.large_to && spoils(queue, w, w.to, kTile, kNone, workspace));
}

}  // namespace tandem::kernels::cpu
