// Convolutions by oneDNN, in the layouts that it chooses: what the caller has is reordered into scratch memory, and back. The weight is
// reordered once for all pieces of a convolution, so it is a step of its own. See onednn.h for threads and scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/table.h"

namespace tandem::kernels::cpu {

/// A convolution of `n` images, or one of its gradients; sizes in elements. Only whole numbers, so that it can be hashed as they lie.
struct DnnlConvolution {
  int64_t part;      // a ConvolutionPart
  int64_t bfloat16;  // else float32
  int64_t n, groups, ic, oc;
  int64_t in[3], kernel[3], out[3], stride[3], padding[3], dilation[3];
  int64_t in_batch, out_batch;  // strides of the caller's tensors from image to image; an image's channels are dense
  int64_t weight_row;           // of the caller's weight, from an output channel to the next
  int64_t bias;                 // whether there is one
  int64_t whole;                // the number of images of which the layout of the weight is taken

  friend bool operator==(const DnnlConvolution&, const DnnlConvolution&) = default;
};

struct DnnlConvolutionBytes {
  bool supported;  // by code that is worth it
  size_t weight, scratch;
};
DnnlConvolutionBytes dnnl_convolution_bytes(const DnnlConvolution& c);

/// The weight from the caller's layout to oneDNN's (Forward and Input), or its gradient from oneDNN's, which is float32, to the caller's.
int dnnl_reorder_weight(const DnnlConvolution& c, void* to, const void* from);
/// Runs it on the calling thread. Forward: out from a = in and b = the weight. Input: in from a = out and b = the weight. Weight: the
/// gradient in oneDNN's layout from a = in and b = out. Returns oneDNN's status.
int dnnl_convolve(const DnnlConvolution& c, void* to, const void* a, const void* b, const void* bias, void* scratch);

}  // namespace tandem::kernels::cpu
