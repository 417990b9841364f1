// Pooling. Where windows are regular and small, the rows that a few rows of the result need are laid out in a first-cache buffer, padded
// and split up by the stride, so that what neighbouring outputs see lies side by side; SIMD code goes over them (isa/windows.cpp).
// Adaptive and very large windows are taken one by one.
#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/pooling_windows.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kBuffer = 8192, kSlack = 16, kMaxTaps = 512, kMaxWidth = 1024;  // elements

struct Axes {
  PoolingAxis d, h, w;
  int64_t channels, planes;
  Axes(const Pooling& p, const View& in, const View& out)
      : d(p, 0, in.sizes[2], out.sizes[2]),
        h(p, 1, in.sizes[3], out.sizes[3]),
        w(p, 2, in.sizes[4], out.sizes[4]),
        channels(in.sizes[1]),
        planes(in.sizes[0] * in.sizes[1]) {}
  [[nodiscard]] int64_t outputs() const { return d.out * h.out * w.out; }
};

template <class T>
T divided(T sum, int64_t by) {
  if constexpr (std::is_integral_v<T>) return sum / by;
  else return sum / static_cast<T>(by);
}

/// How many rows of the result the buffer serves at a time; 0 where it can't.
struct Band {
  int64_t rows = 0, length = 0, phases = 0;  // an input row is `phases` rows of `length` in the buffer

  explicit Band(const Axes& a) {
    if (a.w.adaptive || a.w.out > kMaxWidth || a.d.kernel * a.h.kernel * a.w.kernel > kMaxTaps) return;
    phases = std::min(a.w.stride, (a.w.kernel - 1) * a.w.dilation + 1);
    length = a.w.out + (a.w.kernel - 1) * a.w.dilation / a.w.stride + kSlack;
    const int64_t fit = kBuffer / (a.d.kernel * phases * length) - (a.h.kernel - 1) * a.h.dilation - 1;
    if (fit >= 0) rows = std::min(a.h.out, 1 + fit / a.h.stride);
  }
};

/// The buffer of a thread: rows of the input as the windows see them.
template <class T>
struct Buffer {
  alignas(64) T values[kBuffer + kSlack];
  alignas(64) T row[kMaxWidth + kSlack];
  int64_t columns[kMaxWidth + kSlack];  // what the caller wants to know of each window of a row
  const void* taps[kMaxTaps];
  int64_t places[kMaxTaps];
};

/// Lays out rows y0 … y0 + count - 1 of a plane of the input. What lies behind a row, for whole vectors, is `outside` already.
template <class T>
void lay_out(Buffer<T>& buffer, const Axes& a, const Band& band, const View& in, const char* plane, int64_t slot, int64_t y0, int64_t count,
             T outside) {
  const auto pack = pack_to<T>(in.dtype);
  const auto size = static_cast<int64_t>(size_of(in.dtype));
  const int64_t seen = band.length - kSlack;
  for (int64_t r = 0; r < count; ++r) {
    const int64_t y = y0 + r;
    if (y < 0 || y >= a.h.in) continue;  // no window looks at it
    T* const to = buffer.values + (slot + r) * band.phases * band.length;
    const char* const row = plane + y * in.strides[3] * size;
    // Phase p has the columns p - padding + i * stride.
    const auto range = [&](int64_t p, int64_t& begin, int64_t& end) {
      const int64_t start = p - a.w.padding;
      begin = std::min(seen, start < 0 ? (-start + a.w.stride - 1) / a.w.stride : 0);
      end = std::clamp<int64_t>((a.w.in - start + a.w.stride - 1) / a.w.stride, begin, seen);
    };
    int64_t begin, end;
    if constexpr (std::is_same_v<T, float>) {
      if (in.dtype == kFloat32 && in.strides[4] == 1 && a.w.stride == 2 && band.phases == 2) {
        // Both phases at once, over the columns that both have; a padding that is odd begins with the second.
        int64_t odd_begin, odd_end;
        range(0, begin, end);
        range(1, odd_begin, odd_end);
        T *even = to, *odd = to + band.length;
        std::fill(even, even + begin, outside);
        std::fill(odd, odd + odd_begin, outside);
        std::fill(even + end, even + seen, outside);
        std::fill(odd + odd_end, odd + seen, outside);
        const float* from = reinterpret_cast<const float*>(row);
        if (odd_begin < begin) {  // the first column goes to the second phase
          if (odd_begin < odd_end) odd[odd_begin] = from[2 * odd_begin + 1 - a.w.padding];
          odd_begin = begin;
        }
        const int64_t both = std::max<int64_t>(0, std::min(end, odd_end) - begin);
        isa().windows.deinterleave(even + begin, odd + begin, from + 2 * begin - a.w.padding, both);
        for (int64_t i = begin + both; i < end; ++i) even[i] = from[2 * i - a.w.padding];
        for (int64_t i = odd_begin + both; i < odd_end; ++i) odd[i] = from[2 * i + 1 - a.w.padding];
        continue;
      }
    }
    for (int64_t p = 0; p < band.phases; ++p) {
      T* const phase = to + p * band.length;
      range(p, begin, end);
      std::fill(phase, phase + begin, outside);
      if (end > begin)
        pack(phase + begin, row + (p - a.w.padding + begin * a.w.stride) * in.strides[4] * size, a.w.stride * in.strides[4], end - begin);
      std::fill(phase + end, phase + seen, outside);
    }
  }
}

/// Calls `f(plane, od, oh, taps, buffer)` for every row of the result; `f` gets what its windows see. buffer.columns is column(range) of
/// each.
template <class T, class C, class F>
void each_row(const Queue& queue, const Axes& a, const Band& band, const View& in, T outside, C column, F f) {
  const int64_t bands = (a.h.out + band.rows - 1) / band.rows, row_length = band.phases * band.length;
  const int64_t work = band.rows * a.w.out * a.d.kernel * a.h.kernel * a.w.kernel;
  const int64_t most = (band.rows - 1) * a.h.stride + (a.h.kernel - 1) * a.h.dilation + 1;  // input rows at a time
  parallel_for(
      a.planes * a.d.out * bands, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, work)), queue.threads, [&](int64_t begin, int64_t end) {
        Buffer<T> buffer;
        std::fill_n(buffer.values, a.d.kernel * most * row_length + kSlack, outside);
        for (int64_t i = 0; i < a.w.out + kSlack; ++i) buffer.columns[i] = i < a.w.out ? column(a.w.at(i)) : 1;
        for (int64_t task = begin; task < end; ++task) {
          const int64_t plane = task / (a.d.out * bands), od = task / bands % a.d.out, oh0 = task % bands * band.rows,
                        oh1 = std::min(a.h.out, oh0 + band.rows);
          const char* const base = in.as<char>() + (plane / a.channels * in.strides[0] + plane % a.channels * in.strides[1]) *
                                                       static_cast<int64_t>(size_of(in.dtype));
          const int64_t y0 = oh0 * a.h.stride - a.h.padding, count = (oh1 - oh0 - 1) * a.h.stride + (a.h.kernel - 1) * a.h.dilation + 1;
          const int64_t z0 = od * a.d.stride - a.d.padding;
          for (int64_t k = 0; k < a.d.kernel; ++k) {
            const int64_t z = z0 + k * a.d.dilation;
            if (z >= 0 && z < a.d.in)
              lay_out(buffer, a, band, in, base + z * in.strides[2] * static_cast<int64_t>(size_of(in.dtype)), k * count, y0, count,
                      outside);
          }
          for (int64_t oh = oh0; oh < oh1; ++oh) {
            Taps taps{buffer.taps, buffer.places, 0, a.w.stride};
            for (int64_t kd = 0; kd < a.d.kernel; ++kd) {
              const int64_t z = z0 + kd * a.d.dilation;
              if (z < 0 || z >= a.d.in) continue;
              for (int64_t kh = 0; kh < a.h.kernel; ++kh) {
                const int64_t r = (oh - oh0) * a.h.stride + kh * a.h.dilation, y = y0 + r;
                if (y < 0 || y >= a.h.in) continue;
                for (int64_t kw = 0; kw < a.w.kernel; ++kw) {
                  const int64_t x = kw * a.w.dilation;
                  buffer.taps[taps.count] = buffer.values + (kd * count + r) * row_length + x % a.w.stride * band.length + x / a.w.stride;
                  buffer.places[taps.count++] = (z * a.h.in + y) * a.w.in + x - a.w.padding;
                }
              }
            }
            f(plane, od, oh, taps, buffer);
          }
        }
      });
}

/// Whether windows are 2x2 side by side; `rows`, which are read, are dense and of float32.
bool of_pairs(const Axes& a, const View& rows) {
  bool pairs = rows.dtype == kFloat32 && rows.strides[4] == 1 && a.d.in == 1 && a.d.kernel == 1 && a.d.padding == 0 && !a.d.adaptive;
  for (const PoolingAxis* axis : {&a.h, &a.w})
    pairs = pairs && axis->kernel == 2 && axis->stride == 2 && axis->padding == 0 && axis->dilation == 1 && 2 * axis->out <= axis->in;
  return pairs;
}

/// Calls `f(plane, oh)` for the rows of the results.
template <class F>
void each_pair_of_rows(const Queue& queue, const Axes& a, F f) {
  parallel_for(a.planes, std::max<int64_t>(1, 16384 / a.outputs()), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane)
      for (int64_t oh = 0; oh < a.h.out; ++oh) f(plane, oh);
  });
}

const float* row_of(const View& in, const Axes& a, int64_t plane, int64_t y) {
  return in.as<const float>() + plane / a.channels * in.strides[0] + plane % a.channels * in.strides[1] + y * in.strides[3];
}

/// Calls `f(plane, od, oh, ow, base of the plane, windows)` for every output.
template <class F>
void each_window(const Queue& queue, const Axes& a, const View& in, F f) {
  const auto size = static_cast<int64_t>(size_of(in.dtype));
  const int64_t seen = a.d.in * a.h.in * a.w.in;
  parallel_for(a.planes * a.d.out * a.h.out, std::max<int64_t>(1, 16384 * a.d.out * a.h.out / std::max<int64_t>(1, seen + a.outputs())),
               queue.threads, [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const int64_t oh = row % a.h.out, od = row / a.h.out % a.d.out, plane = row / a.h.out / a.d.out;
                   const char* const base =
                       in.as<char>() + (plane / a.channels * in.strides[0] + plane % a.channels * in.strides[1]) * size;
                   const PoolingRange d = a.d.at(od), h = a.h.at(oh);
                   for (int64_t ow = 0; ow < a.w.out; ++ow) f(row * a.w.out + ow, base, d, h, a.w.at(ow));
                 }
               });
}

/// Calls `f(element, place)` for what a window sees.
template <class T, class F>
void each_seen(const Axes& a, const View& in, const char* base, const PoolingRange& d, const PoolingRange& h, const PoolingRange& w, F f) {
  const T* const from = reinterpret_cast<const T*>(base);
  for (int64_t z = d.begin; z < d.end; z += a.d.dilation)
    for (int64_t y = h.begin; y < h.end; y += a.h.dilation) {
      const T* const row = from + z * in.strides[2] + y * in.strides[3];
      for (int64_t x = w.begin; x < w.end; x += a.w.dilation) f(row[x * in.strides[4]], (z * a.h.in + y) * a.w.in + x);
    }
}

/// The type that elements of T are compared and added in.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

template <class T>
T narrowed(Wide<T> x) {
  return T(x);
}

}  // namespace

void max_pool(const Queue& queue, Out out, Out indices, View in, Pooling pooling) {
  const Axes a(pooling, in, out);
  if (a.planes * a.outputs() == 0) return;
  auto* const places = indices.as<int64_t>();
  if (of_pairs(a, in) && a.h.in * a.w.in < int64_t{1} << 30)
    return each_pair_of_rows(queue, a, [&, largest = isa().windows.max_pairs](int64_t plane, int64_t oh) {
      const int64_t at = (plane * a.h.out + oh) * a.w.out;
      largest(out.as<float>() + at, places ? places + at : nullptr, row_of(in, a, plane, 2 * oh), row_of(in, a, plane, 2 * oh + 1),
              2 * oh * a.w.in, a.w.in, a.w.out);
    });
  const Band band(a);
  visit(in.dtype, [&]<class T>(T) {
    using W = Wide<T>;
    constexpr W lowest = std::is_floating_point_v<W> ? -std::numeric_limits<W>::infinity() : std::numeric_limits<W>::lowest();
    if (band.rows && a.d.in * a.h.in * a.w.in < int64_t{1} << 30) {
      const auto largest = isa().windows.max[compute_of(dtype_of<W>())];
      const auto unpack = unpack_from<W>(out.dtype);
      return each_row<W>(
          queue, a, band, in, lowest, [](const PoolingRange& w) { return w.begin; },
          [&](int64_t plane, int64_t od, int64_t oh, const Taps& taps, Buffer<W>& buffer) {
            const int64_t at = ((plane * a.d.out + od) * a.h.out + oh) * a.w.out;
            int64_t first[kMaxWidth + kSlack];
            const int64_t row = (std::max<int64_t>(0, a.d.at(od).begin) * a.h.in + a.h.at(oh).begin) * a.w.in;
            if (places)
              for (int64_t i = 0; i < a.w.out + kSlack; ++i) first[i] = row + buffer.columns[i];
            T* const to = out.as<T>() + at;
            void* target = std::is_same_v<T, W> ? static_cast<void*>(to) : buffer.row;
            largest(target, places ? places + at : nullptr, first, taps, a.w.out);
            if constexpr (!std::is_same_v<T, W>) unpack(to, 1, buffer.row, a.w.out);
          });
    }
    each_window(queue, a, in, [&](int64_t at, const char* base, const PoolingRange& d, const PoolingRange& h, const PoolingRange& w) {
      W best = lowest;
      int64_t where = (d.begin * a.h.in + h.begin) * a.w.in + w.begin;
      each_seen<T>(a, in, base, d, h, w, [&](T element, int64_t place) {
        const W x = static_cast<W>(element);
        if (x > best || x != x) {
          best = x;
          where = place;
        }
      });
      out.as<T>()[at] = narrowed<T>(best);
      if (places) places[at] = where;
    });
  });
}

void max_pool_backward(const Queue& queue, Out out, View grad, View indices, Pooling) {
  fill(queue, out, {0, 0, false});
  if (grad.numel() == 0) return;
  // Places count within a volume, whose dimensions are one to scatter.
  const auto flat = [](auto v) {
    for (int d = 3; d < 5; ++d) v.sizes[2] *= v.sizes[d];
    v.ndim = 3;
    v.strides[2] = 1;
    return v;
  };
  scatter(queue, Scatter::Add, Change{flat(out)}, flat(indices), flat(grad), 2);
}

void avg_pool(const Queue& queue, Out out, View in, Pooling pooling) {
  const Axes a(pooling, in, out);
  if (a.planes * a.outputs() == 0) return;
  if (of_pairs(a, in))
    return each_pair_of_rows(queue, a, [&, mean = isa().windows.mean_pairs](int64_t plane, int64_t oh) {
      mean(out.as<float>() + (plane * a.h.out + oh) * a.w.out, row_of(in, a, plane, 2 * oh), row_of(in, a, plane, 2 * oh + 1),
           static_cast<float>(divisor_of(pooling, a.d.at(0), a.h.at(oh), a.w.at(0))), a.w.out);
    });
  const Band band(a);
  visit(in.dtype, [&]<class T>(T) {
    using W = Wide<T>;
    if (band.rows) {
      const auto totals = isa().windows.sum[compute_of(dtype_of<W>())];
      const auto unpack = unpack_from<W>(out.dtype);
      const auto column = [&](const PoolingRange& w) { return pooling.divisor ? 1 : length_of(pooling, w); };
      return each_row<W>(queue, a, band, in, W(0), column, [&](int64_t plane, int64_t od, int64_t oh, const Taps& taps, Buffer<W>& buffer) {
        const int64_t rest = pooling.divisor ? pooling.divisor : length_of(pooling, a.d.at(od)) * length_of(pooling, a.h.at(oh));
        const int64_t at = ((plane * a.d.out + od) * a.h.out + oh) * a.w.out;
        totals(buffer.row, taps, a.w.out);
        for (int64_t i = 0; i < a.w.out; ++i) buffer.row[i] = divided(buffer.row[i], rest * buffer.columns[i]);
        unpack(out.as<T>() + at, 1, buffer.row, a.w.out);
      });
    }
    each_window(queue, a, in, [&](int64_t at, const char* base, const PoolingRange& d, const PoolingRange& h, const PoolingRange& w) {
      std::conditional_t<std::is_integral_v<W>, int64_t, double> sum = 0;
      each_seen<T>(a, in, base, d, h, w, [&](T element, int64_t) { sum += static_cast<W>(element); });
      out.as<T>()[at] = narrowed<T>(static_cast<W>(divided(sum, divisor_of(pooling, d, h, w))));
    });
  });
}

void avg_pool_backward(const Queue& queue, Out out, View grad, Pooling pooling) {
  const Axes a(pooling, out, grad);
  const bool pairs = of_pairs(a, grad);
  if (!pairs || 2 * a.h.out != a.h.in || 2 * a.w.out != a.w.in) fill(queue, out, Value{});
  const int64_t volume = a.d.in * a.h.in * a.w.in;
  if (a.planes * a.outputs() * volume == 0) return;
  if (pairs)
    return each_pair_of_rows(queue, a, [&, spread = isa().windows.spread_pairs](int64_t plane, int64_t oh) {
      float* const upper = out.as<float>() + plane * volume + 2 * oh * a.w.in;
      spread(upper, upper + a.w.in, row_of(grad, a, plane, oh), static_cast<float>(divisor_of(pooling, a.d.at(0), a.h.at(oh), a.w.at(0))),
             a.w.out);
    });
  const int64_t work = a.outputs() * (a.d.adaptive ? volume / a.outputs() + 1 : a.d.kernel * a.h.kernel * a.w.kernel);
  visit(grad.dtype, [&]<class T>(T) {
    using W = Wide<T>;
    parallel_for(a.planes, std::max<int64_t>(1, 16384 / work), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        Sum<T>* const to = out.as<Sum<T>>() + plane * volume;
        const T* const from = grad.as<const T>() + plane / a.channels * grad.strides[0] + plane % a.channels * grad.strides[1];
        for (int64_t od = 0; od < a.d.out; ++od)
          for (int64_t oh = 0; oh < a.h.out; ++oh) {
            const PoolingRange d = a.d.at(od), h = a.h.at(oh);
            for (int64_t ow = 0; ow < a.w.out; ++ow) {
              const PoolingRange w = a.w.at(ow);
              const W g = static_cast<W>(from[od * grad.strides[2] + oh * grad.strides[3] + ow * grad.strides[4]]);
              const auto share = static_cast<Sum<T>>(divided(g, divisor_of(pooling, d, h, w)));
              for (int64_t z = d.begin; z < d.end; ++z)
                for (int64_t y = h.begin; y < h.end; ++y)
                  for (int64_t x = w.begin; x < w.end; ++x) add_to<Sum<T>>(to[(z * a.h.in + y) * a.w.in + x], share);
            }
          }
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
