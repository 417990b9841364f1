#include "data/generator.h"

#include <utility>

#include "base/error.h"

namespace tandem::data {
namespace {

constinit thread_local Generator* of_this_sample = nullptr;

/// Sets augmentation apart from the order of the samples, which is made from the same seed.
constexpr uint64_t kAugmentation = 0x61756d656e746174ULL;

}  // namespace

Generator& sample_generator() {
  if (!of_this_sample) fail("[sample_generator] no sample is being read: call it in Dataset::get or in a function given to map");
  return *of_this_sample;
}

uint64_t drawn_seed() { return static_cast<uint64_t>(randint(0, int64_t{1} << 62, {}).item<int64_t>()); }

SampleScope::SampleScope(uint64_t seed, uint64_t epoch, int64_t index)
    : generator_(Generator(seed ^ kAugmentation, epoch).next(), static_cast<uint64_t>(index)),
      tensors_(generator_.next()),
      before_(std::exchange(of_this_sample, &generator_)) {}

SampleScope::~SampleScope() { of_this_sample = before_; }

bool SampleScope::is_active() { return of_this_sample != nullptr; }

}  // namespace tandem::data
