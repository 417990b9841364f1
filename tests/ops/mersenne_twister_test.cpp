// PyTorch's random numbers for the CPU: the engine, and the first numbers of each distribution. tests/python/random_test.py has some 200
// more calls.
#include <random>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

/// The CPU draws PyTorch's numbers in this scope.
struct AsTorch {
  AsTorch() { td::set_cpu_random(td::CpuRandom::MersenneTwister); }
  ~AsTorch() { td::set_cpu_random(td::CpuRandom::Tandem); }
  AsTorch(const AsTorch&) = delete;
  AsTorch& operator=(const AsTorch&) = delete;
};

std::vector<double> values(const td::Tensor& x) {
  const td::Tensor flat = x.to(td::kFloat64).reshape({-1}).contiguous();
  const auto* data = flat.data_ptr<double>();
  return {data, data + flat.numel()};
}

TEST(MersenneTwister, IsMt19937) {
  td::MersenneTwister ours(5489);
  std::mt19937 theirs(5489);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(ours.random(), theirs()) << i;
  ours.manual_seed(42);
  theirs.seed(42);
  for (int i = 0; i < 100; ++i) {
    const uint64_t high = theirs();
    ASSERT_EQ(ours.random64(), high << 32 | theirs());
  }
}

TEST(MersenneTwister, GivesPyTorchsNumbers) {
  const AsTorch as_torch;
  td::manual_seed(0);
  EXPECT_EQ(values(td::rand({3})), (std::vector<double>{0.49625658988952637, 0.76822179555892944, 0.088477432727813721}));
  td::manual_seed(2);
  EXPECT_EQ(values(td::randn({5})),
            (std::vector<double>{0.39229682087898254, -0.223564013838768, -0.31950026750564575, -1.2050371170043945, 1.0444635152816772}));
  td::manual_seed(2);
  const auto sixteen = values(td::randn({16}));
  EXPECT_EQ(sixteen[0], -1.0408011674880981);
  EXPECT_EQ(sixteen[3], -1.1096783876419067);
  td::manual_seed(3);
  EXPECT_EQ(values(td::randint(0, 10, {4})), (std::vector<double>{6, 8, 7, 7}));
  td::manual_seed(4);
  EXPECT_EQ(values(td::randperm(10)), (std::vector<double>{0, 4, 9, 6, 7, 3, 2, 8, 1, 5}));
  td::manual_seed(5);
  EXPECT_EQ(values(td::empty({8}).bernoulli_(0.3)), (std::vector<double>{0, 1, 0, 0, 1, 0, 0, 0}));
}

TEST(MersenneTwister, GoesOnFromWhatWasKept) {
  const AsTorch as_torch;
  td::manual_seed(1);
  (void)td::randn({3});  // leaves a second number of a pair
  const td::MersenneTwister kept = td::get_mersenne_twister();
  const auto first = values(td::randn({4}));
  td::set_mersenne_twister(kept);
  EXPECT_EQ(values(td::randn({4})), first);
}

TEST(MersenneTwister, LeavesTandemsNumbersAlone) {
  td::manual_seed(6);
  const auto own = values(td::rand({4}));
  td::manual_seed(6);
  {
    const AsTorch as_torch;
    EXPECT_NE(values(td::rand({4})), own);
    EXPECT_EQ(td::get_cpu_random(), td::CpuRandom::MersenneTwister);
  }
  EXPECT_EQ(values(td::rand({4})), own);
}

}  // namespace
