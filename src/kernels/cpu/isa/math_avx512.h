// AVX-512's own functions of floats, chosen before the templates of the other headers: the argument's leading digits choose a row of a
// table that stands in registers, since a permutation looks sixteen floats up in one instruction, and the rest is a short polynomial.
#pragma once

#include "kernels/cpu/isa/hyperbolic.h"

namespace tandem::kernels::cpu::TD_ISA {

using Sixteen = Raw<float>;

/// table[bits % 16] in each lane.
TD_INLINE Vec<float> lookup(const Sixteen& table, Raw<int32_t> bits) {
  return Vec<float>(_mm512_permutexvar_ps(recast<__m512i>(bits), table));
}
/// The polynomial of r whose coefficients, the constant one first, are looked up.
template <size_t n>
TD_INLINE Vec<float> polynomial_of(const Sixteen (&table)[n], Raw<int32_t> bits, Vec<float> r) {
  Vec<float> y = lookup(table[n - 1], bits);
  for (size_t k = n - 1; k-- > 0;) y = fma(y, r, lookup(table[k], bits));
  return y;
}
/// The smaller magnitude of x and limit with the sign of x; limit where x is nan.
TD_INLINE Vec<float> bounded(Vec<float> x, float limit) { return Vec<float>(_mm512_range_ps(x.v, Vec<float>(limit).v, 2)); }

/// mantissa * 2^n, n rounded down.
struct Scaled {
  Vec<float> mantissa, n;
  [[nodiscard]] TD_INLINE Vec<float> value() const { return Vec<float>(_mm512_scalef_ps(mantissa.v, n.v)); }
};

/// 2^(i/16), and what rounding took from it, relative to it.
inline constexpr Sixteen kSixteenths = {1.0F,        1.04427373F, 1.09050775F, 1.13878858F, 1.18920708F, 1.24185777F,
                                        1.29683959F, 1.35425556F, 1.41421354F, 1.47682619F, 1.54221082F, 1.61049032F,
                                        1.68179286F, 1.75625217F, 1.8340081F,  1.91520655F};
inline constexpr Sixteen kSixteenthsLost = {0.0F,
                                            4.62854679e-08F,
                                            -1.19921575e-08F,
                                            4.72978208e-08F,
                                            3.19341815e-08F,
                                            3.62105723e-08F,
                                            -3.09907229e-08F,
                                            -7.47521334e-09F,
                                            1.71142709e-08F,
                                            -3.04768335e-08F,
                                            5.23333421e-09F,
                                            6.10759177e-09F,
                                            -1.4719606e-08F,
                                            -5.25879518e-09F,
                                            -6.12825968e-09F,
                                            5.14060927e-09F};
inline constexpr float kSixteenthShift = 0x1.8p19F;  // a sum with it has a sixteenth as its last digit

/// e^(x + low) = 2^n e^r, n whole sixteenths: the last four of `bits`. Nothing needs clipping but the rest: where the argument is beyond
/// all bounds the scaling alone decides, and a nan passes through it.
struct Sixteenths {
  Vec<float> n, r;
  Raw<int32_t> bits;
};
TD_INLINE Sixteenths sixteenths_of_exp(Vec<float> x, Vec<float> low) {
  using V = Vec<float>;
  const V shift(kSixteenthShift), shifted = fma(x, V(0x1.715476p+0), shift), n = shifted - shift;
  const V rest = fma(n, V(-0x1.7f7d1cp-20), fma(n, V(-0x1.62e400p-1), x)) + low;  // ln2's head has zeros at its end: n times it is exact
  return {n, bounded(rest, 0.03F), shifted.bits()};
}
TD_INLINE Scaled exp_by_table(Vec<float> x, Vec<float> low = Vec<float>(-0.0)) {
  using V = Vec<float>;
  const Sixteenths a = sixteenths_of_exp(x, low);
  const V power = lookup(kSixteenths, a.bits), p = polynomial(a.r, 1, 0.5, 0.16666667) * a.r;
  return {fma(power, p, power), a.n};
}
/// 2^(x + low).
TD_INLINE Vec<float> exp2(Vec<float> x, Vec<float> low = Vec<float>(-0.0)) {
  using V = Vec<float>;
  const V shift(kSixteenthShift), shifted = x + shift, n = shifted - shift;
  const V r = bounded((x - n) + low, 0.04F), power = lookup(kSixteenths, shifted.bits());
  return Scaled{fma(power, polynomial(r, 0.693147182, 0.24023436, 0.0555001497) * r, power), n}.value();
}
TD_INLINE Vec<float> exp(Vec<float> x) { return exp_by_table(x).value(); }
/// (e^x - 1) / 4, for x up to 89.5: a quarter cannot overflow early. Denormal x lose digits.
TD_INLINE Vec<float> quarter_expm1(Vec<float> x) {
  using V = Vec<float>;
  const Sixteenths a = sixteenths_of_exp(min(V(89.5), x), V(-0.0));
  const V p = fma(fma(polynomial(a.r, 0.5, 0.16666667, 0.041666668), a.r, V(1)), a.r, lookup(kSixteenthsLost, a.bits));
  const V quarter = Scaled{lookup(kSixteenths, a.bits), a.n - V(2)}.value();
  return fma(quarter, p, quarter - V(0.25));
}
TD_INLINE Vec<float> expm1(Vec<float> x) { return select(abs(x) < Vec<float>(0x1p-25), x, quarter_expm1(x) * Vec<float>(4)); }

/// x = 2^whole (1 + rest): whole has sixteen binary places at most, rest lies between -0.034 and 0.063; near 1, whole is 0. Of 0, infinity
/// and negative numbers, whole is what a logarithm gives.
struct Logarithm {
  Vec<float> whole, rest;
};
/// Of x + lost, where lost is what rounding took from x.
TD_INLINE Logarithm logarithm(Vec<float> x, Vec<float> lost) {
  using V = Vec<float>;
  // Inverses from the middle of each sixteenth, such that their logarithms have sixteen binary places and then ten zeros or more.
  constexpr Sixteen inverses = {1.0F,        0.913123071F, 0.864103556F, 0.821086824F, 0.777262926F, 0.742485404F,
                                0.7099244F,  0.682426572F, 1.30091965F,  1.25901079F,  1.2124486F,   1.15936363F,
                                1.12705791F, 1.08287609F,  1.04577696F,  1.0F};
  constexpr Sixteen logs = {0.0F,        0.131118774F, 0.210723877F, 0.284393311F, 0.363525391F, 0.42956543F,  0.494262695F, 0.551254272F,
                            0.62046814F, 0.667709351F, 0.722076416F, 0.78666687F,  0.827438354F, 0.885131836F, 0.935424805F, 1.0F};
  const V m(_mm512_getmant_ps(x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)), exponent(_mm512_getexp_ps(x.v));
  const Raw<int32_t> bits = m.bits() >> 19;
  const V inverse = lookup(inverses, bits);
  // m / x, as a float. Of nan and its like the difference wraps.
  using Wrapping = Raw<uint32_t>;
  const auto shrink = (Raw<int32_t>)((Wrapping)m.bits() - (Wrapping)x.bits() + (Wrapping)V(1).bits());
  return {exponent + lookup(logs, bits), fma(lost * V::of_bits(shrink > 0 ? shrink : 0), inverse, fma(m, inverse, V(-1)))};
}
TD_INLINE Logarithm logarithm(Vec<float> x) { return logarithm(x, Vec<float>(0)); }
/// A base by the factor 1 / log(base) and by the logarithm of two, each in two positive parts.
struct Base {
  float factor, factor_low, of_two, of_two_low;
  double tail[4];  // (log(1 + r) - r) / r^2 times the factor
};
inline constexpr Base kNatural{1, 0, 0.693147123F, 5.76999888e-08F, {-0.49999997, 0.333345115, -0.250149935, 0.189574808}};
inline constexpr Base kBase2{1.44269502F, 1.92596303e-08F, 1, 0, {-0.721347511, 0.480916351, -0.360832065, 0.272245765}};
inline constexpr Base kBase10{
    0.434294462F, 1.96992715e-08F, 0.30102998F, 1.54813335e-08F, {-0.217147231, 0.144769922, -0.108633071, 0.0822568834}};
template <const Base& base>
TD_INLINE Vec<float> in_base(const Logarithm& a) {
  using V = Vec<float>;
  const V r = a.rest;
  V y = polynomial(r, base.tail[0], base.tail[1], base.tail[2], base.tail[3]) * (r * r);
  if constexpr (base.factor_low != 0) y = fma(r, V(base.factor_low), y);
  if constexpr (base.factor == 1) y = r + y;
  else y = fma(r, V(base.factor), y);
  if constexpr (base.of_two_low != 0) y = fma(a.whole, V(base.of_two_low), y);
  if constexpr (base.of_two == 1) return a.whole + y;
  else return fma(a.whole, V(base.of_two), y);
}
TD_INLINE Vec<float> log(Vec<float> x) { return in_base<kNatural>(logarithm(x)); }
TD_INLINE Vec<float> log2(Vec<float> x) { return in_base<kBase2>(logarithm(x)); }
TD_INLINE Vec<float> log10(Vec<float> x) { return in_base<kBase10>(logarithm(x)); }
TD_INLINE Vec<float> log1p(Vec<float> x) {
  using V = Vec<float>;
  const V u = x + V(1), y = in_base<kNatural>(logarithm(u, x - (u - V(1))));
  return select(x < V(__builtin_inff()), copysign(y, x), x);  // nan and infinity stay
}

/// A number as the sum of two: the second has the digits that the first has no room for.
struct Parts {
  Vec<float> high, low;
};
/// a * b and what rounding took from it. By intrinsics: of operators the compiler would fuse the product with a sum that follows.
TD_INLINE Parts product(Vec<float> a, Vec<float> b) {
  const __m512 high = _mm512_mul_round_ps(a.v, b.v, _MM_FROUND_CUR_DIRECTION);
  return {Vec<float>(high), Vec<float>(_mm512_fmsub_ps(a.v, b.v, high))};
}

using ThirtyTwo = Sixteen[2];
/// table[bits % 32] in each lane.
TD_INLINE Vec<float> lookup(const ThirtyTwo& table, Raw<int32_t> bits) {
  return Vec<float>(_mm512_permutex2var_ps(table[0], recast<__m512i>(bits), table[1]));
}
/// log2(x) to about 31 digits, for positive finite x.
TD_INLINE Parts log2_in_parts(Vec<float> x) {
  using V = Vec<float>;
  // Inverses from the middle of each thirty-second, their logarithms' first sixteen binary places, and the rest of these.
  constexpr ThirtyTwo inverses = {
      {1.0F, 0.955223858F, 0.927536249F, 0.901408434F, 0.876712322F, 0.853333354F, 0.83116883F, 0.810126603F, 0.790123463F, 0.771084309F,
       0.752941191F, 0.735632181F, 0.719101131F, 0.703296721F, 0.688172042F, 0.673684239F},
      {1.31958759F, 1.29292929F, 1.26732671F, 1.24271846F, 1.21904767F, 1.19626164F, 1.17431188F, 1.15315318F, 1.13274336F, 1.11304343F,
       1.09401715F, 1.07563031F, 1.0578512F, 1.04065037F, 1.02400005F, 1.0F}};
  constexpr ThirtyTwo logs = {
      {0.0F, 0.0660858154F, 0.108520508F, 0.149749756F, 0.189819336F, 0.228820801F, 0.266784668F, 0.303787231F, 0.33984375F, 0.375045776F,
       0.409393311F, 0.442947388F, 0.475738525F, 0.507797241F, 0.539154053F, 0.569854736F},
      {0.599914551F, 0.629364014F, 0.658218384F, 0.68649292F, 0.714248657F, 0.741470337F, 0.768188477F, 0.794418335F, 0.820175171F,
       0.845489502F, 0.870361328F, 0.894821167F, 0.918869019F, 0.942520142F, 0.965789795F, 1.0F}};
  constexpr ThirtyTwo logs_low = {{0.0F, 3.40861834e-06F, 3.92209358e-06F, -2.60948241e-06F, 5.23369135e-06F, -2.14521924e-06F,
                                   1.87406977e-06F, -6.51954588e-06F, 6.2421359e-06F, -6.29127589e-06F, -2.40262511e-06F, -3.88647231e-06F,
                                   -5.10920381e-06F, -2.63728975e-06F, 4.75971729e-06F, 8.10196582e-07F},
                                  {-1.6642548e-06F, -7.39224879e-06F, -6.87819602e-06F, 7.5938251e-06F, -3.19464857e-06F, -3.30482999e-06F,
                                   -4.08997948e-06F, -2.50354492e-06F, 3.79689118e-06F, 6.14828366e-07F, 3.32024683e-06F, -3.47758305e-06F,
                                   -5.72081763e-06F, -5.58251759e-06F, -5.57878411e-06F, 0.0F}};
  const V m(_mm512_getmant_ps(x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)), exponent(_mm512_getexp_ps(x.v));
  const Raw<int32_t> bits = m.bits() >> 18;
  // m times its inverse is 1 + r, and what rounding took from that; its logarithm begins with r / log(2), in two parts as well.
  const Parts scaled = product(m, lookup(inverses, bits));
  const V r = scaled.high - V(1);
  const V factor(1.44269502F), whole = exponent + lookup(logs, bits);
  const Parts first = product(r, factor);
  V low = fma(r, V(1.92596303e-08F), first.low);
  low = fma(fma(-r, scaled.low, scaled.low), factor, low) + lookup(logs_low, bits);
  low = fma(polynomial(r, -0.721347511, 0.480900437, -0.360694975, 0.279950857), r * r, low);
  const V sum = whole + first.high, rest = (first.high - (sum - whole)) + low, high = sum + rest;
  return {high, rest - (high - sum)};
}

/// a >= 0 as the three leading digits of 1 + a and the rest: pieces that grow with a.
struct Piece {
  Raw<int32_t> bits;
  Vec<float> r;
};
TD_INLINE Piece piece_of(Vec<float> a) {
  using V = Vec<float>;
  const Raw<int32_t> grown = (a + V(1)).bits();
  return {grown >> 21, a - (V::of_bits(grown & ~0x1fffff) - V(1))};
}

/// log(1 + e^x), for x <= 0.
TD_INLINE Vec<float> log1p_exp(Vec<float> x) {
  using V = Vec<float>;
  // of log(1 + a) from sixteenth to sixteenth
  constexpr Sixteen table[] = {
      {0.0F, 0.0606246218F, 0.117783032F, 0.171850264F, 0.223143548F, 0.271933705F, 0.318453729F, 0.362905502F, 0.405465096F, 0.446287096F,
       0.485507816F, 0.523248136F, 0.559615791F, 0.594707131F, 0.628608644F, 0.66139847F},
      {1.0F, 0.941176295F, 0.888888776F, 0.84210515F, 0.799999893F, 0.761904716F, 0.727272689F, 0.695652127F, 0.666666627F, 0.639999986F,
       0.615384579F, 0.592592597F, 0.571428537F, 0.551724136F, 0.533333302F, 0.516129017F},
      {-0.499989122F, -0.442884803F, -0.395044267F, -0.354556918F, -0.319989175F, -0.290240854F, -0.264455944F, -0.241960421F,
       -0.222217709F, -0.204796299F, -0.18934606F, -0.175580442F, -0.163263172F, -0.152197972F, -0.142220706F, -0.133193299F},
      {0.33244881F, 0.276850671F, 0.233289748F, 0.198419154F, 0.170167074F, 0.147033408F, 0.127909288F, 0.111962326F, 0.0985592827F,
       0.0872125104F, 0.0775423944F, 0.0692503825F, 0.0620995089F, 0.0559000708F, 0.0504989699F, 0.0457717478F},
      {-0.226752996F, -0.175515279F, -0.140277326F, -0.11355225F, -0.0929232538F, -0.0767819658F, -0.0640018359F, -0.0537752919F,
       -0.0455131233F, -0.0387790687F, -0.0332459919F, -0.0286657009F, -0.0248478595F, -0.0216450691F, -0.0189421438F, -0.0166483056F},
  };
  const V a = exp_by_table(x).value(), shift(0x1.8p19);
  const V shifted(_mm512_add_round_ps(min(V(0.96), a).v, shift.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));  // down to sixteenths
  return polynomial_of(table, shifted.bits(), a - (shifted - shift));
}

TD_INLINE Vec<float> tanh(Vec<float> x) {
  constexpr Sixteen table[] = {
      {0.761594176F, 0.905148268F, 0.964027584F, 0.986614287F, 0.995054781F, 0.999329329F, 0.999909222F, 0.999987721F, 0.999998331F, 1.0F,
       0.0F, 0.0F, 0.0F, 0.244918659F, 0.462117165F, 0.635148942F},
      {0.419974357F, 0.18070665F, 0.0706508234F, 0.0265922267F, 0.00986601226F, 0.00134094676F, 0.000181582684F, 2.45764732e-05F,
       3.3257777e-06F, 6.09138411e-08F, 0.0F, 0.0F, 1.0F, 0.940014839F, 0.786447704F, 0.59658581F},
      {-0.319854021F, -0.163568974F, -0.0681095719F, -0.026236156F, -0.0098154312F, -0.00133976492F, -0.000181527226F, -2.45708834e-05F,
       -3.31406659e-06F, -6.06994419e-08F, 0.0F, 0.0F, -1.09726443e-06F, -0.230226964F, -0.363429964F, -0.378920376F},
      {0.103695609F, 0.0878793821F, 0.0421144664F, 0.0170183294F, 0.00645850785F, 0.000888765091F, 0.000120552613F, 1.63199966e-05F,
       2.14424131e-06F, 3.92733703e-08F, 0.0F, 0.0F, -0.333270192F, -0.256960809F, -0.0942501128F, 0.0417869985F},
      {0.0269782413F, -0.0255198497F, -0.0179415848F, -0.00802503247F, -0.0030808826F, -0.000429790904F, -5.84034169e-05F, -7.90840022e-06F,
       -9.38941184e-07F, -1.71974559e-08F, 0.0F, 0.0F, -0.00118377979F, 0.13980858F, 0.16550523F, 0.100142293F},
      {-0.0438370071F, -0.000397364463F, 0.00500616711F, 0.002770836F, 0.00102559745F, 0.000145664628F, 1.98408507e-05F, 2.68750227e-06F,
       2.51645588e-07F, 4.60910243e-09F, 0.0F, 0.0F, 0.14308469F, 0.0717044398F, -0.0336202085F, -0.0672073662F},
      {0.0161438733F, 0.0026069039F, -0.000685092586F, -0.000571774319F, -0.000179277864F, -2.59191529e-05F, -3.53853852e-06F,
       -4.79453604e-07F, -3.04161425e-08F, -5.57098756e-10F, 0.0F, 0.0F, -0.0369779468F, -0.0703331754F, -0.0277740248F, 0.01148884F},
  };
  const Piece a = piece_of(min(Vec<float>(9.02), abs(x)));
  return copysign(polynomial_of(table, a.bits, a.r), x);
}

TD_INLINE Vec<float> erf(Vec<float> x) {
  using V = Vec<float>;
  constexpr Sixteen table[] = {
      {0.0F, 0.276326388F, 0.520499885F, 0.711155653F, 0.842700779F, 0.92290014F, 0.966105163F, 0.986671686F, 0.995322287F, 0.998537302F,
       0.999593019F, 0.999899387F, 0.999977887F, 0.999995708F, 0.999999285F, 0.999999881F},
      {1.12837911F, 1.06001401F, 0.878782511F, 0.642931044F, 0.415107518F, 0.23652117F, 0.118930317F, 0.0527750067F, 0.020666983F,
       0.00714231329F, 0.00217827968F, 0.000586274778F, 0.00013925205F, 2.918869e-05F, 5.39933353e-06F, 8.81410301e-07F},
      {1.1067691e-05F, -0.264985234F, -0.439374357F, -0.482192516F, -0.415112346F, -0.29565987F, -0.178401515F, -0.092358321F,
       -0.0413334966F, -0.016069036F, -0.00544478884F, -0.00161177269F, -0.000417557661F, -9.47970038e-05F, -1.8879271e-05F,
       -3.30097646e-06F},
      {-0.376426041F, -0.30975306F, -0.147009134F, 0.026597308F, 0.138520196F, 0.167806819F, 0.138948351F, 0.0902255923F, 0.0482085235F,
       0.0216867533F, 0.00832039118F, 0.00274453219F, 0.000782553107F, 0.000193614847F, 4.16834264e-05F, 7.82556344e-06F},
      {0.00268807053F, 0.133422136F, 0.189272299F, 0.152981579F, 0.0675886497F, -0.00919033121F, -0.0468434952F, -0.0489106663F,
       -0.0343029387F, -0.0186614059F, -0.00828465447F, -0.00307590188F, -0.000968554406F, -0.000260968838F, -6.05334681e-05F,
       -1.21403446e-05F},
      {0.104511164F, 0.0514976569F, -0.0217886791F, -0.0652609095F, -0.0629019737F, -0.0334059857F, -0.00415041344F, 0.0107702371F,
       0.0126511315F, 0.00874808151F, 0.00452238088F, 0.00187493348F, 0.000643379521F, 0.000185927216F, 4.57386777e-05F, 9.647757e-06F},
  };
  const V a = min(V(3.99), abs(x)), shift(0x1.8p21);
  const V shifted(_mm512_add_round_ps(a.v, shift.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));  // down to quarters
  return copysign(polynomial_of(table, shifted.bits(), a - (shifted - shift)), x);
}

/// exp(-x^2) times a polynomial of |x|, reflected below 0.
TD_INLINE Vec<float> erfc(Vec<float> x) {
  using V = Vec<float>;
  constexpr Sixteen table[] = {
      // of exp(x^2) erfc(x)
      {0.427583575F, 0.321585417F, 0.255395681F, 0.21080637F, 0.179001153F, 0.136999458F, 0.110704638F, 0.0927765667F, 0.0798000544F,
       0.0623077229F, 0.0F, 0.0F, 1.0F, 0.770346522F, 0.615690351F, 0.506937623F},
      {-0.273212016F, -0.163622916F, -0.106796458F, -0.074347347F, -0.0543722548F, -0.0323835053F, -0.0213327892F, -0.0150603531F,
       -0.011178405F, -0.00684013404F, 0.0F, 0.0F, -1.12837911F, -0.743205905F, -0.512688816F, -0.367972702F},
      {0.154369786F, 0.0761505887F, 0.0418026224F, 0.0249379538F, 0.0158839971F, 0.00746536348F, 0.00404067198F, 0.0024144419F,
       0.00155117072F, 0.000746507663F, 0.0F, 0.0F, 0.999997914F, 0.584544241F, 0.359345585F, 0.23095797F},
      {-0.0791848674F, -0.0329202637F, -0.0154575221F, -0.00800053496F, -0.00447498308F, -0.00168035575F, -0.000752697873F,
       -0.000382389931F, -0.000213068721F, -8.09644625e-05F, 0.0F, 0.0F, -0.752154887F, -0.398007393F, -0.221994132F, -0.129828766F},
      {0.0372026302F, 0.0132842194F, 0.00541354623F, 0.00245803269F, 0.00120335247F, 0.000366718188F, 0.000137231487F, 5.96246246e-05F,
       2.85640599e-05F, 8.65330639e-06F, 0.0F, 0.0F, 0.498298228F, 0.241839051F, 0.123885125F, 0.0666641891F},
      {-0.0151559152F, -0.00476894714F, -0.0017221513F, -0.000697489071F, -0.00028340047F, -7.24803394e-05F, -2.31893409e-05F,
       -8.75839578e-06F, -3.40317797e-06F, -8.49059518e-07F, 0.0F, 0.0F, -0.287307024F, -0.129565075F, -0.0617014132F, -0.0308939852F},
      {0.00396594265F, 0.00114369486F, 0.000379159144F, 0.000141350756F, 4.15998147e-05F, 9.44051044e-06F, 2.70346004e-06F, 9.2177936e-07F,
       2.53532392e-07F, 5.53374768e-08F, 0.0F, 0.0F, 0.11462602F, 0.0490059257F, 0.0221187789F, 0.0104967318F},
  };
  const V a = min(V(10.5), abs(x)), square = a * a, lost(_mm512_fmsub_ps(a.v, a.v, square.v));
  const Piece piece = piece_of(a);
  const Scaled e = exp_by_table(-square, -lost);
  const V y = Scaled{e.mantissa * polynomial_of(table, piece.bits, piece.r), e.n}.value();
  return select(x < V(0), V(2) - y, y);
}

inline constexpr float kLargestSquared = 0x1p60F;
TD_INLINE Vec<float> sinh(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x), quarter = quarter_expm1(a), half = quarter + quarter;
  return select(a < V(0x1p-12), x, copysign(half + quarter / (half + V(0.5)), x));  // (e + e / (e + 1)) / 2
}
TD_INLINE Vec<float> cosh(Vec<float> x) {
  using V = Vec<float>;
  const Scaled e = exp_by_table(abs(x));
  const V half = Scaled{e.mantissa, e.n - V(1)}.value();
  return half + V(0.25) / half;
}
TD_INLINE Vec<float> asinh(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x), y = copysign(log1p(a + a * a / (V(1) + sqrt(fma(a, a, V(1))))), x);
  if (any_beyond(x, kLargestSquared)) [[unlikely]]
    return beyond_in_double(x, y, kLargestSquared, [](Vec<double> v) { return asinh_for_float(v); });
  return y;
}
TD_INLINE Vec<float> acosh(Vec<float> x) {
  using V = Vec<float>;
  const V t = x - V(1), y = select(x < V(1), V(kNan<float>), log1p(t + sqrt(t * (t + V(2)))));
  if (any_beyond(x, kLargestSquared)) [[unlikely]]
    return beyond_in_double(x, y, kLargestSquared, [](Vec<double> v) { return acosh_for_float(v); });
  return y;
}
TD_INLINE Vec<float> atanh(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x);
  return copysign(select(a < V(0x1p-12), a, V(0.5) * log1p((a + a) / (V(1) - a))), x);
}

/// 2^(b log2(a)), the logarithm and the product in two parts.
TD_INLINE Vec<float> positive_pow(Vec<float> a, Vec<float> b) {
  const Parts logarithm = log2_in_parts(a);
  const Parts power = product(b, logarithm.high);
  return exp2(power.high, fma(b, logarithm.low, power.low));
}

}  // namespace tandem::kernels::cpu::TD_ISA
