// Memory with a fence: all of it can be written, and nothing behind it.
#include "runtime/fenced_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/align.h"

namespace tandem::runtime {
namespace {

/// By the signal, or by a sanitizer, which tells of it.
bool is_fault(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return WIFEXITED(status) && WEXITSTATUS(status) != 0;
#else
  return testing::KilledBySignal(SIGSEGV)(status);
#endif
}

TEST(FencedMemory, EndsWhereItsSizeSays) {
  for (const size_t bytes : {size_t{2048}, size_t{2049}, size_t{4096}, size_t{4097}, size_t{100000}}) {
    auto* const data = static_cast<char*>(allocate_fenced(bytes));
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kCacheLine, 0U);
    std::memset(data, 7, align_up(bytes));
    EXPECT_EXIT(*const_cast<volatile char*>(data + align_up(bytes)) = 1, is_fault, "") << bytes;
    free_fenced(data, bytes);
  }
}

}  // namespace
}  // namespace tandem::runtime
