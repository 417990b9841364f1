// The registry of instruction sets, and what each of them has beside the lowest: the same numbers, up to rounding; random ones to the bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "base/error.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/every_set.h"

namespace tandem::kernels::cpu {
namespace {

std::string error_of(const std::string& wish) {
  try {
    (void)wanted_instruction_set(wish);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(InstructionSets, AreFoundByName) {
  const auto names = instruction_sets();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.front(), "baseline");
  for (const std::string_view name : names) {
    ASSERT_NE(instruction_set(name), nullptr) << name;
    EXPECT_EQ(instruction_set(name)->name, name);
    EXPECT_EQ(&wanted_instruction_set(std::string(name)), instruction_set(name));
  }
  EXPECT_EQ(&wanted_instruction_set(std::nullopt), instruction_set(names.back()));
  EXPECT_EQ(instruction_set("AVX2"), nullptr);
}

TEST(InstructionSets, OnesThatAreNotThereAreErrors) {
  EXPECT_NE(error_of("avx3").find("TANDEM_ISA='avx3' is no instruction set: this library has baseline"), std::string::npos)
      << error_of("avx3");
  EXPECT_NE(error_of("").find("is no instruction set"), std::string::npos);
  for (const char* name : {"avx2", "avx512"}) {
    if (instruction_set(name)) continue;
    EXPECT_NE(error_of(name).find(str("TANDEM_ISA='", name, "'")), std::string::npos) << error_of(name);
  }
}

#if defined(__x86_64__)
// A set runs only where all that it is compiled for is there: each feature taken away alone is named, and the next lower set chosen.
TEST(InstructionSets, NeedAllThatTheyAreCompiledFor) {
  constexpr uint32_t kAll = ~0U;
  const Processor whole{kAll, kAll, kAll, kAll};
  for (const char* set : {"baseline", "avx2", "avx512"}) EXPECT_TRUE(lacking(set, whole).empty()) << set;
  const auto without = [&](uint32_t Processor::*word, int bit) {
    Processor p = whole;
    p.*word &= ~(1U << bit);
    return p;
  };
  const struct {
    const char* feature;
    uint32_t Processor::*word;
    int bit;
    const char* set;  // the lowest that needs it
  } features[] = {{"pni", &Processor::leaf1_ecx, 0, "baseline"},        {"ssse3", &Processor::leaf1_ecx, 9, "baseline"},
                  {"cx16", &Processor::leaf1_ecx, 13, "baseline"},      {"sse4_1", &Processor::leaf1_ecx, 19, "baseline"},
                  {"sse4_2", &Processor::leaf1_ecx, 20, "baseline"},    {"popcnt", &Processor::leaf1_ecx, 23, "baseline"},
                  {"lahf_lm", &Processor::extended_ecx, 0, "baseline"}, {"fma", &Processor::leaf1_ecx, 12, "avx2"},
                  {"movbe", &Processor::leaf1_ecx, 22, "avx2"},         {"avx", &Processor::leaf1_ecx, 28, "avx2"},
                  {"f16c", &Processor::leaf1_ecx, 29, "avx2"},          {"bmi1", &Processor::leaf7_ebx, 3, "avx2"},
                  {"avx2", &Processor::leaf7_ebx, 5, "avx2"},           {"bmi2", &Processor::leaf7_ebx, 8, "avx2"},
                  {"abm", &Processor::extended_ecx, 5, "avx2"},         {"registers", &Processor::xcr0, 2, "avx2"},
                  {"avx512f", &Processor::leaf7_ebx, 16, "avx512"},     {"avx512dq", &Processor::leaf7_ebx, 17, "avx512"},
                  {"avx512cd", &Processor::leaf7_ebx, 28, "avx512"},    {"avx512bw", &Processor::leaf7_ebx, 30, "avx512"},
                  {"avx512vl", &Processor::leaf7_ebx, 31, "avx512"},    {"registers", &Processor::xcr0, 6, "avx512"}};
  for (const auto& f : features) {
    const Processor p = without(f.word, f.bit);
    bool needed = false;
    for (const char* set : {"baseline", "avx2", "avx512"}) {
      needed |= std::string_view(set) == f.set;
      const auto names = lacking(set, p);
      EXPECT_EQ(!names.empty(), needed) << set << " without " << f.feature;
      if (needed) {
        EXPECT_NE(names.front().find(f.feature), std::string_view::npos) << names.front();
      }
    }
    if (f.set == std::string_view("avx2")) {
      EXPECT_EQ(wanted_instruction_set(std::nullopt, p).name, std::string_view("baseline")) << f.feature;
    }
  }
}

TEST(InstructionSets, AProcessorThatLacksTheLowestIsAnError) {
  try {
    (void)wanted_instruction_set(std::nullopt, Processor{});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("need x86-64-v2, as processors since 2009 have: it lacks pni, ssse3, cx16"),
              std::string_view::npos)
        << error.what();
  }
}
#endif

// The tables hold names and functions only, so they can be gone through as pointers.
TEST(InstructionSets, HaveNoFunctionInCommon) {
  constexpr size_t kPointers = sizeof(Isa) / sizeof(void*);
  const auto names = instruction_sets();
  for (size_t a = 0; a < names.size(); ++a)
    for (size_t b = a + 1; b < names.size(); ++b) {
      const void *first[kPointers], *second[kPointers];
      std::memcpy(static_cast<void*>(first), instruction_set(names[a]), sizeof first);
      std::memcpy(static_cast<void*>(second), instruction_set(names[b]), sizeof second);
      for (size_t i = 0; i < kPointers; ++i) {
        EXPECT_EQ(first[i] == nullptr, second[i] == nullptr) << names[a] << " and " << names[b] << ", entry " << i;
        EXPECT_TRUE(!first[i] || first[i] != second[i]) << names[a] << " and " << names[b] << ", entry " << i;
      }
    }
}

class ChosenSet : public testing::EverySet {};
using tandem::kernels::testing::set_name;
TD_EVERY_SET(ChosenSet);

TEST_P(ChosenSet, GivesAllTables) { EXPECT_EQ(&isa(), instruction_set(GetParam())); }

// --- Each set beside the lowest

using Numbers = std::vector<double>;

/// `run` computes with one set's tables; what it gives must be the same with all, up to `tolerance` of a number's size (at least 1).
void same_on_all(const std::string& what, double tolerance, const std::function<Numbers(const Isa&)>& run) {
  const auto names = instruction_sets();
  const Numbers expected = run(*instruction_set(names.front()));
  for (const std::string_view name : names) {
    const Numbers numbers = run(*instruction_set(name));
    ASSERT_EQ(numbers.size(), expected.size()) << what << " on " << name;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == expected[i] || (std::isnan(numbers[i]) && std::isnan(expected[i]))) continue;
      ASSERT_LE(std::abs(numbers[i] - expected[i]), tolerance * std::max(1.0, std::abs(expected[i])))
          << what << " on " << name << ", number " << i << ": " << numbers[i] << " instead of " << expected[i];
    }
  }
}

constexpr int64_t kLengths[] = {1, 5, 37, 1000};  // less than a vector, ends of vectors, many

/// n numbers in (-2, 2), of which no two lists are alike.
template <class T>
std::vector<T> some(int64_t n, uint64_t seed) {
  std::vector<T> all;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    all.push_back(static_cast<T>(static_cast<double>(seed >> 40) * 0x1p-22 - 2));
  }
  return all;
}
template <class T>
std::vector<T> positive(int64_t n, uint64_t seed) {
  std::vector<T> all = some<T>(n, seed);
  for (T& x : all) x = std::abs(x) + T(0.125);
  return all;
}
template <class T>
void append(Numbers& all, const std::vector<T>& more) {
  for (const T x : more) all.push_back(static_cast<double>(x));
}

template <class T>
class Floats : public ::testing::Test {
 protected:
  static constexpr int kType = sizeof(T) == 8;
  static constexpr double kTolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, Types);

TYPED_TEST(Floats, SoftmaxAndNormalization) {
  using T = TypeParam;
  for (const int64_t n : kLengths)
    same_on_all(str("rows of ", n), this->kTolerance * 10, [&](const Isa& set) {
      const RowFunctions& f = set.rows[TestFixture::kType];
      constexpr int64_t kRows = 3;
      const std::vector<T> x = some<T>(n * kRows, 1), grad = some<T>(n * kRows, 2), weight = some<T>(n, 3), bias = some<T>(n, 4);
      std::vector<T> y(x.size()), log_y(x.size()), out(x.size()), sums(static_cast<size_t>(n)), biases(static_cast<size_t>(n));
      Numbers all;
      f.softmax(y.data(), n, x.data(), n, kRows, n);
      f.log_softmax(log_y.data(), n, x.data(), n, kRows, n);
      append(all, y);
      append(all, log_y);
      f.softmax_backward(out.data(), n, grad.data(), n, y.data(), n, kRows, n);
      append(all, out);
      f.log_softmax_backward(out.data(), n, grad.data(), n, log_y.data(), n, kRows, n);
      append(all, out);
      all.insert(all.end(), {f.max(x.data(), n), f.exp_sum(x.data(), n, 0.5), f.sum(x.data(), n), f.dot(x.data(), grad.data(), n)});
      all.push_back(f.exp_with_sum(out.data(), x.data(), n, 0.5));
      append(all, out);
      f.exp_scaled(out.data(), x.data(), n, 0.5, 3);
      append(all, out);
      f.subtract(out.data(), x.data(), n, 0.5, 0.25);
      append(all, out);
      f.softmax_gradient(out.data(), grad.data(), y.data(), n, 0.5);
      append(all, out);
      f.log_softmax_gradient(out.data(), grad.data(), log_y.data(), n, 0.5);
      append(all, out);
      f.normalize(out.data(), x.data(), n, 0.5, 2, weight.data(), bias.data(), 0.25);
      append(all, out);
      f.normalize(out.data(), x.data(), n, 0.5, 2, nullptr, nullptr, 0);
      append(all, out);
      double both[2] = {1, 2};
      f.normalize_sums(both, grad.data(), x.data(), n, 0.5, weight.data());
      all.insert(all.end(), both, both + 2);
      f.normalize_gradient(out.data(), grad.data(), x.data(), n, 0.5, weight.data(), 1, 0.25, 2, 0.125);
      append(all, out);
      f.normalize_parameters(sums.data(), biases.data(), grad.data(), x.data(), n, 0.5, 2);
      append(all, sums);
      append(all, biases);
      return all;
    });
}

TYPED_TEST(Floats, Optimizers) {
  using T = TypeParam;
  for (const int64_t n : kLengths) {
    const auto with_states = [&](const auto& step) {
      std::vector<T> p = some<T>(n, 1), g = some<T>(n, 2), states[3] = {positive<T>(n, 3), positive<T>(n, 4), positive<T>(n, 5)};
      step(p, g, states);
      Numbers all;
      append(all, p);
      for (const auto& state : states) append(all, state);
      return all;
    };
    for (int kind = 0; kind < kOptimizerSteps; ++kind)
      same_on_all(str("step ", kind, " of ", n), this->kTolerance, [&](const Isa& set) {
        return with_states([&](std::vector<T>& p, std::vector<T>& g, std::vector<T>(&states)[3]) {
          StepParameter parameter{};
          parameter.numel = n;
          parameter.keep = 0.75;
          parameter.weight_decay = 0.25;
          parameter.sign = 1;
          for (int i = 0; i < kStepNumbers; ++i) parameter.numbers[i] = 0.5 + i * 0.0625;
          void* data[] = {p.data(), g.data(), states[0].data(), states[1].data(), states[2].data()};
          set.optimizers[TestFixture::kType].step(static_cast<OptimizerStep>(kind), data, n, parameter);
        });
      });
    for (const bool first : {true, false})
      same_on_all(str("sgd of ", n), this->kTolerance, [&](const Isa& set) {
        return with_states([&](std::vector<T>& p, std::vector<T>& g, std::vector<T>(&states)[3]) {
          set.optimizers[TestFixture::kType].sgd(p.data(), g.data(), states[0].data(), n, SgdSettings{0.1, 0.9, 0.25, 0.5, true, false},
                                                 first);
        });
      });
    same_on_all(str("adam of ", n), this->kTolerance, [&](const Isa& set) {
      return with_states([&](std::vector<T>& p, std::vector<T>& g, std::vector<T>(&states)[3]) {
        set.optimizers[TestFixture::kType].adam(p.data(), g.data(), states[0].data(), states[1].data(), states[2].data(), n,
                                                AdamStep{0.75, 0.25, 1, 0.9, 0.99, 0.1, 0.5, 1e-3});
      });
    });
    same_on_all(str("norm and clip of ", n), this->kTolerance, [&](const Isa& set) {
      std::vector<T> x = some<T>(n, 1);
      Numbers all = {set.optimizers[TestFixture::kType].sum_of_squares(x.data(), n)};
      set.optimizers[TestFixture::kType].scale(x.data(), n, 0.3);
      append(all, x);
      return all;
    });
  }
}

TYPED_TEST(Floats, Products) {
  using T = TypeParam;
  constexpr int64_t kSizes[][3] = {{1, 1, 1}, {3, 5, 7}, {17, 33, 9}, {6, 100, 70}, {40, 600, 130}};
  for (const auto& [m, n, k] : kSizes)
    same_on_all(str(m, "x", n, "x", k), this->kTolerance * 10, [&, m = m, n = n, k = k](const Isa& set) {
      const ProductFunctionsOf<T>& f = set.products.of<T>();
      const std::vector<T> a = some<T>(m * k, 1), b = some<T>(k * n, 2);
      std::vector<T> out(static_cast<size_t>(m * n)), scratch(kProductScratch), transposed(static_cast<size_t>(k * n));
      const DenseProduct<T> by_rows{out.data(), a.data(), b.data(), m, n, k, n, k, 1, n, 1};
      DenseProduct<T> by_columns = by_rows;
      by_columns.b_row = 1;
      by_columns.b_column = k;
      Numbers all;
      f.rows(by_rows);
      append(all, out);
      f.add_rows(by_rows);
      append(all, out);
      f.columns(by_columns);
      append(all, out);
      f.blocked(by_rows, scratch.data());
      append(all, out);
      f.blocked(by_columns, scratch.data());
      append(all, out);
      f.transpose(transposed.data(), n, b.data(), k, k, n);
      append(all, transposed);
      return all;
    });
}

TEST(InstructionSets, AgreeOnEpilogues) {
  for (const int64_t n : kLengths)
    for (const Activation activation : {Activation::None, Activation::Relu, Activation::Tanh, Activation::Sigmoid})
      same_on_all(str("an epilogue of ", n), 1e-5, [&](const Isa& set) {
        const std::vector<float> in = some<float>(3 * n, 1), bias = some<float>(n, 2);
        std::vector<float> out(in.size());
        set.products.epilogue(out.data(), n, in.data(), n, 3, n, bias.data(), 0, 1, Epilogue{activation, 0.5, 2});
        Numbers all;
        append(all, out);
        return all;
      });
}

TEST(InstructionSets, AgreeOnRandomNumbersToTheBit) {
  for (const int64_t n : {4, 36, 1000})
    same_on_all(str(n, " random numbers"), 0, [&](const Isa& set) {
      const auto count = static_cast<size_t>(n);
      std::vector<uint32_t> words(count);
      std::vector<float> out(count), in = some<float>(n, 1);
      std::vector<uint8_t> mask(count);
      Numbers all;
      set.random.philox(words.data(), 0x123456789ULL, (uint64_t{1} << 33) + 77, n / 4);
      append(all, words);
      set.random.uniform(out.data(), words.data(), n, 24, -1, 2);
      append(all, out);
      set.random.normal(out.data(), words.data(), n, 0.5F, 2);
      append(all, out);
      set.random.exponential(out.data(), words.data(), n, 1.5F);
      append(all, out);
      set.random.bernoulli(out.data(), words.data(), n, uint64_t{1} << 31);
      append(all, out);
      set.random.dropout(out.data(), mask.data(), in.data(), words.data(), n, uint64_t{1} << 31, 2);
      append(all, out);
      append(all, mask);
      return all;
    });
}

/// Every reduction of one compute type: `T` its elements, `Total` their totals.
template <class T, class Total>
void reduce_on_all(Compute compute, double tolerance) {
  for (int reduction = 0; reduction < kReductions; ++reduction) {
    if (!instruction_set("baseline")->reductions.reduce[reduction][compute].row) continue;
    for (const int64_t n : kLengths)
      same_on_all(str("reduction ", reduction, " of ", n), tolerance, [&](const Isa& set) {
        const Reducer& f = set.reductions.reduce[reduction][compute];
        constexpr int64_t kRows = 5;
        std::vector<T> in = some<T>(kRows * n, 1), block(static_cast<size_t>(n));
        if constexpr (std::is_integral_v<T>)
          for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i % 7) - 3;
        Total total = 0;
        f.row(&total, in.data(), n);
        std::vector<Total> totals(block.size()), others(block.size());
        f.columns(block.data(), in.data(), n, 2, n, true);
        f.columns(block.data(), in.data() + 2 * n, n, kRows - 2, n, false);
        f.absorb(totals.data(), block.data(), n, true);
        f.absorb(totals.data(), block.data(), n, false);
        f.absorb(others.data(), block.data(), n, true);
        f.combine(totals.data(), others.data(), n);
        Numbers all = {static_cast<double>(total)};
        append(all, totals);
        return all;
      });
  }
}

TEST(InstructionSets, AgreeOnReductions) {
  reduce_on_all<float, double>(kComputeFloat, 1e-5);
  reduce_on_all<double, double>(kComputeDouble, 1e-12);
  reduce_on_all<int64_t, int64_t>(kComputeInt, 0);
  for (const int64_t n : kLengths)
    same_on_all(str("deviations of ", n), 1e-5, [&](const Isa& set) {
      double sums[4] = {};
      set.reductions.deviations[0](sums, some<float>(n, 1).data(), 0.25, n);
      set.reductions.deviations[1](sums + 2, some<double>(n, 1).data(), 0.25, n);
      return Numbers(sums, sums + 4);
    });
}

}  // namespace
}  // namespace tandem::kernels::cpu
