// What the library asks of oneDNN leaves the calling program's OpenMP as it was.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tandem/tandem.h>

#include <thread>

namespace tandem::kernels {
namespace {

/// Products and convolutions that are large enough for oneDNN.
void compute(int64_t n) {
  const Tensor a = ones({n, n}).requires_grad_(), weight = ones({16, 16, 3, 3}).requires_grad_();
  (matmul(a, a).sum() + conv2d(ones({4, 16, n, 20}), weight).sum()).backward();
}

TEST(OpenMp, KeepsTheCallersThreads) {
  const auto threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  ASSERT_TRUE(threads && set_threads) << "oneDNN brings OpenMP along";
  const auto look = [&](int count) {
    set_threads(count);
    compute(150 + count);
    EXPECT_EQ(threads(), count) << "shapes that were new";
    compute(150 + count);
    EXPECT_EQ(threads(), count) << "shapes that are known";
  };
  const int before = threads();
  for (const int count : {5, 1, 3}) look(count);
  std::thread([&] { look(4); }).join();
  set_threads(before);
}

}  // namespace
}  // namespace tandem::kernels
