// Joining. Dense parts of one type, where they are long, are runs of bytes: the result's pieces gather what falls into them, so that all
// parts are one region of the threads. Others are copied to their places one after another.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/streaming.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPieceBytes = 64 << 10;
constexpr int64_t kRunBytes = 256;  // of a part, from which on a copy of each pays

bool is_of_long_runs(const Out& out, Span<View> parts, int32_t dim) {
  auto row_bytes = static_cast<int64_t>(size_of(out.dtype));
  for (int d = dim; d < out.ndim; ++d) row_bytes *= out.sizes[d];
  return row_bytes >= kRunBytes * parts.size && out.contiguous() &&
         std::ranges::all_of(parts, [&](const View& part) { return part.contiguous() && part.dtype == out.dtype; });
}

/// For each row - the dimensions before `dim` - a run of each part.
void join_runs(const Queue& queue, const Out& out, Span<View> parts, int32_t dim) {
  auto inner = static_cast<int64_t>(size_of(out.dtype)), rows = int64_t{1};
  for (int d = 0; d < dim; ++d) rows *= out.sizes[d];
  for (int d = dim + 1; d < out.ndim; ++d) inner *= out.sizes[d];
  const int64_t row_bytes = out.sizes[dim] * inner, bytes = rows * row_bytes;
  const bool past_caches = streams(static_cast<size_t>(bytes));
  parallel_for(bytes, kPieceBytes, queue.threads, [&](int64_t begin, int64_t end) {
    int64_t row = begin / row_bytes, place = begin % row_bytes;
    for (int64_t at = begin; at < end; ++row, place = 0) {
      int64_t first = 0;
      for (const View& part : parts) {
        const int64_t run = part.sizes[dim] * inner, skipped = std::clamp<int64_t>(place - first, 0, run),
                      n = std::min(run - skipped, end - at);
        first += run;
        if (n <= 0) continue;
        char* const to = out.as<char>() + at;
        const char* const from = part.as<const char>() + row * run + skipped;
        if (past_caches) stream_copy(to, from, static_cast<size_t>(n));
        else std::memcpy(to, from, static_cast<size_t>(n));
        at += n;
      }
    }
  });
}

}  // namespace

void cat(const Queue& queue, Out out, Span<View> parts, int32_t dim) {
  if (is_of_long_runs(out, parts, dim)) return join_runs(queue, out, parts, dim);
  Out at = out;
  for (const View& part : parts) {
    at.sizes[dim] = part.sizes[dim];
    copy(queue, at, part);
    at.data = at.as<char>() + part.sizes[dim] * out.strides[dim] * static_cast<int64_t>(size_of(out.dtype));
  }
}

}  // namespace tandem::kernels::cpu
