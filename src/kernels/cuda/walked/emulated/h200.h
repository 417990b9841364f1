// An H200 as cuDNN is told of one where there is none: its documented CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION (9.8 and newer), whose
// fields are those of cudaDeviceProp. The driver is CUDA 13.0's.
#pragma once

#include <string_view>

namespace tandem::kernels::cuda::emulated {

inline constexpr std::string_view kH200 = R"({
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
  "multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
  "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 150754820096,
  "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "l2CacheSize": 62914560, "cudaDeviceId": 0, "deviceVer": 900,
  "driverVer": 13000, "deviceName": "NVIDIA H200"
})";

}  // namespace tandem::kernels::cuda::emulated
