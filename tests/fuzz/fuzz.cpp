// The part of every fuzzer that libFuzzer calls, and the sanitizers' settings.
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "io/scratch_file.h"
#include "support/guarded_memory.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

// Freed memory that is kept back counts towards the limit of libFuzzer's -rss_limit_mb.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=32:malloc_context_size=8:strict_init_order=1"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

namespace fuzz {

const std::string& file_of(std::string_view bytes) {
  static const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const bool written =
      ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  expect(written, "the file in memory could not be written");
  return path;
}

const std::filesystem::path& folder() {
  static const tandem::io::ScratchFile file("fuzz", "");
  static const std::filesystem::path path = std::filesystem::path(file.path()).parent_path();
  return path;
}

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

size_t mutate(uint8_t* data, size_t size, size_t most, unsigned seed, std::string (*repaired)(std::string bytes)) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 2 == 0) return size;
  const std::string bytes = repaired({reinterpret_cast<const char*>(data), size});
  size = std::min(bytes.size(), most);
  std::copy_n(bytes.begin(), size, data);
  return size;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A tensor's memory comes from a cache, where the address sanitizer does not see its end. Guard bytes do; and memory that is taken but
  // never filled is touched, so that it counts.
  static const tandem::testing::GuardedMemory guarded(0xa5);
  fuzz::succeeds([&] { fuzz::read({reinterpret_cast<const char*>(data), size}); });
  fuzz::expect(guarded.overruns() == 0, "bytes beside a tensor's memory were changed");
  return 0;
}
