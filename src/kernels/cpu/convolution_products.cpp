// Convolutions with windows of one element, image by image: out (oc, places) = weight (oc, ic) in (ic, places), and for the gradient of the
// input the transposed weight times that of the output; that of the weight is a sum over the images. Nothing is reordered.
#include <algorithm>

#include "kernels/cpu/convolution_plan.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

struct Product {
  Out out;
  View a, b, bias;
};

View matrices(const void* data, int64_t n, int64_t rows, int64_t columns, int64_t image, int64_t row, int64_t column) {
  return {const_cast<void*>(data), kFloat32, 3, {n, rows, columns}, {image, row, column}};
}

Product product_of(const ConvolutionPlan& plan, void* out, void* in, void* weight, const void* bias) {
  const int64_t places = plan.out_places();
  const auto images = [&](void* data, int64_t channels) { return matrices(data, plan.n, channels, places, channels * places, places, 1); };
  if (plan.part == ConvolutionPart::Input)
    return {{images(in, plan.ic)}, matrices(weight, plan.n, plan.ic, plan.oc, 0, 1, plan.ic), images(out, plan.oc), {}};
  return {{images(out, plan.oc)},
          matrices(weight, plan.n, plan.oc, plan.ic, 0, plan.ic, 1),
          images(in, plan.ic),
          bias ? matrices(bias, plan.n, plan.oc, places, 0, 1, 0) : View{}};
}

/// What image `i` adds to the gradient of the weight: that of the output (oc, places) times the transposed image (places, ic).
Product addend_of(const ConvolutionPlan& plan, void* out, void* in, void* weight, int64_t i) {
  const int64_t places = plan.out_places();
  const auto image = [&](void* data, int64_t channels) { return data ? static_cast<float*>(data) + i * channels * places : nullptr; };
  const View sums = matrices(weight, 1, plan.oc, plan.ic, 0, plan.ic, 1);
  return {{sums},
          matrices(image(out, plan.oc), 1, plan.oc, places, 0, places, 1),
          matrices(image(in, plan.ic), 1, places, plan.ic, 0, 1, places),
          i > 0 ? sums : View{}};
}

}  // namespace

size_t products_workspace(const ConvolutionPlan& plan) {
  static char some;  // data that is not looked at
  if (plan.part == ConvolutionPart::Weight) {
    size_t bytes = 0;
    for (const int64_t i : {0, 1}) {
      const Product p = addend_of(plan, nullptr, nullptr, &some, i);
      bytes = std::max(bytes, matmul_workspace(p.out, p.a, p.b, p.bias, {}));
    }
    return bytes;
  }
  const Product p = product_of(plan, nullptr, nullptr, nullptr, plan.has_bias ? &some : nullptr);
  return matmul_workspace(p.out, p.a, p.b, p.bias, {});
}

void convolve_products(const Queue& queue, const ConvolutionPlan& plan, void* out, void* in, void* weight, const void* bias,
                       void* workspace) {
  if (plan.part != ConvolutionPart::Weight) {
    const Product p = product_of(plan, out, in, weight, bias);
    return matmul(queue, p.out, p.a, p.b, p.bias, {}, workspace);
  }
  for (int64_t i = 0; i < plan.n; ++i) {
    const Product p = addend_of(plan, out, in, weight, i);
    matmul(queue, p.out, p.a, p.b, p.bias, {}, workspace);
  }
}

}  // namespace tandem::kernels::cpu
