// Convolutions of many images whose channels would fill few of oneDNN's vectors: here each lane of a vector is an image. As many images as
// a vector has lanes are laid out side by side, with the padding round them, so that no sum asks where the border is, and results are laid
// back. The gradient of the input is added up where the windows saw it. That of the weight is summed over the images of a run in order, and
// over the runs in order, whoever computes them.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/convolution_plan.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPlaces = 16;           // at a time, of the result: a cache line of each image
constexpr int64_t kTerms = 64;            // at a time, so that what they see stays in the first cache
constexpr int64_t kGradientPlaces = 128;  // at a time, of the gradients

/// The images of a vector laid out, and the parts of a task's scratch memory.
struct Images {
  const ConvolutionPlan& plan;
  const ImageFunctions& isa_images = isa().images;
  const int64_t lanes = isa_images.lanes(), in_places = plan.in_places(), out_places = plan.out_places(), seen = plan.seen(),
                window = seen / plan.ic;
  int64_t channels;                             // of the input, that a task has
  int64_t laid[3];                              // their sizes with the padding
  float *images = nullptr, *results = nullptr;  // of the input's side, and of the output's
  int64_t *taps = nullptr, *places = nullptr;   // where a window's elements lie from its place, and where the places are

  Images(const ConvolutionPlan& plan, int64_t units) : plan(plan), channels(plan.part == ConvolutionPart::Input ? units : plan.ic) {
    const Windows& w = plan.windows;
    for (int d = 0; d < 3; ++d)
      laid[d] = std::max((plan.out[d] - 1) * w.stride[d] + w.dilation[d] * (w.kernel[d] - 1) + 1, w.padding[d] + plan.in[d]);
  }

  [[nodiscard]] int64_t laid_elements() const { return channels * laid[0] * laid[1] * laid[2] * lanes; }
  [[nodiscard]] bool padded() const { return laid[0] * laid[1] * laid[2] != in_places; }

  /// Lays the parts out from `scratch` on; says how many bytes they take.
  int64_t lay_out(char* scratch) {
    int64_t used = 0;
    const auto take = [&]<class T>(T*& part, int64_t elements) {
      if (scratch) part = reinterpret_cast<T*>(scratch + used);
      used += static_cast<int64_t>(align_up(static_cast<size_t>(elements) * sizeof(T)));
    };
    take(images, laid_elements());
    const bool forward = plan.part == ConvolutionPart::Forward;
    take(results, (plan.part == ConvolutionPart::Input ? plan.oc : plan.block) * (forward ? kPlaces : out_places) * lanes);
    take(taps, seen);
    take(places, out_places);
    return used;
  }

  void find_places() const {
    const Windows& w = plan.windows;
    int64_t *tap = taps, *place = places;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t z = 0; z < w.kernel[0]; ++z)
        for (int64_t y = 0; y < w.kernel[1]; ++y)
          for (int64_t x = 0; x < w.kernel[2]; ++x)
            *tap++ = (((c * laid[0] + z * w.dilation[0]) * laid[1] + y * w.dilation[1]) * laid[2] + x * w.dilation[2]) * lanes;
    for (int64_t z = 0; z < plan.out[0]; ++z)
      for (int64_t y = 0; y < plan.out[1]; ++y)
        for (int64_t x = 0; x < plan.out[2]; ++x)
          *place++ = ((z * w.stride[0] * laid[1] + y * w.stride[1]) * laid[2] + x * w.stride[2]) * lanes;
  }

  /// Calls `f(where it is laid out, where it is in an image, count)` for runs of the input's elements.
  template <class F>
  void each_run(F f) const {
    if (!padded()) return f(0, 0, channels * in_places);
    const int64_t* before = plan.windows.padding;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t z = 0; z < plan.in[0]; ++z)
        for (int64_t y = 0; y < plan.in[1]; ++y)
          f((((c * laid[0] + z + before[0]) * laid[1] + y + before[1]) * laid[2] + before[2]) * lanes,
            ((c * plan.in[0] + z) * plan.in[1] + y) * plan.in[2], plan.in[2]);
  }
  void lay_images(const float* in, int64_t count) const {
    if (padded()) std::fill(images, images + laid_elements(), 0.0F);
    each_run([&](int64_t to, int64_t from, int64_t n) { isa_images.interleave(images + to, in + from, plan.ic * in_places, count, n); });
  }
  void lay_images_back(float* in, int64_t count) const {
    each_run([&](int64_t from, int64_t to, int64_t n) { isa_images.deinterleave(in + to, plan.ic * in_places, images + from, count, n); });
  }
  /// `units` channels of the output's gradient.
  void lay_results(const float* out, int64_t count, int64_t units) const {
    isa_images.interleave(results, out, plan.oc * out_places, count, units * out_places);
  }

  /// Calls `f(first, rows)` for tiles of nearly the same number of rows.
  template <class F>
  void each_tile(int64_t total, F f) const {
    const int64_t tiles = (total + isa_images.rows() - 1) / isa_images.rows();
    for (int64_t t = 0; t < tiles; ++t) f(total * t / tiles, total * (t + 1) / tiles - total * t / tiles);
  }
  /// The weight of `total` rows tile by tile, and in these term by term; element [r, k] is from[r * row + k * term].
  void lay_weight(float* to, const float* from, int64_t total, int64_t terms, int64_t row, int64_t term) const {
    each_tile(total, [&](int64_t first, int64_t rows) {
      for (int64_t k = 0; k < terms; ++k)
        for (int64_t r = first; r < first + rows; ++r) *to++ = from[r * row + k * term];
    });
  }

  /// Output channels from `unit` on.
  void sums(float* out, int64_t count, const float* weight, const float* bias, int64_t units) const {
    for (int64_t p = 0; p < out_places; p += kPlaces) {
      const int64_t width = std::min(kPlaces, out_places - p);
      for (int64_t k = 0; k < seen; k += kTerms)
        each_tile(units, [&](int64_t first, int64_t rows) {
          isa_images.sums({results + first * width * lanes, images, weight + first * seen + k * rows, bias ? bias + first : nullptr,
                           places + p, taps + k, rows, width, std::min(kTerms, seen - k), width * lanes, k == 0});
        });
      for (int64_t u = 0; u < units; ++u)
        isa_images.deinterleave(out + u * out_places + p, plan.oc * out_places, results + u * width * lanes, count, width);
    }
  }
  /// The gradient of the task's input channels.
  void spread(const float* weight) const {
    std::fill(images, images + laid_elements(), 0.0F);
    for (int64_t p = 0; p < out_places; p += kPlaces)
      for (int64_t k = 0; k < plan.oc; k += kTerms)
        each_tile(channels * window, [&](int64_t first, int64_t rows) {
          isa_images.spread({images, results + (k * out_places + p) * lanes, weight + first * plan.oc + k * rows, places + p, taps + first,
                             rows, std::min(kPlaces, out_places - p), std::min(kTerms, plan.oc - k), out_places * lanes});
        });
  }
  void products(float* sums, int64_t units) const {
    for (int64_t p = 0; p < out_places; p += kGradientPlaces)
      each_tile(units, [&](int64_t first, int64_t rows) {
        isa_images.products({sums + first * seen, results + (first * out_places + p) * lanes, images, places + p, taps, rows,
                             std::min(kGradientPlaces, out_places - p), seen, out_places * lanes, seen});
      });
  }
};

}  // namespace

size_t images_scratch(const ConvolutionPlan& plan) { return static_cast<size_t>(Images(plan, plan.block).lay_out(nullptr)); }

int64_t images_bytes(const ConvolutionPlan& plan) { return Images(plan, plan.ic).laid_elements() * static_cast<int64_t>(sizeof(float)); }

void convolve_images(const Queue& queue, const ConvolutionPlan& plan, float* out, float* in, float* weight, const float* bias,
                     char* workspace) {
  const int64_t lanes = isa().images.lanes(), vectors = (plan.n + lanes - 1) / lanes, seen = plan.seen(), window = seen / plan.ic;
  const auto weight_at = [&](int64_t i) { return reinterpret_cast<float*>(workspace + i * static_cast<int64_t>(plan.weight_bytes)); };
  const auto units_of = [&](int64_t b) { return std::min(plan.block, plan.units() - b * plan.block); };
  const auto images_of = [&](int64_t v) { return std::min(lanes, plan.n - v * lanes); };
  const auto in_at = [&](int64_t v, int64_t channel) { return in + (v * lanes * plan.ic + channel) * plan.in_places(); };
  const auto out_at = [&](int64_t v, int64_t channel) { return out + (v * lanes * plan.oc + channel) * plan.out_places(); };
  const auto task_of = [&](int64_t b, char* own) {
    Images images(plan, units_of(b));
    images.lay_out(own);
    images.find_places();
    return images;
  };
  char* const scratch = workspace + static_cast<int64_t>(plan.weight_bytes) * plan.weights();
  if (plan.part == ConvolutionPart::Weight) {
    for_tasks(queue, plan, plan.runs * plan.blocks, scratch, [&](int64_t task, char* own) {
      const int64_t run = task / plan.blocks, b = task % plan.blocks, units = units_of(b);
      const Images images = task_of(b, own);
      std::fill_n(weight_at(task), units * seen, 0.0F);
      for (int64_t v = vectors * run / plan.runs; v < vectors * (run + 1) / plan.runs; ++v) {
        images.lay_images(in_at(v, 0), images_of(v));
        images.lay_results(out_at(v, b * plan.block), images_of(v), units);
        images.products(weight_at(task), units);
      }
    });
    for (int64_t b = 0; b < plan.blocks; ++b) {
      const int64_t elements = units_of(b) * seen;
      for (int64_t run = 1; run < plan.runs; ++run) add_sums(weight_at(b), weight_at(run * plan.blocks + b), elements);
      std::copy_n(weight_at(b), elements, weight + b * plan.block * seen);
    }
    return;
  }
  const bool forward = plan.part == ConvolutionPart::Forward;
  for (int64_t b = 0; b < plan.blocks; ++b) {
    const Images images(plan, units_of(b));
    if (forward) images.lay_weight(weight_at(b), weight + b * plan.block * seen, units_of(b), seen, seen, 1);
    else images.lay_weight(weight_at(b), weight + b * plan.block * window, units_of(b) * window, plan.oc, 1, seen);
  }
  for_tasks(queue, plan, vectors * plan.blocks, scratch, [&](int64_t task, char* own) {
    const int64_t v = task / plan.blocks, b = task % plan.blocks, unit = b * plan.block;
    const Images images = task_of(b, own);
    if (forward) {
      images.lay_images(in_at(v, 0), images_of(v));
      images.sums(out_at(v, unit), images_of(v), weight_at(b), bias ? bias + unit : nullptr, units_of(b));
    } else {
      images.lay_results(out_at(v, 0), images_of(v), plan.oc);
      images.spread(weight_at(b));
      images.lay_images_back(in_at(v, unit), images_of(v));
    }
  });
}

}  // namespace tandem::kernels::cpu
