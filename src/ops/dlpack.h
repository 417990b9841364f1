// Tensors that are shared with other libraries in the process, without a copy, by DLPack (https://dmlc.github.io/dlpack/latest/c_api.html).
#pragma once

#include "tensor/tensor.h"

// DLPack's own structs: its header may be included too. Who has no such header finds their layout in ops/dlpack_layout.h.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tandem {

/// Options of to_dlpack() and to_dlpack_versioned().
struct DLPackOptions {
  bool copy = false;        // of a copy of its own, which the consumer may change unseen
  bool read_only = false;   // the consumer must not write; only with a version
  bool synchronize = true;  // on a GPU, wait for what was queued on the current stream; else the consumer has to
};

/// A tensor over the memory that another library gives, and its strides. The struct's deleter is called once, when the last tensor over
/// the memory has ended, on whichever thread that happens, on a GPU after a wait for what was queued. Where from_dlpack throws, the struct
/// is still the caller's. Error for elements that no dtype of tandem has (complex ones, several lanes), for devices that are neither the
/// CPU nor CUDA GPUs, and for negative strides. Memory of a GPU must be ready for the current stream. As torch.from_dlpack.
[[nodiscard]] Tensor from_dlpack(DLManagedTensor* managed, Site site = Site::here());
/// The same of a struct with a version, 1.0 or a later 1.x. Memory that is marked read-only is shared too, with a warning: no tensor of
/// tandem is read-only, so take a `clone()` before changing it.
[[nodiscard]] Tensor from_dlpack(DLManagedTensorVersioned* managed, Site site = Site::here());

/// The tensor's memory for another library, with its strides. What is returned keeps the memory alive until its `deleter` is called, once,
/// on whichever thread. Error for a tensor that requires gradients, and for one on a virtual GPU, whose memory only tandem can reach. As
/// torch.utils.dlpack.to_dlpack.
[[nodiscard]] DLManagedTensor* to_dlpack(const Tensor& tensor, const DLPackOptions& options = {}, Site site = Site::here());
/// The same with a version, which newer libraries ask for.
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, const DLPackOptions& options = {},
                                                            Site site = Site::here());

namespace detail {
/// For bindings: from_dlpack without a warning of read-only memory.
[[nodiscard]] Tensor from_dlpack_unwarned(DLManagedTensorVersioned* managed, Site site);
}  // namespace detail

}  // namespace tandem
