// Along contiguous rows: running sums, and the place of a number.
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

/// The sum of each lane and those before it, where x has sums of `shift` lanes.
template <int shift = 1>
TD_INLINE Vec<double> prefix_sums(Vec<double> x) {
  constexpr int lanes = Vec<double>::kLanes;
  if constexpr (shift >= lanes) return x;
  else return prefix_sums<2 * shift>(x + Vec<double>(shuffle(Vec<double>(0).v, x.v, [](int i) { return i + lanes - shift; })));
}

/// f of a register of float or double, in double.
template <class F>
TD_INLINE Vec<float> through_double(Vec<float> x, F f) {
  const Halves wide = widen(x);
  const Vec<double> low = f(wide.low);  // before the high half: f may count
  return narrow({low, f(wide.high)});
}
template <class F>
TD_INLINE Vec<double> through_double(Vec<double> x, F f) {
  return f(x);
}

/// Registers wait for each other by one addition only: that of a register's sum to the sum of all before it.
template <class T>
void running_sum(void* out, const void* in, int64_t n, double before) {
  constexpr int64_t lanes = Vec<T>::kLanes;
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(out);
  Vec<double> total(before);
  const auto advance = [&](Vec<double> some) __attribute__((always_inline)) {
    const Vec<double> sums = prefix_sums(some), here = total + sums;
    total = total + Vec<double>(shuffle(sums.v, sums.v, [](int) { return Vec<double>::kLanes - 1; }));
    return here;
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) through_double(Vec<T>::load(x + i), advance).store(y + i);
  if (i < n) through_double(Vec<T>::load(x + i, n - i), advance).store(y + i, n - i);
}

TD_INLINE Vec<double> widened_sum(Vec<float> x) {
  const Halves wide = widen(x);
  return wide.low + wide.high;
}
TD_INLINE Vec<double> widened_sum(Vec<double> x) { return x; }

template <class T>
double sum(const void* in, int64_t n) {
  constexpr int64_t lanes = Vec<T>::kLanes, parts = 4;
  const T* const x = static_cast<const T*>(in);
  Vec<double> sums[parts] = {Vec<double>(0), Vec<double>(0), Vec<double>(0), Vec<double>(0)};
  int64_t i = 0;
  for (; i + parts * lanes <= n; i += parts * lanes)
    for (int64_t k = 0; k < parts; ++k) sums[k] = sums[k] + widened_sum(Vec<T>::load(x + i + k * lanes));
  for (; i + lanes <= n; i += lanes) sums[0] = sums[0] + widened_sum(Vec<T>::load(x + i));
  if (i < n) sums[1] = sums[1] + widened_sum(Vec<T>::load(x + i, n - i));
  return reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <class T>
int64_t find(const void* in, int64_t n, const void* value) {
  constexpr int64_t lanes = Vec<T>::kLanes;
  const T* const x = static_cast<const T*>(in);
  const T wanted = *static_cast<const T*>(value);
  const bool nan = wanted != wanted;
  const Vec<T> all_wanted(wanted);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<T> here = Vec<T>::load(x + i);
    if (any(nan ? here != here : here == all_wanted)) break;
  }
  while (i < n && (nan ? x[i] == x[i] : x[i] != wanted)) ++i;
  return i;
}

}  // namespace

void fill_scans(ScanFunctions& table) {
  table.running_sum[kComputeFloat] = running_sum<float>;
  table.running_sum[kComputeDouble] = running_sum<double>;
  table.sum[kComputeFloat] = sum<float>;
  table.sum[kComputeDouble] = sum<double>;
  table.find[kComputeFloat] = find<float>;
  table.find[kComputeDouble] = find<double>;
  table.find[kComputeInt] = find<int64_t>;
}

}  // namespace tandem::kernels::cpu::TD_ISA
