// Divergences of all pairs of classes.
#include "distributions/cases.h"

namespace tandem::testing {
namespace {

struct Named {
  const char* name;
  std::vector<double> parameters;
};
const std::vector<Named>& all_named() {
  static const std::vector<Named> all = {
      {"Normal", {0.5, 2.0}},        {"Normal", {-1.0, 0.5}},  {"LogNormal", {0.2, 0.6}}, {"LogNormal", {0.5, 1.0}},
      {"HalfNormal", {1.5}},         {"HalfNormal", {0.5}},    {"Laplace", {-0.5, 0.8}},  {"Laplace", {0.25, 2.0}},
      {"Cauchy", {0.3, 1.2}},        {"Cauchy", {-1.0, 0.5}},  {"Gumbel", {0.4, 1.5}},    {"Gumbel", {-0.5, 1.0}},
      {"StudentT", {4.5, 0.5, 2.0}}, {"Uniform", {-1.0, 2.0}}, {"Uniform", {0.25, 0.5}},  {"Gamma", {2.5, 1.5}},
      {"Gamma", {0.75, 2.0}},        {"Chi2", {3.0}},          {"Exponential", {0.75}},   {"Exponential", {2.0}},
      {"Beta", {2.5, 1.5}},          {"Beta", {0.5, 0.75}},    {"Bernoulli", {0.3}},      {"Bernoulli", {0.0}},
      {"Geometric", {0.35}},         {"Geometric", {0.8}},     {"Binomial", {7.0, 0.4}},  {"Binomial", {5.0, 0.25}},
      {"Poisson", {3.25}},           {"Poisson", {0.5}}};
  return all;
}

/// The divergence of two of these by their numbers, as PyTorch 2.15 computes it in float64; pairs that are not here it does not implement.
struct Divergence {
  size_t p, q;
  double value;
};
const std::vector<Divergence>& divergences() {
  static const std::vector<Divergence> all = {
      {0, 0, 0.0},
      {0, 1, 10.61370563888011},
      {0, 6, 0.5969007024876477},
      {0, 7, 0.07831857745229986},
      {0, 10, 0.6355970640646018},
      {0, 11, 1.606196114694427},
      {0, 13, kInfinity},
      {0, 14, kInfinity},
      {0, 15, kInfinity},
      {0, 16, kInfinity},
      {0, 17, kInfinity},
      {0, 18, kInfinity},
      {0, 19, kInfinity},
      {0, 20, kInfinity},
      {0, 21, kInfinity},
      {1, 0, 1.1987943611198906},
      {1, 1, 0.0},
      {1, 6, 0.4733566148356162},
      {1, 7, 1.2865050770647275},
      {1, 10, 1.4345862945952716},
      {1, 11, 0.642454604787495},
      {1, 13, kInfinity},
      {1, 14, kInfinity},
      {1, 15, kInfinity},
      {1, 16, kInfinity},
      {1, 17, kInfinity},
      {1, 18, kInfinity},
      {1, 19, kInfinity},
      {1, 20, kInfinity},
      {1, 21, kInfinity},
      {2, 2, 0.0},
      {2, 3, 0.2358256237659907},
      {3, 2, 0.5030632651228983},
      {3, 3, 0.0},
      {4, 4, 0.0},
      {4, 5, 2.90138771133189},
      {5, 4, 0.6541678442236654},
      {5, 5, 0.0},
      {6, 0, 0.4270820845188825},
      {6, 1, 1.815787723398992},
      {6, 6, 0.0},
      {6, 7, 0.4479329825448748},
      {6, 13, kInfinity},
      {6, 14, kInfinity},
      {6, 15, kInfinity},
      {6, 16, kInfinity},
      {6, 17, kInfinity},
      {6, 18, kInfinity},
      {6, 19, kInfinity},
      {6, 20, kInfinity},
      {6, 21, kInfinity},
      {7, 0, 0.2336038526447275},
      {7, 1, 16.964496991524836},
      {7, 6, 0.7394324651032755},
      {7, 7, 0.0},
      {7, 13, kInfinity},
      {7, 14, kInfinity},
      {7, 15, kInfinity},
      {7, 16, kInfinity},
      {7, 17, kInfinity},
      {7, 18, kInfinity},
      {7, 19, kInfinity},
      {7, 20, kInfinity},
      {7, 21, kInfinity},
      {8, 8, 0.0},
      {8, 9, 0.6462302607721937},
      {9, 8, 0.6462302607721937},
      {9, 9, 0.0},
      {10, 0, 0.16535335069309776},
      {10, 1, 15.91322612275966},
      {10, 10, 0.0},
      {10, 11, 0.32361219364402993},
      {10, 13, kInfinity},
      {10, 14, kInfinity},
      {10, 15, kInfinity},
      {10, 16, kInfinity},
      {10, 17, kInfinity},
      {10, 18, kInfinity},
      {10, 19, kInfinity},
      {10, 20, kInfinity},
      {10, 21, kInfinity},
      {11, 0, 0.26283013146969525},
      {11, 1, 4.25923099885815},
      {11, 10, 0.25796905672425385},
      {11, 11, 0.0},
      {11, 13, kInfinity},
      {11, 14, kInfinity},
      {11, 15, kInfinity},
      {11, 16, kInfinity},
      {11, 17, kInfinity},
      {11, 18, kInfinity},
      {11, 19, kInfinity},
      {11, 20, kInfinity},
      {11, 21, kInfinity},
      {13, 0, 0.6072234250965083},
      {13, 1, 5.127179063976618},
      {13, 10, 0.47292841157799237},
      {13, 11, 0.42359980202396663},
      {13, 13, 0.0},
      {13, 14, kInfinity},
      {13, 15, kInfinity},
      {13, 16, kInfinity},
      {13, 17, kInfinity},
      {13, 18, kInfinity},
      {13, 19, kInfinity},
      {13, 20, kInfinity},
      {13, 21, kInfinity},
      {14, 0, 3.000984241551175},
      {14, 1, 5.403752380431285},
      {14, 10, 2.793076400825568},
      {14, 11, 2.67924280739818},
      {14, 13, 2.4849066497880004},
      {14, 14, 0.0},
      {14, 15, 2.7198144613223985},
      {14, 16, 1.569714927131227},
      {14, 17, 2.992732894324563},
      {14, 18, 1.9552264335716716},
      {14, 19, 1.4431471805599454},
      {14, 20, 1.4968114528472356},
      {14, 21, 1.6410241278388362},
      {15, 0, 0.5966306901455055},
      {15, 1, 15.34575299569228},
      {15, 10, 0.4460933936655295},
      {15, 11, 1.011317851640025},
      {15, 13, kInfinity},
      {15, 14, kInfinity},
      {15, 15, 0.0},
      {15, 16, 1.7666939810820492},
      {15, 17, 0.27894329887257663},
      {15, 18, 0.2131992710548909},
      {15, 19, 1.3157033513764982},
      {15, 20, kInfinity},
      {15, 21, kInfinity},
      {16, 0, 1.648807787839886},
      {16, 1, 4.393372801719996},
      {16, 10, 1.4523529360674903},
      {16, 11, 1.3338224589738545},
      {16, 13, kInfinity},
      {16, 14, kInfinity},
      {16, 15, 2.5133636397974017},
      {16, 16, 0.0},
      {16, 17, 2.007274012453149},
      {16, 18, 0.5802635215270489},
      {16, 19, 0.06818426851532267},
      {16, 20, kInfinity},
      {16, 21, kInfinity},
      {17, 0, 1.0892157578292059},
      {17, 1, 42.171671396709314},
      {17, 10, 0.450986721957932},
      {17, 11, 1.5626069239502045},
      {17, 13, kInfinity},
      {17, 14, kInfinity},
      {17, 15, 0.622444412459314},
      {17, 16, 3.811709898710555},
      {17, 17, 0.0},
      {17, 18, 0.48356211651636904},
      {17, 19, 3.252732863504643},
      {17, 20, kInfinity},
      {17, 21, kInfinity},
      {18, 0, 0.6334314190906148},
      {18, 1, 13.38255372463739},
      {18, 10, 0.4312079960306391},
      {18, 11, 0.8055929721869668},
      {18, 13, kInfinity},
      {18, 14, kInfinity},
      {18, 15, 0.41763841642535526},
      {18, 16, 0.9900217621137841},
      {18, 17, 0.4426899236444348},
      {18, 18, 0.0},
      {18, 19, 0.6858374136549403},
      {18, 20, kInfinity},
      {18, 21, kInfinity},
      {19, 0, 1.3364828943245635},
      {19, 1, 4.918938533204672},
      {19, 10, 1.1444828343834905},
      {19, 11, 1.0975009537017009},
      {19, 13, kInfinity},
      {19, 14, kInfinity},
      {19, 15, 1.6197115489546707},
      {19, 16, 0.058977035205912465},
      {19, 17, 1.4972671364953571},
      {19, 18, 0.3558292530117262},
      {19, 19, 0.0},
      {19, 20, kInfinity},
      {19, 21, kInfinity},
      {20, 0, 1.8085016612485512},
      {20, 1, 5.789394800128661},
      {20, 13, 1.2872157361520429},
      {20, 14, kInfinity},
      {20, 15, 1.226565089366277},
      {20, 16, 0.9837837565486303},
      {20, 17, 1.6965224945818844},
      {20, 18, 0.945035519935714},
      {20, 19, 0.7454562669239878},
      {20, 20, 0.0},
      {20, 21, 0.48113374075515747},
      {21, 0, 1.8353813992452732},
      {21, 1, 4.567837038125383},
      {21, 13, 1.3073246408154315},
      {21, 14, kInfinity},
      {21, 15, 2.6838171913175657},
      {21, 16, 0.2581187949973689},
      {21, 17, 2.195679131674573},
      {21, 18, 0.7963944245991027},
      {21, 19, 0.3155651715873765},
      {21, 20, 1.6141419279297797},
      {21, 21, 0.0},
      {22, 22, 0.0},
      {22, 23, kInfinity},
      {22, 28, 2.2855391990426126},
      {22, 29, 0.09707985211309011},
      {23, 22, 0.3566749439387321},
      {23, 23, 0.0},
      {23, 28, 3.25},
      {23, 29, 0.5},
      {24, 24, -1.1102230246251565e-16},
      {24, 25, 1.3622521343071607},
      {25, 24, 0.5320148240990565},
      {25, 25, -2.220446049250313e-16},
      {26, 26, 0.0},
      {26, 27, kInfinity},
      {27, 27, 0.0},
      {28, 22, kInfinity},
      {28, 23, kInfinity},
      {28, 26, kInfinity},
      {28, 27, kInfinity},
      {28, 28, 0.0},
      {28, 29, 3.3333570749301717},
      {29, 22, kInfinity},
      {29, 23, kInfinity},
      {29, 26, kInfinity},
      {29, 27, kInfinity},
      {29, 28, 1.8140989115492043},
      {29, 29, 0.0},
  };
  return all;
}

class KlOn : public OnDevice {
 protected:
  [[nodiscard]] static std::unique_ptr<td::Distribution> at(size_t i, const Shape& sizes, DType dtype = kFloat64) {
    return make<Tensor>(all_named()[i].name, tensors_of(all_named()[i].parameters, sizes, device(), dtype));
  }
};

TEST_P(KlOn, IsThatOfPyTorchForAllPairs) {
  for (const auto& [p, q, value] : divergences()) {
    const Tensor kl = td::kl_divergence(*at(p, {2}), *at(q, {3, 1}));
    const std::string pair = str(all_named()[p].name, " ", all_named()[q].name);
    EXPECT_EQ(kl.sizes(), Shape({3, 2})) << pair;
    EXPECT_EQ(kl.dtype(), kFloat64) << pair;
    EXPECT_EQ(kl.device(), device()) << pair;
    for (const double got : values(kl)) {
      if (std::isinf(value)) {
        EXPECT_EQ(got, value) << pair;
      } else {
        EXPECT_NEAR(got, value, 1e-10 * std::max(1.0, value)) << pair;
      }
    }
  }
}

TEST_P(KlOn, KeepsTheDTypeOfThePair) {
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16})
    for (const auto& [p, q, value] : divergences()) {
      const Tensor kl = td::kl_divergence(*at(p, {}, dtype), *at(q, {}, dtype));
      EXPECT_EQ(kl.dtype(), dtype) << all_named()[p].name << " " << all_named()[q].name;
      if (dtype != kFloat32 || std::isinf(value)) continue;
      EXPECT_NEAR(kl.item<double>(), value, 2e-5 * std::max(1.0, value)) << all_named()[p].name << " " << all_named()[q].name;
    }
}

TEST_P(KlOn, NamesBothClassesWithoutAFormula) {
  std::vector<std::pair<size_t, size_t>> known;
  for (const auto& [p, q, value] : divergences()) known.emplace_back(p, q);
  int without = 0;
  for (size_t p = 0; p < all_named().size(); ++p)
    for (size_t q = 0; q < all_named().size(); ++q) {
      if (std::count(known.begin(), known.end(), std::pair(p, q)) > 0) continue;
      ++without;
      const std::string text = error_of<NotImplementedError>([&] { (void)td::kl_divergence(*at(p, {}), *at(q, {})); });
      const std::string p_name = all_named()[p].name, q_name = all_named()[q].name;
      EXPECT_EQ(text, p_name == "Binomial" && q_name == "Binomial"
                          ? "[kl_divergence] KL between Binomials where q.total_count > p.total_count is not implemented"
                          : str("[kl_divergence] No KL(p || q) is implemented for p type ", p_name, " and q type ", q_name));
    }
  EXPECT_EQ(without, static_cast<int>(all_named().size() * all_named().size() - divergences().size()));
}

TEST_P(KlOn, OfVectorsIsThatOfPyTorch) {
  const Options options{.dtype = kFloat64, .device = device()};
  const td::Dirichlet a(tensor({0.5, 2.0, 3.5}, options)), b(tensor({1.0, 1.5, 0.5}, options));
  expect_near(td::kl_divergence(a, b), {2.15685281944005425}, 1e-12);
  const td::MultivariateNormal p(tensor({0.5, -1.0, 2.0}, options), tensor({{2.0, 0.5, 0.1}, {0.5, 1.0, -0.2}, {0.1, -0.2, 0.5}}, options));
  const td::MultivariateNormal q(tensor({0.0, 0.5, 1.0}, options), tensor({{1.0, 0.2, 0.0}, {0.2, 2.0, 0.3}, {0.0, 0.3, 1.5}}, options));
  expect_near(td::kl_divergence(p, q), {1.89523079866544886}, 1e-12);
  expect_near(td::kl_divergence(p.expand({2}), q.expand({3, 1})), std::vector<double>(6, 1.89523079866544886), 1e-12);
  const Tensor weights = tensor({2.0, 3.0, 5.0}, options), others = tensor({1.0, 1.0, 2.0}, options);
  expect_near(td::kl_divergence(td::Categorical(weights), td::Categorical(others)), {0.01006775677534439}, 1e-12);
  expect_near(td::kl_divergence(td::OneHotCategorical(weights), td::OneHotCategorical(others)), {0.01006775677534439}, 1e-12);
  expect_near(td::kl_divergence(td::Categorical({.logits = weights.log()}), td::Categorical({.logits = others.log()})),
              {0.01006775677534439}, 1e-12);
  // A class that q never gives; one that p never gives counts nothing.
  const Tensor first = tensor({1.0, 0.0}, options), both = tensor({1.0, 1.0}, options);
  expect_near(td::kl_divergence(td::Categorical(first), td::Categorical(both)), {std::log(2.0)}, 1e-12);
  EXPECT_EQ(td::kl_divergence(td::Categorical(both), td::Categorical(first)).item<double>(), kInfinity);
}

TEST_P(KlOn, OfIndependentsIsSummed) {
  const td::Independent p(*at(0, {2, 3}), 1), q(*at(1, {2, 3}), 1);
  const double each = td::kl_divergence(*at(0, {}), *at(1, {})).item<double>();
  expect_near(td::kl_divergence(p, q), {3 * each, 3 * each}, 1e-10);
  const td::Independent two(*at(1, {2, 3}), 2);
  EXPECT_EQ(error_of<NotImplementedError>([&] { (void)td::kl_divergence(p, two); }),
            "[kl_divergence] two Independent distributions need the same reinterpreted_batch_ndims, but have 1 and 2");
}

TEST_P(KlOn, HasGradients) {
  const auto kl = [](const std::vector<Tensor>& x) {
    return td::kl_divergence(td::Normal(x[0], x[1].exp()), td::Normal(x[2], x[3].exp())) +
           td::kl_divergence(td::Gamma(x[1].exp(), x[3].exp()), td::Gamma(x[3].exp(), x[1].exp())) +
           td::kl_divergence(td::Bernoulli({.logits = x[0]}), td::Bernoulli({.logits = x[2]}));
  };
  std::vector<Tensor> inputs;
  for (const double number : {0.3, 0.2, -0.4, 0.6})
    inputs.push_back(full({2}, number, {.dtype = kFloat64, .device = device(), .requires_grad = true}));
  EXPECT_TRUE(autograd::gradcheck(kl, inputs));
}

TEST(Kl, RefusesVectorsOfOtherSizes) {
  const td::MultivariateNormal p(zeros({2}), eye(2)), q(zeros({3}), eye(3));
  EXPECT_EQ(error_of<ValueError>([&] { (void)td::kl_divergence(p, q); }),
            "[kl_divergence] KL-divergence between two Multivariate Normals with different event shapes cannot be computed: [2] and [3]");
}

INSTANTIATE_TEST_SUITE_P(Devices, KlOn, every_device(), device_name);

}  // namespace
}  // namespace tandem::testing
