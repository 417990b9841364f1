// What differs between oneDNN 2 and 3, in one form: where a tensor's elements lie, and descriptions of primitives. For onednn*.cpp.
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <utility>

#include "kernels/cpu/onednn_thread.h"

namespace tandem::kernels::cpu {

/// Where the elements of a tensor lie: a value. oneDNN 3's own is a handle.
class DnnlLayout {
 public:
#if DNNL_VERSION_MAJOR >= 3
  using Pointer = const_dnnl_memory_desc_t;
  DnnlLayout() = default;
  DnnlLayout(const DnnlLayout& other) {
    if (other.desc_) dnnl_memory_desc_clone(&desc_, other.desc_);
  }
  DnnlLayout(DnnlLayout&& other) noexcept : desc_(std::exchange(other.desc_, nullptr)) {}
  DnnlLayout& operator=(DnnlLayout other) noexcept {
    std::swap(desc_, other.desc_);
    return *this;
  }
  ~DnnlLayout() { dnnl_memory_desc_destroy(desc_); }
  [[nodiscard]] Pointer get() const { return desc_; }

  dnnl_status_t set_strides(int ndims, const dnnl_dims_t sizes, dnnl_data_type_t type, const dnnl_dims_t strides) {
    *this = {};
    return dnnl_memory_desc_create_with_strides(&desc_, ndims, sizes, type, strides);
  }
  dnnl_status_t set_tag(int ndims, const dnnl_dims_t sizes, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    *this = {};
    return dnnl_memory_desc_create_with_tag(&desc_, ndims, sizes, type, tag);
  }

 private:
  dnnl_memory_desc_t desc_ = nullptr;
#else
  using Pointer = const dnnl_memory_desc_t*;
  [[nodiscard]] Pointer get() const { return &desc_; }

  dnnl_status_t set_strides(int ndims, const dnnl_dims_t sizes, dnnl_data_type_t type, const dnnl_dims_t strides) {
    return dnnl_memory_desc_init_by_strides(&desc_, ndims, sizes, type, strides);
  }
  dnnl_status_t set_tag(int ndims, const dnnl_dims_t sizes, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_init_by_tag(&desc_, ndims, sizes, type, tag);
  }

 private:
  dnnl_memory_desc_t desc_{};
#endif

 public:
  /// That of one of a primitive's tensors, as oneDNN has chosen it.
  static DnnlLayout of(const_dnnl_primitive_desc_t primitive, dnnl_query_t what) {
    DnnlLayout layout;
    const Pointer own = dnnl_primitive_desc_query_md(primitive, what, 0);
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_clone(&layout.desc_, own);
#else
    layout.desc_ = *own;
#endif
    return layout;
  }
  [[nodiscard]] size_t bytes() const { return dnnl_memory_desc_get_size(get()); }
  friend bool operator==(const DnnlLayout& a, const DnnlLayout& b) { return dnnl_memory_desc_equal(a.get(), b.get()) != 0; }
};

/// What every convolution is given, in spatial dimensions.
struct DnnlWindow {
  dnnl_dims_t strides, dilations, before, behind;
  dnnl_alg_kind_t algorithm = dnnl_convolution_direct;
};

// Descriptions of primitives, to be destroyed by the caller.

inline dnnl_status_t dnnl_describe_matmul(dnnl_primitive_desc_t& made, const DnnlLayout& out, const DnnlLayout& a, const DnnlLayout& b,
                                          const_dnnl_primitive_attr_t attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_matmul_primitive_desc_create(&made, dnnl_shared_engine(), a.get(), b.get(), nullptr, out.get(), attributes);
#else
  dnnl_matmul_desc_t desc;
  const dnnl_status_t status = dnnl_matmul_desc_init(&desc, a.get(), b.get(), nullptr, out.get());
  return status ? status : dnnl_primitive_desc_create(&made, &desc, attributes, dnnl_shared_engine(), nullptr);
#endif
}

/// `bias`: nullptr for none. `kind`: whether a gradient is to follow.
inline dnnl_status_t dnnl_describe_convolution(dnnl_primitive_desc_t& made, dnnl_prop_kind_t kind, const DnnlLayout& out,
                                               const DnnlLayout& in, const DnnlLayout& weight, const DnnlLayout* bias,
                                               const DnnlWindow& window, const_dnnl_primitive_attr_t attributes) {
  const DnnlLayout::Pointer added = bias ? bias->get() : nullptr;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_forward_primitive_desc_create(&made, dnnl_shared_engine(), kind, window.algorithm, in.get(), weight.get(), added,
                                                        out.get(), window.strides, window.dilations, window.before, window.behind,
                                                        attributes);
#else
  dnnl_convolution_desc_t desc;
  const dnnl_status_t status =
      dnnl_dilated_convolution_forward_desc_init(&desc, kind, window.algorithm, in.get(), weight.get(), added, out.get(), window.strides,
                                                 window.dilations, window.before, window.behind);
  return status ? status : dnnl_primitive_desc_create(&made, &desc, attributes, dnnl_shared_engine(), nullptr);
#endif
}

/// The gradient of the input from that of the output; `forward` is the hint that oneDNN asks for.
inline dnnl_status_t dnnl_describe_input_gradient(dnnl_primitive_desc_t& made, const DnnlLayout& in, const DnnlLayout& out,
                                                  const DnnlLayout& weight, const DnnlWindow& window, const_dnnl_primitive_desc_t forward,
                                                  const_dnnl_primitive_attr_t attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_backward_data_primitive_desc_create(&made, dnnl_shared_engine(), window.algorithm, in.get(), weight.get(),
                                                              out.get(), window.strides, window.dilations, window.before, window.behind,
                                                              forward, attributes);
#else
  dnnl_convolution_desc_t desc;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_data_desc_init(
      &desc, window.algorithm, in.get(), weight.get(), out.get(), window.strides, window.dilations, window.before, window.behind);
  return status ? status : dnnl_primitive_desc_create(&made, &desc, attributes, dnnl_shared_engine(), forward);
#endif
}

/// The same for the gradient of the weight.
inline dnnl_status_t dnnl_describe_weight_gradient(dnnl_primitive_desc_t& made, const DnnlLayout& weight, const DnnlLayout& in,
                                                   const DnnlLayout& out, const DnnlWindow& window, const_dnnl_primitive_desc_t forward,
                                                   const_dnnl_primitive_attr_t attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_backward_weights_primitive_desc_create(&made, dnnl_shared_engine(), window.algorithm, in.get(), weight.get(),
                                                                 nullptr, out.get(), window.strides, window.dilations, window.before,
                                                                 window.behind, forward, attributes);
#else
  dnnl_convolution_desc_t desc;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_weights_desc_init(
      &desc, window.algorithm, in.get(), weight.get(), nullptr, out.get(), window.strides, window.dilations, window.before, window.behind);
  return status ? status : dnnl_primitive_desc_create(&made, &desc, attributes, dnnl_shared_engine(), forward);
#endif
}

/// The largest element of each window, for evaluation.
inline dnnl_status_t dnnl_describe_max_pool(dnnl_primitive_desc_t& made, const DnnlLayout& out, const DnnlLayout& in,
                                            const DnnlWindow& window, const dnnl_dims_t kernel, const_dnnl_primitive_attr_t attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_pooling_forward_primitive_desc_create(&made, dnnl_shared_engine(), dnnl_forward_inference, dnnl_pooling_max, in.get(),
                                                    out.get(), window.strides, kernel, window.dilations, window.before, window.behind,
                                                    attributes);
#else
  dnnl_pooling_v2_desc_t desc;
  const dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(&desc, dnnl_forward_inference, dnnl_pooling_max, in.get(), out.get(),
                                                                 window.strides, kernel, window.dilations, window.before, window.behind);
  return status ? status : dnnl_primitive_desc_create(&made, &desc, attributes, dnnl_shared_engine(), nullptr);
#endif
}

/// What a convolution does to its result: it is added to what is there, then negative numbers become 0.
inline dnnl_status_t dnnl_append_operations(dnnl_primitive_attr_t attributes, bool add, bool relu) {
  dnnl_post_ops_t operations = nullptr;
  dnnl_status_t status = dnnl_post_ops_create(&operations);
#if DNNL_VERSION_MAJOR >= 3
  if (status == dnnl_success && add) status = dnnl_post_ops_append_sum(operations, 1, 0, dnnl_data_type_undef);
  if (status == dnnl_success && relu) status = dnnl_post_ops_append_eltwise(operations, dnnl_eltwise_relu, 0, 0);
#else
  if (status == dnnl_success && add) status = dnnl_post_ops_append_sum(operations, 1);
  if (status == dnnl_success && relu) status = dnnl_post_ops_append_eltwise(operations, 1, dnnl_eltwise_relu, 0, 0);
#endif
  if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(attributes, operations);
  dnnl_post_ops_destroy(operations);
  return status;
}

}  // namespace tandem::kernels::cpu
