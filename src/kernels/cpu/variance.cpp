// Variance in two passes: the mean, then the squares of the distances to it, corrected by their sum, which takes away what rounding the
// mean has added.
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/reduction_plan.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 16 << 10;
constexpr int64_t kPiece = 16 << 10;
constexpr int64_t kMostPieces = 256;

}  // namespace

void variance(const Queue& queue, Out variance, Out mean, View in, int32_t reduced_dims, double correction) {
  const Compute compute = compute_of(in.dtype);
  const Isa& set = isa();
  const int kept_dims = in.ndim - reduced_dims;
  const Dims kept = dims_of(in, &variance, 0, kept_dims, true), reduced = dims_of(in, nullptr, kept_dims, in.ndim, false);
  const Dims mean_places = mean.data ? dims_of(in, &mean, 0, kept_dims, true) : kept;
  const int64_t results = kept.numel(), count = reduced.numel();
  if (results == 0) return;
  if (count == 0) {
    const Value nan{std::numeric_limits<double>::quiet_NaN(), 0, true};
    fill(queue, variance, nan);
    if (mean.data) fill(queue, mean, nan);
    return;
  }
  const Reducer& reducer = set.reduce[static_cast<int>(Reduce::Sum)][compute];
  const auto sum = [&](int64_t offset, int64_t begin, int64_t end) {
    double total = 0;
    for_elements(in, reduced, offset, begin, end, compute, set, [&](const void* elements, int64_t n) {
      double part;
      reducer.row(&part, elements, n);
      total += part;
    });
    return total;
  };
  struct Sums {
    double of[2];
  };
  const auto deviations = [&](int64_t offset, int64_t begin, int64_t end, double center) {
    Sums sums{};
    for_elements(in, reduced, offset, begin, end, compute, set,
                 [&](const void* elements, int64_t n) { set.deviations[compute](sums.of, elements, center, n); });
    return sums;
  };
  const auto n = static_cast<double>(count);
  const auto put = [&](const Out& out, int64_t offset, double value) {
    set.unpack[kComputeDouble][static_cast<int>(out.dtype)](out.as<char>() + offset * static_cast<int64_t>(size_of(out.dtype)), 1, &value,
                                                            1);
  };
  const auto finish = [&](int64_t i, double center, const Sums& sums) {
    int64_t in_offset, out_offset;
    kept.locate(i, in_offset, out_offset);
    const double squares = sums.of[1] - sums.of[0] * sums.of[0] / n, divisor = n - correction > 0 ? n - correction : 0;
    put(variance, out_offset, (squares > 0 || squares != squares ? squares : 0) / divisor);
    if (!mean.data) return;
    mean_places.locate(i, in_offset, out_offset);
    put(mean, out_offset, center);
  };
  const auto center_of = [&](double total) {
    return compute == kComputeFloat ? static_cast<double>(static_cast<float>(total / n)) : total / n;
  };

  const int64_t pieces = results >= 16 ? 1 : std::min(count / kPiece, kMostPieces);
  if (pieces <= 1) {
    parallel_for(results, std::max<int64_t>(1, kGrain / count), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t offset, unused;
        kept.locate(i, offset, unused);
        const double total = sum(offset, 0, count);
        const Sums sums = deviations(offset, 0, count, center_of(total));
        finish(i, total / n, sums);
      }
    });
    return;
  }
  const int64_t length = (count + pieces - 1) / pieces, used = (count + length - 1) / length;
  for (int64_t i = 0; i < results; ++i) {
    int64_t offset, unused;
    kept.locate(i, offset, unused);
    Sums parts[kMostPieces];
    const auto each_piece = [&](auto f) {
      parallel_for(used, std::max<int64_t>(1, kGrain / length), queue.threads, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) parts[p] = f(p * length, std::min((p + 1) * length, count));
      });
      Sums all{};
      for (int64_t p = 0; p < used; ++p)
        for (int k = 0; k < 2; ++k) all.of[k] += parts[p].of[k];
      return all;
    };
    const double total = each_piece([&](int64_t begin, int64_t end) { return Sums{{sum(offset, begin, end), 0}}; }).of[0];
    finish(i, total / n, each_piece([&](int64_t begin, int64_t end) { return deviations(offset, begin, end, center_of(total)); }));
  }
}

}  // namespace tandem::kernels::cpu
