#include "models/key_value_cache.h"

#include <algorithm>

#include "base/error.h"
#include "ops/creation.h"
#include "ops/view.h"

namespace tandem::models {

KeyValueCache::KeyValueCache(int64_t step, Site) : step_(step) {
  if (step < 1) fail("[KeyValueCache] step has to be from 1 on, but is ", step);
}

int64_t KeyValueCache::capacity() const { return layers_.empty() ? 0 : layers_.front().keys.size(2); }

void KeyValueCache::truncate(int64_t length, Site) {
  if (length < 0 || length > length_)
    fail("[KeyValueCache.truncate] ", length_, " tokens can be cut to 0 to ", length_, ", but not to ", length);
  length_ = length;
}

void KeyValueCache::grow(Tensor& kept, const Tensor& like, int64_t tokens, Site site) const {
  const int64_t before = kept.defined() ? kept.size(2) : 0;
  if (tokens <= before) return;
  // Twice as much each time, so that a long text is not copied again and again.
  const int64_t after = (std::max(tokens, 2 * before) + step_ - 1) / step_ * step_;
  const Tensor wider = empty({like.size(0), like.size(1), after, like.size(3)}, {.dtype = like.dtype(), .device = like.device()}, site);
  if (length_ > 0) wider.narrow(2, 0, length_, site).copy_(kept.narrow(2, 0, length_, site), false, site);
  kept = wider;
}

KeyValueCache::Layer KeyValueCache::append(size_t layer, const Tensor& keys, const Tensor& values, Site site) {
  if (layer >= layers_.size()) layers_.resize(layer + 1);
  Layer& kept = layers_[layer];
  const int64_t tokens = keys.size(2), total = length_ + tokens;
  if (kept.keys.defined() &&
      (kept.keys.size(0) != keys.size(0) || kept.keys.size(1) != keys.size(1) || kept.keys.device() != keys.device()))
    fail("[KeyValueCache.append] the cache is of ", kept.keys.size(0), " texts and ", kept.keys.size(1), " heads on ", kept.keys.device(),
         ", but further keys are of ", keys.size(0), " and ", keys.size(1), " on ", keys.device(),
         ": make a cache for each model and batch");
  grow(kept.keys, keys, total, site);
  grow(kept.values, values, total, site);
  kept.keys.narrow(2, length_, tokens, site).copy_(keys, false, site);
  kept.values.narrow(2, length_, tokens, site).copy_(values, false, site);
  return {kept.keys.narrow(2, 0, total, site), kept.values.narrow(2, 0, total, site)};
}

}  // namespace tandem::models
