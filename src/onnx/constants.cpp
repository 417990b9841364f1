// Operators that make tensors: of one value, counted up, random.
#include <cmath>

#include "onnx/call.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/view.h"
#include "runtime/tracer.h"
#include "tensor/host_values.h"

namespace tandem::onnx {
namespace {

void constant_of_shape(Call& call) {
  const Shape sizes = call.ints(0);
  const Tensor value = call.tensor("value");
  if (value.defined() && value.numel() != 1) fail("its value has ", value.numel(), " elements, not one");
  Scalar number = 0.0;
  if (value.defined()) {
    const HostValues found = [&] {
      const runtime::TracerGuard guard(nullptr);
      return read_values(value, -1, "onnx::run", call.site());
    }();
    number = found.floating.empty() ? Scalar(found.integers[0]) : Scalar(found.floating[0]);
  }
  call.give(full(sizes, number, call.place(sizes, value.defined() ? value.dtype() : kFloat32), call.site()));
}

void range(Call& call) {
  const Scalar start = call.number(0), limit = call.number(1), delta = call.number(2);
  const Value& first = call.value(0);
  const DType dtype = first.host.defined() ? first.host.dtype() : first.tensor.dtype();
  double count = 0;
  if (is_floating(dtype)) {
    if (delta.to<double>() == 0) fail("its step is 0");
    count = std::ceil((limit.to<double>() - start.to<double>()) / delta.to<double>());
  } else {
    const int64_t step = delta.to<int64_t>();
    if (step == 0) fail("its step is 0");
    count = std::ceil(static_cast<double>(static_cast<long double>(limit.to<int64_t>()) - start.to<int64_t>()) / static_cast<double>(step));
  }
  if (!(count < 0x1p48)) fail("it would have ", count, " elements");
  const auto length = static_cast<int64_t>(std::max(count, 0.0));
  const Options options = call.place({length}, dtype);
  const Site site = call.site();
  const Options wide{.dtype = is_floating(dtype) ? kFloat64 : kInt64, .device = options.device};
  const Tensor places = arange(int64_t{0}, length, wide, site);
  call.give(add(mul(places, delta, site), start, site).to(dtype, {}, site));
}

void eye_like(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  if (x.dim() != 2) fail("its input has the sizes ", x.sizes(), ", and is no matrix");
  const DType dtype = call.dtype("dtype", x.dtype());
  const int64_t rows = x.size(0), columns = x.size(1), k = call.integer("k", 0);
  const Tensor column = arange(columns, {.dtype = kInt64, .device = x.device()}, site);
  const Tensor row = arange(rows, {.dtype = kInt64, .device = x.device()}, site).unsqueeze(1, site);
  call.give(eq(sub(column, row, site), k, site).to(dtype, {}, site));
}

void random_of(Call& call, const Shape& sizes, DType dtype, bool normal) {
  const Site site = call.site();
  const Options options = call.place(sizes, dtype);
  if (normal) {
    call.give(add(mul(randn(sizes, options, site), call.real("scale", 1), site), call.real("mean", 0), site));
  } else {
    const double low = call.real("low", 0), high = call.real("high", 1);
    call.give(add(mul(rand(sizes, options, site), high - low, site), low, site));
  }
}
template <bool kNormal>
void random_sized(Call& call) {
  random_of(call, call.list("shape", {}), call.dtype("dtype", kFloat32), kNormal);
}
template <bool kNormal>
void random_like(Call& call) {
  const Tensor x = call.in(0);
  random_of(call, x.sizes(), call.dtype("dtype", x.dtype()), kNormal);
}

void bernoulli_of(Call& call) {
  const Tensor x = call.in(0);
  call.give(bernoulli(x, call.site()).to(call.dtype("dtype", x.dtype()), {}, call.site()));
}

void multinomial_of(Call& call) {
  const Tensor x = call.in(0);
  call.give(
      exp(x, call.site()).multinomial(call.integer("sample_size", 1), true, call.site()).to(call.dtype("dtype", kInt32), {}, call.site()));
}

constexpr OperatorRow kRows[] = {
    {"Bernoulli", 15, bernoulli_of},           {"ConstantOfShape", 9, constant_of_shape},    {"EyeLike", 9, eye_like},
    {"Multinomial", 7, multinomial_of},        {"RandomNormal", 1, random_sized<true>},      {"RandomNormalLike", 1, random_like<true>},
    {"RandomUniform", 1, random_sized<false>}, {"RandomUniformLike", 1, random_like<false>}, {"Range", 11, range, nullptr, nullptr, 0},
};

}  // namespace

std::span<const OperatorRow> constant_operators() { return kRows; }

}  // namespace tandem::onnx
