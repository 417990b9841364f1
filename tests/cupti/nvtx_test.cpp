// What NVIDIA's tools see of a program: ranges of NVTX.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tandem.h"

namespace tandem {
namespace {

TEST(Nvtx, NamesRangesOperationsAndNodes) {
  (void)cuda::device_count();  // loads the plug-in
  void* const tool = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_TRUE(tool) << "NVTX has not loaded the tool: run by ctest";
  auto& ranges = *reinterpret_cast<std::vector<std::string>* (*)()>(dlsym(tool, "nvtx_ranges"))();
  EXPECT_EQ(ranges, (std::vector<std::string>{"domain tandem"}));
  const Tensor x = ones({2}, {.requires_grad = true});
  ranges.clear();
  {
    const profiler::RecordFunction step("a step");
    const Tensor y = x * x;
  }
  EXPECT_EQ(ranges, (std::vector<std::string>{"a step", "mul", "end", "end"}));
  const Tensor loss = (x * x).sum();
  ranges.clear();
  loss.backward();
  const auto at = std::find(ranges.begin(), ranges.end(), "MulBackward0");
  ASSERT_NE(at, ranges.end());
  EXPECT_EQ(*std::next(at), "mul");
  int open = 0;
  for (const std::string& range : ranges) ASSERT_GE(open += range == "end" ? -1 : 1, 0);
  EXPECT_EQ(open, 0);
}

}  // namespace
}  // namespace tandem
