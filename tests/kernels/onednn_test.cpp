// What is kept of oneDNN: one bound for the process, whatever shapes and threads there were; right results while shapes come and go,
// and where oneDNN 3.7 has a defect.
#include "kernels/cpu/onednn.h"

#include <gtest/gtest.h>
#include <tandem/tandem.h>

#include <atomic>
#include <barrier>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/processor.h"

namespace tandem {
namespace {

/// A product of ones that is large enough for oneDNN, of a shape for each n; whether it is right.
bool multiply(int64_t n) {
  const int64_t rows = 70 + n % 40, depth = 100 + n / 40;
  const Tensor product = matmul(ones({rows, depth}), ones({depth, 90}));
  return product.sum().item<double>() == static_cast<double>(rows * depth * 90);
}

bool convolve(int64_t n) {
  const int64_t height = 12 + n % 20, width = 12 + n / 20;
  const Tensor image = conv2d(ones({1, 16, height, width}), ones({16, 16, 3, 3}));
  return image.sum().item<double>() == static_cast<double>(16 * (height - 2) * (width - 2) * 16 * 9);
}

#ifdef __x86_64__
/// In a process of its own: oneDNN takes a limit before its first use alone. The sets are of x86-64.
TEST(OneDnnDeathTest, IsHeldToTheSetThatTheEnvironmentNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto status = [](const char* variable, const char* value, bool expected) {
    unsetenv("TANDEM_ISA");
    unsetenv("ONEDNN_MAX_CPU_ISA");
    setenv(variable, value, 1);
    std::_Exit(kernels::cpu::dnnl_has_bfloat16() == expected ? 0 : 1);
  };
  const bool has_avx512 = kernels::cpu::lacking("avx512", kernels::cpu::this_processor()).empty();
  EXPECT_EXIT(status("TANDEM_ISA", "avx2", false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(status("TANDEM_ISA", "baseline", false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(status("ONEDNN_MAX_CPU_ISA", "AVX2", false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(status("ONEDNN_MAX_CPU_ISA", "DEFAULT", has_avx512), testing::ExitedWithCode(0), "");
}
#endif

TEST(OneDnn, KeepsPrimitivesOfAllThreadsWithinOneBound) {
  const NoGradGuard no_grad;
  constexpr int kThreads = 6;
  std::barrier all_done(kThreads + 1), looked(kThreads + 1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t n = 0; n < 400; ++n) wrong += !multiply(400 * i + n);
      for (int64_t n = 0; n < 60; ++n) wrong += !convolve(60 * i + n);
      all_done.arrive_and_wait();
      looked.arrive_and_wait();
    });
  }
  all_done.arrive_and_wait();
  const HostMemoryStats stats = host_memory_stats();
  looked.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(stats.primitives, 0U);
  EXPECT_LE(stats.primitives, stats.primitives_limit);
  EXPECT_LE(stats.primitives_limit, size_t{96} << 20);
  EXPECT_NE(host_memory_summary().find("Primitives of oneDNN"), std::string::npos);
}

TEST(OneDnn, ThreadsThatShareAShapeShareItsPrimitive) {
  const NoGradGuard no_grad;
  EXPECT_TRUE(multiply(5));
  const size_t before = host_memory_stats().primitives;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) wrong += !multiply(5);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const size_t of_a_thread = (kernels::cpu::isa().name == std::string_view("avx512") ? size_t{16} : size_t{8})
                             << 10;  // its vectors are twice as long
  EXPECT_LT(host_memory_stats().primitives, before + 8 * of_a_thread) << "memory objects of eight threads at most";
}

TEST(OneDnn, OneShapeIsLeftForAnotherAndComesBack) {
  const NoGradGuard no_grad;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int64_t n = 0; n < 2000; ++n) wrong += n % 10 == 9 ? !convolve(n * (i + 1) % 7) : !multiply(n * (i + 3) % 11);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Of whole numbers, so that a product is right to the bit. `column_major`: a's elements of a column follow each other, `step` rows apart.
void expect_right_product(DType dtype, int64_t m, int64_t n, int64_t k, bool column_major, int64_t step) {
  manual_seed(7);
  const Tensor whole = randint(-2, 3, {k, m * step}), b = randint(-2, 3, {k, n});
  Tensor a = whole.to(dtype).narrow(1, 0, m).t();
  if (!column_major) a = a.contiguous();
  const Tensor expected = matmul(whole.to(kFloat64).narrow(1, 0, m).t(), b.to(kFloat64)).to(dtype);
  EXPECT_TRUE(equal(matmul(a, b.to(dtype)), expected))
      << dtype << " (" << m << ", " << k << ") x (" << k << ", " << n << "), column_major " << column_major << ", step " << step;
  const Tensor turned = b.t().contiguous().t();
  EXPECT_TRUE(equal(matmul(a, turned.to(dtype)), expected)) << dtype << " with b by columns, n " << n << ", k " << k;
}

// To oneDNN 3.7 the row is dense whatever lies between its elements.
TEST(OneDnn, OneRowWithStepsBetweenItsElements) {
  const NoGradGuard no_grad;
  for (const DType dtype : {kFloat32, kBFloat16})
    for (const int64_t k : {100, 1000, 3000}) {
      expect_right_product(dtype, 1, 200, k, true, 3);
      expect_right_product(dtype, 1, 1, 100 * k, true, 3);
    }
}

// The same where the row, or one column of a wider result, is what is left of a product cut for several cores.
TEST(OneDnn, BlocksThatLeaveOneRowOrColumn) {
  const NoGradGuard no_grad;
  for (const DType dtype : {kFloat32, kBFloat16})
    for (const bool column_major : {true, false})
      for (const auto& [m, n] : {std::pair{5, 33}, {4, 33}, {6, 65}, {9, 65}, {33, 65}, {65, 33}})
        expect_right_product(dtype, m, n, 6000, column_major, 1);
}

}  // namespace
}  // namespace tandem
