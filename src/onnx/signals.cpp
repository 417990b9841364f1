// Fourier transforms, and windows of signals.
#include <cmath>

#include "onnx/call.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

/// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), for i from 0 on.
void give_window(Call& call, double a0, double a1, double a2) {
  const Site site = call.site();
  const auto size = call.number(0).to<int64_t>();
  const DType dtype = call.dtype("output_datatype", kFloat32);
  const Options options = call.place({size}, dtype);
  const int64_t period = call.integer("periodic", 1) != 0 ? size : size - 1;
  const Tensor angle = mul(arange(size, {.dtype = kFloat64, .device = options.device}, site),
                           2 * M_PI / static_cast<double>(std::max<int64_t>(period, 1)), site);
  const Tensor first = sub(a0, mul(cos(angle, site), a1, site), site);
  call.give(add(first, mul(cos(mul(angle, 2, site), site), a2, site), site).to(dtype, {}, site));
}
void hann(Call& call) { give_window(call, 0.5, 0.5, 0); }
void hamming(Call& call) { give_window(call, 25.0 / 46, 21.0 / 46, 0); }
void blackman(Call& call) { give_window(call, 0.42, 0.5, 0.08); }

/// By a product with the matrix of the transform: no plan, and gradients as those of any product. Meant for the short signals of models.
void dft(Call& call) {
  const Site site = call.site();
  Tensor x = call.in(0);
  if (x.dim() < 2 || (x.size(-1) != 1 && x.size(-1) != 2)) fail("its input has the sizes ", x.sizes(), ", whose last is neither 1 nor 2");
  const int64_t dims = x.dim();
  const int64_t given = call.version() < 20 ? call.integer("axis", 1) : call.has(2) ? call.number(2).to<int64_t>() : -2;
  const int64_t axis = axis_of(given, dims);
  if (axis == dims - 1) fail("its axis ", given, " is the one of real and imaginary parts");
  const bool inverse = call.integer("inverse", 0) != 0, onesided = call.integer("onesided", 0) != 0;
  int64_t length = x.size(axis);
  if (call.has(1)) length = call.number(1).to<int64_t>();
  else if (inverse && onesided) length = 2 * (length - 1);
  if (length < 1) fail("its length is ", length);
  const int64_t half = length / 2 + 1, read = inverse && onesided ? half : length;
  x = x.movedim(axis, -2, site);
  if (x.size(-2) > read) x = x.narrow(-2, 0, read, site);
  if (x.size(-2) < read) x = constant_pad_nd(x, {0, 0, 0, read - x.size(-2)}, 0, site);
  Tensor re = x.select(-1, 0, site), im = x.size(-1) == 2 ? x.select(-1, 1, site) : Tensor();
  if (inverse && onesided) {
    // The other half is the same, mirrored, with its sign changed.
    const int64_t rest = length - half;
    re = cat({re, flip(re.narrow(-1, 1, rest, site), {-1}, site)}, -1, site);
    if (im.defined()) im = cat({im, neg(flip(im.narrow(-1, 1, rest, site), {-1}, site), site)}, -1, site);
  }
  const int64_t out = !inverse && onesided ? half : length;
  const Options whole{.dtype = kInt64, .device = x.device()};
  (void)call.place({length, out}, kFloat64);
  const Tensor turns = remainder(mul(arange(length, whole, site).unsqueeze(1, site), arange(out, whole, site), site), length, site);
  const Tensor angle = mul(turns.to(kFloat64, {}, site), (inverse ? 2 : -2) * M_PI / static_cast<double>(length), site);
  const Tensor c = cos(angle, site).to(x.dtype(), {}, site), s = sin(angle, site).to(x.dtype(), {}, site);
  Tensor real = matmul(re, c, site), imaginary = matmul(re, s, site);
  if (im.defined()) {
    real = sub(real, matmul(im, s, site), site);
    imaginary = add(imaginary, matmul(im, c, site), site);
  }
  Tensor y = inverse && onesided ? real.unsqueeze(-1, site) : stack({real, imaginary}, -1, site);
  if (inverse) y = div(y, static_cast<double>(length), site);
  call.give(y.movedim(-2, axis, site));
}

constexpr OperatorRow kRows[] = {
    {"BlackmanWindow", 17, blackman},
    {"DFT", 17, dft},
    {"HammingWindow", 17, hamming},
    {"HannWindow", 17, hann},
};

}  // namespace

std::span<const OperatorRow> signal_operators() { return kRows; }

}  // namespace tandem::onnx
