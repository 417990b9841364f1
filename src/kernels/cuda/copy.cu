// Copying with conversion between any two dtypes and layouts. One dtype is moved by its width; else integers go by way of int64, so that
// none is rounded, all others by way of double.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

template <class T>
struct Move {
  T* out;
  const T* in;
  Places<2> places;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    places(i, at);
    out[at[0]] = in[at[1]];
  }
};

template <class Through>
struct Convert {
  Out out;
  View in;
  Places<2> places;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    places(i, at);
    store(out.data, out.dtype, at[0], load<Through>(in.data, in.dtype, at[1]));
  }
};

}  // namespace

void copy(const Queue& queue, Out out, View in) {
  const Places<2> places = places_of(out, in);
  if (out.dtype == in.dtype) {
    visit_width(out.dtype, [&](auto zero) {
      using T = decltype(zero);
      for_each(queue, places.count, Move<T>{out.as<T>(), in.as<T>(), places});
    });
  } else if (is_floating(in.dtype)) {
    for_each(queue, places.count, Convert<double>{out, in, places});
  } else {
    for_each(queue, places.count, Convert<int64_t>{out, in, places});
  }
}

}  // namespace tandem::kernels::cuda
