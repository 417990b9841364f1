// exp, log and what is made of them, for vectors. Arguments are reduced by powers of two; the rest is a polynomial. About one unit in the
// last place, right at nan, infinities, denormal numbers and overflow, and the same for an element wherever it stands.
#pragma once

#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {

template <class T>
inline constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

/// x = n ln2 + r with |r| <= ln2 / 2.
template <class T>
struct Reduced {
  Vec<T> n, r;
};
TD_INLINE Reduced<float> reduce_exp(Vec<float> x) {
  using V = Vec<float>;
  const V n = round(x * V(0x1.715476p+0));
  return {n, fma(n, V(-0x1.7f7d1cp-20), fma(n, V(-0x1.62e400p-1), x))};  // ln2's head has zeros at its end: n times it is exact
}
TD_INLINE Reduced<double> reduce_exp(Vec<double> x) {
  using V = Vec<double>;
  const V n = round(x * V(0x1.71547652b82fep+0));
  return {n, fma(n, V(-0x1.a39ef35793c76p-33), fma(n, V(-0x1.62e42feep-1), x))};
}
/// (e^r - 1 - r) / r^2.
TD_INLINE Vec<float> exp_tail(Vec<float> r) {  // least greatest error: 0.05 units in the last place of e^r
  return polynomial(r, 0.5000000095411504, 0.16666518601721314, 0.041666205074999726, 0.008368917949557724, 0.001395053968711748);
}
TD_INLINE Vec<double> exp_tail(Vec<double> r) {
  return polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
                    1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
}
template <class T>
TD_INLINE Vec<T> clip_exp(Vec<T> x) {
  constexpr bool single = sizeof(T) == 4;
  return min(Vec<T>(single ? 89.0 : 710.0), max(Vec<T>(single ? -104.0 : -746.0), x));  // nan stays: it is the second operand
}

template <class T>
TD_INLINE Vec<T> exp(Vec<T> x) {
  const Reduced<T> a = reduce_exp(clip_exp(x));
  return scale(fma(exp_tail(a.r) * a.r, a.r, a.r) + Vec<T>(1), a.n);
}
template <class T>
TD_INLINE Vec<T> exp2(Vec<T> x) {
  constexpr bool single = sizeof(T) == 4;
  x = min(Vec<T>(single ? 129.0 : 1025.0), max(Vec<T>(single ? -151.0 : -1076.0), x));
  const Vec<T> n = round(x), r = (x - n) * Vec<T>(0.69314718055994530942);
  return scale(fma(exp_tail(r) * r, r, r) + Vec<T>(1), n);
}
template <class T>
TD_INLINE Vec<T> expm1(Vec<T> x) {
  const Reduced<T> a = reduce_exp(clip_exp(max(Vec<T>(-50.0), x)));
  const Vec<T> p = fma(exp_tail(a.r) * a.r, a.r, a.r),
               half = power_of_two(a.n - Vec<T>(1));  // half of 2^n: 2^n itself may overflow too early
  return select(x == Vec<T>(0), x, fma(half, p, half - Vec<T>(0.5)) * Vec<T>(2));
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x.
template <class T>
struct Split {
  Vec<T> m, e;
};
TD_INLINE Split<float> split(Vec<float> x) {
  using V = Vec<float>;
  const auto tiny = x < V(0x1p-126);
  x = select(tiny, x * V(0x1p24), x);
  const auto shifted = (Raw<int32_t>)((Raw<uint32_t>)x.bits() - 0x3f3504f3U);  // wraps for -0
  const auto e = shifted >> 23;
  return {V::of_bits((shifted & 0x7fffff) + 0x3f3504f3), V(__builtin_convertvector(e, Raw<float>)) - select(tiny, V(24), V(0))};
}
TD_INLINE Split<double> split(Vec<double> x) {
  using V = Vec<double>;
  const auto tiny = x < V(0x1p-1022);
  x = select(tiny, x * V(0x1p54), x);
  const auto shifted = (Raw<int64_t>)((Raw<uint64_t>)x.bits() - 0x3fe6a09e667f3bcdULL);
  const auto e = (Raw<int64_t>)((Raw<uint64_t>)shifted >> 52);
  // A whole number of 12 bits with a sign, to double without a conversion instruction.
  const auto sign_extended = (e ^ 0x800) - 0x800;
  const V as_double = V::of_bits(sign_extended + V(0x1.8p52).bits()) - V(0x1.8p52);
  return {V::of_bits((shifted & 0xfffffffffffffLL) + 0x3fe6a09e667f3bcdLL), as_double - select(tiny, V(54), V(0))};
}
template <class T>
TD_INLINE Vec<T> log_specials(Vec<T> x, Vec<T> y) {
  y = select(x < Vec<T>(kInf<T>), y, x);  // infinity and nan stay
  y = select(x == Vec<T>(0), Vec<T>(-kInf<T>), y);
  return select(x < Vec<T>(0), Vec<T>(kNan<T>), y);
}

/// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
TD_INLINE Vec<float> log_tail(Vec<float> f) {
  using V = Vec<float>;
  const V square = f * f;
  const V p = polynomial(f, 3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1, -1.2420140846e-1,
                         1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2);
  return fma(p * f, square, square * V(-0.5));
}
TD_INLINE Vec<double> log_tail(Vec<double> f) {  // as in fdlibm: an even polynomial in s = f / (2 + f)
  using V = Vec<double>;
  const V s = f / (f + V(2)), z = s * s, half = f * f * V(0.5);
  const V p = polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
                         1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01);
  return s * (half + z * p) - half;
}

template <class T>
TD_INLINE Vec<T> log(Vec<T> x) {
  using V = Vec<T>;
  constexpr bool single = sizeof(T) == 4;
  const Split<T> a = split(x);
  const V f = a.m - V(1), low = V(single ? -2.12194440e-4 : 1.90821492927058770002e-10),
          high = V(single ? 0.693359375 : 6.93147180369123816490e-01);
  return log_specials(x, a.e * high + (f + (log_tail(f) + a.e * low)));
}
/// log(x) times a constant, e times another: log2 and log10, to a float's precision.
TD_INLINE Vec<double> log_in_base(Vec<double> x, double factor, double of_two) {
  const Split<double> a = split(x);
  const Vec<double> f = a.m - Vec<double>(1);
  return log_specials(x, fma(f + log_tail(f), Vec<double>(factor), a.e * Vec<double>(of_two)));
}
/// A base by the factor 1 / log(base) and by the logarithm of two, each in two parts; of_two has zeros at its end: a whole number times it
/// is exact.
struct BaseParts {
  float factor, factor_low, of_two, of_two_low;
};
inline constexpr BaseParts kPartsOfE{1, 0, 0.693359375F, -2.12194440e-4F}, kPartsOfTwo{1.44269502F, 1.92596303e-08F, 1, 0},
    kPartsOfTen{0.434294492F, -1.01032948e-08F, 0.301025391F, 4.60503907e-06F};
/// log(2^e (m + lost)) in a base, for m in [sqrt(1/2), sqrt(2)) and lost below its last place, where products and sums are fused. What
/// rounding takes from the larger terms, f and f^2 / 2 for f = m - 1, is added to the small ones: 0.6 units in the last place.
template <const BaseParts& base>
TD_INLINE Vec<float> log_in_parts(Vec<float> m, Vec<float> lost, Vec<float> e) {
  using V = Vec<float>;
  const V f = m - V(1), minus_half = f * V(-0.5), factor(base.factor);
  const V first = base.factor == 1 ? f : rounded_product(f, factor), second = rounded_product(first, minus_half);
  // (log(1 + f) - f + f^2 / 2) / f^3 with the least greatest error relative to log(1 + f), 2^-30, by Remez's exchange
  const V third = polynomial(f, 0.333333126, -0.250000096, 0.2000211864, -0.1666799575, 0.1421955296, -0.1240559148, 0.118881592,
                             -0.1167563404, 0.0674662697) *
                  (f * f * first);
  V low = fma(lost, fma(f, f - V(1), V(1)), fused(first, minus_half, -second));
  if constexpr (base.factor != 1) low = fma(f, V(base.factor_low), low) + fused(f, factor, -first);
  if constexpr (base.of_two_low != 0) low = fma(e, V(base.of_two_low), low);
  const V whole = e * V(base.of_two), head = whole + first, sum = head + second;
  return sum + (((whole - head) + first) + ((head - sum) + second) + (low + third));
}
template <const BaseParts& base>
TD_INLINE Vec<float> log_in_base(Vec<float> x) {
  const Split<float> a = split(x);
  return log_specials(x, log_in_parts<base>(a.m, Vec<float>(0), a.e));
}
template <std::same_as<float> T>
TD_INLINE Vec<T> log2(Vec<T> x) {
  if constexpr (kHasFma) return log_in_base<kPartsOfTwo>(x);
  return in_double(x, [](Vec<double> v) { return log_in_base(v, 1.44269504088896340736, 1); });
}
template <std::same_as<float> T>
TD_INLINE Vec<T> log10(Vec<T> x) {
  if constexpr (kHasFma) return log_in_base<kPartsOfTen>(x);
  return in_double(x, [](Vec<double> v) { return log_in_base(v, 0.43429448190325182765, 0.30102999566398119521); });
}
/// log(2^shift (u + lost)), where lost is what rounding took from u.
TD_INLINE Vec<float> log_of_sum(Vec<float> u, Vec<float> lost, Vec<float> shift) {
  using V = Vec<float>;
  const Split<float> a = split(u);
  return log_specials(u, log_in_parts<kPartsOfE>(a.m, lost * power_of_two(max(V(-127), -a.e)), a.e + shift));
}
template <class T>
TD_INLINE Vec<T> log1p(Vec<T> x) {
  using V = Vec<T>;
  const V u = x + V(1), lost = x - (u - V(1));  // what rounding took from 1 + x
  const Split<T> a = split(u);
  constexpr bool single = sizeof(T) == 4;
  const V f = a.m - V(1), low = V(single ? -2.12194440e-4 : 1.90821492927058770002e-10),
          high = V(single ? 0.693359375 : 6.93147180369123816490e-01);
  const V y = log_specials(u, a.e * high + (f + (log_tail(f) + (a.e * low + lost / u))));
  return select(abs(x) < V(single ? 0x1p-25 : 0x1p-54), x, select(u == V(0), V(-kInf<T>), select(x == V(kInf<T>), x, y)));
}

template <class T>
TD_INLINE Vec<T> tanh(Vec<T> x) {
  using V = Vec<T>;
  const V a = min(V(sizeof(T) == 4 ? 10.0 : 20.0), abs(x));
  const Reduced<T> e = reduce_exp(a + a);
  const V p = fma(exp_tail(e.r) * e.r, e.r, e.r), s = power_of_two(e.n);
  const V grown = fma(s, p, s - V(1));  // e^2a - 1
  return copysign(grown / (grown + V(2)), x);
}

/// erf of t from 0 to 0.927734375: a polynomial.
TD_INLINE Vec<float> erf_near_zero(Vec<float> t) {
  using V = Vec<float>;
  const V s = t * t;
  V near = fma(V(-5.96761703e-4F), s, V(4.99119423e-3F));
  near = fma(near, s, V(-2.67681349e-2F));
  near = fma(near, s, V(1.12819925e-1F));
  near = fma(near, s, V(-3.76125336e-1F));
  near = fma(near, s, V(1.28379166e-1F));
  return fma(near, t, t);
}
/// Beyond that 1 - exp of a polynomial.
template <std::same_as<float> T>
TD_INLINE Vec<T> erf(Vec<T> x) {
  using V = Vec<T>;
  const V t = min(V(4), abs(x)), s = t * t;
  V far = fma(V(-1.72853470e-5F), t, V(3.83197126e-4F));
  far = fma(far, s, fma(V(-3.88396438e-3F), t, V(2.42546219e-2F)));
  far = fma(far, t, V(-1.06777877e-1F));
  far = fma(far, t, V(-6.34846687e-1F));
  far = fma(far, t, V(-1.28717512e-1F));
  const Reduced<T> e = reduce_exp(fma(far, t, -t));  // not below -17: the power of two needs no second factor
  far = V(1) - (fma(exp_tail(e.r) * e.r, e.r, e.r) + V(1)) * power_of_two(e.n);
  return copysign(select(t > V(0.927734375F), far, erf_near_zero(t)), x);
}

/// 1 - erf near zero, else exp(-a^2) (a + 3) P((a - 3) / (a + 3)) / (a + 3) for a = |x|, reflected below 0. P has an error of 2^-28.6, by
/// Remez's exchange. The square's head is that of a's leading twelve digits, so it is exact; its rest joins the rest of the exponential's
/// argument.
template <std::same_as<float> T>
TD_INLINE Vec<T> erfc(Vec<T> x) {
  using V = Vec<T>;
  const V a = min(V(10.5), abs(x)), leading = V::of_bits(a.bits() & ~0xfff), square = leading * leading,
          square_low = (a - leading) * (a + leading);
  const V n = round(a * a * V(-0x1.715476p+0));
  const V r = fma(n, V(-0x1.7f7d1cp-20), fma(n, V(-0x1.62e400p-1), -square) - square_low);  // as in reduce_exp
  const V sum = a + V(3), lost = a - (sum - V(3)), quotient = V(1) / sum;
  const V rest = kHasFma ? fma(-sum, quotient, V(1)) : V(0);  // of two roundings the difference would be noise
  const V inverse = fma(rest - lost * quotient, quotient, quotient), q = (a - V(3)) * inverse;
  const V p = polynomial(q, 1.074006908, -0.8833944905, 0.5902282788, -0.3104658952, 0.1195293889, -0.02684052044, -0.001228288996,
                         0.003081037424, -0.0004796662491, -0.0003235035298) *
              inverse;
  const V y = select(a < V(0.85F), V(1) - erf_near_zero(a), scale(fma(fma(exp_tail(r) * r, r, r), p, p), n));
  return select(x < V(0), V(2) - y, y);
}
/// The standard normal distribution up to x. That up to -|x| is 2 to the power of a polynomial of |x|, which falls without end; its error
/// is at most 2^-26 of the whole: least squares, weighted anew until the greatest error was least.
template <std::same_as<float> T>
TD_INLINE Vec<T> normal_cdf(Vec<T> x) {
  using V = Vec<T>;
  const V power =
      max(V(-127), polynomial(abs(x), -1.0, -1.1511051654815674, -0.4592081904411316, -0.052496179938316345, 0.00706342002376914,
                              -0.0001369364035781473, -0.000186180230230093, 3.9377689972752705e-05, -2.8349129479465773e-06));
  const V shift(0x1.8p23), shifted = power + shift, r = power - (shifted - shift);  // its low bits are the whole part
  const V whole = V::of_bits((shifted.bits() + 127) << 23);                         // of -127 it is 0
  const V tail = whole * polynomial(r, 1.0, 0.6931472000913367, 0.24022651000392198, 0.055503406119777915, 0.00961804878753312,
                                    0.0013395310052766937, 0.0001546313267596798);
  return select(x < V(0), tail, V(1) - tail);
}
/// log(1 + e^x), for x <= 0.
template <class T>
TD_INLINE Vec<T> log1p_exp(Vec<T> x) {
  return log1p(exp(x));
}
/// With a = e^x and r = a / (2 + a) <= 1/3, 2 artanh(r): a polynomial with an error of 2^-33, by Remez's exchange.
template <std::same_as<float> T>
TD_INLINE Vec<T> log1p_exp(Vec<T> x) {
  using V = Vec<T>;
  const V a = exp(x), r = a / (a + V(2)), z = r * r, twice = fma(-a, r, a);
  return fma(polynomial(z, 0.3333333775, 0.1999944421, 0.1430829748, 0.1071538023, 0.1214474126) * z, twice, twice);
}

}  // namespace tandem::kernels::cpu::TD_ISA
