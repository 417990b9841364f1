#include "kernels/cuda/vendor/vendor.h"

namespace tandem::kernels::cuda::vendor {

void fill_vendor(Table& table) {
  table.sort_workspace = sort_workspace;
  table.sort_part = sort_part;
  table.matmul = matmul;
  table.matmul_workspace = matmul_workspace;
  table.convolution = convolution;
  table.convolution_input = convolution_input;
  table.convolution_weight = convolution_weight;
  table.convolution_workspace = convolution_workspace;
  table.recurrent = recurrent;
  table.recurrent_backward = recurrent_backward;
  table.recurrent_memory = recurrent_memory;
  table.attention = attention;
  table.attention_backward = attention_backward;
  table.attention_workspace = attention_workspace;
  table.decompose = decompose;
  table.decompose_workspace = decompose_workspace;
}

}  // namespace tandem::kernels::cuda::vendor
