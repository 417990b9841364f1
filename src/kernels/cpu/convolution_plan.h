// How a convolution or one of its gradients is done: decided from sizes, dtype, the instruction set and the process's cores,
// so that the workspace query and the call agree.
#pragma once

#include <algorithm>

#include "base/align.h"
#include "base/parallel.h"
#include "kernels/cpu/onednn_convolution.h"
#include "kernels/table.h"

namespace tandem::kernels::cpu {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct ConvolutionPlan {
  /// What computes it.
  enum class Route : uint8_t {
    Columns,   // our products over what the windows see: all types, and small ones
    Dnnl,      // float32, and bfloat16 where the processor has it
    Products,  // windows of one element in float32: the weight times each image, where they lie
    Images,    // many images of float32, in lanes: channels that would fill few vectors
    Winograd,  // windows of 3x3 that step by one, in float32
  };

  ConvolutionPart part;
  Route route = Route::Columns;
  DType dtype;
  Windows windows;
  int64_t n, groups, ic, oc;
  int64_t in[3], out[3];
  bool has_bias;

  // Dnnl: work is cut into pieces of the batch and blocks of channels - of groups, or of the channels that the result has. Winograd:
  // `piece` strips of four rows of the result are a piece at most.
  int64_t piece = 1, pieces = 1, block = 1, blocks = 1;
  // Sums of the weight's gradient that are kept apart, each over a run of pieces (Dnnl, Winograd) or images (Columns).
  int64_t runs = 1;
  bool few = false;  // Winograd: fewer tiles than channels of the result, so that blocks of these share the input
  // Columns: places of the result at a time.
  int64_t places = 1;
  int64_t slots = 1;  // tasks that run side by side
  size_t weight_bytes = 0, scratch_bytes = 0;

  /// `plain`: by our own products over what the windows see, whatever the sizes.
  ConvolutionPlan(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows, int64_t groups,
                  bool has_bias, bool plain = false);

  [[nodiscard]] int64_t seen() const { return ic / groups * windows.kernel[0] * windows.kernel[1] * windows.kernel[2]; }  // by a window
  [[nodiscard]] int64_t in_places() const { return in[0] * in[1] * in[2]; }
  [[nodiscard]] int64_t out_places() const { return out[0] * out[1] * out[2]; }
  [[nodiscard]] double work() const { return static_cast<double>(oc) * static_cast<double>(out_places() * seen()); }  // of an image
  [[nodiscard]] int64_t units() const { return groups > 1 ? groups : part == ConvolutionPart::Input ? ic : oc; }
  /// The sizes of the images that are made, or whose gradient is read for that of the weight.
  [[nodiscard]] const int64_t* made() const { return part == ConvolutionPart::Input ? in : out; }
  /// What oneDNN is asked for `images` images and `count` units.
  [[nodiscard]] DnnlConvolution dnnl_piece(int64_t images, int64_t count) const;
  /// The memory of one weight in the workspace, of which there are `weights()`.
  [[nodiscard]] int64_t weights() const { return few ? 1 : part == ConvolutionPart::Weight ? runs * blocks : blocks; }
  [[nodiscard]] size_t workspace() const {
    return weight_bytes * static_cast<size_t>(weights()) + scratch_bytes * static_cast<size_t>(slots);
  }

 private:
  [[nodiscard]] bool suits_products() const;
  [[nodiscard]] bool suits_images() const;
  /// Whether Winograd's algorithm can do it, and pays.
  [[nodiscard]] bool suits_winograd() const;
  void cut_direct();
  void cut_rest(int64_t tasks);
  /// What oneDNN wants for the cuts; false where it has no code for them.
  bool plan_dnnl();
  void plan_columns();
  void plan_images();
  void plan_winograd();
};

/// Calls `f(task, scratch)` for `count` tasks, those of a slot one after another.
template <class F>
void for_tasks(const Queue& queue, const ConvolutionPlan& plan, int64_t count, char* scratch, F f) {
  parallel_for(plan.slots, 1, queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot)
      for (int64_t task = count * slot / plan.slots; task < count * (slot + 1) / plan.slots; ++task)
        f(task, scratch + slot * static_cast<int64_t>(plan.scratch_bytes));
  });
}

inline void add_sums(float* to, const float* more, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += more[i];
}

/// The Products route: the bytes it wants, and the work.
size_t products_workspace(const ConvolutionPlan& plan);
void convolve_products(const Queue& queue, const ConvolutionPlan& plan, void* out, void* in, void* weight, const void* bias,
                       void* workspace);

/// The Images route.
void convolve_images(const Queue& queue, const ConvolutionPlan& plan, float* out, float* in, float* weight, const float* bias,
                     char* workspace);
/// The bytes that a task of it needs, and those of its images alone.
size_t images_scratch(const ConvolutionPlan& plan);
int64_t images_bytes(const ConvolutionPlan& plan);

/// The Winograd route. Returns whether the result is good: not where numbers that are not finite, or large beside others, have spoilt what
/// does not see them.
[[nodiscard]] bool convolve_winograd(const Queue& queue, const ConvolutionPlan& plan, float* out, float* in, float* weight,
                                     const float* bias, char* workspace);
/// The bytes of the weight's values, or of a run's and a block's sums of its gradient, or, of a few tiles, of the input's values; those
/// that a task needs.
size_t winograd_weight_bytes(const ConvolutionPlan& plan);
size_t winograd_scratch(const ConvolutionPlan& plan);

/// The Columns route.
void convolve_columns(const Queue& queue, const ConvolutionPlan& plan, void* out, void* in, void* weight, const void* bias,
                      char* workspace);
/// The bytes that a task of it needs.
size_t columns_scratch(const ConvolutionPlan& plan);

}  // namespace tandem::kernels::cpu
