#include "parallel/buckets.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tandem::parallel::detail {
namespace {

struct Bucket {
  std::vector<size_t> numbers;
  size_t bytes = 0, last = 0;  // last: the place of the item that came last
};

}  // namespace

std::vector<std::vector<size_t>> plan_buckets(std::span<const BucketItem> items, size_t first_bytes, size_t bytes) {
  std::vector<Bucket> full;
  std::map<std::tuple<DType, DeviceType, int>, std::pair<Bucket, size_t>>
      open;  // those that are being filled, and the bytes at which each is full
  for (size_t i = 0; i < items.size(); ++i) {
    auto& [bucket, limit] =
        open.try_emplace({items[i].dtype, items[i].device.type(), items[i].device.index()}, Bucket(), first_bytes).first->second;
    bucket.numbers.push_back(items[i].number);
    bucket.bytes += items[i].bytes;
    bucket.last = i;
    if (bucket.bytes < limit) continue;
    full.push_back(std::exchange(bucket, Bucket()));
    limit = bytes;
  }
  for (auto& [kind, rest] : open)
    if (!rest.first.numbers.empty()) full.push_back(std::move(rest.first));
  // Gradients come in the order of the items, so a bucket is complete with its last one.
  std::sort(full.begin(), full.end(), [](const Bucket& a, const Bucket& b) { return a.last < b.last; });
  std::vector<std::vector<size_t>> plan;
  plan.reserve(full.size());
  for (Bucket& bucket : full) plan.push_back(std::move(bucket.numbers));
  return plan;
}

}  // namespace tandem::parallel::detail
