// Pooling. A thread takes one window; where windows are large, as those of a global average, a warp takes one. Gradients are gathered: a
// thread for each element of the input goes over the windows that see it, so that sums meet no other thread.
#include <algorithm>
#include <limits>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/pooling_windows.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int64_t kLarge = 64;  // elements of a window, from which on a warp takes it

/// What the windows of one output see.
struct Seen {
  PoolingRange range[3];
  int64_t count[3], base;

  /// The number of elements.
  TD_DEVICE int64_t size() const { return count[0] * count[1] * count[2]; }
};

/// f(zero), a zero of the type in which numbers and places of elements are computed: see Pooled::is_small.
template <class F>
void with_index(bool small, F&& f) {
  if (small) f(int32_t{0});
  else f(int64_t{0});
}

/// n / by; of a number of 32 bits by a divisor of as many.
TD_DEVICE int64_t quotient(int64_t n, const Divide& by) { return by(n); }
TD_DEVICE int32_t quotient(int32_t n, const Divide& by) { return static_cast<int32_t>(by.fast(static_cast<uint32_t>(n))); }

/// The indices of element number `i`.
TD_DEVICE void split(const Indices<5>& indices, int64_t i, int64_t (&at)[5]) { indices(i, at); }
TD_DEVICE void split(const Indices<5>& indices, int32_t i, int32_t (&at)[5]) {
  TD_UNROLL
  for (int d = 4; d > 0; --d) {
    const int32_t above = quotient(i, indices.by[d]);
    at[d] = i - above * static_cast<int32_t>(indices.by[d].divisor);
    i = above;
  }
  at[0] = i;
}

/// The windows over an input.
struct Pooled {
  View in;
  Pooling pooling;
  PoolingAxis axes[3];
  bool single[3];      // one element, and one window that sees it
  Indices<5> outputs;  // n, c, od, oh, ow

  Pooled(const View& in, const View& out, const Pooling& pooling)
      : in(in),
        pooling(pooling),
        axes{{pooling, 0, in.sizes[2], out.sizes[2]}, {pooling, 1, in.sizes[3], out.sizes[3]}, {pooling, 2, in.sizes[4], out.sizes[4]}},
        outputs(out.sizes) {
    for (int d = 0; d < 3; ++d) single[d] = axes[d].in == 1 && axes[d].out == 1 && (axes[d].adaptive || axes[d].kernel == 1);
  }

  /// Whether numbers and places of elements, of windows beyond the input too, may be computed in 32 bits.
  [[nodiscard]] bool is_small(const View& out) const {
    constexpr int64_t limit = int64_t{1} << 28;
    const auto small = [](const View& x) {
      int64_t last = 0;
      for (int d = 0; d < x.ndim; ++d) last += (x.sizes[d] - 1) * std::abs(x.strides[d]);
      return x.numel() < limit && last < limit;
    };
    return small(in) && small(out) && std::all_of(axes, axes + 3, [](const PoolingAxis& a) {
             return a.kernel < limit && a.dilation < limit && (a.kernel - 1) * a.dilation < limit && a.stride < limit && a.padding < limit;
           });
  }
  /// Elements of the largest window, or about as many.
  int64_t largest() const {
    int64_t elements = 1;
    for (const PoolingAxis& a : axes) elements *= a.adaptive ? a.in / std::max<int64_t>(1, a.out) + 1 : a.kernel;
    return elements;
  }

  template <class I>
  TD_DEVICE Seen at(I i) const {
    I at[5];
    split(outputs, i, at);
    Seen seen;
    seen.base = at[0] * in.strides[0] + at[1] * in.strides[1];
    for (int d = 0; d < 3; ++d) {
      const PoolingRange r = single[d] ? PoolingRange{0, 1, 1} : axes[d].at(at[2 + d]);
      const int64_t length = r.end - r.begin;
      seen.range[d] = r;
      seen.count[d] = length <= 0 ? 0 : axes[d].dilation == 1 ? length : (length + axes[d].dilation - 1) / axes[d].dilation;
    }
    return seen;
  }
  /// The place in the volume of an element of a window, and where it lies in memory.
  TD_DEVICE int64_t place(const Seen& seen, int64_t z, int64_t y, int64_t x, int64_t& offset) const {
    z = seen.range[0].begin + z * axes[0].dilation;
    y = seen.range[1].begin + y * axes[1].dilation;
    x = seen.range[2].begin + x * axes[2].dilation;
    offset = seen.base + z * in.strides[2] + y * in.strides[3] + x * in.strides[4];
    return (z * axes[1].in + y) * axes[2].in + x;
  }
  /// f(place, offset) for all that is seen.
  template <class I, class F>
  TD_DEVICE void each(const Seen& seen, F&& f) const {
    const I rows = static_cast<I>(seen.count[1]), columns = static_cast<I>(seen.count[2]), step = static_cast<I>(axes[2].dilation),
            across = step * static_cast<I>(in.strides[4]);
    for (int64_t z = 0; z < seen.count[0]; ++z)
      for (I y = 0; y < rows; ++y) {
        int64_t begin;
        I where = static_cast<I>(place(seen, z, y, 0, begin)), offset = static_cast<I>(begin);
        for (I x = 0; x < columns; ++x, where += step, offset += across) f(where, offset);
      }
  }
  /// The same for what falls to one thread of a warp: every 32nd element.
  template <class F>
  TD_DEVICE void each_of_thread(const Seen& seen, int thread, F&& f) const {
    const int64_t size = seen.size();
    if (size == 0) return;
    const auto columns = static_cast<uint32_t>(seen.count[2]), rows = static_cast<uint32_t>(seen.count[1]);
    for (int64_t i = thread; i < size; i += kWarp) {
      int64_t z, y, x, offset;
      if (size < (int64_t{1} << 31)) {
        const auto row = static_cast<uint32_t>(i) / columns;
        x = static_cast<uint32_t>(i) - row * columns;
        z = row / rows;
        y = row - static_cast<uint32_t>(z) * rows;
      } else {
        x = i % seen.count[2];
        y = i / seen.count[2] % seen.count[1];
        z = i / seen.count[2] / seen.count[1];
      }
      const int64_t where = place(seen, z, y, x, offset);
      f(where, offset);
    }
  }
};

// --- The largest element
template <class C>
struct Largest {
  C value;
  int64_t place;
};

/// Of two: nan, the last of them; else the larger, the first of them.
template <class C>
TD_DEVICE Largest<C> larger(const Largest<C>& a, const Largest<C>& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan || b_nan) return !b_nan || (a_nan && a.place > b.place) ? a : b;
  if (a.value != b.value) return a.value > b.value ? a : b;
  return a.place < b.place ? a : b;
}

template <class T, class I>
struct MaxPool {
  using C = Compute<T>;
  Pooled pooled;
  Numbers<T> from, to;
  int64_t* places;

  /// What every window begins with.
  TD_DEVICE Largest<C> first(const Seen& seen) const {
    int64_t offset;
    C lowest = std::numeric_limits<C>::lowest();
    if constexpr (std::is_floating_point_v<C>) lowest = -std::numeric_limits<C>::infinity();
    return {lowest, pooled.place(seen, 0, 0, 0, offset)};
  }
  TD_DEVICE void see(Largest<C>& best, int64_t place, int64_t offset) const {
    const C x = from[offset];
    if (x > best.value || x != x) best = {x, place};
  }
  TD_DEVICE void put(int64_t i, const Largest<C>& best) const {
    to.set(i, best.value);
    if (places) places[i] = best.place;
  }

  TD_DEVICE void operator()(int64_t i) const {
    const Seen seen = pooled.at(static_cast<I>(i));
    Largest<C> best = first(seen);
    pooled.each<I>(seen, [&](I place, I offset) { see(best, place, offset); });
    put(i, best);
  }
};

template <class T>
struct MaxPoolLarge {
  using Shared = NothingShared;
  MaxPool<T, int64_t> pool;

  TD_DEVICE void operator()(Group<kWarp>& group, int64_t i, Shared&) const {
    using Best = Largest<Compute<T>>;
    typename Group<kWarp>::template Local<Best> bests;
    const Seen seen = pool.pooled.at(i);
    group.each([&](int t) {
      Best best = pool.first(seen);
      pool.pooled.each_of_thread(seen, t, [&](int64_t place, int64_t offset) { pool.see(best, place, offset); });
      bests[t] = best;
    });
    const Best best = group.reduce(bests, [](const Best& a, const Best& b) { return larger(a, b); });
    group.once([&] { pool.put(i, best); });
  }
};

// --- Averages
template <class C>
TD_DEVICE C divided(C sum, int64_t by) {
  if constexpr (std::is_integral_v<C>) return sum / by;
  else return sum / static_cast<C>(by);
}

template <class T, class I>
struct AvgPool {
  using C = Compute<T>;
  Pooled pooled;
  Numbers<T> from, to;

  TD_DEVICE void put(int64_t i, const Seen& seen, C sum) const {
    to.set(i, divided(sum, divisor_of(pooled.pooling, seen.range[0], seen.range[1], seen.range[2])));
  }
  TD_DEVICE void operator()(int64_t i) const {
    const Seen seen = pooled.at(static_cast<I>(i));
    C sum = 0;
    pooled.each<I>(seen, [&](I, I offset) { sum = added(sum, from[offset]); });
    put(i, seen, sum);
  }
};

template <class T>
struct AvgPoolLarge {
  using Shared = NothingShared;
  AvgPool<T, int64_t> pool;

  TD_DEVICE void operator()(Group<kWarp>& group, int64_t i, Shared&) const {
    using C = Compute<T>;
    typename Group<kWarp>::template Local<C> sums;
    const Seen seen = pool.pooled.at(i);
    group.each([&](int t) {
      C sum = 0;
      pool.pooled.each_of_thread(seen, t, [&](int64_t, int64_t offset) { sum = added(sum, pool.from[offset]); });
      sums[t] = sum;
    });
    const C sum = group.reduce(sums, [](C a, C b) { return added(a, b); });
    group.once([&] { pool.put(i, seen, sum); });
  }
};

/// The windows that see an element of the input.
struct Seeing {
  PoolingAxis axes[3];
  Divide by[3];  // the stride, or the length of an adaptive axis
  bool single[3];
  Indices<5> elements;  // n, c, d, h, w of the input

  explicit Seeing(const Pooled& pooled)
      : axes{pooled.axes[0], pooled.axes[1], pooled.axes[2]},
        single{pooled.single[0], pooled.single[1], pooled.single[2]},
        elements(pooled.in.sizes) {
    for (int d = 0; d < 3; ++d) by[d] = Divide(axes[d].adaptive ? axes[d].in : axes[d].stride);
  }

  /// The number of windows, or about as many.
  int64_t most() const {
    int64_t windows = 1;
    for (const PoolingAxis& a : axes) windows *= a.adaptive ? (a.out + a.in - 1) / a.in + 1 : (reach(a) + a.stride - 1) / a.stride;
    return windows;
  }
  /// The indices of element number `i`, and of the first and the last window in each dimension. With dilation, these are all between whose
  /// ends it lies.
  template <class I>
  TD_DEVICE void operator()(I i, I (&at)[5], I (&first)[3], I (&last)[3]) const {
    split(elements, i, at);
    for (int d = 0; d < 3; ++d) {
      const PoolingAxis& a = axes[d];
      const I place = at[2 + d];
      if (single[d]) {
        first[d] = last[d] = 0;
      } else if (a.adaptive) {
        first[d] = static_cast<I>(by[d](place * a.out));
        last[d] = static_cast<I>(by[d]((place + 1) * a.out - 1));
      } else {
        const I start = place + static_cast<I>(a.padding),
                before = start - static_cast<I>(reach(a));  // those that begin up to here are over
        const I end = static_cast<I>(a.out) - 1, begun = quotient(start, by[d]);
        first[d] = before < 0 ? 0 : quotient(before, by[d]) + 1;
        last[d] = begun < end ? begun : end;
      }
    }
  }

 private:
  TD_HOST_DEVICE static int64_t reach(const PoolingAxis& a) { return (a.kernel - 1) * a.dilation + 1; }
};

/// The gradient of the largest: each element looks among the windows that see it for those which name it.
template <class T, class I>
struct MaxPoolBackward {
  View grad;  // contiguous, as the indices are
  Numbers<T> from;
  Numbers<Compute<T>> to;
  const int64_t* indices;
  Seeing seeing;

  TD_DEVICE void operator()(int64_t i) const {
    using C = Compute<T>;
    I at[5], first[3], last[3];
    seeing(static_cast<I>(i), at, first, last);
    const auto size = [&](int d) { return static_cast<I>(grad.sizes[d]); };
    const I own = (at[2] * static_cast<I>(seeing.axes[1].in) + at[3]) * static_cast<I>(seeing.axes[2].in) + at[4],
            plane = at[0] * size(1) + at[1];
    C sum = 0;
    for (I z = first[0]; z <= last[0]; ++z)
      for (I y = first[1]; y <= last[1]; ++y) {
        const I row = ((plane * size(2) + z) * size(3) + y) * size(4);
        for (I x = first[2]; x <= last[2]; ++x)
          if (indices[row + x] == own) sum = added(sum, from[row + x]);
      }
    to.set(i, sum);
  }
};

template <class T>
struct AvgPoolBackward {
  View grad;
  Numbers<T> from;
  Numbers<Compute<T>> to;
  Pooling pooling;
  Seeing seeing;

  TD_DEVICE void operator()(int64_t i) const {
    using C = Compute<T>;
    int64_t at[5], first[3], last[3];
    seeing(i, at, first, last);
    const int64_t base = at[0] * grad.strides[0] + at[1] * grad.strides[1];
    C sum = 0;
    for (int64_t z = first[0]; z <= last[0]; ++z) {
      const PoolingRange d = seeing.axes[0].at(z);
      for (int64_t y = first[1]; y <= last[1]; ++y) {
        const PoolingRange h = seeing.axes[1].at(y);
        for (int64_t x = first[2]; x <= last[2]; ++x) {
          const C g = from[base + z * grad.strides[2] + y * grad.strides[3] + x * grad.strides[4]];
          sum = added(sum, divided(g, divisor_of(pooling, d, h, seeing.axes[2].at(x))));
        }
      }
    }
    to.set(i, sum);
  }
};

}  // namespace

void max_pool(const Queue& queue, Out out, Out indices, View in, Pooling pooling) {
  const Pooled pooled(in, out, pooling);
  visit_number(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto pool = [&](auto index) {
      return MaxPool<T, decltype(index)>{pooled, Numbers<T>(in), Numbers<T>(out), indices.as<int64_t>()};
    };
    if (pooled.largest() < kLarge)
      with_index(pooled.is_small(out), [&](auto index) { for_each(queue, pooled.outputs.count, pool(index)); });
    else for_groups<kWarp>(queue, pooled.outputs.count, MaxPoolLarge<T>{pool(int64_t{0})});
  });
}

void avg_pool(const Queue& queue, Out out, View in, Pooling pooling) {
  const Pooled pooled(in, out, pooling);
  visit_number(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto pool = [&](auto index) { return AvgPool<T, decltype(index)>{pooled, Numbers<T>(in), Numbers<T>(out)}; };
    if (pooled.largest() < kLarge)
      with_index(pooled.is_small(out), [&](auto index) { for_each(queue, pooled.outputs.count, pool(index)); });
    else for_groups<kWarp>(queue, pooled.outputs.count, AvgPoolLarge<T>{pool(int64_t{0})});
  });
}

void avg_pool_backward(const Queue& queue, Out out, View grad, Pooling pooling) {
  const Seeing seeing{Pooled(out, grad, pooling)};
  visit_number(grad.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, seeing.elements.count, AvgPoolBackward<T>{grad, Numbers<T>(grad), Numbers<Compute<T>>(out), pooling, seeing});
  });
}

void max_pool_backward(const Queue& queue, Out out, View grad, View indices, Pooling pooling) {
  if (grad.numel() == 0) return fill(queue, out, {0, 0, false});
  const Pooled pooled(out, grad, pooling);
  const Seeing seeing(pooled);
  if (seeing.most() > kLarge) {
    fill(queue, out, {0, 0, false});
    const auto flat = [](auto v) {  // a volume as one dimension
      for (int d = 3; d < 5; ++d) v.sizes[2] *= v.sizes[d];
      v.ndim = 3;
      v.strides[2] = 1;
      return v;
    };
    return scatter(queue, Scatter::Add, Change{flat(out)}, flat(indices), flat(grad), 2);
  }
  visit_number(grad.dtype, [&](auto zero) {
    using T = decltype(zero);
    with_index(pooled.is_small(grad), [&](auto index) {
      for_each(queue, seeing.elements.count,
               MaxPoolBackward<T, decltype(index)>{grad, Numbers<T>(grad), Numbers<Compute<T>>(out), indices.as<const int64_t>(), seeing});
    });
  });
}

}  // namespace tandem::kernels::cuda
