// How the kernels of this folder are started. A kernel is a struct of its arguments whose operator() does the work of one element, or of
// one group of threads. nvcc makes grids for a GPU of it. The C++ compiler makes loops of it that walk grid and block on the host: so a
// virtual GPU runs the same kernels (TANDEM_VIRTUAL_KERNELS=cuda), and the tests of every operation check them where there is no GPU.
// Order means nothing on a GPU: the host walks from the back to the front, and changes direction at each barrier, so that a kernel that
// counts on an order, or lacks a barrier, gives wrong results here as well.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/queue.h"
#include "kernels/host_device.h"
#include "kernels/math.h"

#if defined(__CUDACC__)
#include "runtime/cuda/launch_error.h"
#endif

namespace tandem::kernels::cuda {

inline constexpr int kThreads = 256, kWarp = 32;

/// What a kernel finds wrong goes to the status of its queue: on a GPU to the late one. The first trouble stays.
class Reporter {
 public:
  explicit Reporter(const Queue& queue) : status_(queue.late ? queue.late : queue.status), op_(queue.op), site_(queue.site) {}

  TD_DEVICE void operator()(Trouble what, int64_t a = 0, int64_t b = 0) const {
#if defined(__CUDACC__)
    // The status lies in host memory that the GPU sees: see runtime/cuda.
    if (atomicCAS_system(reinterpret_cast<int*>(&status_->trouble), 0, static_cast<int>(what)) != 0) return;
    *reinterpret_cast<volatile int64_t*>(&status_->a) = a;
    *reinterpret_cast<volatile int64_t*>(&status_->b) = b;
    *const_cast<const char* volatile*>(&status_->op) = op_;
    *const_cast<const char* volatile*>(&status_->site.file) = site_.file;
    *const_cast<volatile int*>(&status_->site.line) = site_.line;
    __threadfence_system();
#else
    status_->report(what, a, b);
#endif
  }

 private:
  Status* status_;
  const char* op_;
  Site site_;
};

/// Of a number outside [0, 1]; see Trouble::NotProbability.
TD_DEVICE void report_probability(const Reporter& report, double value, int64_t which = 0) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  report(Trouble::NotProbability, bits, which);
}

/// For kernels that work in groups and share nothing but what Group offers.
struct NothingShared {};

#if defined(__CUDACC__)

/// The queue's CUDA stream.
inline cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

/// After every launch and call of a library: what went wrong goes to the queue's status.
inline void check(const Queue& queue, cudaError_t code) { runtime::cuda_gpu::report_launch(queue, code); }

/// The threads of a group as its kernel sees them: all at once. A kernel is a sequence of phases; what a thread keeps between them it has
/// in a Local, what the group keeps in the kernel's struct Shared. 32 threads are a warp; of these eight share a block.
template <int threads>
class Group {
 public:
  static constexpr int kSize = threads;
  static_assert(threads % kWarp == 0 && threads <= 1024);

  /// One T of each thread.
  template <class T>
  class Local {
   public:
    __device__ T& operator[](int) { return value_; }
    __device__ const T& operator[](int) const { return value_; }

   private:
    T value_;
  };

  /// f(thread) for every thread, and a barrier.
  template <class F>
  __device__ void each(F&& f) {
    f(static_cast<int>(threadIdx.x));
    barrier();
  }
  /// f() once, and a barrier.
  template <class F>
  __device__ void once(F&& f) {
    if (threadIdx.x == 0) f();
    barrier();
  }
  /// The values of all threads, combined in one order; every thread gets the result. combine(a, b): a comes from a lower thread.
  template <class T, class Combine>
  __device__ T reduce(const Local<T>& values, Combine combine) {
    T v = values[0];
    for (int k = kWarp / 2; k > 0; k /= 2) v = combine(v, moved(v, k));
    if constexpr (threads == kWarp) return first_of(v);
    __shared__ T partial[threads / kWarp];
    if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = v;
    __syncthreads();
    v = partial[0];
    for (int w = 1; w < threads / kWarp; ++w) v = combine(v, partial[w]);
    __syncthreads();
    return v;
  }
  /// Each thread's value becomes those of the threads up to it, combined; every thread gets the total. combine(a, b): a comes first.
  template <class T, class Combine>
  __device__ T scan(Local<T>& values, Combine combine) {
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    T v = values[0];
    for (int k = 1; k < kWarp; k *= 2) {
      const T before = moved(v, -k);
      if (lane >= k) v = combine(before, v);
    }
    if constexpr (threads == kWarp) {
      values[0] = v;
      return last_of(v);
    } else {
      __shared__ T partial[threads / kWarp];
      if (lane == kWarp - 1) partial[warp] = v;
      __syncthreads();
      T total = partial[0];
      if (warp > 0) {
        T before = partial[0];
        for (int w = 1; w < warp; ++w) before = combine(before, partial[w]);
        v = combine(before, v);
      }
      for (int w = 1; w < threads / kWarp; ++w) total = combine(total, partial[w]);
      __syncthreads();
      values[0] = v;
      return total;
    }
  }

 private:
  __device__ static void barrier() {
    if constexpr (threads == kWarp) __syncwarp();
    else __syncthreads();
  }
  /// A value of any plain type through the warp, word by word: of the lane `from(lane)`.
  template <class T, class Shuffle>
  __device__ static T through(const T& value, Shuffle shuffle) {
    constexpr int words = (sizeof(T) + 3) / 4;
    uint32_t bits[words] = {};
    memcpy(bits, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < words; ++i) bits[i] = shuffle(bits[i]);
    T result;
    memcpy(&result, bits, sizeof(T));
    return result;
  }
  template <class T>
  __device__ static T moved(const T& value, int by) {
    return through(value, [by](uint32_t word) { return by > 0 ? __shfl_down_sync(~0U, word, by) : __shfl_up_sync(~0U, word, -by); });
  }
  template <class T>
  __device__ static T first_of(const T& value) {
    return through(value, [](uint32_t word) { return __shfl_sync(~0U, word, 0); });
  }
  template <class T>
  __device__ static T last_of(const T& value) {
    return through(value, [](uint32_t word) { return __shfl_sync(~0U, word, kWarp - 1); });
  }
};

namespace grids {

template <class Kernel>
__global__ void of_elements(const Kernel kernel, int64_t count) {
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x)
    kernel(i);
}

/// How many blocks a multiprocessor has to hold at a time: one, else the compiler spills registers of large groups to make room for two;
/// or what the kernel names, kBlocks.
template <class Kernel>
constexpr int blocks_together() {
  if constexpr (requires { Kernel::kBlocks; }) return Kernel::kBlocks;
  else return 1;
}

template <int threads, class Kernel>
__global__ void __launch_bounds__(threads == kWarp ? kThreads : threads, blocks_together<Kernel>())
    of_groups(const Kernel kernel, int64_t count) {
  constexpr int together = threads == kWarp ? kThreads / kWarp : 1;
  __shared__ typename Kernel::Shared shared[together];
  Group<threads> group;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(together) + threadIdx.y; i < count; i += static_cast<int64_t>(gridDim.x) * together) {
    kernel(group, i, shared[threadIdx.y]);
    group.each([](int) {});  // the next round uses what is shared again
  }
}

}  // namespace grids

/// Bytes within the GPU's memory, by CUDA's own copy.
inline void copy_bytes(const Queue& queue, void* to, const void* from, size_t bytes) {
  check(queue, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(queue)));
}

/// kernel(i) for every i below `count`, a thread each, in any order.
template <class Kernel>
void for_each(const Queue& queue, int64_t count, const Kernel& kernel) {
  if (count <= 0) return;
  const int64_t blocks = (count + kThreads - 1) / kThreads;
  grids::of_elements<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), kThreads, 0, stream_of(queue)>>>(kernel, count);
  check(queue, cudaGetLastError());
}

/// kernel(group, i, shared) for every i below `count`, a group of `threads` threads each. The kernel names what its group shares:
/// `using Shared = NothingShared;`, or a struct of at most 48 KB with no constructor.
template <int threads, class Kernel>
void for_groups(const Queue& queue, int64_t count, const Kernel& kernel) {
  if (count <= 0) return;
  constexpr int together = threads == kWarp ? kThreads / kWarp : 1;
  const int64_t blocks = (count + together - 1) / together;
  grids::of_groups<threads>
      <<<static_cast<unsigned>(blocks < (1 << 30) ? blocks : 1 << 30), dim3(threads, together), 0, stream_of(queue)>>>(kernel, count);
  check(queue, cudaGetLastError());
}

#else

// The same, walked on the host.
template <int threads>
class Group {
 public:
  static constexpr int kSize = threads;
  static_assert(threads % kWarp == 0 && threads <= 1024);

  template <class T>
  class Local {
   public:
    T& operator[](int thread) { return values_[thread]; }
    const T& operator[](int thread) const { return values_[thread]; }

   private:
    T values_[threads];
  };

  template <class F>
  void each(F&& f) {
    backwards_ = !backwards_;
    if (backwards_) {
      for (int t = threads - 1; t >= 0; --t) f(t);
    } else {
      for (int t = 0; t < threads; ++t) f(t);
    }
  }
  template <class F>
  void once(F&& f) {
    f();
  }
  template <class T, class Combine>
  T reduce(const Local<T>& values, Combine combine) {
    T total{};
    for (int first = 0; first < threads; first += kWarp) {
      T v[kWarp];
      for (int t = 0; t < kWarp; ++t) v[t] = values[first + t];
      for (int k = kWarp / 2; k > 0; k /= 2)
        for (int t = 0; t < k; ++t) v[t] = combine(v[t], v[t + k]);
      total = first == 0 ? v[0] : combine(total, v[0]);
    }
    return total;
  }
  template <class T, class Combine>
  T scan(Local<T>& values, Combine combine) {
    for (int t = 1; t < threads; ++t) values[t] = combine(values[t - 1], values[t]);
    return values[threads - 1];
  }

 private:
  bool backwards_ = false;
};

inline void copy_bytes(const Queue&, void* to, const void* from, size_t bytes) { std::memmove(to, from, bytes); }

template <class Kernel>
void for_each(const Queue&, int64_t count, const Kernel& kernel) {
  for (int64_t i = count - 1; i >= 0; --i) kernel(i);
}

template <int threads, class Kernel>
void for_groups(const Queue&, int64_t count, const Kernel& kernel) {
  for (int64_t i = count - 1; i >= 0; --i) {
    typename Kernel::Shared shared;
    std::memset(static_cast<void*>(&shared), 0xA5, sizeof shared);  // shared memory of a GPU is not zeroed either
    Group<threads> group;
    kernel(group, i, shared);
  }
}

#endif

// --- What several threads change at once. The order is any order: sums of floating numbers differ from run to run.
#if defined(__CUDACC__)
/// *at = f(*at) for a value of 1, 2, 4 or 8 bytes, whole.
template <class T, class F>
__device__ inline void atomic_update(T* at, F&& f) {
  if constexpr (sizeof(T) == 8) {
    auto* const word = reinterpret_cast<unsigned long long*>(at);
    for (unsigned long long seen = *word;;) {
      T value;
      memcpy(&value, &seen, sizeof value);
      value = f(value);
      unsigned long long wanted;
      memcpy(&wanted, &value, sizeof value);
      const unsigned long long found = atomicCAS(word, seen, wanted);
      if (found == seen) return;
      seen = found;
    }
  } else {
    // Smaller ones within their aligned word.
    const uintptr_t address = reinterpret_cast<uintptr_t>(at);
    auto* const word = reinterpret_cast<unsigned*>(address & ~uintptr_t(3));
    const unsigned shift = static_cast<unsigned>(address & 3) * 8;
    constexpr unsigned mask = sizeof(T) == 4 ? ~0U : (1U << (8 * sizeof(T) % 32)) - 1;
    for (unsigned seen = *word;;) {
      const unsigned part = (seen >> shift) & mask;
      T value;
      memcpy(&value, &part, sizeof value);
      value = f(value);
      unsigned changed = 0;
      memcpy(&changed, &value, sizeof value);
      const unsigned found = atomicCAS(word, seen, (seen & ~(mask << shift)) | (changed << shift));
      if (found == seen) return;
      seen = found;
    }
  }
}
__device__ inline void atomic_add(float* at, float value) { ::atomicAdd(at, value); }
__device__ inline void atomic_add(double* at, double value) { ::atomicAdd(at, value); }
__device__ inline void atomic_add(int64_t* at, int64_t value) {
  ::atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
}
#else
template <class T, class F>
inline void atomic_update(T* at, F&& f) {
  *at = f(*at);
}
template <class T>
inline void atomic_add(T* at, T value) {
  *at += value;
}
#endif

}  // namespace tandem::kernels::cuda
