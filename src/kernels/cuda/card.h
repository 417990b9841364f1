// Marks what kernels call: code of a card where nvcc compiles it, plain functions where the C++ compiler does.
#pragma once

#if defined(__CUDACC__)
#define TD_CARD __device__ inline
#else
#define TD_CARD inline
#endif
