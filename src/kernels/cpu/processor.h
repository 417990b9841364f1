// What the processor can do, as far as it decides which instruction sets run.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem::kernels::cpu {

/// The words in which an x86-64 processor says what it has (Intel's manual, volume 2, CPUID), and the operating system which registers it
/// saves.
struct Processor {
  uint32_t leaf1_ecx = 0, leaf7_ebx = 0, extended_ecx = 0, xcr0 = 0;
};
/// The one that runs this; all words are 0 where it is no x86-64.
[[nodiscard]] Processor this_processor();
/// What `processor` lacks of the features that a set is compiled for - baseline: x86-64-v2, avx2: x86-64-v3, avx512: x86-64-v4 - by the
/// names of /proc/cpuinfo. Where the library is not built for x86-64, sets are compiled for what every processor of the kind has, and
/// nothing is lacking.
[[nodiscard]] std::vector<std::string_view> lacking(std::string_view set, const Processor& processor);

}  // namespace tandem::kernels::cpu
