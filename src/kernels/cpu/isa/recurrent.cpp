// The gates of a GRU's row, forward and backward, in one pass: each number is read and written once.
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

/// A vector's place in rows of n elements; where `whole` is not set, the last n - i of them.
template <class T, bool whole>
struct Place {
  using V = Vec<T>;
  int64_t i, n;

  TD_INLINE V load(const void* row) const {
    const T* from = static_cast<const T*>(row) + i;
    if constexpr (whole) return V::load(from);
    else return V::load(from, n - i);
  }
  TD_INLINE void store(void* row, V x) const {
    T* to = static_cast<T*>(row) + i;
    if constexpr (whole) x.store(to);
    else x.store(to, n - i);
  }
};

template <class T>
TD_INLINE Vec<T> sigmoid(Vec<T> x) {
  return Vec<T>(1) / (Vec<T>(1) + exp(-x));
}

template <class T>
struct Gru {
  using V = Vec<T>;

  template <bool whole>
  TD_INLINE static void forward(Place<T, whole> at, const GruRow& row) {
    const V reset = sigmoid(at.load(row.from_input[0]) + at.load(row.from_hidden[0]));
    const V update = sigmoid(at.load(row.from_input[1]) + at.load(row.from_hidden[1]));
    const V product = at.load(row.from_hidden[2]);
    const V fresh = tanh(fma(reset, product, at.load(row.from_input[2])));
    const V before = at.load(row.before);
    at.store(row.active[0], reset);
    at.store(row.active[1], update);
    at.store(row.active[2], fresh);
    at.store(row.active[3], product);
    at.store(row.h, fma(update, before - fresh, fresh));
  }

  template <bool whole>
  TD_INLINE static void backward(Place<T, whole> at, const GruRowGradient& row) {
    const V reset = at.load(row.active[0]), update = at.load(row.active[1]), fresh = at.load(row.active[2]),
            product = at.load(row.active[3]), grad = at.load(row.grad), before = at.load(row.before), one(1);
    const V to_new = grad * (one - update) * (one - fresh * fresh);
    const V to_reset = to_new * product * reset * (one - reset), to_update = grad * (before - fresh) * update * (one - update);
    const V gates[3] = {to_reset, to_update, to_new};
    for (int k = 0; k < 3; ++k) at.store(row.from_input[k], gates[k]);
    for (int k = 0; k < 2; ++k) at.store(row.from_hidden[k], gates[k]);
    at.store(row.from_hidden[2], to_new * reset);
    at.store(row.previous, grad * update);
  }

  static void forward_row(const GruRow& row, int64_t n) {
    int64_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) forward(Place<T, true>{i, n}, row);
    if (i < n) forward(Place<T, false>{i, n}, row);
  }
  static void backward_row(const GruRowGradient& row, int64_t n) {
    int64_t i = 0;
    for (; i + V::kLanes <= n; i += V::kLanes) backward(Place<T, true>{i, n}, row);
    if (i < n) backward(Place<T, false>{i, n}, row);
  }
};

}  // namespace

void fill_recurrent(RecurrentFunctions (&recurrent)[2]) {
  recurrent[0] = {Gru<float>::forward_row, Gru<float>::backward_row};
  recurrent[1] = {Gru<double>::forward_row, Gru<double>::backward_row};
}

}  // namespace tandem::kernels::cpu::TD_ISA
