// Distributions of one number, and what SciPy says of them.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "distributions/distributions.h"
#include "nn/support.h"

namespace tandem::testing {

namespace td = tandem::distributions;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

/// A distribution by its class and parameters, in the order of the class's.
struct Case {
  const char* name;
  std::vector<double> parameters, values, log_probs, cdfs;  // the last two at the values
  double mean, variance, entropy;
};

/// Each line as SciPy 1.17 has it: logpdf or logpmf, cdf, mean, var and entropy of the distribution in the comment.
inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // scipy.stats.norm(0.5, 2)
      {"Normal",
       {0.5, 2.0},
       {-1.0, 0.5, 3.0},
       {-1.893335713764618, -1.612085713764618, -2.393335713764618},
       {0.2266273523768682, 0.5, 0.8943502263331446},
       0.5,
       4.0,
       2.112085713764618},
      // scipy.stats.lognorm(0.6, scale=exp(0.2))
      {"LogNormal",
       {0.2, 0.6},
       {0.3, 1.0, 2.5},
       {-1.9418340430111256, -0.4636684649942375, -2.0370042143250773},
       {0.009643040172702436, 0.3694413401817636, 0.8837253932924118},
       1.4622845894342245,
       0.9265779827961832,
       1.108112909438682},
      // scipy.stats.halfnorm(scale=1.5)
      {"HalfNormal",
       {1.5},
       {0.25, 1.0, 3.0},
       {-0.6451453496417807, -0.853478682975114, -2.6312564607528914},
       {0.1323676652218073, 0.49501492490615406, 0.9544997361036416},
       1.1968268412042982,
       0.817605512172942,
       1.1312564607528919},
      // scipy.stats.laplace(-0.5, 0.8)
      {"Laplace",
       {-0.5, 0.8},
       {-2.0, -0.5, 1.0},
       {-2.3450036292457357, -0.4700036292457356, -2.3450036292457357},
       {0.07667748342246423, 0.5, 0.9233225165775357},
       -0.5,
       1.2800000000000002,
       1.4700036292457357},
      // scipy.stats.cauchy(0.3, 1.2)
      {"Cauchy",
       {0.3, 1.2},
       {-3.0, 0.3, 2.0},
       {-3.474443646231698, -1.3270514426433548, -2.427975871069844},
       {0.11101725845499989, 0.5, 0.8043467057322629},
       kNan,
       kInfinity,
       2.713345803763245},
      // scipy.stats.gumbel_r(0.4, 1.5)
      {"Gumbel",
       {0.4, 1.5},
       {-1.0, 0.5, 4.0},
       {-2.0151034125827856, -1.4076387598064488, -2.8961830613975765},
       {0.07863238529065564, 0.3923868808194666, 0.9132752608601854},
       1.2658234973522995,
       3.7011016504085092,
       1.9826807730096971},
      // scipy.stats.t(4.5, 0.5, 2)
      {"StudentT",
       {4.5, 0.5, 2.0},
       {-2.0, 0.5, 3.0},
       {-2.4868312334403924, -1.667207869850242, -2.4868312334403924},
       {0.1361825192084147, 0.5, 0.8638174807915853},
       0.5,
       7.2,
       2.3446829053174105},
      // scipy.stats.uniform(-1, 3)
      {"Uniform",
       {-1.0, 2.0},
       {-0.75, 0.5, 1.5},
       {-1.0986122886681098, -1.0986122886681098, -1.0986122886681098},
       {0.08333333333333333, 0.5, 0.8333333333333334},
       0.5,
       0.75,
       1.0986122886681098},
      // scipy.stats.gamma(2.5, scale=1/1.5)
      {"Gamma",
       {2.5, 1.5},
       {0.25, 1.5, 4.0},
       {-1.725461641882344, -0.9128224380402616, -3.191578558522672},
       {0.019887707187131058, 0.5201165618867003, 0.9652122194937581},
       1.6666666666666665,
       1.111111111111111,
       1.3244828013968901},
      // scipy.stats.gamma(0.4, scale=1/2)
      {"Gamma",
       {0.4, 2.0},
       {0.0625, 0.25, 1.0},
       {1.019134287866063, -0.1876423288058714, -2.5194189454778058},
       {0.47368124023311686, 0.7480185547260108, 0.9671471952390333},
       0.2,
       0.1,
       -1.0333000896092313},
      // scipy.stats.gamma(40, scale=1/8)
      {"Gamma",
       {40.0, 8.0},
       {4.0, 5.0, 6.5},
       {-1.3886185097742811, -0.6860200085200945, -2.4538136942879505},
       {0.0956028166302309, 0.5210288610610552, 0.9630080176281992},
       5.0,
       0.625,
       1.1755511316047405},
      // scipy.stats.chi2(3)
      {"Chi2",
       {3.0},
       {0.5, 2.0, 6.0},
       {-1.5155121234846454, -1.5723649429247, -3.0230587985906454},
       {0.08110858834532418, 0.42759329552912023, 0.8883897749052874},
       3.0,
       6.0,
       2.0541199559354117},
      // scipy.stats.expon(scale=1/0.75)
      {"Exponential",
       {0.75},
       {0.25, 1.0, 3.0},
       {-0.47518207245178085, -1.0376820724517808, -2.537682072451781},
       {0.17097088181959966, 0.5276334472589853, 0.8946007754381357},
       1.3333333333333333,
       1.7777777777777777,
       1.2876820724517808},
      // scipy.stats.beta(2.5, 1.5)
      {"Beta",
       {2.5, 1.5},
       {0.25, 0.5, 0.875},
       {-0.5954237415153449, 0.24156447527049063, 0.38784097661367944},
       {0.05766888562243733, 0.28779340921080615, 0.8664450520212532},
       0.625,
       0.046875,
       -0.18860344748393354},
      // scipy.stats.beta(0.5, 0.75)
      {"Beta",
       {0.5, 0.75},
       {0.125, 0.5, 0.75},
       {0.19918588821824024, -0.3540573453578494, -0.3835031042719452},
       {0.29831352167531017, 0.6212153287087859, 0.7912473781836021},
       0.4,
       0.10666666666666667,
       -0.20871235214732245},
      // scipy.stats.bernoulli(0.3)
      {"Bernoulli", {0.3}, {0.0, 1.0}, {-0.35667494393873245, -1.2039728043259361}, {0.7, 1.0}, 0.3, 0.21, 0.6108643020548935},
      // scipy.stats.geom(0.35, loc=-1)
      {"Geometric",
       {0.35},
       {0.0, 2.0, 5.0},
       {-1.0498221244986778, -1.9113879566835863, -3.203736704960949},
       {0.35, 0.725375, 0.924581109375},
       1.8571428571428572,
       5.306122448979593,
       1.84984754009895},
      // scipy.stats.binom(7, 0.4)
      {"Binomial",
       {7.0, 0.4},
       {0.0, 3.0, 7.0},
       {-3.5757793663619353, -1.2368266291970138, -6.414035123119085},
       {0.027993599999999987, 0.710208, 1.0},
       2.8000000000000003,
       1.6800000000000002,
       1.672035491169749},
      // scipy.stats.binom(60, 0.7)
      {"Binomial",
       {60.0, 0.7},
       {36.0, 42.0, 50.0},
       {-3.611895802200724, -2.191011307400089, -4.827481341372881},
       {0.06323812996519841, 0.5485637220279556, 0.9941288117574135},
       42.0,
       12.600000000000005,
       2.684659194648018},
      // scipy.stats.poisson(3.25)
      {"Poisson",
       {3.25},
       {0.0, 3.0, 8.0},
       {-3.25, -1.5057944802031167, -4.4253629320120815},
       {0.03877420783172202, 0.5914076439333225, 0.9937088937040996},
       3.25,
       3.25,
       1.9750958750974883},
      // scipy.stats.poisson(50)
      {"Poisson",
       {50.0},
       {40.0, 50.0, 61.0},
       {-3.839719497631563, -2.8766166803657143, -4.1056439567280165},
       {0.08607000011796094, 0.5375166908531476, 0.9443192235848383},
       50.0,
       50.0,
       3.373266261170191},
  };
  return all;
}

/// The distribution of that class. T: Tensor or double.
template <class T>
std::unique_ptr<td::Distribution> make(const std::string& name, const std::vector<T>& p, const td::DistributionOptions& options = {}) {
  if (name == "Normal") return td::Normal(p[0], p[1], options).clone();
  if (name == "LogNormal") return td::LogNormal(p[0], p[1], options).clone();
  if (name == "HalfNormal") return td::HalfNormal(p[0], options).clone();
  if (name == "Laplace") return td::Laplace(p[0], p[1], options).clone();
  if (name == "Cauchy") return td::Cauchy(p[0], p[1], options).clone();
  if (name == "Gumbel") return td::Gumbel(p[0], p[1], options).clone();
  if (name == "StudentT") return td::StudentT(p[0], p[1], p[2], options).clone();
  if (name == "Uniform") return td::Uniform(p[0], p[1], options).clone();
  if (name == "Gamma") return td::Gamma(p[0], p[1], options).clone();
  if (name == "Chi2") return td::Chi2(p[0], options).clone();
  if (name == "Exponential") return td::Exponential(p[0], options).clone();
  if (name == "Beta") return td::Beta(p[0], p[1], options).clone();
  if (name == "Bernoulli") return td::Bernoulli(p[0], options).clone();
  if (name == "Geometric") return td::Geometric(p[0], options).clone();
  if (name == "Binomial") return td::Binomial(p[0], p[1], options).clone();
  if (name == "Poisson") return td::Poisson(p[0], options).clone();
  throw std::logic_error(name);
}

/// The parameters as tensors of these sizes.
inline std::vector<Tensor> tensors_of(const std::vector<double>& numbers, const Shape& sizes, Device device, DType dtype) {
  std::vector<Tensor> tensors;
  for (const double number : numbers) tensors.push_back(full(sizes, number, {.dtype = dtype, .device = device}));
  return tensors;
}

}  // namespace tandem::testing
