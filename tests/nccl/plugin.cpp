// The CUDA plug-in over a CUDA runtime without a GPU, for tests: driver, collectives and entry are the plug-in's own, kernels are the
// CPU's.
#include <cuda_runtime.h>

#include "cuda/fake_cuda.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda/vendor/library.h"

namespace tandem::kernels::cuda {

const Table& table() { return cpu_table(); }

namespace vendor {
tandem::cuda::Library describe_cublaslt() { return {"cuBLASLt", "", "", "kernels are the CPU's", ""}; }
tandem::cuda::Library describe_cudnn() { return {"cuDNN", "", "", "kernels are the CPU's", ""}; }
tandem::cuda::Library describe_cusolver() { return {"cuSOLVER", "", "", "kernels are the CPU's", ""}; }
}  // namespace vendor

}  // namespace tandem::kernels::cuda

namespace {

int current_device() {
  int device = -1;
  (void)cudaGetDevice(&device);
  return device;
}

}  // namespace

/// For a test: so many devices, and what NCCL's stand-in asks.
extern "C" [[gnu::visibility("default")]] void tandem_fake_cuda(int devices, void (**hold)(CUstream_st*), void (**release)(CUstream_st*),
                                                                int (**device_of)(CUstream_st*), int (**current)()) {
  tandem::testing::fake_cuda().devices = devices;
  *hold = tandem::testing::hold;
  *release = tandem::testing::release;
  *device_of = tandem::testing::device_of;
  *current = current_device;
}

/// For a test: what the CUDA runtime without a GPU is to do.
extern "C" [[gnu::visibility("default")]] tandem::testing::FakeCuda* tandem_fake_cuda_state() { return &tandem::testing::fake_cuda(); }
