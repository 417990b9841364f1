// The CUDA runtime without a GPU, as strict as the real one about captures: streams get on only when they are waited for, and what is
// illegal while a stream is being captured spoils the capture. What a test looks at is counted.
#pragma once

#include <set>

struct CUstream_st;

namespace tandem::testing {

struct FakeCuda {
  int devices = 2;
  int spoilt = 0;              // captures that an illegal call has ended
  int waits_for_a_device = 0;  // cudaDeviceSynchronize
  int on_legacy_stream = 0;    // work that was queued on no stream of ours
  int wrong_device = 0;        // something of one device was freed while another was current
  int freed_in_use = 0;        // a graph was freed while a stream had replays of it to do
  bool failing = false;        // cudaStreamQuery brings an error of work done before
  std::set<int> contexts;      // devices that have been used
  void (*copied)() = nullptr;  // is called at each copy
};
FakeCuda& fake_cuda();

/// Work that the stream has been given is not done from now on, as of a library that waits for other devices; all of it is. Copies wait for
/// it.
void hold(CUstream_st* stream);
void release(CUstream_st* stream);
[[nodiscard]] int device_of(CUstream_st* stream);

}  // namespace tandem::testing
