// Convolutions with windows of one element, image by image: out (oc, places) = weight (oc, ic) in (ic, places), and for the gradient of the
// input the transposed weight times that of the output. Nothing is reordered.
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

}  // namespace

size_t products_workspace(const ConvolutionPlan& plan) {
  static char some;  // a bias whose values are not looked at
  const Product p = product_of(plan, nullptr, nullptr, nullptr, plan.has_bias ? &some : nullptr);
  return matmul_workspace(p.out, p.a, p.b, p.bias, {});
}

void convolve_products(const Queue& queue, const ConvolutionPlan& plan, void* out, void* in, void* weight, const void* bias,
                       void* workspace) {
  const Product p = product_of(plan, out, in, weight, bias);
  matmul(queue, p.out, p.a, p.b, p.bias, {}, workspace);
}

}  // namespace tandem::kernels::cpu
