// Convolutions with windows of one element, image by image: out (oc, places) = weight (oc, ic) in (ic, places), and for the gradient of the
// input the transposed weight times that of the output; that of the weight is a sum over the images, in their order. Nothing is reordered.
#include <algorithm>

#include "kernels/cpu/convolution_plan.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/shares.h"

namespace tandem::kernels::cpu {
namespace {

// Measured on two cores of a Zen 5, with AVX-512 and held to AVX2: up to 1.6 times as fast, and as much slower where these do not hold.
constexpr size_t kAddendsBytes = size_t{8} << 20;     // what the images add to the gradient of the weight, kept apart: at most that,
constexpr size_t kFewAddendsBytes = size_t{1} << 20;  // and where an image has fewer places than kManyPlaces, that
constexpr int64_t kManyPlaces = 512;                  // elements of a channel
constexpr double kBalanced = 0.85;                    // at least that share of the cores' time is spent at work
constexpr int64_t kSummed = 32 << 10;                 // additions that are worth a thread

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

/// The bytes of what the images add to the gradient of the weight, apart, so that cores share the images in place of each one's product;
/// none where that does not pay: cores that wait for others, sums that weigh more than a product of so few places.
size_t addends_bytes(const ConvolutionPlan& plan) {
  const auto bytes = static_cast<size_t>(plan.n) * static_cast<size_t>(plan.oc * plan.ic) * sizeof(float);
  const int64_t most = ceil_div(plan.n, shares());
  const bool balanced = plan.n > 1 && kBalanced * static_cast<double>(most * shares()) <= static_cast<double>(plan.n);
  return balanced && bytes <= (plan.out_places() >= kManyPlaces ? kAddendsBytes : kFewAddendsBytes) ? align_up(bytes) : 0;
}

/// What `count` images from the one at `first` add to the gradient of the weight: that of the output (oc, places) times the transposed
/// image (places, ic), each to a matrix of its own, or one to the sums of those before it.
Product addends_of(const ConvolutionPlan& plan, void* out, void* in, void* sums, int64_t first, int64_t count) {
  const int64_t places = plan.out_places();
  const auto images = [&](void* data, int64_t channels, int64_t rows, int64_t columns, int64_t row, int64_t column) {
    void* const at = data ? static_cast<float*>(data) + first * channels * places : nullptr;
    return matrices(at, count, rows, columns, channels * places, row, column);
  };
  const View to = matrices(sums, count, plan.oc, plan.ic, plan.oc * plan.ic, plan.ic, 1);
  return {{to}, images(out, plan.oc, plan.oc, places, places, 1), images(in, plan.ic, places, plan.ic, 1, places), first > 0 ? to : View{}};
}

}  // namespace

size_t products_workspace(const ConvolutionPlan& plan) {
  static char some;  // data that is not looked at
  const auto bytes = [](const Product& p) { return matmul_workspace(p.out, p.a, p.b, p.bias, {}); };
  if (plan.part != ConvolutionPart::Weight) return bytes(product_of(plan, nullptr, nullptr, nullptr, plan.has_bias ? &some : nullptr));
  if (const size_t apart = addends_bytes(plan)) return apart + bytes(addends_of(plan, nullptr, nullptr, &some, 0, plan.n));
  return std::max(bytes(addends_of(plan, nullptr, nullptr, &some, 0, 1)), bytes(addends_of(plan, nullptr, nullptr, &some, 1, 1)));
}

void convolve_products(const Queue& queue, const ConvolutionPlan& plan, void* out, void* in, void* weight, const void* bias,
                       void* workspace) {
  const auto multiply = [&](const Product& p, void* memory) { matmul(queue, p.out, p.a, p.b, p.bias, {}, memory); };
  if (plan.part != ConvolutionPart::Weight) return multiply(product_of(plan, out, in, weight, bias), workspace);
  const size_t apart = addends_bytes(plan);
  if (apart == 0) {
    for (int64_t i = 0; i < plan.n; ++i) multiply(addends_of(plan, out, in, weight, i, 1), workspace);
    return;
  }
  auto* const addends = static_cast<float*>(workspace);
  multiply(addends_of(plan, out, in, addends, 0, plan.n), static_cast<char*>(workspace) + apart);
  const int64_t count = plan.oc * plan.ic;
  parallel_for(count, std::max<int64_t>(1, kSummed / plan.n), queue.threads, [&](int64_t begin, int64_t end) {
    auto* const sums = static_cast<float*>(weight);
    std::copy(addends + begin, addends + end, sums + begin);
    for (int64_t i = 1; i < plan.n; ++i) add_sums(sums + begin, addends + i * count + begin, end - begin);
  });
}

}  // namespace tandem::kernels::cpu
