#include "data/synthetic.h"

#include <algorithm>

#include "base/error.h"
#include "data/generator.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"

namespace tandem::data {
namespace {

/// Standard normal numbers that the seed and the stream alone decide.
Tensor normal_of(const Shape& sizes, uint64_t seed, uint64_t stream) {
  const ThreadGeneratorGuard guard(Generator(seed, stream).next());
  return randn(sizes, kFloat32);
}

constexpr uint64_t kPictures = 0;  // samples are streams 1, 2, …

}  // namespace

Synthetic::Synthetic(SyntheticOptions options, Site /*site*/) : options_(std::move(options)) {
  if (options_.num_samples < 0) fail("[Synthetic] num_samples must not be negative, but is ", options_.num_samples);
  if (options_.num_classes < 0) fail("[Synthetic] num_classes must not be negative, but is ", options_.num_classes);
  if (!(options_.noise >= 0)) fail("[Synthetic] noise must not be negative, but is ", options_.noise);
  std::vector<int64_t> sizes = {std::max<int64_t>(options_.num_classes, 1)};
  sizes.insert(sizes.end(), options_.input.begin(), options_.input.end());
  pictures_ = normal_of(sizes, options_.seed, kPictures);
  if (options_.num_classes == 0) pictures_ = pictures_ / pictures_.square().sum().sqrt();
}

Sample Synthetic::get(int64_t index) const {
  if (index < 0 || index >= size()) fail<IndexError>("[Synthetic] index ", index, " is out of range for ", size(), " samples");
  const Tensor noise = normal_of(options_.input, options_.seed, static_cast<uint64_t>(index) + 1);
  if (options_.num_classes > 0) {
    const int64_t label = index % options_.num_classes;
    return {{pictures_.select(0, label) + noise * options_.noise, tensor(label)}};
  }
  Generator generator(options_.seed, ~static_cast<uint64_t>(index));
  const ThreadGeneratorGuard guard(generator.next());
  return {{noise, (pictures_.select(0, 0) * noise).sum() + randn({}, kFloat32) * options_.noise}};
}

}  // namespace tandem::data
