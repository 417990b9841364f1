// Sums, means and maxima over bags of rows of a table, without the rows themselves in between. A bag belongs to one thread.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 1024;

}  // namespace

void embedding_bag(const Queue& queue, Out out, Out bag_of, Out counts, Out chosen, View table, View indices, View offsets, View weights,
                   BagMode mode, int64_t padding) {
  const int64_t bags = out.sizes[0], width = out.sizes[1], rows = table.sizes[0], total = indices.sizes[0];
  const auto index_at = [&](int64_t i) { return indices.as<int64_t>()[i * indices.strides[0]]; };
  const auto offset_at = [&](int64_t b) { return b < offsets.sizes[0] ? offsets.as<int64_t>()[b * offsets.strides[0]] : total; };
  visit_floating_compute(out.dtype, [&]<class T>(T) {
    const auto pack = pack_to<T>(table.dtype);
    const auto pack_weight = pack_to<T>(weights.dtype);
    const auto unpack = unpack_from<T>(out.dtype);
    const auto bytes = [](const View& v, int64_t at) { return v.as<char>() + at * static_cast<int64_t>(size_of(v.dtype)); };
    parallel_for(bags, row_grain(width * std::max<int64_t>(1, total / bags)), queue.threads, [&](int64_t begin, int64_t end) {
      T sum[kPiece], row[kPiece];
      int64_t from[kPiece];
      for (int64_t b = begin; b < end; ++b) {
        const int64_t first = offset_at(b), last = offset_at(b + 1);
        const bool ends = b + 1 < bags || last == total;
        if ((b == 0 && first != 0) || first < 0 || last < first || last > total || !ends) {
          queue.status->report(Trouble::IndexOutOfRange, b == 0 && first != 0 ? first : last, b == 0 && first != 0 ? 1 : total + 1);
          continue;
        }
        int64_t count = 0;
        for (int64_t i = first; i < last; ++i) {
          bag_of.as<int64_t>()[i] = b;
          const int64_t index = index_at(i);
          if (index < 0 || index >= rows) queue.status->report(Trouble::IndexOutOfRange, index, rows);
          else count += index != padding;
        }
        counts.as<int64_t>()[b] = count;
        for (int64_t at = 0; at < width; at += kPiece) {
          const int64_t n = std::min(kPiece, width - at);
          std::fill_n(sum, n, T(0));
          std::fill_n(from, n, -1);
          for (int64_t i = first; i < last; ++i) {
            const int64_t index = index_at(i);
            if (index < 0 || index >= rows || index == padding) continue;
            pack(row, bytes(table, index * table.strides[0] + at * table.strides[1]), table.strides[1], n);
            T weight = 1;
            if (weights.data) pack_weight(&weight, bytes(weights, i * weights.strides[0]), 1, 1);
            if (mode != BagMode::Max) {
              for (int64_t k = 0; k < n; ++k) sum[k] += weight * row[k];
              continue;
            }
            for (int64_t k = 0; k < n; ++k)
              if (from[k] < 0 || row[k] > sum[k]) {
                sum[k] = row[k];
                from[k] = index;
              }
          }
          if (mode == BagMode::Mean && count > 0)
            for (int64_t k = 0; k < n; ++k) sum[k] /= static_cast<T>(count);
          unpack(bytes(out, b * width + at), 1, sum, n);
          if (mode == BagMode::Max) std::copy_n(from, n, chosen.as<int64_t>() + b * width + at);
        }
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
