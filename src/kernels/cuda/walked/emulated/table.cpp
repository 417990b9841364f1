// The entries of libtandem_emulated.so: our own kernels walked on the host, and over them those of NVIDIA's libraries that are emulated.
#include "kernels/cuda/table.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/library.h"
#include "kernels/cuda/vendor/vendor.h"
#include "kernels/cuda/walked/emulated/library.h"

namespace tandem::kernels::cuda::emulated {
namespace {

/// Our own kernels would do without a library that is missing: then nothing of it was tried.
void require_libraries() {
  for (const tandem::cuda::Library& library : vendor::libraries())
    if (!library.why.empty())
      fail("TANDEM_VIRTUAL_KERNELS=libraries needs NVIDIA's ", library.name, ": ", library.why,
           " (its folder goes into TANDEM_CUDA_LIBRARIES)");
}

Table make() {
  require_libraries();
  runtime::set_libraries(vendor::libraries);
  Table table = cpu_table();
  fill_own(table);
  table.matmul = vendor::matmul;
  table.matmul_workspace = vendor::matmul_workspace;
  table.convolution = vendor::convolution;
  table.convolution_input = vendor::convolution_input;
  table.convolution_weight = vendor::convolution_weight;
  table.convolution_workspace = vendor::convolution_workspace;
  table.recurrent = vendor::recurrent;
  table.recurrent_backward = vendor::recurrent_backward;
  table.recurrent_memory = vendor::recurrent_memory;
  table.decompose = vendor::decompose;
  table.decompose_workspace = vendor::decompose_workspace;
  return table;
}

}  // namespace
}  // namespace tandem::kernels::cuda::emulated

namespace tandem::kernels::cuda {

const Table& table() {
  static const Table libraries = emulated::make();
  return libraries;
}

}  // namespace tandem::kernels::cuda

extern "C" [[gnu::visibility("default")]] const tandem::kernels::Table* tandem_walked_table() { return &tandem::kernels::cuda::table(); }

/// For tests: the next call of that function fails.
extern "C" [[gnu::visibility("default")]] void tandem_emulated_fail(const char* function) {
  tandem::kernels::cuda::emulated::fail_next(function);
}

/// For tests: what NVIDIA's libraries did so far, in the order of Calls.
extern "C" [[gnu::visibility("default")]] void tandem_emulated_calls(int64_t (*counts)[7]) {
  const auto& calls = tandem::kernels::cuda::emulated::calls();
  const int64_t all[7] = {calls.products, calls.convolutions, calls.decompositions, calls.recurrent, calls.copies, calls.plans, calls.held};
  std::copy(all, all + 7, *counts);
}

/// For tests: plans that are being made wait until this is called with false.
extern "C" [[gnu::visibility("default")]] void tandem_emulated_hold_plans(bool hold) { tandem::kernels::cuda::emulated::hold_plans(hold); }
