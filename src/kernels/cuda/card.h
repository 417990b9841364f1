// Marks what kernels call: code of a card where nvcc compiles it, plain functions where the C++ compiler does. TD_UNROLL stands before a
// loop whose array has to stay in a card's registers.
#pragma once

#if defined(__CUDACC__)
#define TD_CARD __device__ inline
#define TD_UNROLL _Pragma("unroll")
#else
#define TD_CARD inline
#define TD_UNROLL
#endif
