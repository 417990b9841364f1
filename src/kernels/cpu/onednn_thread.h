// What every use of oneDNN shares: the engine, a stream for each thread, and the number of OpenMP's threads. For onednn*.cpp.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include "base/dtype.h"

namespace tandem::kernels::cpu {

dnnl_engine_t dnnl_shared_engine();
/// The calling thread's stream.
dnnl_stream_t dnnl_thread_stream();

/// OpenMP has one thread for what the calling thread does until the end of the scope; then as many as its program had set. Primitives are
/// made and run so: the threads are ours (base/parallel.h).
class SingleOpenMp {
 public:
  SingleOpenMp();
  ~SingleOpenMp();
  SingleOpenMp(const SingleOpenMp&) = delete;
  SingleOpenMp& operator=(const SingleOpenMp&) = delete;

 private:
  int before_ = 1;
};

inline dnnl_data_type_t dnnl_type(DType dtype) { return dtype == kBFloat16 ? dnnl_bf16 : dnnl_f32; }

}  // namespace tandem::kernels::cpu
