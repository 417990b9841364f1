// What a Tensor handle points to: layout, storage, and its place in the graph of gradients. One allocation together with its first storage.
#pragma once

#include <atomic>
#include <cstdint>

#include "autograd/node.h"
#include "base/lazy.h"
#include "base/ref.h"
#include "base/shape.h"
#include "base/small_mutex.h"
#include "runtime/device.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

namespace tandem {

struct AutogradExtras;

/// Whether a view knows its base, whose history an in-place change has to reach.
enum class ViewOrigin : uint8_t {
  Recorded,          // it does, or it is no view
  NoGrad,            // made while nothing was recorded
  NoGradOfGraph,     // the same, of a tensor that required a gradient
  CustomFunction,    // made by the forward of a custom function
  Inference,         // made in inference mode of a tensor from outside
  InferenceOfGraph,  // the same, of a tensor that required a gradient
};

/// The changes in place of what Tensor::data() gave, and of its views: apart from those of the storage.
struct OwnVersion : Counted<OwnVersion> {
  std::atomic<uint32_t> count{0};
  void destroy() const { delete this; }
};

namespace detail {
/// The object of another language that stands for a tensor there, where there is one, so that one tensor is one object. Bindings set it,
/// under that language's lock; the library only says when a tensor that keeps its object ends.
struct Wrapper {
  void* object = nullptr;
  bool kept = false;  // the tensor keeps the object; else the object keeps the tensor
};
/// Called where a tensor ends that keeps its object, from whichever thread. A binding sets it once.
inline constinit std::atomic<void (*)(void* object)> wrapper_ended{nullptr};
}  // namespace detail

/// Layout and history of a tensor. For the library; users hold `Tensor`.
struct TensorImpl : Counted<TensorImpl> {
  detail::SmallMutex grad_mutex;  // held by a backward that adds to `grad`
  Storage* storage;               // counted
  void* data;                     // of the first element, the kernels' address
  int64_t offset;                 // in elements
  int64_t numel;
  Shape sizes, strides;
  DType dtype;
  bool contiguous;
  bool requires_grad = false;  // set by the user on a leaf; results have grad_fn instead
  bool inference = false;      // made in inference mode
  bool embedding_storage;      // the memory behind this object holds a Storage too
  ViewOrigin view_origin = ViewOrigin::Recorded;
  Device device;
  uint32_t output_nr = 0;
  Ref<autograd::Node> grad_fn;
  Tensor grad;
  Ref<TensorImpl> base;        // what this is a view of, so that in-place changes reach its history
  uint32_t history_epoch = 0;  // of a base: how often its history was rewritten through a view or itself
  uint32_t seen_epoch = 0;     // of a view: the base's epoch that grad_fn belongs to
  Ref<OwnVersion> own_version;
  detail::Lazy<AutogradExtras> extras;
  detail::Wrapper wrapper;

  /// A new tensor with its own memory, dense in row-major order.
  static Ref<TensorImpl> make(const Shape& sizes, DType dtype, Device device, bool pinned, Site site);
  /// A view into `storage`.
  static Ref<TensorImpl> view(Storage* storage, Shape sizes, Shape strides, int64_t offset, DType dtype);

  /// Another view into this tensor's storage, whose changes count as this one's.
  [[nodiscard]] Ref<TensorImpl> alias(Shape view_sizes, Shape view_strides, int64_t view_offset, DType view_dtype) const;

  [[nodiscard]] bool needs_grad() const {
    return requires_grad || grad_fn || (base && seen_epoch != base->history_epoch && base->needs_grad());
  }
  /// Whether an operation may write its result over this tensor, or add to it, instead of allocating: nothing else can see it, and its
  /// memory is the library's to give.
  [[nodiscard]] bool reusable() const { return !needs_grad() && unseen(); }
  /// The same of a result with a history.
  [[nodiscard]] bool unseen() const {
    return use_count() == 1 && contiguous && !base && !grad.defined() && !extras.get() && storage->reusable();
  }
  /// Error where the bytes were taken away for now (Storage::clear).
  void check_bytes() const {
    if (!data && numel > 0) [[unlikely]]
      fail_without_bytes();
  }
  /// How often its elements were changed in place, as backward counts.
  [[nodiscard]] uint32_t version() const { return own_version ? own_version->count.load(std::memory_order_relaxed) : storage->version(); }
  /// They were changed once more.
  void bump_version() {
    storage->bump_version(static_cast<bool>(own_version));
    if (own_version) own_version->count.fetch_add(1, std::memory_order_relaxed);
  }
  /// What knows of its history, by libtorch's names: nothing where there is none; whether it is a view, and how that was made.
  [[nodiscard]] TensorImpl* autograd_meta() { return needs_grad() || has_bw_view() ? this : nullptr; }
  [[nodiscard]] bool has_bw_view() const { return base || view_origin != ViewOrigin::Recorded; }
  [[nodiscard]] ViewOrigin get_creation_meta() const { return view_origin; }
  /// Puts other bytes behind this tensor, keeping its identity: how modules move.
  void replace_storage(const TensorImpl& other);
  /// Works `contiguous`, `numel` and `data` out anew from the layout.
  void refresh();
  void destroy() const;

 private:
  friend struct TensorBlock;
  [[noreturn]] void fail_without_bytes() const;
  TensorImpl() = default;
  ~TensorImpl();
};

inline TensorImpl& Tensor::impl(Site site) const {
  if (!impl_) undefined(site);
  return *impl_.get();
}
inline const Shape& Tensor::sizes(Site site) const { return impl(site).sizes; }
inline const Shape& Tensor::strides(Site site) const { return impl(site).strides; }
inline int64_t Tensor::dim(Site site) const { return static_cast<int64_t>(impl(site).sizes.size()); }
inline int64_t Tensor::numel(Site site) const { return impl(site).numel; }
inline DType Tensor::dtype(Site site) const { return impl(site).dtype; }
inline Device Tensor::device(Site site) const { return impl(site).device; }
inline bool Tensor::is_contiguous(Site site) const { return impl(site).contiguous; }
inline bool Tensor::is_pinned(Site site) const { return impl(site).storage->is_pinned(); }
inline int64_t Tensor::storage_offset(Site site) const { return impl(site).offset; }
inline bool Tensor::is_inference(Site site) const { return impl(site).inference; }
inline bool Tensor::is_view(Site site) const { return static_cast<bool>(impl(site).base); }
inline int64_t Tensor::output_nr(Site site) const { return impl(site).output_nr; }
inline int64_t Tensor::use_count() const { return impl_ ? impl_->use_count() : 0; }
inline bool Tensor::requires_grad(Site site) const {
  const TensorImpl& self = impl(site);
  return self.needs_grad() || self.view_origin == ViewOrigin::NoGradOfGraph || self.view_origin == ViewOrigin::InferenceOfGraph;
}
inline bool Tensor::is_leaf(Site site) const { return !impl(site).grad_fn; }
inline Tensor& Tensor::grad(Site site) const { return impl(site).grad; }
inline const Ref<autograd::Node>& Tensor::grad_fn(Site site) const { return impl(site).grad_fn; }

/// Row-major strides for the sizes.
[[nodiscard]] Shape contiguous_strides(const Shape& sizes);

}  // namespace tandem
