// Random numbers. A drawn tensor has no reference, so what is compared are its moments and bounds, with the seed fixed.
#include "tools/cases/case.h"

namespace tandem::cases {
namespace {

constexpr int64_t kDraws = 40000;

/// Numbers like those of the only argument. The results, whole numbers: mean and deviation in twentieths, and whether all are
/// within bounds.
struct Draw : Case {
  static constexpr DTypes dtypes = kFloating;
  static constexpr Gives gives = Gives::Any;
  static constexpr double tolerance = 1;
  static constexpr bool gradient = false, zero_dim = false, empty_input = false;
  void inputs(Inputs& in) const { in.add(zeros({kDraws})); }
  void bench(Inputs& in, int64_t n) const { in.add(zeros({n})); }

  static Tensor moments(const Tensor& drawn, double low, double high) {
    const Tensor x = drawn.to(kFloat64);
    const auto twentieths = [](const Tensor& value) { return round(value * 20).to(kInt64); };
    return stack({twentieths(x.mean()), twentieths(x.std()), logical_and(x >= low, x <= high).all().to(kInt64)});
  }
};

struct Rand : Draw {
  static constexpr const char* name = "rand_like";
  Tensor run(const Tensor& x) const {
    manual_seed(1);
    return moments(timed(x), 0, 1);
  }
  Tensor reference(const Tensor&) const { return tensor({10, 6, 1}); }
  Tensor timed(const Tensor& x) const { return rand_like(x); }
};

struct Randn : Draw {
  static constexpr const char* name = "randn_like";
  Tensor run(const Tensor& x) const {
    manual_seed(1);
    return moments(timed(x), -10, 10);
  }
  Tensor reference(const Tensor&) const { return tensor({0, 20, 1}); }
  Tensor timed(const Tensor& x) const { return randn_like(x); }
};

struct Bernoulli : Draw {
  static constexpr const char* name = "bernoulli";
  void inputs(Inputs& in) const { in.add(full({kDraws}, 0.25)); }
  Tensor run(const Tensor& x) const {
    manual_seed(1);
    return moments(timed(x), 0, 1);
  }
  Tensor reference(const Tensor&) const { return tensor({5, 9, 1}); }
  void bench(Inputs& in, int64_t n) const { in.add(full({n}, 0.25)); }
  Tensor timed(const Tensor& p) const { return bernoulli(p); }
};

/// What is kept depends on the seed alone, so dropout of ones tells the mask; its moments are compared too.
struct Dropout : Draw {
  static constexpr const char* name = "dropout";
  static constexpr const char* torch = "nn.functional.dropout";
  static constexpr bool gradient = true;
  void inputs(Inputs& in) const { in.add(randn({kDraws})); }
  static Tensor mask(const Tensor& x) {
    manual_seed(1);
    return dropout(ones_like(x.detach()), 0.5);
  }
  Results run(const Tensor& x) const {
    const Tensor moments_of_mask = moments(mask(x), 0, 2);
    manual_seed(1);
    return std::vector<Tensor>{dropout(x, 0.5), moments_of_mask};
  }
  Results reference(const Tensor& x) const { return std::vector<Tensor>{x * mask(x), tensor({20, 20, 1})}; }
  Tensor timed(const Tensor& x) const { return dropout(x, 0.5); }
};

}  // namespace

void add_random(std::vector<Operation>& list) {
  list.push_back(operation<Rand>());
  list.push_back(operation<Randn>());
  list.push_back(operation<Bernoulli>());
  list.push_back(operation<Dropout>());
}

}  // namespace tandem::cases
