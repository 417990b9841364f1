// Windows of signals.
#include <cmath>

#include "onnx/call.h"
#include "ops/creation.h"
#include "ops/operators.h"

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

constexpr OperatorRow kRows[] = {
    {"BlackmanWindow", 17, blackman},
    {"HammingWindow", 17, hamming},
    {"HannWindow", 17, hann},
};

}  // namespace

std::span<const OperatorRow> signal_operators() { return kRows; }

}  // namespace tandem::onnx
