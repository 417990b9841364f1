// Compiled once for each instruction set, with -ffast-math: then the compiler takes the C library's vector functions where it has them
// (libmvec), and is free with roots and quotients. The objects alone are: a program that is *linked* so rounds denormal numbers to zero.
#include <math.h>

#include "bench/loops/loops.h"

namespace tandem::bench::TD_ISA {
namespace {

template <class F>
constexpr FunctionLoop one(const char* name, F) {
  return {name, 1, [](float* __restrict out, const float* __restrict a, const float*, int64_t n) {
            for (int64_t i = 0; i < n; ++i) out[i] = F{}(a[i]);
          }};
}
template <class F>
constexpr FunctionLoop two(const char* name, F) {
  return {name, 2, [](float* __restrict out, const float* __restrict a, const float* __restrict b, int64_t n) {
            for (int64_t i = 0; i < n; ++i) out[i] = F{}(a[i], b[i]);
          }};
}

constexpr FunctionLoop kFunctions[] = {
    one("exp", [](float x) { return expf(x); }),
    one("exp2", [](float x) { return exp2f(x); }),
    one("expm1", [](float x) { return expm1f(x); }),
    one("log", [](float x) { return logf(x); }),
    one("log2", [](float x) { return log2f(x); }),
    one("log10", [](float x) { return log10f(x); }),
    one("log1p", [](float x) { return log1pf(x); }),
    one("sqrt", [](float x) { return sqrtf(x); }),
    one("rsqrt", [](float x) { return 1 / sqrtf(x); }),
    one("reciprocal", [](float x) { return 1 / x; }),
    one("sin", [](float x) { return sinf(x); }),
    one("cos", [](float x) { return cosf(x); }),
    one("tan", [](float x) { return tanf(x); }),
    one("asin", [](float x) { return asinf(x); }),
    one("acos", [](float x) { return acosf(x); }),
    one("atan", [](float x) { return atanf(x); }),
    one("sinh", [](float x) { return sinhf(x); }),
    one("cosh", [](float x) { return coshf(x); }),
    one("tanh", [](float x) { return tanhf(x); }),
    one("asinh", [](float x) { return asinhf(x); }),
    one("acosh", [](float x) { return acoshf(x); }),
    one("atanh", [](float x) { return atanhf(x); }),
    one("erf", [](float x) { return erff(x); }),
    one("erfc", [](float x) { return erfcf(x); }),
    one("lgamma", [](float x) { return lgammaf(x); }),
    one("sigmoid", [](float x) { return 1 / (1 + expf(-x)); }),
    one("logsigmoid", [](float x) { return fminf(x, 0) - log1pf(expf(-fabsf(x))); }),
    one("softplus", [](float x) { return fmaxf(x, 0) + log1pf(expf(-fabsf(x))); }),
    one("silu", [](float x) { return x / (1 + expf(-x)); }),
    one("mish", [](float x) { return x * tanhf(log1pf(expf(x))); }),
    one("gelu", [](float x) { return 0.5f * x * (1 + erff(x * 0.707106781f)); }),
    one("gelu_tanh", [](float x) { return 0.5f * x * (1 + tanhf(0.797884561f * (x + 0.044715f * x * x * x))); }),
    two("div", [](float a, float b) { return a / b; }),
    two("floor_divide", [](float a, float b) { return floorf(a / b); }),
    two("remainder", [](float a, float b) { return a - b * floorf(a / b); }),
    two("fmod", [](float a, float b) { return a - b * truncf(a / b); }),
    two("pow", [](float a, float b) { return powf(a, b); }),
    two("atan2", [](float a, float b) { return atan2f(a, b); }),
    two("hypot", [](float a, float b) { return hypotf(a, b); }),
    two("logaddexp", [](float a, float b) { return fmaxf(a, b) + log1pf(expf(-fabsf(a - b))); }),
    two("logaddexp2", [](float a, float b) { return fmaxf(a, b) + log2f(1 + exp2f(-fabsf(a - b))); }),
    two("xlogy", [](float a, float b) { return a * logf(b); }),
};

float sum(const float* a, int64_t n) {
  float total = 0;
  for (int64_t i = 0; i < n; ++i) total += a[i];
  return total;
}
float squares(const float* a, float center, int64_t n) {
  float total = 0;
  for (int64_t i = 0; i < n; ++i) total += (a[i] - center) * (a[i] - center);
  return total;
}

}  // namespace

extern const Functions kFunctionLoops;
const Functions kFunctionLoops = {kFunctions, sum, squares};

}  // namespace tandem::bench::TD_ISA
