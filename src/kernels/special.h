// Special functions of numbers that neither C++ nor vector code has: digamma, polygamma, the inverse of erf. In double; float goes through
// it. References: Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.3, 6.4, 23.2; Giles, "Approximating the erfinv function".
#pragma once

#include "kernels/math.h"

namespace tandem::kernels::math {

/// The logarithm of |gamma(x)|: inf at 0 and the negative whole numbers.
TD_HOST_DEVICE inline double lgamma(double x) {
#if defined(__CUDACC__)
  return ::lgamma(x);
#else
  int sign;
  return ::lgamma_r(x, &sign);  // lgamma itself writes a global variable
#endif
}

/// The slope of lgamma. Reflected below 0, moved up to 10 by recurrence, then its asymptotic series (A&S 6.3.7, 6.3.5, 6.3.18).
TD_HOST_DEVICE inline double digamma(double x) {
  if (x == 0) return ::copysign(std::numeric_limits<double>::infinity(), -x);
  double y = 0;
  if (x < 0) {
    const double whole = ::trunc(x);
    if (x == whole) return std::numeric_limits<double>::quiet_NaN();
    constexpr double pi = 3.14159265358979323846;
    y = -pi / ::tan(pi * (x - whole));
    x = 1 - x;
  }
  for (; x < 10; x += 1) y -= 1 / x;
  if (x > 1e17) return y + ::log(x);
  const double z = 1 / (x * x);
  const double tail =
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  return y + ::log(x) - 0.5 / x - tail;
}

/// The sum of (x + k)^-s over k >= 0, for s > 1: ten terms and the Euler-Maclaurin rest (A&S 23.2.9). inf at 0 and the negative whole
/// numbers; at other negative numbers defined for whole s.
TD_HOST_DEVICE inline double hurwitz_zeta(double s, double x) {
  if (x <= 0 && x == ::floor(x)) return std::numeric_limits<double>::infinity();
  if (x == std::numeric_limits<double>::infinity()) return 0;
  if (x <= 0 && s != ::floor(s)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (; x < 10; x += 1) {
    const double term = ::pow(x, -s);
    sum += term;
    if (x > 0 && term < sum * 1e-17) return sum;
  }
  const double first = ::pow(x, -s);
  sum += ::pow(x, 1 - s) / (s - 1) + 0.5 * first;  // not first * x, which may have become 0
  constexpr double coefficients[] = {1.0 / 12,           -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0,
                                     1.0 / 74724249600.0};  // Bernoulli numbers over factorials
  double term = first * s / x;
  for (int k = 0; k < 7; ++k) {
    sum += coefficients[k] * term;
    term *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
  }
  return sum;
}

/// The n-th slope of digamma, for n >= 1 (A&S 6.4.10); the first one is reflected below 0 (6.4.7).
TD_HOST_DEVICE inline double polygamma(double x, double n) {
  if (n == 0) return digamma(x);
  if (n == 1 && x < 0.5) {
    constexpr double pi = 3.14159265358979323846;
    if (x == -std::numeric_limits<double>::infinity()) return std::numeric_limits<double>::quiet_NaN();
    if (x == ::floor(x)) return std::numeric_limits<double>::infinity();
    const double sine = ::sin(pi * (x - ::floor(x)));
    return pi * pi / (sine * sine) - hurwitz_zeta(2, 1 - x);
  }
  const double magnitude = ::tgamma(n + 1) * hurwitz_zeta(n + 1, x);
  return ::fmod(n, 2) == 0 ? -magnitude : magnitude;
}

/// The number whose erf is x: Giles' single precision polynomial, and steps of Halley's method, at the ends with erfc.
TD_HOST_DEVICE inline double erfinv(double x) {
  const double magnitude = ::fabs(x);
  if (!(magnitude < 1))
    return magnitude == 1 ? ::copysign(std::numeric_limits<double>::infinity(), x) : std::numeric_limits<double>::quiet_NaN();
  double w = -::log((1 - magnitude) * (1 + magnitude)), y;
  if (w < 5) {
    w -= 2.5;
    constexpr double p[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                            -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    y = p[0];
    for (int i = 1; i < 9; ++i) y = y * w + p[i];
  } else {
    w = ::sqrt(w) - 3;
    constexpr double p[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                            -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    y = p[0];
    for (int i = 1; i < 9; ++i) y = y * w + p[i];
  }
  y *= magnitude;
  const int steps = magnitude < 0.9999999 ? 2 : 6;  // beyond what single precision has, the polynomial is far off
  for (int i = 0; i < steps; ++i) {
    const double error = magnitude < 0.5 ? ::erf(y) - magnitude : (1 - magnitude) - ::erfc(y);
    const double step = error / (1.12837916709551257390 * ::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return ::copysign(y, x);
}

TD_HOST_DEVICE inline float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
TD_HOST_DEVICE inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }
TD_HOST_DEVICE inline float polygamma(float x, float n) {
  return static_cast<float>(polygamma(static_cast<double>(x), static_cast<double>(n)));
}
TD_HOST_DEVICE inline float erfinv(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }

}  // namespace tandem::kernels::math
