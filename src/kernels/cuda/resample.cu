// One dimension made longer or shorter: a thread for every element of the result adds up the few of the input that it is made of.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

template <class T>
struct Resample {
  T* out;
  const T* in;
  const int64_t *starts, *indices;
  const double* weights;
  int64_t in_length;
  Indices<3> elements;  // outer, m, inner

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    elements(i, at);
    const int64_t inner = elements.by[2].divisor;
    const T* const from = in + at[0] * in_length * inner + at[2];
    T sum = 0;
    for (int64_t t = starts[at[1]]; t < starts[at[1] + 1]; ++t) sum += static_cast<T>(weights[t]) * from[indices[t] * inner];
    out[i] = sum;
  }
};

}  // namespace

void resample(const Queue& queue, Out out, View in, View starts, View indices, View weights) {
  const auto launch = [&](auto zero) {
    using T = decltype(zero);
    const Indices<3> elements(out.sizes);
    const Resample<T> kernel{out.as<T>(), in.as<T>(), starts.as<int64_t>(), indices.as<int64_t>(), weights.as<double>(),
                             in.sizes[1], elements};
    for_each(queue, elements.count, kernel);
  };
  visit_floating_compute(in.dtype, launch);
}

}  // namespace tandem::kernels::cuda
