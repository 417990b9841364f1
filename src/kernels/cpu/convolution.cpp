// Convolutions and their gradients. convolution_plan.cpp decides how one is done; oneDNN's part is here: pieces of the batch and blocks of
// channels, each reordered to oneDNN's layout, computed and reordered back while it is in the cache. The gradient of the weight is summed
// over the pieces of a run in order, and over the runs in order, whoever computes them.
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/convolution_plan.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

using Route = ConvolutionPlan::Route;

/// The addresses of a convolution's operands, in the caller's layout.
struct Operands {
  const ConvolutionPlan& plan;
  char *out, *in, *weight;
  const char* bias;

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(size_of(plan.dtype)); }
  /// Where the channels of `unit` begin in an image.
  [[nodiscard]] char* in_at(int64_t image, int64_t unit) const {
    const int64_t channel = plan.groups > 1 ? unit * (plan.ic / plan.groups) : plan.part == ConvolutionPart::Input ? unit : 0;
    return in + (image * plan.ic + channel) * plan.in_places() * size();
  }
  [[nodiscard]] int64_t out_channel(int64_t unit) const {
    return plan.groups > 1 ? unit * (plan.oc / plan.groups) : plan.part == ConvolutionPart::Input ? 0 : unit;
  }
  [[nodiscard]] char* out_at(int64_t image, int64_t unit) const {
    return out + (image * plan.oc + out_channel(unit)) * plan.out_places() * size();
  }
  [[nodiscard]] char* weight_at(int64_t unit) const {
    const int64_t kernel = plan.windows.kernel[0] * plan.windows.kernel[1] * plan.windows.kernel[2];
    const bool columns = plan.groups == 1 && plan.part == ConvolutionPart::Input;
    return weight + (columns ? unit * kernel : out_channel(unit) * plan.seen()) * size();
  }
  [[nodiscard]] const char* bias_at(int64_t unit) const { return bias ? bias + out_channel(unit) * size() : nullptr; }
};

void run_dnnl(const Queue& queue, const Operands& operands, char* workspace) {
  const ConvolutionPlan& plan = operands.plan;
  const auto check = [&](int status) {
    if (status) queue.status->report(Trouble::Library, status);
    return status == 0;
  };
  const auto units_of = [&](int64_t b) { return std::min(plan.block, plan.units() - b * plan.block); };
  const auto images_of = [&](int64_t p) { return std::min(plan.piece, plan.n - p * plan.piece); };
  const auto weight_bytes = static_cast<int64_t>(plan.weight_bytes);
  char* const scratch = workspace + weight_bytes * plan.weights();
  if (plan.part != ConvolutionPart::Weight) {
    parallel_for(plan.blocks, 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        check(dnnl_reorder_weight(plan.dnnl_piece(plan.piece, units_of(b)), workspace + b * weight_bytes,
                                  operands.weight_at(b * plan.block)));
    });
    for_tasks(queue, plan, plan.pieces * plan.blocks, scratch, [&](int64_t task, char* own) {
      const int64_t p = task / plan.blocks, b = task % plan.blocks, image = p * plan.piece, unit = b * plan.block;
      char *const in = operands.in_at(image, unit), *const out = operands.out_at(image, unit);
      const bool forward = plan.part == ConvolutionPart::Forward;
      check(dnnl_convolve(plan.dnnl_piece(images_of(p), units_of(b)), forward ? out : in, forward ? in : out, workspace + b * weight_bytes,
                          operands.bias_at(unit), own));
    });
    return;
  }
  const auto add = [&](char* to, const char* from) {
    add_sums(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), weight_bytes / 4);
  };
  for_tasks(queue, plan, plan.runs * plan.blocks, scratch, [&](int64_t task, char* own) {
    const int64_t run = task / plan.blocks, b = task % plan.blocks, unit = b * plan.block;
    char* const sums = workspace + task * weight_bytes;
    const int64_t first = plan.pieces * run / plan.runs, last = plan.pieces * (run + 1) / plan.runs;
    for (int64_t p = first; p < last; ++p) {
      const int64_t image = p * plan.piece;
      char* const to = p == first ? sums : own;
      if (!check(dnnl_convolve(plan.dnnl_piece(images_of(p), units_of(b)), to, operands.in_at(image, unit), operands.out_at(image, unit),
                               nullptr, own + weight_bytes)))
        return;
      if (p != first) add(sums, own);
    }
  });
  parallel_for(plan.blocks, 1, queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      char* const sums = workspace + b * weight_bytes;
      for (int64_t run = 1; run < plan.runs; ++run) add(sums, workspace + (run * plan.blocks + b) * weight_bytes);
      check(dnnl_reorder_weight(plan.dnnl_piece(plan.piece, units_of(b)), operands.weight_at(b * plan.block), sums));
    }
  });
}

void run_plan(const Queue& queue, const ConvolutionPlan& plan, const View& out, const View& in, const View& weight, const View& bias,
              void* workspace) {
  auto* const memory = static_cast<char*>(workspace);
  if (plan.route == Route::Products) return convolve_products(queue, plan, out.data, in.data, weight.data, bias.data, workspace);
  if (plan.route == Route::Images)
    return convolve_images(queue, plan, out.as<float>(), in.as<float>(), weight.as<float>(), bias.as<const float>(), memory);
  if (plan.route == Route::Columns) return convolve_columns(queue, plan, out.data, in.data, weight.data, bias.data, memory);
  run_dnnl(queue, {plan, out.as<char>(), in.as<char>(), weight.as<char>(), bias.as<const char>()}, memory);
}

/// What Winograd's algorithm spoils is computed anew by plain products.
void run(const Queue& queue, ConvolutionPart part, const View& out, const View& in, const View& weight, const View& bias,
         const Windows& windows, int64_t groups, void* workspace) {
  const bool has_bias = bias.data != nullptr;
  const ConvolutionPlan plan(part, out, in, weight, windows, groups, has_bias);
  if (plan.route != Route::Winograd) return run_plan(queue, plan, out, in, weight, bias, workspace);
  const bool good = convolve_winograd(queue, plan, out.as<float>(), in.as<float>(), weight.as<float>(), bias.as<const float>(),
                                      static_cast<char*>(workspace));
  if (good) return;
  run_plan(queue, ConvolutionPlan(part, out, in, weight, windows, groups, has_bias, true), out, in, weight, bias, workspace);
}

}  // namespace

size_t convolution_workspace(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows,
                             int64_t groups, bool bias) {
  const ConvolutionPlan plan(part, out, in, weight, windows, groups, bias);
  if (plan.route != Route::Winograd) return plan.workspace();
  return std::max(plan.workspace(), ConvolutionPlan(part, out, in, weight, windows, groups, bias, true).workspace());
}

void convolution(const Queue& queue, Out out, View in, View weight, View bias, Windows windows, int64_t groups, void* workspace) {
  run(queue, ConvolutionPart::Forward, out, in, weight, bias, windows, groups, workspace);
}
void convolution_input(const Queue& queue, Out in, View out, View weight, Windows windows, int64_t groups, void* workspace) {
  run(queue, ConvolutionPart::Input, out, in, weight, {}, windows, groups, workspace);
}
void convolution_weight(const Queue& queue, Out weight, View out, View in, Windows windows, int64_t groups, void* workspace) {
  run(queue, ConvolutionPart::Weight, out, in, weight, {}, windows, groups, workspace);
}

}  // namespace tandem::kernels::cpu
