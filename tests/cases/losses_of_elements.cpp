// Losses that compare numbers with numbers, or vectors with vectors: a formula an element, then none, the mean or the sum of them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "cases/case.h"

namespace tandem::cases {
namespace {

Tensor reduce(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::None ? losses : reduction == Reduction::Sum ? losses.sum() : losses.sum() / double(losses.numel());
}
double log_of(double x) { return std::max(-100.0, std::log(x)); }

/// Input and target of any sign.
struct PairLoss : Case {
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    pairs(
        in, [](const Shape& s) { return randn(s); }, [](const Shape& s) { return randn(s); });
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), zeros({n}), Reduction::Mean);
    in.add(ones({n}), zeros({n}), Reduction::Sum);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), Reduction::Mean); }
  static void pairs(Inputs& in, Tensor (*input)(const Shape&), Tensor (*target)(const Shape&)) {
    in.add(input({3, 5}), target({3, 5}), Reduction::Mean);
    in.add(input({30}), target({30}), Reduction::Sum);
    in.add(input({}), target({}), Reduction::None);
    in.add(input({0, 2}), target({0, 2}), Reduction::Sum);
  }
};
Tensor signs(const Shape& sizes) { return where(rand(sizes) > 0.5, ones(sizes), full(sizes, -1.0)); }
Tensor normal_numbers(const Shape& sizes) { return randn(sizes); }
Tensor positive(const Shape& sizes) { return rand(sizes) + 0.1; }
Tensor probabilities(const Shape& sizes) { return rand(sizes) * 0.9 + 0.05; }

struct SmoothL1Loss : PairLoss {
  static constexpr const char* name = "smooth_l1_loss";
  static constexpr const char* torch = "nn.functional.smooth_l1_loss";
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return smooth_l1_loss(x, y, {.reduction = r, .beta = 0.7}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double a, double b) { return std::fabs(a - b) < 0.7 ? (a - b) * (a - b) / 1.4 : std::fabs(a - b) - 0.35; }),
                  r);
  }
};

struct HuberLoss : PairLoss {
  static constexpr const char* name = "huber_loss";
  static constexpr const char* torch = "nn.functional.huber_loss";
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return huber_loss(x, y, {.reduction = r, .delta = 0.7}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(
        each(x, y, [](double a, double b) { return std::fabs(a - b) < 0.7 ? (a - b) * (a - b) / 2 : 0.7 * (std::fabs(a - b) - 0.35); }), r);
  }
};

struct BinaryCrossEntropy : PairLoss {
  static constexpr const char* name = "binary_cross_entropy";
  static constexpr const char* torch = "nn.functional.binary_cross_entropy";
  void inputs(Inputs& in) const { pairs(in, probabilities, probabilities); }
  void bench(Inputs& in, int64_t n) const { in.add(probabilities({n}), probabilities({n}), Reduction::Mean); }
  void many(Inputs& in, int64_t n) const {
    in.add(full({n}, 0.5), ones({n}), Reduction::Mean);
    in.add(full({n}, 0.5), ones({n}), Reduction::Sum);
  }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return binary_cross_entropy(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double p, double t) { return -(t * log_of(p) + (1 - t) * log_of(1 - p)); }), r);
  }
};

struct BinaryCrossEntropyWithLogits : PairLoss {
  static constexpr const char* name = "binary_cross_entropy_with_logits";
  static constexpr const char* torch = "nn.functional.binary_cross_entropy_with_logits";
  void inputs(Inputs& in) const { pairs(in, normal_numbers, probabilities); }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return binary_cross_entropy_with_logits(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double v, double t) { return (1 - t) * v + std::log1p(std::exp(-v)); }), r);
  }
};

struct KlDiv : PairLoss {
  static constexpr const char* name = "kl_div";
  static constexpr const char* torch = "nn.functional.kl_div";
  void inputs(Inputs& in) const { pairs(in, normal_numbers, positive); }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), ones({n}), Reduction::Mean);
    in.add(ones({n}), ones({n}), Reduction::Sum);
  }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return kl_div(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double v, double t) { return t * (std::log(t) - v); }), r);
  }
};

struct PoissonNllLoss : PairLoss {
  static constexpr const char* name = "poisson_nll_loss";
  static constexpr const char* torch = "nn.functional.poisson_nll_loss";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // other arithmetic
  void inputs(Inputs& in) const { pairs(in, normal_numbers, positive); }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return poisson_nll_loss(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double v, double t) { return std::exp(v) - t * v; }), r);
  }
};

struct SoftMarginLoss : PairLoss {
  static constexpr const char* name = "soft_margin_loss";
  static constexpr const char* torch = "nn.functional.soft_margin_loss";
  void inputs(Inputs& in) const { pairs(in, normal_numbers, signs); }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), ones({n}), Reduction::Mean);
    in.add(ones({n}), ones({n}), Reduction::Sum);
  }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return soft_margin_loss(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double v, double t) { return std::log1p(std::exp(-t * v)); }), r);
  }
};

struct HingeEmbeddingLoss : PairLoss {
  static constexpr const char* name = "hinge_embedding_loss";
  static constexpr const char* torch = "nn.functional.hinge_embedding_loss";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // other arithmetic
  static constexpr bool gradient = false;  // an infinitesimal change of the target changes its class
  void inputs(Inputs& in) const { pairs(in, normal_numbers, signs); }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return hinge_embedding_loss(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(each(x, y, [](double v, double t) { return t == 1 ? v : std::max(0.0, 1 - v); }), r);
  }
};

struct GaussianNllLoss : Case {
  static constexpr const char* name = "gaussian_nll_loss";
  static constexpr const char* torch = "nn.functional.gaussian_nll_loss";
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), rand({3, 5}) + 0.5, Reduction::Mean);
    in.add(randn({}), randn({}), rand({}) + 0.5, Reduction::None);
    in.add(randn({0, 5}), randn({0, 5}), rand({0, 5}) + 0.5, Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), zeros({n}), ones({n}), Reduction::Mean);
    in.add(ones({n}), zeros({n}), ones({1}), Reduction::Sum);
  }
  Tensor run(const Tensor& x, const Tensor& y, const Tensor& var, Reduction r) const {
    return gaussian_nll_loss(x, y, var, {.reduction = r});
  }
  Tensor reference(const Tensor& x, const Tensor& y, const Tensor& var, Reduction r) const {
    return reduce((each(var, [](double v) { return std::log(v); }) + (x - y) * (x - y) / var) / 2, r);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), rand({n}) + 0.5, Reduction::Mean); }
};

struct MarginRankingLoss : Case {
  static constexpr const char* name = "margin_ranking_loss";
  static constexpr const char* torch = "nn.functional.margin_ranking_loss";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // other arithmetic
  static constexpr double tolerance = 8;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), signs({3, 5}), Reduction::Mean);
    in.add(randn({}), randn({}), signs({}), Reduction::None);
    in.add(randn({0, 5}), randn({0, 5}), signs({0, 5}), Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), zeros({n}), full({n}, -1.0), Reduction::Mean);
    in.add(ones({n}), zeros({n}), full({n}, -1.0), Reduction::Sum);
  }
  Tensor run(const Tensor& a, const Tensor& b, const Tensor& y, Reduction r) const {
    return margin_ranking_loss(a, b, y, {.margin = 0.3, .reduction = r});
  }
  Tensor reference(const Tensor& a, const Tensor& b, const Tensor& y, Reduction r) const {
    return reduce(each(a - b, y, [](double d, double t) { return std::max(0.0, 0.3 - t * d); }), r);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), signs({n}), Reduction::Mean); }
};

double dot_of_rows(const Tensor& a, const Tensor& b, int64_t row) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(1); ++i) sum += at(a, {row, i}) * at(b, {row, i});
  return sum;
}

struct CosineEmbeddingLoss : Case {
  static constexpr const char* name = "cosine_embedding_loss";
  static constexpr const char* torch = "nn.functional.cosine_embedding_loss";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // other arithmetic
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, expands = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), randn({4, 5}), tensor({1, -1, 1, -1}), Reduction::Mean);
    in.add(randn({0, 5}), randn({0, 5}), zeros({0}, kInt64), Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n, 4}), ones({n, 4}), full({n}, -1, kInt64), Reduction::Sum);
    in.add(ones({2, n}), ones({2, n}), full({2}, -1, kInt64), Reduction::Mean);
  }
  Tensor run(const Tensor& a, const Tensor& b, const Tensor& y, Reduction r) const {
    return cosine_embedding_loss(a, b, y, {.margin = 0.1, .reduction = r});
  }
  Tensor reference(const Tensor& a, const Tensor& b, const Tensor& y, Reduction r) const {
    return reduce(generate({a.size(0)},
                           [&](const Shape& row) {
                             const double cosine =
                                 dot_of_rows(a, b, row[0]) / std::sqrt(dot_of_rows(a, a, row[0]) * dot_of_rows(b, b, row[0]));
                             return at(y, row) == 1 ? 1 - cosine : std::max(0.0, cosine - 0.1);
                           }),
                  r);
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 99) / 100;
    in.add(randn({rows, 100}), randn({rows, 100}), randint(0, 2, {rows}) * 2 - 1, Reduction::Mean);
  }
};

struct TripletMarginLoss : Case {
  static constexpr const char* name = "triplet_margin_loss";
  static constexpr const char* torch = "nn.functional.triplet_margin_loss";
  static constexpr DTypes dtypes = kAnyType, without_reference = kIntegers | only(kBool);  // other arithmetic
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, expands = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), randn({4, 5}), randn({4, 5}), Reduction::Mean);
    in.add(randn({0, 5}), randn({0, 5}), randn({0, 5}), Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n, 4}), zeros({n, 4}), zeros({n, 4}), Reduction::Sum);
    in.add(ones({2, n}), zeros({2, n}), zeros({2, n}), Reduction::Mean);
  }
  Tensor run(const Tensor& a, const Tensor& p, const Tensor& n, Reduction r) const {
    return triplet_margin_loss(a, p, n, {.reduction = r});
  }
  Tensor reference(const Tensor& a, const Tensor& p, const Tensor& n, Reduction r) const {
    const Tensor near = a - p + 1e-6, far = a - n + 1e-6;
    return reduce(generate({a.size(0)},
                           [&](const Shape& row) {
                             return std::max(0.0,
                                             1 + std::sqrt(dot_of_rows(near, near, row[0])) - std::sqrt(dot_of_rows(far, far, row[0])));
                           }),
                  r);
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 99) / 100;
    in.add(randn({rows, 100}), randn({rows, 100}), randn({rows, 100}), Reduction::Mean);
  }
};

struct MultiMarginLoss : Case {
  static constexpr const char* name = "multi_margin_loss";
  static constexpr const char* torch = "nn.functional.multi_margin_loss";
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), tensor({1, 4, 0, 2}), Reduction::Mean);
    in.add(randn({0, 5}), zeros({0}, kInt64), Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n, 5}), zeros({n}, kInt64), Reduction::Sum);
    in.add(ones({2, n}), zeros({2}, kInt64), Reduction::Mean);
  }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const {
    MultiMarginLossOptions options;
    options.reduction = r;
    return multi_margin_loss(x, y, options);
  }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(generate({x.size(0)},
                           [&](const Shape& row) {
                             const auto t = int64_t(at(y, row));
                             double sum = 0;
                             for (int64_t j = 0; j < x.size(1); ++j)
                               if (j != t) sum += std::max(0.0, 1 - at(x, {row[0], t}) + at(x, {row[0], j}));
                             return sum / double(x.size(1));
                           }),
                  r);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), randint(0, 100, {(n + 99) / 100}), Reduction::Mean); }
};

struct MultilabelMarginLoss : Case {
  static constexpr const char* name = "multilabel_margin_loss";
  static constexpr const char* torch = "nn.functional.multilabel_margin_loss";
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false, empty_input = false;
  void inputs(Inputs& in) const { in.add(randn({2, 4}), tensor({{3, 0, -1, 1}, {1, -1, 2, 0}}), Reduction::Mean); }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n, 4}), cat({zeros({n, 1}, kInt64), full({n, 3}, -1, kInt64)}, 1), Reduction::Sum);
    const int64_t few = n / 10;  // of which all pairs are made
    in.add(ones({2, few}), cat({zeros({2, 1}, kInt64), full({2, few - 1}, -1, kInt64)}, 1), Reduction::Mean);
  }
  Tensor run(const Tensor& x, const Tensor& y, Reduction r) const { return multilabel_margin_loss(x, y, {.reduction = r}); }
  Tensor reference(const Tensor& x, const Tensor& y, Reduction r) const {
    return reduce(generate({x.size(0)},
                           [&](const Shape& row) {
                             std::vector<int64_t> targets;
                             for (int64_t k = 0; k < y.size(1) && at(y, {row[0], k}) >= 0; ++k)
                               targets.push_back(int64_t(at(y, {row[0], k})));
                             double sum = 0;
                             for (int64_t j = 0; j < x.size(1); ++j)
                               if (std::find(targets.begin(), targets.end(), j) == targets.end())
                                 for (const int64_t t : targets) sum += std::max(0.0, 1 - at(x, {row[0], t}) + at(x, {row[0], j}));
                             return sum / double(x.size(1));
                           }),
                  r);
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 99) / 100;
    in.add(randn({rows, 100}), cat({randint(0, 100, {rows, 5}), full({rows, 95}, -1, kInt64)}, 1), Reduction::Mean);
  }
};

/// The sum over all alignments, each frame one class at a time.
struct CtcLoss : Case {
  static constexpr const char* name = "ctc_loss";
  static constexpr const char* torch = "nn.functional.ctc_loss";
  static constexpr DTypes dtypes = only(kFloat32) | only(kFloat64);
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, empty_input = false, expands = false, twice = false;
  static constexpr bool sums = false;  // has no half types
  void inputs(Inputs& in) const {
    in.add(randn({4, 2, 3}), tensor({{1, 2}, {2, 2}}));  // time, batch, classes
  }
  Tensor run(const Tensor& logits, const Tensor& targets) const {  // as in PyTorch, the gradient is right for what log_softmax gives
    const Tensor x = log_softmax(logits, 2);
    return ctc_loss(x, targets, Shape{x.size(0), x.size(0)}, Shape{2, 2}, {.reduction = Reduction::Sum});
  }
  Tensor reference(const Tensor& logits, const Tensor& targets) const {
    const Tensor x = logits - log(exp(logits).sum(2, true));
    double loss = 0;
    for (int64_t n = 0; n < 2; ++n) {
      double total = 0;
      Shape choices;
      for (int64_t t = 0; t < x.size(0); ++t) choices.push_back(x.size(2));
      for_each_position(choices, [&](const Shape& path) {
        std::vector<int64_t> said;  // repetitions once, blanks dropped
        double log_p = 0;
        for (size_t t = 0; t < path.size(); ++t) {
          log_p += at(x, {int64_t(t), n, path[t]});
          if (path[t] != 0 && (t == 0 || path[t] != path[t - 1])) said.push_back(path[t]);
        }
        if (said == std::vector<int64_t>{int64_t(at(targets, {n, 0})), int64_t(at(targets, {n, 1}))}) total += std::exp(log_p);
      });
      loss -= std::log(total);
    }
    return full({}, loss, kFloat64);
  }
};

}  // namespace

void add_losses_of_elements(std::vector<Operation>& list) {
  list.push_back(operation<SmoothL1Loss>());
  list.push_back(operation<HuberLoss>());
  list.push_back(operation<BinaryCrossEntropy>());
  list.push_back(operation<BinaryCrossEntropyWithLogits>());
  list.push_back(operation<KlDiv>());
  list.push_back(operation<PoissonNllLoss>());
  list.push_back(operation<SoftMarginLoss>());
  list.push_back(operation<HingeEmbeddingLoss>());
  list.push_back(operation<GaussianNllLoss>());
  list.push_back(operation<MarginRankingLoss>());
  list.push_back(operation<CosineEmbeddingLoss>());
  list.push_back(operation<TripletMarginLoss>());
  list.push_back(operation<MultiMarginLoss>());
  list.push_back(operation<MultilabelMarginLoss>());
  list.push_back(operation<CtcLoss>());
}

}  // namespace tandem::cases
