// What every use of oneDNN shares: the engine, and a thread's stream. For onednn*.cpp.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include "base/dtype.h"

namespace tandem::kernels::cpu {

dnnl_engine_t dnnl_shared_engine();
/// The calling thread's stream. Its first call tells OpenMP to stay single on this thread, so it must come before the first primitive.
dnnl_stream_t dnnl_thread_stream();

inline dnnl_data_type_t dnnl_type(DType dtype) { return dtype == kBFloat16 ? dnnl_bf16 : dnnl_f32; }

}  // namespace tandem::kernels::cpu
