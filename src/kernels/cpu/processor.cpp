#include "kernels/cpu/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tandem::kernels::cpu {

#if defined(__x86_64__)

namespace {

struct Feature {
  std::string_view name;
  int level;  // of x86-64's: 2, 3 or 4
  uint32_t Processor::*word;
  int bit;
};
constexpr Feature kFeatures[] = {
    {"pni", 2, &Processor::leaf1_ecx, 0},        {"ssse3", 2, &Processor::leaf1_ecx, 9},     {"cx16", 2, &Processor::leaf1_ecx, 13},
    {"sse4_1", 2, &Processor::leaf1_ecx, 19},    {"sse4_2", 2, &Processor::leaf1_ecx, 20},   {"popcnt", 2, &Processor::leaf1_ecx, 23},
    {"lahf_lm", 2, &Processor::extended_ecx, 0}, {"fma", 3, &Processor::leaf1_ecx, 12},      {"movbe", 3, &Processor::leaf1_ecx, 22},
    {"avx", 3, &Processor::leaf1_ecx, 28},       {"f16c", 3, &Processor::leaf1_ecx, 29},     {"bmi1", 3, &Processor::leaf7_ebx, 3},
    {"avx2", 3, &Processor::leaf7_ebx, 5},       {"bmi2", 3, &Processor::leaf7_ebx, 8},      {"abm", 3, &Processor::extended_ecx, 5},
    {"avx512f", 4, &Processor::leaf7_ebx, 16},   {"avx512dq", 4, &Processor::leaf7_ebx, 17}, {"avx512cd", 4, &Processor::leaf7_ebx, 28},
    {"avx512bw", 4, &Processor::leaf7_ebx, 30},  {"avx512vl", 4, &Processor::leaf7_ebx, 31},
};
constexpr uint32_t kSavesYmm = 0x06, kSavesZmm = 0xe6;

}  // namespace

Processor this_processor() {
  Processor p;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) p.leaf1_ecx = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) p.leaf7_ebx = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) p.extended_ecx = c;
  constexpr uint32_t kOsxsave = 1U << 27;
  if (p.leaf1_ecx & kOsxsave) asm volatile("xgetbv" : "=a"(p.xcr0), "=d"(d) : "c"(0));
  return p;
}

std::vector<std::string_view> lacking(std::string_view set, const Processor& processor) {
  const int level = set == "baseline" ? 2 : set == "avx2" ? 3 : 4;
  std::vector<std::string_view> names;
  for (const Feature& feature : kFeatures)
    if (feature.level <= level && !(processor.*feature.word >> feature.bit & 1)) names.push_back(feature.name);
  if (level >= 3 && (processor.xcr0 & kSavesYmm) != kSavesYmm) names.emplace_back("an operating system that saves its 32-byte registers");
  if (level >= 4 && (processor.xcr0 & kSavesZmm) != kSavesZmm) names.emplace_back("an operating system that saves its 64-byte registers");
  return names;
}

#else

Processor this_processor() { return {}; }
std::vector<std::string_view> lacking(std::string_view, const Processor&) { return {}; }

#endif

}  // namespace tandem::kernels::cpu
