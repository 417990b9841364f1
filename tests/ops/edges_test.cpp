// Every pointwise operation and its gradients at the edges of its type: zeros, the smallest and largest numbers, infinities and nan, and
// all pairs of them, against what PyTorch gives for the same numbers in float64 (tests/golden/edges.py). A row of kernels/pointwise.def is
// found by itself: it needs an answer in edges.npz, and one that an operation with parameters calls by hand a line in kOthers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kernels/cpu/instruction_set.h"
#include "ops/elementwise.h"
#include "runtime/driver.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using td::Tensor;
using Unary = std::function<Tensor(const Tensor&)>;
using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;

using Function = Tensor (*)(const td::Operand&, const td::Operand&, td::Site);

struct Case {
  std::string name;
  Unary unary;
  Binary binary;
  std::vector<std::string> kernels = {};  // the rows without functions of their own that it runs
  Function function = nullptr;            // of two operands, which may be numbers
};

Tensor probability(const Tensor& x) { return td::where(td::logical_and(x >= 0, x <= 1), x, 0.5); }

/// Operations with parameters, by the names in edges.py.
std::vector<Case> others() {
  return {
      {"threshold", [](const Tensor& x) { return td::threshold(x, 0.5, 2); }, {}, {"threshold", "threshold_backward"}},
      {"hardtanh", [](const Tensor& x) { return td::hardtanh(x, -1, 1); }, {}, {"hardtanh_backward"}},
      {"clamp", [](const Tensor& x) { return td::clamp(x, -0.5, 1); }, {}, {"clamp"}},
      {"pow_2", [](const Tensor& x) { return td::pow(x, 2); }, {}},
      {"pow_3", [](const Tensor& x) { return td::pow(x, 3); }, {}, {"cube"}},
      {"pow_half", [](const Tensor& x) { return td::pow(x, 0.5); }, {}},
      {"pow_minus_half", [](const Tensor& x) { return td::pow(x, -0.5); }, {}},
      {"pow_minus_1", [](const Tensor& x) { return td::pow(x, -1); }, {}},
      {"pow_minus_2", [](const Tensor& x) { return td::pow(x, -2); }, {}},
      {"pow_2_5", [](const Tensor& x) { return td::pow(x, 2.5); }, {}},
      {"base_0", [](const Tensor& x) { return td::pow(0, x); }, {}},
      {"base_2", [](const Tensor& x) { return td::pow(2, x); }, {}},
      {"gelu", [](const Tensor& x) { return td::gelu(x); }, {}, {"gelu"}},
      {"gelu_tanh", [](const Tensor& x) { return td::gelu(x, "tanh"); }, {}, {"gelu_tanh"}},
      {"leaky_relu", [](const Tensor& x) { return td::leaky_relu(x, 0.25); }, {}, {"leaky_relu", "leaky_relu_backward"}},
      {"elu", [](const Tensor& x) { return td::elu(x, 0.5); }, {}, {"elu", "elu_backward"}},
      {"celu", [](const Tensor& x) { return td::celu(x, 0.5); }, {}, {"celu"}},
      {"softplus", [](const Tensor& x) { return td::softplus(x, 2, 20); }, {}, {"softplus", "softplus_backward"}},
      {"hardshrink", [](const Tensor& x) { return td::hardshrink(x, 0.5); }, {}, {"hardshrink", "shrink_backward"}},
      {"softshrink", [](const Tensor& x) { return td::softshrink(x, 0.5); }, {}, {"softshrink"}},
      {"nan_to_num", [](const Tensor& x) { return td::nan_to_num(x, 2, 3, 4); }, {}, {"nan_to_num"}},
      {"logit", [](const Tensor& x) { return td::logit(x); }, {}, {"logit"}},
      {"logit_eps", [](const Tensor& x) { return td::logit(x, 0.25); }, {}},
      {"polygamma_1", [](const Tensor& x) { return td::polygamma(1, x); }, {}, {"polygamma"}},
      {"polygamma_2", [](const Tensor& x) { return td::polygamma(2, x); }, {}},
      {"where", {}, [](const Tensor& a, const Tensor& b) { return td::where(a > 0, a, b); }, {"where"}},
      {"clamp_min", {}, [](const Tensor& a, const Tensor& b) { return td::clamp_min(a, b); }},
      {"clamp_max", {}, [](const Tensor& a, const Tensor& b) { return td::clamp_max(a, b); }},
      {"add_scaled", {}, [](const Tensor& a, const Tensor& b) { return td::add(a, b, 2); }, {"add_scaled"}},
      {"div_trunc", {}, [](const Tensor& a, const Tensor& b) { return td::div(a, b, "trunc"); }, {"div_trunc"}},
      {"div_floor", {}, [](const Tensor& a, const Tensor& b) { return td::div(a, b, "floor"); }},
      {"lerp", {}, [](const Tensor& a, const Tensor& b) { return td::lerp(a, b, 0.25); }, {"lerp"}},
      {"lerp_far", {}, [](const Tensor& a, const Tensor& b) { return td::lerp(a, b, 0.75); }},
      {"addcmul", {}, [](const Tensor& a, const Tensor& b) { return td::addcmul(td::ones_like(a), a, b, 2); }, {"addcmul"}},
      {"addcdiv", {}, [](const Tensor& a, const Tensor& b) { return td::addcdiv(td::ones_like(a), a, b, 2); }, {"addcdiv"}},
      {"isclose", {}, [](const Tensor& a, const Tensor& b) { return td::isclose(a, b); }, {"isclose"}},
      {"mse_loss", {}, [](const Tensor& a, const Tensor& b) { return td::mse_loss(a, b, {.reduction = td::Reduction::None}); }},
      {"l1_loss", {}, [](const Tensor& a, const Tensor& b) { return td::l1_loss(a, b, {.reduction = td::Reduction::None}); }},
      {"smooth_l1_loss",
       {},
       [](const Tensor& a, const Tensor& b) { return td::smooth_l1_loss(a, b, {.reduction = td::Reduction::None, .beta = 0.5}); },
       {"smooth_l1"}},
      {"huber_loss",
       {},
       [](const Tensor& a, const Tensor& b) { return td::huber_loss(a, b, {.reduction = td::Reduction::None, .delta = 0.5}); },
       {"huber"}},
      {"binary_cross_entropy",
       {},
       [](const Tensor& a, const Tensor& b) {
         return td::binary_cross_entropy(probability(a), probability(b), {.reduction = td::Reduction::None});
       },
       {"binary_cross_entropy"}},
      {"binary_cross_entropy_with_logits",
       {},
       [](const Tensor& a, const Tensor& b) { return td::binary_cross_entropy_with_logits(a, b, {.reduction = td::Reduction::None}); },
       {"binary_cross_entropy_logits", "binary_cross_entropy_logits_backward"}},
  };
}

/// The functions of pointwise.def that take floating numbers, and the rest.
std::vector<Case> all_cases() {
  std::vector<Case> cases = others();
#define TD_UNARY(function, Functor, rule, ...) \
  if (!td::kernels::of_integers(td::ops::Rule::rule)) cases.push_back({#function, [](const Tensor& x) { return td::function(x); }, {}});
#define TD_BINARY(function, Functor, rule, ...)       \
  if (!td::kernels::of_integers(td::ops::Rule::rule)) \
    cases.push_back({#function, {}, [](const Tensor& a, const Tensor& b) { return td::function(a, b); }, {}, td::function});
#define TD_KERNEL(...)
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
  return cases;
}

constexpr const char* kEdgeNames[] = {"0", "-0", "1", "-1", "smallest", "largest", "subnormal", "inf", "-inf", "nan"};
constexpr int64_t kEdges = 10;

struct Type {
  td::DType dtype;
  const char* name;
  double epsilon, smallest, largest, least;  // least: the distance of subnormal numbers
};
constexpr Type kTypes[] = {
    {td::kFloat32, "float32", 0x1p-23, 0x1p-126, 0x1.fffffep127, 0x1p-149},
    {td::kFloat64, "float64", 0x1p-52, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1p-1074},
    {td::kBFloat16, "bfloat16", 0x1p-7, 0x1p-126, 0x1.fep127, 0x1p-133},
    {td::kFloat16, "float16", 0x1p-10, 0x1p-14, 65504, 0x1p-24},
};

Tensor edges_of(const Type& type) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  return td::tensor({0.0, -0.0, 1.0, -1.0, type.smallest, type.largest, 3 * type.least, inf, -inf, nan}, td::kFloat64).to(type.dtype);
}

enum Edge : int8_t { kZero, kMinusZero, kOne, kMinusOne, kSmallest, kLargest, kSubnormal, kInf, kMinusInf, kNan };

/// A number where it differs.
struct Difference {
  const Case& what;
  const Type& type;
  int row;       // 0: the result, then the gradients
  int64_t a, b;  // edges; b is -1 for one operand
  double got, wanted;

  [[nodiscard]] bool at(Edge edge) const { return a == edge || b == edge; }
  [[nodiscard]] bool within(double relative) const { return std::fabs(got - wanted) <= relative * std::fabs(wanted); }
};
struct Rule {
  std::set<std::string> names;
  bool (*holds)(const Difference& d);
  const char* reason;
};
/// What may differ.
const std::vector<Rule> kRules = {
    {{"add_scaled", "addcmul"},
     [](const Difference& d) { return d.row == 0 && d.at(kLargest) && !std::isfinite(d.got); },
     "the product with the factor overflows before the sum, as it does in PyTorch in this type without a fused product"},
    {{"addcdiv"},
     [](const Difference& d) { return d.row == 0 && d.type.dtype == td::kFloat64 && d.a == kLargest && d.got < 4; },
     "PyTorch multiplies by the factor before it divides, which overflows"},
    {{"digamma", "polygamma_1"},
     [](const Difference& d) { return d.a == kMinusOne && std::isinf(d.got); },
     "a pole; PyTorch's sine of pi is not 0"},
    {{"digamma", "polygamma_1"}, [](const Difference& d) { return d.within(1e-8); }, "PyTorch's trigamma has nine digits"},
    {{"fmod", "remainder"},
     [](const Difference& d) { return d.type.dtype == td::kFloat64 && std::isnan(d.wanted) && std::fabs(d.got) < 1; },
     "PyTorch's vector code gives nan where the quotient is too large"},
    {{"gelu_tanh", "gelu_tanh_backward", "gelu_backward"},
     [](const Difference& d) { return (d.at(kInf) || d.at(kMinusInf)) && std::isnan(d.wanted) && !std::isnan(d.got); },
     "the limit, where PyTorch multiplies infinity by 0"},
    {{"hardsigmoid"}, [](const Difference& d) { return d.row == 1 && d.within(1e-7); }, "PyTorch's sixth is a float"},
    {{"hypot"},
     [](const Difference& d) {
       // CUDA's hypot overflows beside the largest double, too.
       const bool overflows = d.type.dtype == td::kFloat64 && !td::runtime::devices_are_virtual();
       return d.row > 0 && ((d.a == d.b && (d.a == kLargest || d.a == kSubnormal)) || (overflows && d.at(kLargest) && d.got == 0));
     },
     "the gradient goes by the result, which has overflowed or few digits, as in PyTorch in this type"},
    {{"logaddexp2"}, [](const Difference& d) { return d.row == 0 && d.got == 0 && std::fabs(d.wanted) < 1e-15; }, "exactly 0"},
    {{"acosh", "asinh", "atan2", "addcdiv", "log10", "gelu_backward", "gelu_tanh", "gelu_tanh_backward"},
     [](const Difference& d) {
       return d.type.dtype == td::kFloat64 && (d.at(kSmallest) || d.at(kLargest) || d.at(kSubnormal)) && !std::isnan(d.got);
     },
     "what PyTorch computes in between overflows, or becomes 0, in float64"},
    {{"atan2"},
     [](const Difference& d) { return d.row > 0 && d.a == kLargest && d.b == kLargest; },
     "the distance from the origin overflows: less than the smallest normal number is 0"},
    {{"binary_cross_entropy_with_logits"},
     [](const Difference& d) { return d.row == 1 && (d.b == kInf || d.b == kMinusInf) && std::isnan(d.got); },
     "a target that is infinite, times a slope of 0"},
    {{"hardswish", "hardswish_backward"},
     [](const Difference& d) { return d.at(kNan) && std::isnan(d.got); },
     "PyTorch's vector code gives nan, too, what is left over behind it 1"},
    {{"polygamma_1", "polygamma_2"}, [](const Difference& d) { return d.a == kInf && d.got == 0; }, "the limit; PyTorch gives nan"},
    {{"pow"},
     [](const Difference& d) {
       return d.row == 1 && d.type.dtype == td::kFloat16 && (d.b == kSmallest || d.b == kLargest || d.b == kSubnormal);
     },
     "b - 1 is rounded to the type, as in PyTorch"},
    {{"pow"},
     [](const Difference& d) { return d.row == 1 && d.a == kSubnormal && std::isinf(d.got); },
     "a^(b - 1) overflows before it is multiplied by b, as in PyTorch"},
    {{"tanh_backward", "sigmoid_backward"},
     [](const Difference& d) { return d.b == kLargest || d.b == kInf || d.b == kMinusInf; },
     "b is the result of tanh or sigmoid, never larger than 1"},
    {{"sinc"},
     [](const Difference& d) { return (d.a == kOne || d.a == kMinusOne) && std::fabs(d.got - d.wanted) < d.type.epsilon; },
     "pi is rounded to the type, as in PyTorch"},
    {{"sinc"},
     [](const Difference& d) { return d.a == kLargest; },
     "a whole number: sin(pi x) is 0; PyTorch's pi x is off by more than a turn"},
    {{"sinc"},
     [](const Difference& d) { return d.row == 1 && d.type.dtype == td::kFloat16 && std::fabs(d.wanted) < 1e-3; },
     "a difference of numbers near 1 in the type, as in PyTorch"},
    {{"softsign"}, [](const Difference& d) { return d.row == 1 && d.got == 0; }, "the limit, where PyTorch divides infinity by infinity"},
};

std::string text(const Difference& d) {
  std::string at = kEdgeNames[d.a];
  if (d.b >= 0) at += std::string(", ") + kEdgeNames[d.b];
  return td::str(d.what.name, " of ", d.type.name, " at (", at, "), ",
                 d.row == 0   ? "result"
                 : d.row == 1 ? "gradient of a"
                              : "gradient of b",
                 ": ", d.got, " where PyTorch has ", d.wanted);
}

/// Whether `got` is `wanted` rounded to the type, but for some units in the last place. A zero of a result has its sign.
bool agrees(double got, double wanted, const Type& type, int row) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isnan(got)) return false;
  const double units = type.epsilon > 0x1p-12 ? 4 : 16;
  if (std::fabs(wanted) > type.largest)
    return got == std::copysign(INFINITY, wanted) || (std::isfinite(wanted) && got == std::copysign(type.largest, wanted));
  if (std::isinf(got)) return std::fabs(wanted) * (1 + units * type.epsilon) > type.largest && std::signbit(got) == std::signbit(wanted);
  if (wanted == 0 && got == 0) return row > 0 || std::signbit(got) == std::signbit(wanted);
  return std::fabs(got - wanted) <= units * (std::fabs(wanted) * type.epsilon + type.least);
}

class Edges : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string where = GetParam();
    if (where != "cuda") {
      if (!td::kernels::cpu::use_isa(GetParam())) GTEST_SKIP() << "this processor has no " << where;
    } else {
      device_ = td::Device("cuda:0");
    }
  }
  void TearDown() override { td::kernels::cpu::use_isa(before_); }

  static void TearDownTestSuite() {
    if (!looked_at_baseline_) return;
    for (const Rule& rule : kRules) EXPECT_TRUE(used_.count(&rule)) << "nothing differs by this rule: " << rule.reason;
  }

  /// The result and the gradients of the leaves, as float64 on the CPU.
  static std::vector<std::vector<double>> rows_of(const Tensor& y, const std::vector<Tensor>& leaves) {
    std::vector<Tensor> rows = {y.detach()};
    if (y.requires_grad())
      for (const Tensor& g : td::grad({y}, leaves, {.grad_outputs = {td::ones_like(y)}, .allow_unused = true}))
        rows.push_back(g.defined() ? g : td::zeros_like(leaves[0]));
    std::vector<std::vector<double>> numbers;
    for (const Tensor& row : rows) {
      const Tensor there = row.cpu().to(td::kFloat64).contiguous();
      numbers.emplace_back(there.data_ptr<double>(), there.data_ptr<double>() + there.numel());
    }
    return numbers;
  }
  [[nodiscard]] Tensor leaf(const Tensor& x) const { return x.to(device_).clone().requires_grad_(); }

  /// Row `row` of PyTorch's answers, of which `got` has every `step`-th from `first` on.
  static void compare(const Case& c, const Type& type, const Tensor& answers, int64_t row, int64_t first, int64_t step,
                      const std::vector<double>& got) {
    if (row >= answers.size(0)) return;  // PyTorch has no such gradient
    const double* const wanted = answers.data_ptr<double>() + row * answers.size(1);
    for (size_t k = 0; k < got.size(); ++k) {
      const int64_t i = first + static_cast<int64_t>(k) * step;
      if (agrees(got[k], wanted[i], type, static_cast<int>(row))) continue;
      const Difference d{c, type, static_cast<int>(row), c.unary ? i : i / kEdges, c.unary ? -1 : i % kEdges, got[k], wanted[i]};
      const auto rule =
          std::find_if(kRules.begin(), kRules.end(), [&](const Rule& each) { return each.names.count(c.name) && each.holds(d); });
      if (rule == kRules.end()) ADD_FAILURE() << text(d);
      else used_.insert(&*rule);
    }
  }

  td::Device device_ = td::cpu();
  static inline std::set<const Rule*> used_;
  static inline bool looked_at_baseline_ = false;

 private:
  const char* const before_ = td::kernels::cpu::isa().name;
};

TEST_P(Edges, AreThoseOfPyTorch) {
  looked_at_baseline_ |= std::string(GetParam()) == "baseline";
  const auto all = td::io::load_npz(std::string(TANDEM_TESTS_DIR) + "/golden/edges.npz");
  for (const Case& c : all_cases())
    for (const Type& type : kTypes) {
      const auto found = all.find(c.name + "/" + type.name);
      ASSERT_NE(found, all.end()) << c.name << ": add it to tests/golden/edges.py and run that";
      const Tensor& answers = found->second;
      const Tensor x = edges_of(type), a = c.unary ? x : x.repeat_interleave(kEdges), b = c.unary ? x : x.repeat({kEdges});
      const int64_t count = a.numel();
      // All at once, which fills registers, and three by three, which is what is left over at the end of a row.
      for (const int64_t length : {count, int64_t{3}})
        for (int64_t first = 0; first < count; first += length) {
          const int64_t last = std::min(count, first + length);
          std::vector<Tensor> leaves = {leaf(a.slice(0, first, last))};
          if (!c.unary) leaves.push_back(leaf(b.slice(0, first, last)));
          const auto rows = rows_of(c.unary ? c.unary(leaves[0]) : c.binary(leaves[0], leaves[1]), leaves);
          EXPECT_GE(static_cast<int64_t>(rows.size()), answers.size(0)) << c.name << " has no gradient, PyTorch's has";
          for (size_t row = 0; row < rows.size(); ++row) compare(c, type, answers, static_cast<int64_t>(row), first, 1, rows[row]);
        }
      if (!c.function) continue;
      for (int64_t edge = 0; edge < kEdges; ++edge) {  // a number for an operand
        const double number = x[edge].item<double>();
        const Tensor with_second = leaf(x), with_first = leaf(x);
        const auto second = rows_of(c.function(with_second, number, td::Site::here()), {with_second});
        const auto first = rows_of(c.function(number, with_first, td::Site::here()), {with_first});
        for (size_t row = 0; row < second.size(); ++row) {
          compare(c, type, answers, static_cast<int64_t>(row), edge, kEdges, second[row]);
          compare(c, type, answers, static_cast<int64_t>(2 * row), edge * kEdges, 1, first[row]);
        }
      }
    }
}

TEST(EdgesCases, HaveEveryKernel) {
  std::set<std::string> known;
  for (const Case& c : others()) known.insert(c.kernels.begin(), c.kernels.end());
#define TD_UNARY(...)
#define TD_BINARY(...)
#define TD_KERNEL(kernel, ...) EXPECT_TRUE(known.count(#kernel)) << #kernel << ": give others() an operation that runs it";
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
}

INSTANTIATE_TEST_SUITE_P(Sets, Edges, testing::Values("baseline", "avx2", "avx512", "cuda"));

}  // namespace
