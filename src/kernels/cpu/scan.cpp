// Running totals along the last dimension, carried in double (integers wrap). A row is one chain of dependent steps, so rows are shared out
// among the threads; where the rows lie closer together than the elements of one, a group of them is handled side by side, so that
// memory is read in its own order. A single long row is summed in parts first: then their chains run side by side, and on several threads.
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 8 << 10;  // elements
constexpr int64_t kLanes = 64;       // rows handled side by side
constexpr int64_t kPart = 1024;      // elements of a part of a long row, at least
constexpr int64_t kMaxParts = 4096;

/// A group of rows: where each operand's first row begins, and how to go from row to row and along them.
template <int kOperands>
struct Group {
  int64_t width, length;
  int64_t offsets[kOperands], across[kOperands], along[kOperands];
  [[nodiscard]] bool dense() const {
    for (const int64_t stride : across)
      if (stride != 1) return false;
    return true;
  }
};

/// Calls `f(group)` for the rows of views of common sizes, the result first.
template <int kOperands, class F>
void each_group(const Queue& queue, const View (&views)[kOperands], F f) {
  const View& out = views[0];
  const int last = out.ndim - 1;
  int lane = -1;  // the dimension of the rows that lie closest
  for (int d = 0; d < last; ++d)
    if (out.sizes[d] > 1 && out.strides[d] < out.strides[last] && (lane < 0 || out.strides[d] < out.strides[lane])) lane = d;
  Walk<kOperands> outer;
  Group<kOperands> whole{1, out.ndim ? out.sizes[last] : 1, {}, {}, {}};
  for (int d = 0; d < last; ++d) {
    if (d == lane) continue;
    int64_t strides[kOperands];
    for (int k = 0; k < kOperands; ++k) strides[k] = views[k].strides[d];
    outer.push(out.sizes[d], strides);
  }
  for (int k = 0; k < kOperands && out.ndim; ++k) {
    whole.along[k] = views[k].strides[last];
    if (lane >= 0) whole.across[k] = views[k].strides[lane];
  }
  const int64_t lanes = lane < 0 ? 1 : out.sizes[lane], tiles = (lanes + kLanes - 1) / kLanes;
  const int64_t grain = std::max<int64_t>(1, kGrain / (std::min(lanes, kLanes) * std::max<int64_t>(1, whole.length)));
  parallel_for(outer.numel * tiles, grain, queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      Group<kOperands> group = whole;
      const int64_t first = task % tiles * kLanes;
      group.width = std::min(kLanes, lanes - first);
      outer.each(task / tiles, task / tiles + 1, [&](int64_t, const int64_t* at) {
        for (int k = 0; k < kOperands; ++k) group.offsets[k] = at[k] + first * group.across[k];
      });
      f(group);
    }
  });
}

/// Goes along a group: `step(i, lane, offsets)` for every element, with the elements of a place side by side in the inner loop.
template <int kOperands, class F>
void along(const Group<kOperands>& group, F step) {
  int64_t at[kOperands];
  for (int64_t i = 0; i < group.length; ++i) {
    for (int k = 0; k < kOperands; ++k) at[k] = group.offsets[k] + i * group.along[k];
    if (group.width == 1) {
      step(i, 0, at);
    } else if (group.dense()) {
      for (int64_t lane = 0; lane < group.width; ++lane) {
        int64_t here[kOperands];
        for (int k = 0; k < kOperands; ++k) here[k] = at[k] + lane;
        step(i, lane, here);
      }
    } else {
      for (int64_t lane = 0; lane < group.width; ++lane) {
        step(i, lane, at);
        for (int k = 0; k < kOperands; ++k) at[k] += group.across[k];
      }
    }
  }
}

/// What elements of T are carried in.
template <class T>
using Carry = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <class T>
Carry<T> carried(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return static_cast<float>(x);
  else return static_cast<Carry<T>>(x);
}
template <class T>
T stored(Carry<T> x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(static_cast<float>(x));
  else return static_cast<T>(x);
}

/// log(exp(a) + exp(b)) without leaving the range of either.
double log_add(double a, double b) {
  if (a == b) return a + 0.69314718055994530942;  // infinities among them
  const double high = a > b ? a : b, low = a > b ? b : a;
  return a != a || b != b ? a + b : high + std::log1p(std::exp(low - high));
}

/// SIMD code for running sums of contiguous elements on top of a number.
using RunningSum = void (*)(void* out, const void* in, int64_t n, double before);
template <class T>
RunningSum running_sum() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) return isa().scans.running_sum[compute_of(dtype_of<T>())];
  else return nullptr;
}

/// `dense`: what does the same for contiguous rows, or nullptr.
template <class T, class F>
void run(const Queue& queue, const Out& out, const View& in, Carry<T> neutral, F add, RunningSum dense = nullptr) {
  each_group<2>(queue, {out, in}, [&](const Group<2>& group) {
    T* const to = out.as<T>();
    const T* const from = in.as<const T>();
    if (dense && group.width == 1 && group.along[0] == 1 && group.along[1] == 1)
      return dense(to + group.offsets[0], from + group.offsets[1], group.length, 0);
    if (group.width == 1) {
      Carry<T> total = neutral;
      for (int64_t i = 0; i < group.length; ++i)
        to[group.offsets[0] + i * group.along[0]] = stored<T>(total = add(total, carried(from[group.offsets[1] + i * group.along[1]])));
      return;
    }
    Carry<T> totals[kLanes];
    std::fill_n(totals, kLanes, neutral);
    along(group,
          [&](int64_t, int64_t lane, const int64_t* at) { to[at[0]] = stored<T>(totals[lane] = add(totals[lane], carried(from[at[1]]))); });
  });
}

/// Running sums of one row of floating numbers: the totals of its parts, then each part from the total of those before it.
template <class T>
void sum_long_row(const Queue& queue, T* to, int64_t to_step, const T* from, int64_t from_step, int64_t length) {
  const int64_t part = (length / kMaxParts + kPart) / kPart * kPart, parts = (length + part - 1) / part;
  double before[kMaxParts];
  const RunningSum dense = to_step == 1 && from_step == 1 ? running_sum<T>() : nullptr;
  parallel_for(parts, std::max<int64_t>(1, 2 * kGrain / part), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t last = std::min(length, (p + 1) * part);
      if (dense) {
        before[p] = isa().scans.sum[compute_of(dtype_of<T>())](from + p * part, last - p * part);
        continue;
      }
      double a = 0, b = 0, c = 0, d = 0;
      int64_t i = p * part;
      for (; i + 4 <= last; i += 4) {
        const T* x = from + i * from_step;
        a += carried(x[0]), b += carried(x[from_step]), c += carried(x[2 * from_step]), d += carried(x[3 * from_step]);
      }
      for (; i < last; ++i) a += carried(from[i * from_step]);
      before[p] = (a + b) + (c + d);
    }
  });
  double total = 0;
  for (int64_t p = 0; p < parts; ++p) {
    const double here = before[p];
    before[p] = total;
    total += here;
  }
  if (dense) {
    parallel_for(parts, std::max<int64_t>(1, kGrain / part), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) dense(to + p * part, from + p * part, std::min(part, length - p * part), before[p]);
    });
    return;
  }
  const int64_t whole = length / part / 4;  // fours of whole parts
  parallel_for(whole + 1, std::max<int64_t>(1, kGrain / (4 * part)), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t four = begin; four < end; ++four) {
      const T* x = from + 4 * four * part * from_step;
      T* y = to + 4 * four * part * to_step;
      if (four == whole) {
        double sum = 4 * four < parts ? before[4 * four] : 0;
        for (int64_t i = 4 * four * part; i < length; ++i, x += from_step, y += to_step) *y = stored<T>(sum += carried(*x));
        continue;
      }
      double a = before[4 * four], b = before[4 * four + 1], c = before[4 * four + 2], d = before[4 * four + 3];
      const int64_t x_part = part * from_step, y_part = part * to_step;
      for (int64_t i = 0; i < part; ++i, x += from_step, y += to_step) {
        y[0] = stored<T>(a += carried(x[0]));
        y[y_part] = stored<T>(b += carried(x[x_part]));
        y[2 * y_part] = stored<T>(c += carried(x[2 * x_part]));
        y[3 * y_part] = stored<T>(d += carried(x[3 * x_part]));
      }
    }
  });
}

}  // namespace

void scan(const Queue& queue, Scan op, Out out, View in) {
  if (in.numel() == 0) return;
  visit(out.dtype, [&]<class T>(T) {
    switch (op) {
      case Scan::Sum:
        if constexpr (!std::is_integral_v<T>)
          if (const int64_t length = in.numel(); length >= 16 * kPart && length == in.sizes[in.ndim - 1])
            return sum_long_row(queue, out.as<T>(), out.strides[out.ndim - 1], in.as<const T>(), in.strides[in.ndim - 1], length);
        return run<T>(
            queue, out, in, 0, [](auto total, auto x) { return total + x; }, running_sum<T>());
      case Scan::Prod: return run<T>(queue, out, in, 1, [](auto total, auto x) { return total * x; });
      case Scan::LogSumExp:
        if constexpr (!std::is_integral_v<T>) return run<T>(queue, out, in, -INFINITY, log_add);
    }
  });
}

void scan_extreme(const Queue& queue, bool largest, Out values, Out indices, View in) {
  if (in.numel() == 0) return;
  visit(in.dtype, [&]<class T>(T) {
    const auto run = [&](auto at_least) {
      each_group<3>(queue, {values, indices, in}, [&](const Group<3>& group) {
        using C = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
        C best[kLanes];
        int64_t places[kLanes];
        along(group,
              [&, to = values.as<T>(), where = indices.as<int64_t>(), from = in.as<const T>()](int64_t i, int64_t lane, const int64_t* at) {
                const T x = from[at[2]];
                const C c = static_cast<C>(carried(x));
                if (i == 0 || is_nan(c) || (!is_nan(best[lane]) && at_least(c, best[lane]))) {
                  best[lane] = c;
                  places[lane] = i;
                }
                to[at[0]] = stored<T>(static_cast<Carry<T>>(best[lane]));
                where[at[1]] = places[lane];
              });
      });
    };
    if (largest) run([](auto x, auto best) { return x >= best; });
    else run([](auto x, auto best) { return x <= best; });
  });
}

void recurrence(const Queue& queue, Out out, View factor, View in) {
  if (in.numel() == 0) return;
  visit(out.dtype, [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      each_group<3>(queue, {out, factor, in}, [&](const Group<3>& group) {
        double totals[kLanes] = {};
        along(group, [&, to = out.as<T>(), by = factor.as<const T>(), from = in.as<const T>()](int64_t i, int64_t lane, const int64_t* at) {
          const double before = i == 0 ? 0 : carried(by[at[1]]) * totals[lane];  // before the first factor there is no product
          to[at[0]] = stored<T>(totals[lane] = before + carried(from[at[2]]));
        });
      });
    }
  });
}

}  // namespace tandem::kernels::cpu
