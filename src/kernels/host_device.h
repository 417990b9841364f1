// What stands before code that CUDA kernels call: TD_HOST_DEVICE where the host calls it too, TD_DEVICE where kernels alone do. The C++
// compiler, which walks kernels on the host, sees plain functions. TD_UNROLL stands before a loop whose array has to stay in registers.
#pragma once

#if defined(__CUDACC__)
#define TD_HOST_DEVICE __host__ __device__
#define TD_DEVICE __device__ inline
#define TD_UNROLL _Pragma("unroll")
#else
#define TD_HOST_DEVICE [[gnu::always_inline]]
#define TD_DEVICE inline
#define TD_UNROLL
#endif
