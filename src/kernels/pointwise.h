// The functors of pointwise.def: each operation once, for one number type T that the back end chooses - a SIMD vector on the CPU, float,
// double or int64_t in a CUDA kernel. So they have no branches (`select` instead), and take their functions from math::. Comparisons return
// a mask (bool for numbers). On the CPU include cpu/isa/math.h first.
#pragma once

#include "kernels/special.h"

namespace tandem::kernels {

/// tanh(log(1 + e^x)): with n = e^x (e^x + 2), n / (n + 2). From 20 on it is 1 in double too, below -1000 0.
template <class T>
TD_HOST_DEVICE inline T tanh_softplus(T x) {
  const T e = math::exp(math::clip(x, T(-1000), T(20))), n = e * (e + T(2));
  return n / (n + T(2));
}

// clang-format off
#define TD_FUNCTOR_1(Name, ...) struct Name { template <class T> TD_HOST_DEVICE auto operator()(T x) const { return __VA_ARGS__; } }
#define TD_FUNCTOR_2(Name, ...) struct Name { template <class T> TD_HOST_DEVICE auto operator()(T a, T b) const { return __VA_ARGS__; } }

// --- One operand
TD_FUNCTOR_1(Neg, -x);
TD_FUNCTOR_1(Abs, math::abs(x));
TD_FUNCTOR_1(Sign, select(x > T(0), T(1), select(x < T(0), T(-1), T(0))));
TD_FUNCTOR_1(Square, x * x);
TD_FUNCTOR_1(Cube, x * x * x);
TD_FUNCTOR_1(Floor, math::floor(x));
TD_FUNCTOR_1(Ceil, math::ceil(x));
TD_FUNCTOR_1(Round, math::round(x));
TD_FUNCTOR_1(Trunc, math::trunc(x));
TD_FUNCTOR_1(Frac, x - math::trunc(x));
TD_FUNCTOR_1(Exp, math::exp(x));
TD_FUNCTOR_1(Exp2, math::exp2(x));
TD_FUNCTOR_1(Expm1, math::expm1(x));
TD_FUNCTOR_1(Log, math::log(x));
TD_FUNCTOR_1(Log2, math::log2(x));
TD_FUNCTOR_1(Log10, math::log10(x));
TD_FUNCTOR_1(Log1p, math::log1p(x));
TD_FUNCTOR_1(Sqrt, math::sqrt(x));
TD_FUNCTOR_1(Rsqrt, math::rsqrt(x));
TD_FUNCTOR_1(Reciprocal, T(1) / x);
TD_FUNCTOR_1(Sin, math::sin(x));
TD_FUNCTOR_1(Cos, math::cos(x));
TD_FUNCTOR_1(Tan, math::tan(x));
TD_FUNCTOR_1(Asin, math::asin(x));
TD_FUNCTOR_1(Acos, math::acos(x));
TD_FUNCTOR_1(Atan, math::atan(x));
TD_FUNCTOR_1(Sinh, math::sinh(x));
TD_FUNCTOR_1(Cosh, math::cosh(x));
TD_FUNCTOR_1(Tanh, math::tanh(x));
TD_FUNCTOR_1(Asinh, math::asinh(x));
TD_FUNCTOR_1(Acosh, math::acosh(x));
TD_FUNCTOR_1(Atanh, math::atanh(x));
TD_FUNCTOR_1(Erf, math::erf(x));
TD_FUNCTOR_1(Erfc, math::erfc(x));
TD_FUNCTOR_1(Erfinv, math::erfinv(x));
TD_FUNCTOR_1(Lgamma, math::lgamma(x));
TD_FUNCTOR_1(Digamma, math::digamma(x));
TD_FUNCTOR_1(Sigmoid, T(1) / (T(1) + math::exp(-x)));
TD_FUNCTOR_1(LogSigmoid, math::minimum(x, T(0)) - math::log1p_exp(-math::abs(x)));
TD_FUNCTOR_1(Silu, x / (T(1) + math::exp(-x)));
TD_FUNCTOR_1(Mish, x * tanh_softplus(x));
TD_FUNCTOR_1(Gelu, x * math::normal_cdf(x));
TD_FUNCTOR_1(GeluTanh, T(0.5) * x * (T(1) + math::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x))));
TD_FUNCTOR_1(Relu, math::maximum(T(0), x));  // -0 stays
TD_FUNCTOR_1(Relu6, math::minimum(math::maximum(T(0), x), T(6)));
TD_FUNCTOR_1(Hardsigmoid, math::clip(x + T(3), T(0), T(6)) / T(6));
TD_FUNCTOR_1(Hardswish, x * math::clip(x + T(3), T(0), T(6)) / T(6));
TD_FUNCTOR_1(Selu, T(1.0507009873554804934) * select(x > T(0), x, T(1.6732632423543772848) * math::expm1(x)));
TD_FUNCTOR_1(Softsign, x / (T(1) + math::abs(x)));
TD_FUNCTOR_1(Tanhshrink, x - math::tanh(x));
TD_FUNCTOR_1(Sinc, select(x == T(0), T(1), math::sin(T(3.14159265358979323846) * math::fmod(x, T(2))) / (T(3.14159265358979323846) * x)));
TD_FUNCTOR_1(Angle, select(x < T(0), T(3.14159265358979323846), select(x != x, x, T(0))));
TD_FUNCTOR_1(Deg2rad, x * T(0.01745329251994329577));
TD_FUNCTOR_1(Rad2deg, x * T(57.2957795130823208768));
TD_FUNCTOR_1(IsNan, math::isnan(x));
TD_FUNCTOR_1(IsInf, math::isinf(x));
TD_FUNCTOR_1(IsFinite, math::isfinite(x));
TD_FUNCTOR_1(IsPosInf, math::isinf(x) & (x > T(0)));
TD_FUNCTOR_1(IsNegInf, math::isinf(x) & (x < T(0)));
TD_FUNCTOR_1(SignBit, math::signbit(x));
TD_FUNCTOR_1(LogicalNot, x == T(0));
TD_FUNCTOR_1(BitwiseNot, T(-1) - x);

// --- Two operands
TD_FUNCTOR_2(Add, a + b);
TD_FUNCTOR_2(Sub, a - b);
TD_FUNCTOR_2(Rsub, b - a);
TD_FUNCTOR_2(Mul, a * b);
TD_FUNCTOR_2(Div, a / b);
TD_FUNCTOR_2(DivTrunc, math::trunc_divide(a, b));
TD_FUNCTOR_2(FloorDivide, math::floor_divide(a, b));
TD_FUNCTOR_2(Remainder, math::remainder(a, b));
TD_FUNCTOR_2(Fmod, math::fmod(a, b));
TD_FUNCTOR_2(Pow, math::pow(a, b));
TD_FUNCTOR_2(Atan2, math::atan2(a, b));
TD_FUNCTOR_2(Hypot, math::hypot(a, b));
TD_FUNCTOR_2(Copysign, math::copysign(a, b));
TD_FUNCTOR_2(Maximum, math::maximum(a, b));
TD_FUNCTOR_2(Minimum, math::minimum(a, b));
TD_FUNCTOR_2(Fmax, select((a >= b) | (b != b), a, b));
TD_FUNCTOR_2(Fmin, select((a <= b) | (b != b), a, b));
TD_FUNCTOR_2(Xlogy, select((a == T(0)) & (b == b), T(0), a * math::log(b)));
TD_FUNCTOR_2(Logaddexp, select(a == b, a + T(0.69314718055994530942), math::maximum(a, b) + math::log1p_exp(-math::abs(a - b))));
TD_FUNCTOR_2(Logaddexp2, select(a == b, a + T(1), math::maximum(a, b) + math::log1p_exp(T(-0.69314718055994530942) * math::abs(a - b)) * T(1.44269504088896340736)));
TD_FUNCTOR_2(Ldexp, a * math::exp2(b));
TD_FUNCTOR_2(Heaviside, select(a == T(0), b, select(a > T(0), T(1), T(0))));
TD_FUNCTOR_2(Equal, a == b);
TD_FUNCTOR_2(NotEqual, a != b);
TD_FUNCTOR_2(Less, a < b);
TD_FUNCTOR_2(LessEqual, a <= b);
TD_FUNCTOR_2(Greater, a > b);
TD_FUNCTOR_2(GreaterEqual, a >= b);
TD_FUNCTOR_2(LogicalAnd, (a != T(0)) & (b != T(0)));
TD_FUNCTOR_2(LogicalOr, (a != T(0)) | (b != T(0)));
TD_FUNCTOR_2(LogicalXor, (a != T(0)) ^ (b != T(0)));
TD_FUNCTOR_2(BitwiseAnd, a & b);
TD_FUNCTOR_2(BitwiseOr, a | b);
TD_FUNCTOR_2(BitwiseXor, a ^ b);
TD_FUNCTOR_2(ShiftLeft, math::shift_left(a, b));
TD_FUNCTOR_2(ShiftRight, math::shift_right(a, b));
TD_FUNCTOR_2(Polygamma, math::polygamma(a, b));

// --- Gradients: a is the incoming one
TD_FUNCTOR_2(TanhBackward, a * (T(1) - b * b));
TD_FUNCTOR_2(SigmoidBackward, a * (T(1) - b) * b);
// clang-format on

#undef TD_FUNCTOR_1
#undef TD_FUNCTOR_2

struct SiluBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x) const {
    const T s = T(1) / (T(1) + math::exp(-x));
    return g * s * (T(1) + x * (T(1) - s));
  }
};
struct MishBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x) const {
    const T s = T(1) / (T(1) + math::exp(-x));
    const T t = tanh_softplus(x);
    return g * (t + x * s * (T(1) - t * t));
  }
};
struct GeluBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x) const {
    return g * (math::normal_cdf(x) + x * T(0.39894228040143267794) * math::exp(T(-0.5) * x * x));
  }
};
struct GeluTanhBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T in) const {
    const T k(0.79788456080286535588), c(0.044715);
    const T x = math::clip(in, T(-40), T(40));  // from there on the slope is 0 or 1
    const T t = math::tanh(k * (x + c * x * x * x));
    return g * T(0.5) * ((T(1) + t) + x * (T(1) - t * t) * k * (T(1) + T(3) * c * x * x));
  }
};
struct HardswishBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x) const {
    return select(x <= T(-3), T(0), select(x >= T(3), g, g * (x / T(3) + T(0.5))));
  }
};

// --- Three and four operands; parameters are operands too
struct Where {
  template <class T>
  TD_HOST_DEVICE T operator()(T condition, T a, T b) const {
    return select(condition != T(0), a, b);
  }
};
/// nan stays nan, and a bound of nan makes one; where low > high, high wins.
struct Clamp {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T low, T high) const {
    return math::minimum(math::maximum(x, low), high);
  }
};
struct Threshold {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T threshold, T value) const {
    return select(x <= threshold, value, x);
  }
};
struct ThresholdBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T threshold) const {
    return select(x <= threshold, T(0), g);
  }
};
struct HardtanhBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T low, T high) const {
    return select((x <= low) | (x >= high), T(0), g);
  }
};
struct AddScaled {
  template <class T>
  TD_HOST_DEVICE T operator()(T a, T b, T alpha) const {
    return a + alpha * b;
  }
};
/// From the nearer end, so that a weight of 1 gives `end` exactly.
struct Lerp {
  template <class T>
  TD_HOST_DEVICE T operator()(T start, T end, T weight) const {
    const T length = end - start;
    return select(math::abs(weight) < T(0.5), start + weight * length, end - length * (T(1) - weight));
  }
};
struct Addcmul {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T a, T b, T value) const {
    return x + value * a * b;
  }
};
struct Addcdiv {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T a, T b, T value) const {
    return x + value * (a / b);
  }
};
struct LeakyRelu {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T slope) const {
    return select(x > T(0), x, x * slope);
  }
};
struct LeakyReluBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T slope) const {
    return select(x > T(0), g, g * slope);
  }
};
struct Elu {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T alpha) const {
    return select(x > T(0), x, alpha * math::expm1(x));
  }
};
struct Celu {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T alpha) const {
    return select(x > T(0), x, alpha * math::expm1(x / alpha));
  }
};
/// The gradient of x > 0 ? x : slope / rate * (exp(rate * x) - 1): elu and its kin.
struct EluBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T slope, T rate) const {
    return select(x <= T(0), g * slope * math::exp(x * rate), g);
  }
};
struct Softplus {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T beta, T threshold) const {
    const T scaled = x * beta;
    return select(scaled > threshold, x, (math::maximum(scaled, T(0)) + math::log1p_exp(-math::abs(scaled))) / beta);
  }
};
struct SoftplusBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T beta, T threshold) const {
    const T scaled = x * beta;
    return select(scaled > threshold, g, g / (T(1) + math::exp(-scaled)));
  }
};
struct Hardshrink {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T lambda) const {
    return select((x >= -lambda) & (x <= lambda), T(0), x);
  }
};
struct Softshrink {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T lambda) const {
    return select(x > lambda, x - lambda, select(x < -lambda, x + lambda, select(x != x, x, T(0))));
  }
};
/// The gradient of both shrinks.
struct ShrinkBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T lambda) const {
    return select((x >= -lambda) & (x <= lambda), T(0), g);
  }
};
struct NanToNum {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T nan, T highest, T lowest) const {
    return select(math::isnan(x), nan, select(math::isinf(x), select(x > T(0), highest, lowest), x));
  }
};
struct Logit {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T eps) const {
    const T high = T(1) - eps, bounded = select(x < eps, eps, select(x > high, high, x));
    const T inside = select(eps < T(0), x, bounded);
    return math::log(inside / (T(1) - inside));
  }
};
struct IsClose {
  template <class T>
  TD_HOST_DEVICE auto operator()(T a, T b, T relative, T absolute) const {
    return (a == b) | ((!math::isinf(a)) & (!math::isinf(b)) & (math::abs(a - b) <= absolute + relative * math::abs(b)));
  }
};
struct SmoothL1 {
  template <class T>
  TD_HOST_DEVICE T operator()(T a, T b, T beta) const {
    const T distance = math::abs(a - b);
    return select(distance < beta, T(0.5) * distance * distance / beta, distance - T(0.5) * beta);
  }
};
struct Huber {
  template <class T>
  TD_HOST_DEVICE T operator()(T a, T b, T delta) const {
    const T distance = math::abs(a - b);
    return select(distance <= delta, T(0.5) * distance * distance, delta * (distance - T(0.5) * delta));
  }
};
/// -(y log x + (1 - y) log(1 - x)), logarithms not below -100.
struct BinaryCrossEntropy {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T y) const {
    return (y - T(1)) * math::maximum(math::log1p(-x), T(-100)) - y * math::maximum(math::log(x), T(-100));
  }
};
/// The same of sigmoid(x), the targets that are 1 taken `positive` times.
struct BinaryCrossEntropyLogits {
  template <class T>
  TD_HOST_DEVICE T operator()(T x, T y, T positive) const {
    const T factor = select(positive == T(1), T(1), T(1) + (positive - T(1)) * y);  // y may be infinite
    return (T(1) - y) * x + factor * (math::log1p_exp(-math::abs(x)) + math::maximum(-x, T(0)));
  }
};
struct BinaryCrossEntropyLogitsBackward {
  template <class T>
  TD_HOST_DEVICE T operator()(T g, T x, T y, T positive) const {
    return g * ((T(1) - y) / (T(1) + math::exp(-x)) - positive * y / (T(1) + math::exp(x)));
  }
};

}  // namespace tandem::kernels
