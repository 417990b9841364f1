// Variance in one pass over memory. Elements come in blocks; of a block, the distances to the mean of all before it and their squares are
// summed, which gives its own mean and squares, and these are joined with those before by Chan's formula. No block is longer than thrice
// all before it: then the squares around the old mean are at most a few times those around the new one, so no digits are lost, however the
// mean drifts. The mean of the first block takes a pass of its own, while the block is in the first cache.
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/reduction_plan.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 16 << 10;
constexpr int64_t kPiece = 16 << 10;
constexpr int64_t kMaxPieces = 256;
constexpr int64_t kFirstBlock = 1024, kGrowth = 3;

/// Of `count` elements: their mean, and the squares of their distances to it.
struct Sums {
  double count = 0, mean = 0, squares = 0;

  void join(const Sums& other) {
    const double all = count + other.count, distance = other.mean - mean, share = other.count / all;
    squares += other.squares + distance * distance * count * share;
    mean += distance * share;
    count = all;
  }
};

/// Gathers elements of the compute type, float or double.
class Moments {
 public:
  Moments(Compute compute, const Isa& set) : compute_(compute), set_(set) {}

  void add(const void* elements, int64_t n) {
    const char* from = static_cast<const char*>(elements);
    const auto size = static_cast<int64_t>(size_of(dtype_for(compute_)));
    while (n > 0) {
      const int64_t limit = total_.count > 0 ? kGrowth * static_cast<int64_t>(total_.count) : std::min(n, kFirstBlock);
      const int64_t take = std::min(n, limit - held_);
      if (total_.count == 0) {
        double sum;
        set_.reductions.reduce[static_cast<int>(Reduce::Sum)][compute_].row(&sum, from, take);
        center_on(sum / static_cast<double>(take));
      }
      set_.reductions.deviations[compute_](deviations_, from, center_, take);
      held_ += take;
      from += take * size;
      n -= take;
      if (held_ >= limit) close();
    }
  }
  /// Of all that was added.
  [[nodiscard]] const Sums& sums() {
    if (held_ > 0) close();
    return total_;
  }

 private:
  /// As the loop over the elements has it: of their type.
  void center_on(double mean) { center_ = compute_ == kComputeFloat ? static_cast<double>(static_cast<float>(mean)) : mean; }
  void close() {
    const auto count = static_cast<double>(held_);
    const double sum = deviations_[0], squares = deviations_[1] - sum * sum / count;  // rounding may take it below 0; nan stays
    total_.join({count, center_ + sum / count, squares < 0 ? 0 : squares});
    center_on(total_.mean);
    deviations_[0] = deviations_[1] = 0;
    held_ = 0;
  }

  Compute compute_;
  const Isa& set_;
  Sums total_;
  double center_ = 0, deviations_[2] = {};
  int64_t held_ = 0;  // elements in deviations_
};

}  // namespace

void variance(const Queue& queue, Out variance, Out mean, View in, int32_t reduced_dims, double correction, void* /*workspace*/) {
  const Compute compute = compute_of(in.dtype);
  const Isa& set = isa();
  const int kept_dims = in.ndim - reduced_dims;
  const CollapsedDims kept = collapsed_dims(in, &variance, 0, kept_dims, true),
                      reduced = collapsed_dims(in, nullptr, kept_dims, in.ndim, false);
  const CollapsedDims mean_places = mean.data ? collapsed_dims(in, &mean, 0, kept_dims, true) : kept;
  const int64_t results = kept.numel, count = reduced.numel;
  if (results == 0) return;
  if (count == 0) {
    const Value nan{std::numeric_limits<double>::quiet_NaN(), 0, true};
    fill(queue, variance, nan);
    if (mean.data) fill(queue, mean, nan);
    return;
  }
  const auto moments_of = [&](int64_t offset, int64_t begin, int64_t end) {
    Moments moments(compute, set);
    for_elements(in, reduced, offset, begin, end, compute, set, [&](const void* elements, int64_t n) { moments.add(elements, n); });
    return moments.sums();
  };
  const auto n = static_cast<double>(count);
  const auto put = [&](const Out& out, int64_t offset, double value) {
    set.conversions.unpack_from(kComputeDouble, out.dtype)(out.as<char>() + offset * static_cast<int64_t>(size_of(out.dtype)), 1, &value,
                                                           1);
  };
  const auto finish = [&](int64_t i, const Sums& all) {
    const double divisor = n - correction > 0 ? n - correction : 0;
    put(variance, kept.locate(i)[kOut], all.squares / divisor);
    if (mean.data) put(mean, mean_places.locate(i)[kOut], all.mean);
  };

  const int64_t pieces = results >= 16 ? 1 : std::min(count / kPiece, kMaxPieces);
  if (pieces <= 1) {
    parallel_for(results, std::max<int64_t>(1, kGrain / count), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t offset = kept.locate(i)[kIn];
        finish(i, moments_of(offset, 0, count));
      }
    });
    return;
  }
  const int64_t length = ((count + pieces - 1) / pieces + kFirstBlock - 1) / kFirstBlock * kFirstBlock,
                used = (count + length - 1) / length;
  for (int64_t i = 0; i < results; ++i) {
    const int64_t offset = kept.locate(i)[kIn];
    Sums parts[kMaxPieces];
    parallel_for(used, std::max<int64_t>(1, kGrain / length), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) parts[p] = moments_of(offset, p * length, std::min((p + 1) * length, count));
    });
    for (int64_t p = 1; p < used; ++p) parts[0].join(parts[p]);
    finish(i, parts[0]);
  }
}

}  // namespace tandem::kernels::cpu
