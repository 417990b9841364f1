// Filling with one number. A thread writes elements a grid apart; strided outputs find each element's place by its number.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

struct Fill {
  void* out;
  DType dtype;
  Value value;
  Places<1> places;

  TD_CARD void operator()(int64_t i) const {
    int64_t at[1];
    places(i, at);
    if (value.is_floating) store(out, dtype, at[0], value.floating);
    else store(out, dtype, at[0], value.integer);
  }
};

}  // namespace

void fill(const Queue& queue, Out out, Value value) { for_each(queue, out.numel(), Fill{out.data, out.dtype, value, places_of(out)}); }

}  // namespace tandem::kernels::cuda
