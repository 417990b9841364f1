// Random numbers. A drawn tensor has no reference, so what is compared are its moments and bounds, with the seed fixed, and that the seed
// alone decides the numbers, on any device.
#include <algorithm>
#include <cmath>

#include "cases/case.h"

namespace tandem::cases {
namespace {

constexpr int64_t kDraws = 40000;

/// Draws with the seed fixed. The result, whole numbers: mean and deviation in twentieths, whether all are within bounds, whether the CPU
/// draws the same from the same seed, and whether the next draw is another.
template <class F>
Tensor traits(const Tensor& like, double low, double high, F draw) {
  manual_seed(1);
  const Tensor first = draw(like).detach().cpu(), next = draw(like).detach().cpu();
  manual_seed(1);
  const Tensor again = draw(like.cpu()).detach();
  const Tensor x = first.to(kFloat64);
  const auto twentieths = [](const Tensor& value) { return round(value * 20).to(kInt64); };
  const auto flag = [](bool value) { return tensor(int64_t(value)); };
  return stack({twentieths(x.mean()), twentieths(x.std()), logical_and(x >= low, x <= high).all().to(kInt64), flag(equal(first, again)),
                flag(!equal(first, next))});
}
/// What `traits` gives of numbers that are as they should be.
Tensor expected(double mean, double deviation) {
  return tensor({int64_t(std::lround(mean * 20)), int64_t(std::lround(deviation * 20)), int64_t(1), int64_t(1), int64_t(1)});
}

/// Numbers like those of the only argument.
struct Draw : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kFloating;
  static constexpr Gives gives = Gives::Any;
  static constexpr double tolerance = 1;
  static constexpr bool gradient = false, zero_dim = false, empty_input = false;
  void inputs(Inputs& in) const { in.add(zeros({kDraws})); }
  void bench(Inputs& in, int64_t n) const { in.add(zeros({n})); }
};
Options like(const Tensor& x) { return {.dtype = x.dtype(), .device = x.device()}; }

struct RandLike : Draw {
  static constexpr const char* name = "rand_like";
  static Tensor draw(const Tensor& x) { return rand_like(x); }
  Tensor run(const Tensor& x) const { return traits(x, 0, 1, draw); }
  Tensor reference(const Tensor&) const { return expected(0.5, 0.2887); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};
struct Rand : RandLike {
  static constexpr const char* name = "rand";
  static Tensor draw(const Tensor& x) { return rand(x.sizes(), like(x)); }
  Tensor run(const Tensor& x) const { return traits(x, 0, 1, draw); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};

struct RandnLike : Draw {
  static constexpr const char* name = "randn_like";
  static Tensor draw(const Tensor& x) { return randn_like(x); }
  Tensor run(const Tensor& x) const { return traits(x, -10, 10, draw); }
  Tensor reference(const Tensor&) const { return expected(0, 1); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};
struct Randn : RandnLike {
  static constexpr const char* name = "randn";
  static Tensor draw(const Tensor& x) { return randn(x.sizes(), like(x)); }
  Tensor run(const Tensor& x) const { return traits(x, -10, 10, draw); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};

struct RandintLike : Draw {
  static constexpr const char* name = "randint_like";
  static constexpr DTypes dtypes = kNumbers;
  static Tensor draw(const Tensor& x) { return randint_like(x, 2, 5); }
  Tensor run(const Tensor& x) const { return traits(x, 2, 4, draw); }
  Tensor reference(const Tensor&) const { return expected(3, 0.8165); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};
struct Randint : RandintLike {
  static constexpr const char* name = "randint";
  static Tensor draw(const Tensor& x) { return randint(2, 5, x.sizes(), like(x)); }
  Tensor run(const Tensor& x) const { return traits(x, 2, 4, draw); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};

/// The numbers in order again, and traits of the order: 0 … 99 have the mean 49.5 and the deviation 29.011.
struct Randperm : Draw {
  static constexpr const char* name = "randperm";
  static constexpr DTypes dtypes = kNumbers;
  static constexpr int64_t kLength = 100;
  static Tensor draw(const Tensor& x) { return randperm(x.numel(), like(x)); }
  void inputs(Inputs& in) const { in.add(zeros({kLength})); }
  Results run(const Tensor& x) const {
    const Tensor of_order = traits(x, 0, kLength - 1, draw);
    return std::vector<Tensor>{sort(draw(x).to(kInt64)).values, of_order};
  }
  Results reference(const Tensor& x) const { return std::vector<Tensor>{arange(x.numel()), expected(49.5, 29.011)}; }
  Tensor timed(const Tensor& x) const { return draw(x); }
};

struct Bernoulli : Draw {
  static constexpr const char* name = "bernoulli";
  static Tensor draw(const Tensor& p) { return bernoulli(p); }
  void inputs(Inputs& in) const { in.add(full({kDraws}, 0.25)); }
  Tensor run(const Tensor& p) const { return traits(p, 0, 1, draw); }
  Tensor reference(const Tensor&) const { return expected(0.25, 0.433); }
  void bench(Inputs& in, int64_t n) const { in.add(full({n}, 0.25)); }
  Tensor timed(const Tensor& p) const { return draw(p); }
};

/// A mean and a deviation for each element, one of them a number, or numbers and sizes.
struct Normal : Draw {
  static constexpr const char* name = "normal";
  void inputs(Inputs& in) const { in.add(full({kDraws}, 0.5)); }
  Results run(const Tensor& half) const {
    return std::vector<Tensor>{traits(half, -5, 10, [](const Tensor& x) { return normal(x * 4, x); }),
                               traits(half, -5, 10, [](const Tensor& x) { return normal(x * 4, 0.5); }),
                               traits(half, -5, 10, [](const Tensor& x) { return normal(2.0, x); }),
                               traits(half, -5, 10, [](const Tensor& x) { return normal(2.0, 0.5, x.sizes(), like(x)); })};
  }
  Results reference(const Tensor&) const { return std::vector<Tensor>(4, expected(2, 0.5)); }
  void bench(Inputs& in, int64_t n) const { in.add(full({n}, 0.5)); }
  Tensor timed(const Tensor& x) const { return normal(x, 0.5); }
};

struct UniformInPlace : Draw {
  static constexpr const char* name = "uniform_";
  static constexpr const char* torch = "Tensor.uniform_";
  static Tensor draw(const Tensor& x) { return empty_like(x).uniform_(-1, 3); }
  Tensor run(const Tensor& x) const { return traits(x, -1, 3, draw); }
  Tensor reference(const Tensor&) const { return expected(1, 1.1547); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};
struct NormalInPlace : Draw {
  static constexpr const char* name = "normal_";
  static constexpr const char* torch = "Tensor.normal_";
  static Tensor draw(const Tensor& x) { return empty_like(x).normal_(2, 0.5); }
  Tensor run(const Tensor& x) const { return traits(x, -5, 10, draw); }
  Tensor reference(const Tensor&) const { return expected(2, 0.5); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};
struct ExponentialInPlace : Draw {
  static constexpr const char* name = "exponential_";
  static constexpr const char* torch = "Tensor.exponential_";
  static Tensor draw(const Tensor& x) { return empty_like(x).exponential_(2); }
  Tensor run(const Tensor& x) const { return traits(x, 0, 50, draw); }
  Tensor reference(const Tensor&) const { return expected(0.5, 0.5); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};

/// With replacement, categories by their weights; without, each once. One without weight is never drawn.
struct Multinomial : Draw {
  static constexpr const char* name = "multinomial";
  static constexpr bool expands = false;
  void inputs(Inputs& in) const { in.add(tensor({0.25, 0.5, 1.75, 0.0})); }
  Results run(const Tensor& weights) const {
    const auto draw = [](const Tensor& w) { return multinomial(w, kDraws, true); };
    const Tensor rows = stack({weights, weights}), order = sort(multinomial(rows, 3)).values;
    return std::vector<Tensor>{traits(weights, 0, 2, draw), order, multinomial(weights, 2, true).to(kInt64) * 0};
  }
  Results reference(const Tensor&) const {  // probabilities of 0.1, 0.2 and 0.7
    return std::vector<Tensor>{expected(1.6, 0.6633), tensor({{0, 1, 2}, {0, 1, 2}}), tensor({0, 0})};
  }
  void bench(Inputs& in, int64_t n) const { in.add(rand({n / 1000 + 1, 1000})); }
  Tensor timed(const Tensor& weights) const { return multinomial(weights, 100, true); }
};

// --- Dropout. What is kept depends on the seed alone, so dropout of ones tells the mask; its traits are compared too.

/// The mask of `drop` for tensors like x.
template <class F>
Tensor mask_of(const Tensor& x, F drop) {
  manual_seed(1);
  return drop(ones_like(x.detach()));
}
template <class F>
Tensor dropped(const Tensor& x, F drop) {
  manual_seed(1);
  return drop(x);
}

struct Dropout : Draw {
  static constexpr const char* name = "dropout";
  static constexpr const char* torch = "nn.functional.dropout";
  static constexpr bool gradient = true;
  static Tensor drop(const Tensor& x) { return dropout(x, 0.5); }
  void inputs(Inputs& in) const { in.add(randn({kDraws})); }
  Results run(const Tensor& x) const {
    return std::vector<Tensor>{dropped(x, drop), traits(x, 0, 2, [](const Tensor& y) { return drop(ones_like(y.detach())); })};
  }
  Results reference(const Tensor& x) const { return std::vector<Tensor>{x * mask_of(x, drop), expected(1, 1)}; }
  Tensor timed(const Tensor& x) const { return drop(x); }
};

/// Of whole channels: the mask is one number for each.
template <int N>
struct DropoutOfChannels : Draw {
  static constexpr const char* name = pick<N>("dropout1d", "dropout2d", "dropout3d");
  static constexpr const char* torch = pick<N>("nn.functional.dropout1d", "nn.functional.dropout2d", "nn.functional.dropout3d");
  static constexpr bool gradient = true;
  static Shape sizes(int64_t channels) {
    Shape out{100, channels};
    for (int d = 0; d < N; ++d) out.push_back(2);
    return out;
  }
  static Tensor drop(const Tensor& x) {
    if constexpr (N == 1) return dropout1d(x, 0.2);
    else if constexpr (N == 2) return dropout2d(x, 0.2);
    else return dropout3d(x, 0.2);
  }
  /// A number a channel, and whether all of a channel have it.
  static Tensor first_of_each(const Tensor& mask) { return mask.flatten(2).select(2, 0); }
  static Tensor alike(const Tensor& mask) { return (mask.flatten(2) == first_of_each(mask).unsqueeze(2)).all().to(kInt64); }
  void inputs(Inputs& in) const { in.add(randn(sizes(100))); }
  Results run(const Tensor& x) const {
    const auto of_ones = [](const Tensor& y) { return first_of_each(drop(ones_like(y.detach()))); };
    return std::vector<Tensor>{dropped(x, drop), alike(mask_of(x, drop)), traits(x, 0, 1.26, of_ones)};
  }
  Results reference(const Tensor& x) const { return std::vector<Tensor>{x * mask_of(x, drop), tensor(1), expected(1, 0.5)}; }
  void bench(Inputs& in, int64_t n) const { in.add(randn(sizes(std::max<int64_t>(1, n / (100 << N))))); }
  Tensor timed(const Tensor& x) const { return drop(x); }
};

/// Normal numbers keep mean and deviation. Zeros tell the mask: what is dropped becomes a negative number, what is kept a positive one.
struct AlphaDropout : Draw {
  static constexpr const char* name = "alpha_dropout";
  static constexpr const char* torch = "nn.functional.alpha_dropout";
  static constexpr double tolerance = 3;
  static constexpr bool gradient = true;
  static constexpr double kRate = 0.4, kDropped = -1.7580993408473766;  // to what selu tends
  static Tensor drop(const Tensor& x) { return alpha_dropout(x, kRate, true); }
  static Tensor of_normal(const Tensor& x) {
    const Tensor y = randn_like(x);
    return drop(y);
  }
  void inputs(Inputs& in) const { in.add(randn({kDraws})); }
  Results run(const Tensor& x) const { return std::vector<Tensor>{dropped(x, drop), traits(x, -20, 20, of_normal)}; }
  Results reference(const Tensor& x) const {
    const Tensor kept = dropped(zeros_like(x.detach()), drop) > 0;
    const double scale = 1 / std::sqrt((1 - kRate) * (1 + kRate * kDropped * kDropped)), shift = -scale * kRate * kDropped;
    return std::vector<Tensor>{where(kept, x, kDropped) * scale + shift, expected(0, 1)};
  }
  Tensor timed(const Tensor& x) const { return drop(x); }
};

/// With the noise known from logits of zero, the softmax of both; and categories drawn as often as the logits say.
struct GumbelSoftmax : Draw {
  static constexpr const char* name = "gumbel_softmax";
  static constexpr const char* torch = "nn.functional.gumbel_softmax";
  static constexpr double tolerance = 4;
  static constexpr bool gradient = true;
  static constexpr double kTau = 1.5;
  static Tensor draw(const Tensor& logits) { return gumbel_softmax(logits, kTau); }
  static Tensor categories(const Tensor& x) {
    const Tensor logits = log(tensor({0.1, 0.2, 0.7}, like(x))).expand({kDraws, 3});
    return gumbel_softmax(logits, kTau, true).argmax(-1);
  }
  void inputs(Inputs& in) const { in.add(randn({5, 7})); }
  Results run(const Tensor& x) const {
    const Tensor soft = dropped(x, draw), noise = log(dropped(zeros_like(x.detach()), draw).to(kFloat64));
    manual_seed(1);
    const Tensor hard = gumbel_softmax(x, kTau, true).detach();
    return std::vector<Tensor>{soft - softmax(x.to(kFloat64) / kTau + noise, -1).to(x.dtype()), hard.to(kInt64).sum(-1),
                               (hard.argmax(-1) == soft.detach().argmax(-1)).to(kInt64), traits(x, 0, 2, categories)};
  }
  Results reference(const Tensor& x) const {
    return std::vector<Tensor>{zeros_like(x.detach()), ones({5}, kInt64), ones({5}, kInt64), expected(1.6, 0.6633)};
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n / 1000 + 1, 1000})); }
  Tensor timed(const Tensor& x) const { return draw(x); }
};

}  // namespace

void add_random(std::vector<Operation>& list) {
  list.push_back(operation<Rand>());
  list.push_back(operation<RandLike>());
  list.push_back(operation<Randn>());
  list.push_back(operation<RandnLike>());
  list.push_back(operation<Randint>());
  list.push_back(operation<RandintLike>());
  list.push_back(operation<Randperm>());
  list.push_back(operation<Bernoulli>());
  list.push_back(operation<Normal>());
  list.push_back(operation<UniformInPlace>());
  list.push_back(operation<NormalInPlace>());
  list.push_back(operation<ExponentialInPlace>());
  list.push_back(operation<Multinomial>());
  list.push_back(operation<Dropout>());
  list.push_back(operation<DropoutOfChannels<1>>());
  list.push_back(operation<DropoutOfChannels<2>>());
  list.push_back(operation<DropoutOfChannels<3>>());
  list.push_back(operation<AlphaDropout>());
  list.push_back(operation<GumbelSoftmax>());
}

}  // namespace tandem::cases
