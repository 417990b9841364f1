// The handle that users hold. Layout and identity here; operations are declared as methods too and defined in ops/.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/flag.h"
#include "base/ref.h"
#include "base/shape.h"
#include "base/site.h"
#include "runtime/device.h"
#include "tensor/dtype_names.h"
#include "tensor/operand.h"
#include "tensor/options.h"
#include "tensor/scalar.h"
#include "tensor/tensor_options.h"
#include "tensor/tie.h"

namespace tandem {

struct Index;
struct MinMax;
struct TensorImpl;
struct Unique;
struct UniqueConsecutiveOptions;
struct UniqueOptions;
struct ValuesIndices;
namespace autograd {
class Node;
}
namespace cuda {
class Stream;
}
template <class T, size_t N>
class TensorAccessor;
template <class T, size_t N, class Count>
class PackedTensorAccessor;

/// A number, of a dimension or of parts, where a list may stand too. Such overloads are templates: braces are always the list, and a bool
/// is never a number.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// An integer index and the line it was written on: what `tensor[i]` takes.
struct At {
  int64_t index;
  Site site;
  At(Integer auto index_, Site site_ = Site::here()) : index(static_cast<int64_t>(index_)), site(site_) {}
};

/// How `backward` walks the graph.
struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
};

/// A handle to an array of numbers on a device. Copies name the same tensor. As torch.Tensor.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  /// A variable names another tensor from now on.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// What a call has just given, `x[0] = 8.0`, `x.select(0, 1) = t`, takes over the values: copy_ or fill_ of a view. Error where nothing
  /// else holds its memory, as of `x.index({mask})`, so that the values would be lost; index_put_ is for those.
  const Tensor& operator=(const Operand& value) &&;

  // --- Identity and layout
  /// Whether it names any tensor.
  [[nodiscard]] bool defined() const { return static_cast<bool>(impl_); }
  /// Whether both handles name one tensor.
  [[nodiscard]] bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  /// The size of each dimension.
  [[nodiscard]] const Shape& sizes(Site site = Site::of_call()) const;
  /// How many elements lie between neighbours, for each dimension.
  [[nodiscard]] const Shape& strides(Site site = Site::of_call()) const;
  /// The size of a dimension; negative ones count from the end. IndexError where there is no such dimension.
  [[nodiscard]] int64_t size(int64_t dim, Site = Site::here()) const;
  /// The stride of a dimension; negative ones count from the end.
  [[nodiscard]] int64_t stride(int64_t dim, Site = Site::here()) const;
  /// How many dimensions it has.
  [[nodiscard]] int64_t dim(Site site = Site::of_call()) const;
  /// As dim().
  [[nodiscard]] int64_t ndimension(Site site = Site::of_call()) const { return dim(site); }
  /// How many elements it has.
  [[nodiscard]] int64_t numel(Site site = Site::of_call()) const;
  /// The type of its elements.
  [[nodiscard]] DType dtype(Site site = Site::of_call()) const;
  /// As dtype().
  [[nodiscard]] DType scalar_type(Site site = Site::of_call()) const { return dtype(site); }
  /// Where it lives, always with an index.
  [[nodiscard]] Device device(Site site = Site::of_call()) const;
  /// The number of its GPU; -1 on the CPU.
  [[nodiscard]] int64_t get_device(Site site = Site::of_call()) const { return device(site).index(); }
  /// Its dtype and device, for a new tensor like it.
  [[nodiscard]] TensorOptions options(Site site = Site::of_call()) const { return Options{.dtype = dtype(site), .device = device(site)}; }
  /// Whether it lives on the CPU.
  [[nodiscard]] bool is_cpu(Site site = Site::of_call()) const { return device(site).is_cpu(); }
  /// Whether it lives on a GPU, virtual or real.
  [[nodiscard]] bool is_cuda(Site site = Site::of_call()) const { return device(site).is_cuda(); }
  /// Whether its elements are floating numbers.
  [[nodiscard]] bool is_floating_point(Site site = Site::of_call()) const { return is_floating(dtype(site)); }
  /// Whether its elements are dense, in row-major order.
  [[nodiscard]] bool is_contiguous(Site site = Site::of_call()) const;
  /// Whether it lies in page-locked host memory.
  [[nodiscard]] bool is_pinned(Site site = Site::of_call()) const;
  /// Whether other processes can see this memory: on the CPU after share_memory_, on a GPU always. As torch.Tensor.is_shared.
  [[nodiscard]] bool is_shared() const;
  /// How many elements of the storage lie before its first one.
  [[nodiscard]] int64_t storage_offset(Site site = Site::of_call()) const;
  /// Bytes of one element.
  [[nodiscard]] size_t element_size(Site site = Site::of_call()) const { return size_of(dtype(site)); }
  /// Bytes of its elements.
  [[nodiscard]] size_t nbytes(Site site = Site::of_call()) const { return static_cast<size_t>(numel(site)) * element_size(site); }
  /// libtorch's itemsize, is_signed, is_sparse, which is false, layout, and _version: as the ones above and below.
  [[nodiscard]] size_t itemsize(Site site = Site::of_call()) const { return element_size(site); }
  [[nodiscard]] bool is_signed(Site site = Site::of_call()) const { return dtype(site) != kBool && dtype(site) != kUInt8; }
  [[nodiscard]] bool is_sparse() const { return false; }
  [[nodiscard]] Layout layout() const { return Layout::Strided; }
  [[nodiscard]] uint32_t _version(Site site = Site::of_call()) const { return version(site); }
  /// Whether it was made in an InferenceMode, and not as a view of a tensor from outside. Outside of one such a tensor cannot be changed in
  /// place, nor kept for backward; a clone() can. As torch.Tensor.is_inference.
  [[nodiscard]] bool is_inference(Site site = Site::of_call()) const;
  /// Whether it is a view whose changes in place reach another tensor's history.
  [[nodiscard]] bool is_view(Site site = Site::of_call()) const;
  /// What it is a view of. Error where it is none.
  [[nodiscard]] Tensor _base(Site site = Site::of_call()) const;
  /// Which of its node's results it is.
  [[nodiscard]] int64_t output_nr(Site site = Site::of_call()) const;
  /// Whether retain_grad was called on this result.
  [[nodiscard]] bool retains_grad() const;
  /// How many handles and nodes hold it.
  [[nodiscard]] int64_t use_count() const;
  /// Lets the tensor go: the handle names none from now on.
  void reset() { impl_ = nullptr; }
  /// How often the elements were changed in place; changes through what data() gave are counted apart. Error for a tensor of inference
  /// mode.
  [[nodiscard]] uint32_t version(Site site = Site::of_call()) const;
  /// The address of the first element as the user sees it: on a virtual GPU, one that faults when the host touches it.
  [[nodiscard]] void* data_ptr(Site = Site::here()) const;
  /// The same as `T*`. Error where T is not the dtype's C++ type.
  template <class T>
  [[nodiscard]] T* data_ptr(Site site = Site::here()) const {
    check_dtype(dtype_of<T>());
    return static_cast<T*>(data_ptr(site));
  }
  /// Its elements by `a[i][j]`, without a check of indices: T is the dtype's C++ type, N how many dimensions it has. Error for others, and
  /// on a GPU. Valid as long as the tensor is. As torch::Tensor::accessor.
  template <class T, size_t N>
  [[nodiscard]] TensorAccessor<T, N> accessor(Site site = Site::here()) const;
  /// The same with sizes and strides inside, of 32 bits, for kernels of one's own; on any device.
  template <class T, size_t N>
  [[nodiscard]] PackedTensorAccessor<T, N, int32_t> packed_accessor32(Site site = Site::here()) const;
  template <class T, size_t N>
  [[nodiscard]] PackedTensorAccessor<T, N, int64_t> packed_accessor64(Site site = Site::here()) const;
  /// For the library: what the handle points to. Error where it is undefined.
  [[nodiscard]] TensorImpl& impl(Site site = Site::of_call()) const;
  /// As impl(), for programs that know a tensor by this address, as libtorch's optimizers know their state.
  [[nodiscard]] TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  /// For the library: the same, or nothing.
  [[nodiscard]] const Ref<TensorImpl>& ref() const { return impl_; }

  // --- Gradients (autograd/)
  /// Whether operations on it are recorded.
  [[nodiscard]] bool requires_grad(Site site = Site::of_call()) const;
  /// Asks for gradients of a leaf. Error for integers, and when switched off for a result.
  const Tensor& requires_grad_(Flag required = true, Site = Site::here()) const;
  /// As requires_grad_.
  const Tensor& set_requires_grad(Flag required, Site site = Site::here()) const { return requires_grad_(required, site); }
  /// Whether no recorded operation made it.
  [[nodiscard]] bool is_leaf(Site site = Site::of_call()) const;
  /// What `backward` has added up; undefined where there is none. The gradient itself: `p.grad() = Tensor()` takes it away. As libtorch's
  /// mutable_grad.
  [[nodiscard]] Tensor& grad(Site site = Site::of_call()) const;
  /// As grad().
  [[nodiscard]] Tensor& mutable_grad(Site site = Site::of_call()) const { return grad(site); }
  /// Puts another gradient in its place. Error where sizes or device are not this tensor's.
  void set_grad(const Tensor& grad, Site = Site::here()) const;
  /// The node that made this tensor; empty for leaves.
  [[nodiscard]] const Ref<autograd::Node>& grad_fn(Site site = Site::of_call()) const;
  /// Gradients of this tensor with respect to all leaves, or to `options.inputs` alone, added to their `.grad`. Without `gradient` it must
  /// be one element.
  void backward(const Tensor& gradient = Tensor(), BackwardOptions options = {}, Site site = Site::here()) const;
  void backward(const Tensor& gradient, std::same_as<bool> auto retain_graph, Flag create_graph = false, Site site = Site::here()) const {
    backward(gradient, BackwardOptions{.retain_graph = retain_graph, .create_graph = create_graph}, site);
  }
  /// As by libtorch's optional: the graph is kept where it is created.
  void backward(const Tensor& gradient, std::nullopt_t, Flag create_graph = false, Site site = Site::here()) const {
    backward(gradient, BackwardOptions{.create_graph = create_graph}, site);
  }
  void backward(const Tensor& gradient, std::same_as<bool> auto retain_graph, bool create_graph, const std::vector<Tensor>& inputs,
                Site site = Site::here()) const {
    backward(gradient, BackwardOptions{.retain_graph = retain_graph, .create_graph = create_graph}, inputs, site);
  }
  /// The same of `inputs` alone, leaves or results. Error for none, and for those that require no gradient.
  void backward(const Tensor& gradient, BackwardOptions options, const std::vector<Tensor>& inputs, Site site = Site::here()) const;
  /// The same values without history; shares storage.
  [[nodiscard]] Tensor detach() const;
  /// The same with a version of its own: backward does not find out what is changed in place through it. As torch.Tensor.data.
  [[nodiscard]] Tensor data() const;
  // libtorch's names.
  [[nodiscard]] Tensor tensor_data() const { return detach(); }  ///< As detach().
  [[nodiscard]] Tensor variable_data() const { return data(); }  ///< As data().
  /// This tensor has the memory, sizes, dtype and device of `source` from now on; its history stays. Error where it requires gradients and
  /// those are integers. As torch::Tensor::set_data, and `x.data = source` in Python.
  void set_data(const Tensor& source, Site = Site::here()) const;
  /// Forgets this tensor's own history.
  const Tensor& detach_(Site = Site::here()) const;
  /// Keeps `.grad` of a result too.
  void retain_grad(Site = Site::here()) const;
  /// Calls `hook` with the gradient; what it returns, where defined, takes its place. Returns the hook's number, for remove_hook.
  int64_t register_hook(std::function<Tensor(const Tensor&)> hook, Site = Site::here()) const;
  /// The same of a hook that returns nothing.
  template <class Hook>
  requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>> int64_t register_hook(Hook hook, Site site = Site::here())
  const {
    return register_hook(std::function<Tensor(const Tensor&)>([hook = std::move(hook)](const Tensor& gradient) mutable {
                           hook(gradient);
                           return Tensor();
                         }),
                         site);
  }
  /// Calls `hook` with this leaf each time `backward` has added to its `.grad`, on the stream where that was done. Returns the hook's
  /// number, for remove_hook. Error for results, and for leaves that require no gradient. As
  /// torch.Tensor.register_post_accumulate_grad_hook.
  int64_t register_post_accumulate_grad_hook(std::function<void(const Tensor& leaf)> hook, Site = Site::here()) const;
  /// Takes the hook of that number away.
  void remove_hook(int64_t number) const;

  // --- Moving (ops/copy.cpp)
  /// This tensor on `device`: itself where nothing changes.
  [[nodiscard]] Tensor to(const DeviceLike auto& device, ToOptions options = {}, Site site = Site::here()) const {
    return moved(detail::named(device, site), dtype(site), options, "to", site);
  }
  [[nodiscard]] Tensor to(ExactlyDType auto dtype, ToOptions options = {}, Site site = Site::here()) const {
    return moved(device(site), dtype, options, "to", site);
  }
  [[nodiscard]] Tensor to(const DeviceLike auto& device, ExactlyDType auto dtype, ToOptions options = {}, Site site = Site::here()) const {
    return moved(detail::named(device, site), dtype, options, "to", site);
  }
  /// The same of a device in braces, `x.to({kCUDA, 1})`.
  [[nodiscard]] Tensor to(const Device& device, ToOptions options = {}, Site site = Site::here()) const {
    return moved(device, dtype(site), options, "to", site);
  }
  [[nodiscard]] Tensor to(const Device& device, ExactlyDType auto dtype, ToOptions options = {}, Site site = Site::here()) const {
    return moved(device, dtype, options, "to", site);
  }
  /// The same with libtorch's two switches, whether it may go on before the copy is there, and whether a new tensor is wanted in any case.
  [[nodiscard]] Tensor to(const DeviceLike auto& device, ExactlyDType auto dtype, std::same_as<bool> auto non_blocking, Flag copy = false,
                          Site site = Site::here()) const {
    return to(device, dtype, ToOptions{non_blocking, copy}, site);
  }
  [[nodiscard]] Tensor to(const DeviceLike auto& device, std::same_as<bool> auto non_blocking, Flag copy = false,
                          Site site = Site::here()) const {
    return to(device, ToOptions{non_blocking, copy}, site);
  }
  [[nodiscard]] Tensor to(ExactlyDType auto dtype, std::same_as<bool> auto non_blocking, Flag copy = false,
                          Site site = Site::here()) const {
    return to(dtype, ToOptions{non_blocking, copy}, site);
  }
  /// With the dtype and on the device of `other`.
  [[nodiscard]] Tensor to(const Tensor& other, ToOptions options = {}, Site site = Site::here()) const {
    return moved(other.device(site), other.dtype(site), options, "to", site);
  }
  /// With the dtype and on the device of `options`, as far as they say.
  [[nodiscard]] Tensor to(const Options& options, Flag non_blocking = false, Flag copy = false, Site site = Site::here()) const {
    return moved(options.device.value_or(device(site)), options.dtype.value_or(dtype(site)), {non_blocking, copy}, "to", site);
  }
  /// As to(dtype).
  [[nodiscard]] Tensor toType(ExactlyDType auto dtype, Site site = Site::here()) const { return to(dtype, {}, site); }
  /// On GPU `index`, or on the current one: itself where it is there.
  [[nodiscard]] Tensor cuda(int index = -1, ToOptions options = {}, Site site = Site::here()) const;
  /// On that GPU. Error where the device is none.
  [[nodiscard]] Tensor cuda(const DeviceLike auto& device, ToOptions options = {}, Site site = Site::here()) const
      requires(!std::integral<std::remove_cvref_t<decltype(device)>>) {
    return on_gpu(detail::named(device, site), options, site);
  }
  /// On the CPU: itself where it is there.
  [[nodiscard]] Tensor cpu(Site site = Site::here()) const;
  /// A copy in page-locked host memory; itself where it is there already.
  [[nodiscard]] Tensor pin_memory(Site site = Site::here()) const;
  /// Moves the values into memory that processes share (multiprocessing); the tensor stays the same one. Nothing on a GPU, or where they
  /// are there already. Error where other tensors see the memory too: views, and what shares its history. As torch.Tensor.share_memory_.
  const Tensor& share_memory_(Site site = Site::here()) const;
  /// Takes over the values of `source`, converted and broadcast.
  const Tensor& copy_(const Tensor& source, Flag non_blocking = false, Site site = Site::here()) const;
  /// A copy, with its place in the graph.
  [[nodiscard]] Tensor clone(Site site = Site::here()) const;
  /// Itself where it is dense in row-major order, else a copy that is.
  [[nodiscard]] Tensor contiguous(Site site = Site::here()) const;
  /// The same: there is one order of dimensions.
  [[nodiscard]] Tensor contiguous(MemoryFormat, Site site = Site::here()) const { return contiguous(site); }
  /// With the dtype and on the device of `other`.
  [[nodiscard]] Tensor type_as(const Tensor& other, Site site = Site::here()) const {
    return to(other.device(site), other.dtype(site), {}, site);
  }
  /// The memory is used on `stream` too: it is not given out again before that stream has passed this point.
  void record_stream(const cuda::Stream& stream) const;
  /// The one element, on the host. Waits for its stream. Error where there is not exactly one.
  [[nodiscard]] Scalar item(Site site = Site::here()) const;
  template <class T>
  [[nodiscard]] T item(Site site = Site::here()) const {
    return item(site).template to<T>();
  }
  /// Whether the one element is not zero.
  explicit operator bool() const;

  // --- Views (ops/view.h)
  /// Element `at.index` of the first dimension, as a view.
  [[nodiscard]] Tensor operator[](At at) const;
  /// Other sizes over the same storage; one may be -1. Error where the strides do not allow it. As torch.Tensor.view.
  [[nodiscard]] Tensor view(const Shape& sizes, Site site = Site::here()) const;
  /// The same bytes as elements of another dtype, without history. Where that has another size, the last dimension, which must be dense,
  /// has as many more or fewer elements; error where they do not go up. As torch.Tensor.view(dtype).
  [[nodiscard]] Tensor view(ExactlyDType auto dtype, Site site = Site::here()) const { return view_bytes(dtype, site); }
  /// view of the sizes of `other`.
  [[nodiscard]] Tensor view_as(const Tensor& other, Site site = Site::here()) const { return view(other.sizes(site), site); }
  [[nodiscard]] Tensor reshape(const Shape& sizes, Site site = Site::here()) const;
  /// reshape to the sizes of `other`.
  [[nodiscard]] Tensor reshape_as(const Tensor& other, Site site = Site::here()) const { return reshape(other.sizes(site), site); }
  [[nodiscard]] Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1, Site site = Site::here()) const;
  [[nodiscard]] Tensor unflatten(int64_t dim, const Shape& sizes, Site site = Site::here()) const;
  [[nodiscard]] Tensor ravel(Site site = Site::here()) const { return reshape({-1}, site); }
  [[nodiscard]] Tensor squeeze(Site site = Site::here()) const;
  [[nodiscard]] Tensor squeeze(Integer auto dim, Site site = Site::here()) const { return squeeze_one(int64_t(dim), site); }
  [[nodiscard]] Tensor squeeze(const Shape& dims, Site site = Site::here()) const;
  [[nodiscard]] Tensor unsqueeze(int64_t dim, Site site = Site::here()) const;
  [[nodiscard]] Tensor transpose(int64_t dim0, int64_t dim1, Site site = Site::here()) const;
  [[nodiscard]] Tensor t(Site site = Site::here()) const;
  [[nodiscard]] Tensor permute(const Shape& dims, Site site = Site::here()) const;
  [[nodiscard]] Tensor movedim(int64_t source, int64_t destination, Site site = Site::here()) const {
    return movedim(Shape{source}, Shape{destination}, site);
  }
  [[nodiscard]] Tensor movedim(const Shape& source, const Shape& destination, Site site = Site::here()) const;
  [[nodiscard]] Tensor swapaxes(int64_t axis0, int64_t axis1, Site site = Site::here()) const { return transpose(axis0, axis1, site); }
  /// In place: the tensor itself is seen so from now on, over the same storage. Errors as those of every change in place.
  const Tensor& squeeze_(Site site = Site::here()) const;
  const Tensor& squeeze_(Integer auto dim, Site site = Site::here()) const { return squeeze_one_(int64_t(dim), site); }
  const Tensor& squeeze_(const Shape& dims, Site site = Site::here()) const;
  const Tensor& unsqueeze_(int64_t dim, Site site = Site::here()) const;
  const Tensor& transpose_(int64_t dim0, int64_t dim1, Site site = Site::here()) const;
  const Tensor& swapaxes_(int64_t axis0, int64_t axis1, Site site = Site::here()) const { return transpose_(axis0, axis1, site); }
  const Tensor& t_(Site site = Site::here()) const;
  /// Its last two dimensions swapped.
  [[nodiscard]] Tensor mT(Site site = Site::here()) const { return transpose(-2, -1, site); }
  /// Takes other sizes, dense: the elements stay in their order as far as there are as many, further ones are uninitialised. In place where
  /// the memory is large enough. Error where it requires gradients. As torch.Tensor.resize_.
  const Tensor& resize_(const Shape& sizes, Site site = Site::here()) const;
  /// Dimensions of size 1 repeated to `sizes`, without a copy; -1 keeps a size. As torch.Tensor.expand.
  [[nodiscard]] Tensor expand(const Shape& sizes, Site site = Site::here()) const;
  /// expand to the sizes of `other`.
  [[nodiscard]] Tensor expand_as(const Tensor& other, Site site = Site::here()) const { return expand(other.sizes(site), site); }
  [[nodiscard]] Tensor broadcast_to(const Shape& sizes, Site site = Site::here()) const { return expand(sizes, site); }
  [[nodiscard]] Tensor narrow(int64_t dim, int64_t start, int64_t length, Site site = Site::here()) const;
  [[nodiscard]] Tensor select(int64_t dim, int64_t index, Site site = Site::here()) const;
  /// Every `step`-th element of a dimension, from start up to end.
  [[nodiscard]] Tensor slice(int64_t dim, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1,
                             Site site = Site::here()) const;
  [[nodiscard]] Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1, Site site = Site::here()) const;
  [[nodiscard]] Tensor diag_embed(int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1, Site site = Site::here()) const;
  [[nodiscard]] Tensor diag(int64_t diagonal = 0, Site site = Site::here()) const;
  [[nodiscard]] Tensor diagflat(int64_t offset = 0, Site site = Site::here()) const;
  /// Windows of `size` elements every `step` along `dimension`, as a last dimension: a view. As torch.Tensor.unfold.
  [[nodiscard]] Tensor unfold(int64_t dimension, int64_t size, int64_t step, Site site = Site::here()) const;
  [[nodiscard]] Tensor as_strided(const Shape& sizes, const Shape& strides, std::optional<int64_t> offset = {},
                                  Site site = Site::here()) const;
  [[nodiscard]] std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0, Site site = Site::here()) const;
  [[nodiscard]] std::vector<Tensor> split(Integer auto size, int64_t dim = 0, Site site = Site::here()) const {
    return split_every(int64_t(size), dim, site);
  }
  [[nodiscard]] std::vector<Tensor> split(const Shape& sizes, int64_t dim = 0, Site site = Site::here()) const;
  /// As split(sizes).
  [[nodiscard]] std::vector<Tensor> split_with_sizes(const Shape& sizes, int64_t dim = 0, Site site = Site::here()) const {
    return split(sizes, dim, site);
  }
  [[nodiscard]] std::vector<Tensor> tensor_split(Integer auto sections, int64_t dim = 0, Site site = Site::here()) const {
    return split_into(int64_t(sections), dim, site);
  }
  [[nodiscard]] std::vector<Tensor> tensor_split(const Shape& indices, int64_t dim = 0, Site site = Site::here()) const;
  [[nodiscard]] std::vector<Tensor> tensor_split(const Tensor& indices_or_sections, int64_t dim = 0, Site site = Site::here()) const;
  [[nodiscard]] std::vector<Tensor> unbind(int64_t dim = 0, Site site = Site::here()) const;
  [[nodiscard]] Tensor repeat(const Shape& repeats, Site site = Site::here()) const;
  [[nodiscard]] Tensor flip(const Shape& dims, Site site = Site::here()) const;
  [[nodiscard]] Tensor tile(const Shape& dims, Site site = Site::here()) const;
  [[nodiscard]] Tensor roll(const Shape& shifts, const Shape& dims = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor rot90(int64_t k = 1, const Shape& dims = {0, 1}, Site site = Site::here()) const;

  // --- Indexing (ops/indexing.h)
  /// What stands between brackets in Python: x.index({Slice(0, 2), None, mask}).
  [[nodiscard]] Tensor index(const std::vector<Index>& indices, Site site = Site::here()) const;
  const Tensor& index_put_(const std::vector<Index>& indices, const Operand& value, Flag accumulate = false,
                           Site site = Site::here()) const;
  [[nodiscard]] Tensor index_select(int64_t dim, const Tensor& index, Site site = Site::here()) const;
  [[nodiscard]] Tensor index_put(const std::vector<Index>& indices, const Operand& value, Flag accumulate = false,
                                 Site site = Site::here()) const;
  [[nodiscard]] Tensor take(const Tensor& index, Site site = Site::here()) const;
  [[nodiscard]] Tensor put(const Tensor& index, const Tensor& source, Flag accumulate = false, Site site = Site::here()) const;
  const Tensor& put_(const Tensor& index, const Tensor& source, Flag accumulate = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor masked_fill(const Tensor& mask, const Operand& value, Site site = Site::here()) const;
  const Tensor& masked_fill_(const Tensor& mask, const Operand& value, Site site = Site::here()) const;
  [[nodiscard]] Tensor masked_select(const Tensor& mask, Site site = Site::here()) const;
  [[nodiscard]] Tensor masked_scatter(const Tensor& mask, const Tensor& source, Site site = Site::here()) const;
  const Tensor& masked_scatter_(const Tensor& mask, const Tensor& source, Site site = Site::here()) const;
  [[nodiscard]] Tensor nonzero(Site site = Site::here()) const;
  [[nodiscard]] Tensor argwhere(Site site = Site::here()) const;

  // --- Along one dimension (ops/scatter.h)
  [[nodiscard]] Tensor gather(int64_t dim, const Tensor& index, Site site = Site::here()) const;
  [[nodiscard]] Tensor take_along_dim(const Tensor& indices, std::optional<int64_t> dim = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor scatter(int64_t dim, const Tensor& index, const Operand& source, Site site = Site::here()) const;
  const Tensor& scatter_(int64_t dim, const Tensor& index, const Operand& source, Site site = Site::here()) const;
  [[nodiscard]] Tensor scatter(int64_t dim, const Tensor& index, const Operand& source, std::string_view reduce,
                               Site site = Site::here()) const;
  const Tensor& scatter_(int64_t dim, const Tensor& index, const Operand& source, std::string_view reduce, Site site = Site::here()) const;
  [[nodiscard]] Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here()) const;
  const Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here()) const;
  [[nodiscard]] Tensor scatter_reduce(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                                      Flag include_self = true, Site site = Site::here()) const;
  const Tensor& scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, Flag include_self = true,
                                Site site = Site::here()) const;
  [[nodiscard]] Tensor index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1,
                                 Site site = Site::here()) const;
  const Tensor& index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1, Site site = Site::here()) const;
  [[nodiscard]] Tensor index_copy(int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here()) const;
  const Tensor& index_copy_(int64_t dim, const Tensor& index, const Tensor& source, Site site = Site::here()) const;
  [[nodiscard]] Tensor index_reduce(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                                    Flag include_self = true, Site site = Site::here()) const;
  const Tensor& index_reduce_(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, Flag include_self = true,
                              Site site = Site::here()) const;
  [[nodiscard]] Tensor index_fill(int64_t dim, const Tensor& index, const Operand& value, Site site = Site::here()) const;
  const Tensor& index_fill_(int64_t dim, const Tensor& index, const Operand& value, Site site = Site::here()) const;
  [[nodiscard]] Tensor repeat_interleave(int64_t repeats, std::optional<int64_t> dim = {}, std::optional<int64_t> output_size = {},
                                         Site site = Site::here()) const;
  [[nodiscard]] Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim = {}, std::optional<int64_t> output_size = {},
                                         Site site = Site::here()) const;

  // --- Filling (ops/creation.h, ops/random.h)
  const Tensor& fill_(const Operand& value, Site site = Site::here()) const;
  /// All elements 0.
  const Tensor& zero_(Site site = Site::here()) const;
  /// New tensors of this one's dtype and device, unless the options say otherwise.
  [[nodiscard]] Tensor new_empty(const Shape& sizes, const Options& options = {}, Site site = Site::here()) const;
  /// Zeros of its dtype and device. As torch.Tensor.new_zeros.
  [[nodiscard]] Tensor new_zeros(const Shape& sizes, const Options& options = {}, Site site = Site::here()) const;
  /// Ones of its dtype and device.
  [[nodiscard]] Tensor new_ones(const Shape& sizes, const Options& options = {}, Site site = Site::here()) const;
  /// All `value`, of its dtype and device.
  [[nodiscard]] Tensor new_full(const Shape& sizes, const Scalar& value, const Options& options = {}, Site site = Site::here()) const;
  /// Integers in [from, to); without bounds, all that the dtype holds exactly.
  const Tensor& random_(int64_t from, int64_t to, Site site = Site::here()) const;
  const Tensor& random_(int64_t to, Site site = Site::here()) const;
  const Tensor& random_(Site site = Site::here()) const;
  [[nodiscard]] Tensor multinomial(int64_t num_samples, Flag replacement = false, Site site = Site::here()) const;
  const Tensor& uniform_(double from = 0, double to = 1, Site site = Site::here()) const;
  const Tensor& normal_(double mean = 0, double std = 1, Site site = Site::here()) const;
  /// Filled with numbers of the exponential distribution. As torch.Tensor.exponential_.
  const Tensor& exponential_(double lambda = 1, Site site = Site::here()) const;
  const Tensor& bernoulli_(double p = 0.5, Site site = Site::here()) const;
  /// 1 with the probability that each element of `p` gives; p is floating and broadcasts.
  const Tensor& bernoulli_(const Tensor& p, Site site = Site::here()) const;
  /// How many trials of probability p, in (0, 1), the first success takes.
  const Tensor& geometric_(double p, Site site = Site::here()) const;
  /// Filled with numbers of the Cauchy distribution. As torch.Tensor.cauchy_.
  const Tensor& cauchy_(double median = 0, double sigma = 1, Site site = Site::here()) const;
  /// Numbers whose logarithm is normal with this mean and deviation.
  const Tensor& log_normal_(double mean = 1, double std = 2, Site site = Site::here()) const;

  // --- Reductions (ops/reduce.h, ops/linalg/norms.h)
  /// Whether both have the same sizes and elements. Waits for the device. As torch.equal.
  [[nodiscard]] bool equal(const Tensor& other, Site site = Site::here()) const;
  /// Whether |a - b| <= atol + rtol * |b| everywhere. Waits for the devices. As torch.allclose.
  [[nodiscard]] bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, Flag equal_nan = false,
                              Site site = Site::here()) const;
  [[nodiscard]] Tensor sum(Site site = Site::here()) const;
  [[nodiscard]] Tensor sum(const Shape& dims, Flag keepdim = false, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor sum(Integer auto dim, Flag keepdim = false, std::optional<DType> dtype = {}, Site site = Site::here()) const {
    return sum(Shape{int64_t(dim)}, keepdim, dtype, site);
  }
  [[nodiscard]] Tensor sum(ExactlyDType auto dtype, Site site = Site::here()) const { return sum(Shape{}, false, dtype, site); }
  [[nodiscard]] Tensor nansum(const Shape& dims = {}, Flag keepdim = false, std::optional<DType> dtype = {},
                              Site site = Site::here()) const;
  [[nodiscard]] Tensor mean(Site site = Site::here()) const;
  [[nodiscard]] Tensor mean(const Shape& dims, Flag keepdim = false, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor mean(Integer auto dim, Flag keepdim = false, std::optional<DType> dtype = {}, Site site = Site::here()) const {
    return mean(Shape{int64_t(dim)}, keepdim, dtype, site);
  }
  [[nodiscard]] Tensor mean(ExactlyDType auto dtype, Site site = Site::here()) const { return mean(Shape{}, false, dtype, site); }
  [[nodiscard]] Tensor nanmean(const Shape& dims = {}, Flag keepdim = false, std::optional<DType> dtype = {},
                               Site site = Site::here()) const;
  [[nodiscard]] Tensor prod(Site site = Site::here()) const;
  [[nodiscard]] Tensor prod(int64_t dim, Flag keepdim = false, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor logsumexp(const Shape& dims, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor trace(Site site = Site::here()) const;
  [[nodiscard]] Tensor max(Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices max(int64_t dim, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor max(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor min(Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices min(int64_t dim, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor min(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor amax(const Shape& dims = {}, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor amin(const Shape& dims = {}, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] MinMax aminmax(std::optional<int64_t> dim = {}, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor argmax(std::optional<int64_t> dim = {}, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor argmin(std::optional<int64_t> dim = {}, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor all(Site site = Site::here()) const;
  [[nodiscard]] Tensor all(const Shape& dims, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor all(Integer auto dim, Flag keepdim = false, Site site = Site::here()) const {
    return all(Shape{int64_t(dim)}, keepdim, site);
  }
  [[nodiscard]] Tensor any(Site site = Site::here()) const;
  [[nodiscard]] Tensor any(const Shape& dims, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor any(Integer auto dim, Flag keepdim = false, Site site = Site::here()) const {
    return any(Shape{int64_t(dim)}, keepdim, site);
  }
  [[nodiscard]] Tensor count_nonzero(const Shape& dims = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor var(const Shape& dims = {}, double correction = 1, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor var(Integer auto dim, double correction = 1, Flag keepdim = false, Site site = Site::here()) const {
    return var(Shape{int64_t(dim)}, correction, keepdim, site);
  }
  [[nodiscard]] Tensor var(std::same_as<bool> auto unbiased, Site site = Site::here()) const { return var({}, unbiased, false, site); }
  [[nodiscard]] Tensor std(const Shape& dims = {}, double correction = 1, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor std(Integer auto dim, double correction = 1, Flag keepdim = false, Site site = Site::here()) const {
    return std(Shape{int64_t(dim)}, correction, keepdim, site);
  }
  [[nodiscard]] Tensor std(std::same_as<bool> auto unbiased, Site site = Site::here()) const { return std({}, unbiased, false, site); }
  [[nodiscard]] Tensor norm(double p = 2, Site site = Site::here()) const;
  [[nodiscard]] Tensor norm(double p, const Shape& dims, Flag keepdim = false, std::optional<DType> dtype = {},
                            Site site = Site::here()) const;
  [[nodiscard]] Tensor dist(const Tensor& other, double p = 2, Site site = Site::here()) const;

  // --- Running totals (ops/scan.h)
  [[nodiscard]] Tensor cumsum(int64_t dim, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  const Tensor& cumsum_(int64_t dim, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor cumprod(int64_t dim, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  const Tensor& cumprod_(int64_t dim, std::optional<DType> dtype = {}, Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices cummax(int64_t dim, Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices cummin(int64_t dim, Site site = Site::here()) const;
  [[nodiscard]] Tensor logcumsumexp(int64_t dim, Site site = Site::here()) const;
  [[nodiscard]] Tensor diff(int64_t n = 1, int64_t dim = -1, const Tensor& prepend = Tensor(), const Tensor& append = Tensor(),
                            Site site = Site::here()) const;

  // --- Counting (ops/counting.h)
  [[nodiscard]] Tensor bincount(const Tensor& weights = Tensor(), int64_t minlength = 0, Site site = Site::here()) const;
  [[nodiscard]] Unique unique(Site site = Site::here()) const;
  [[nodiscard]] Unique unique(const UniqueOptions& options, Site site = Site::here()) const;
  [[nodiscard]] Unique unique_consecutive(Site site = Site::here()) const;
  [[nodiscard]] Unique unique_consecutive(const UniqueConsecutiveOptions& options, Site site = Site::here()) const;
  [[nodiscard]] Tensor histc(int64_t bins = 100, double min = 0, double max = 0, Site site = Site::here()) const;

  // --- Sorting (ops/sort.h)
  [[nodiscard]] ValuesIndices sort(int64_t dim = -1, Flag descending = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor argsort(int64_t dim = -1, Flag descending = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor msort(Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices topk(int64_t k, int64_t dim = -1, Flag largest = true, Flag sorted = true, Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices kthvalue(int64_t k, int64_t dim = -1, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor median(Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices median(int64_t dim, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor nanmedian(Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices nanmedian(int64_t dim, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] ValuesIndices mode(int64_t dim = -1, Flag keepdim = false, Site site = Site::here()) const;
  [[nodiscard]] Tensor quantile(const Operand& q, std::optional<int64_t> dim = {}, Flag keepdim = false,
                                std::string_view interpolation = "linear", Site site = Site::here()) const;
  [[nodiscard]] Tensor nanquantile(const Operand& q, std::optional<int64_t> dim = {}, Flag keepdim = false,
                                   std::string_view interpolation = "linear", Site site = Site::here()) const;

  // --- Products (ops/matmul.h)
  [[nodiscard]] Tensor matmul(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor mm(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor bmm(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor dot(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor mv(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor vdot(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor inner(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor outer(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor kron(const Tensor& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor cross(const Tensor& other, std::optional<int64_t> dim = {}, Site site = Site::here()) const;
  /// beta * this + alpha * (a product), as the functions of these names.
  [[nodiscard]] Tensor addmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                             Site site = Site::here()) const;
  [[nodiscard]] Tensor addmv(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                             Site site = Site::here()) const;
  [[nodiscard]] Tensor addr(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                            Site site = Site::here()) const;
  [[nodiscard]] Tensor addbmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                              Site site = Site::here()) const;
  [[nodiscard]] Tensor baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1,
                               Site site = Site::here()) const;
  const Tensor& addmm_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1, Site site = Site::here()) const;
  const Tensor& addmv_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1, Site site = Site::here()) const;
  const Tensor& addr_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1, Site site = Site::here()) const;
  const Tensor& addbmm_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1, Site site = Site::here()) const;
  const Tensor& baddbmm_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1, Site site = Site::here()) const;
  /// The determinant of a square matrix. As torch.det.
  [[nodiscard]] Tensor det(Site site = Site::here()) const;
  /// The inverse of a square matrix. As torch.inverse.
  [[nodiscard]] Tensor inverse(Site site = Site::here()) const;
  /// Multiplied with itself n times. As torch.matrix_power.
  [[nodiscard]] Tensor matrix_power(int64_t n, Site site = Site::here()) const;

  // --- Pointwise operations by hand (ops/arithmetic.h, ops/activation.h, ops/softmax.h)
  /// this + alpha * other.
  [[nodiscard]] Tensor add(const Operand& other, const Scalar& alpha, Site site = Site::here()) const;
  const Tensor& add_(const Operand& other, const Scalar& alpha, Site site = Site::here()) const;
  [[nodiscard]] Tensor sub(const Operand& other, const Scalar& alpha, Site site = Site::here()) const;
  const Tensor& sub_(const Operand& other, const Scalar& alpha, Site site = Site::here()) const;
  [[nodiscard]] Tensor div(const Operand& other, std::string_view rounding_mode, Site site = Site::here()) const;
  const Tensor& div_(const Operand& other, std::string_view rounding_mode, Site site = Site::here()) const;
  [[nodiscard]] Tensor float_power(const Operand& exponent, Site site = Site::here()) const;
  const Tensor& float_power_(const Operand& exponent, Site site = Site::here()) const;
  [[nodiscard]] Tensor round(int64_t decimals, Site site = Site::here()) const;
  const Tensor& round_(int64_t decimals, Site site = Site::here()) const;
  [[nodiscard]] Tensor positive(Site site = Site::here()) const;
  /// This where condition is true, else other.
  [[nodiscard]] Tensor where(const Tensor& condition, const Operand& other, Site site = Site::here()) const;
  [[nodiscard]] Tensor clamp(std::optional<Scalar> min, std::optional<Scalar> max = {}, Site site = Site::here()) const;
  const Tensor& clamp_(std::optional<Scalar> min, std::optional<Scalar> max = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor clamp(const Tensor& min, const Tensor& max = Tensor(), Site site = Site::here()) const;
  const Tensor& clamp_(const Tensor& min, const Tensor& max = Tensor(), Site site = Site::here()) const;
  [[nodiscard]] Tensor clamp_min(const Operand& min, Site site = Site::here()) const;
  const Tensor& clamp_min_(const Operand& min, Site site = Site::here()) const;
  [[nodiscard]] Tensor clamp_max(const Operand& max, Site site = Site::here()) const;
  const Tensor& clamp_max_(const Operand& max, Site site = Site::here()) const;
  [[nodiscard]] Tensor lerp(const Operand& end, const Operand& weight, Site site = Site::here()) const;
  const Tensor& lerp_(const Operand& end, const Operand& weight, Site site = Site::here()) const;
  [[nodiscard]] Tensor addcmul(const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here()) const;
  const Tensor& addcmul_(const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here()) const;
  [[nodiscard]] Tensor addcdiv(const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here()) const;
  const Tensor& addcdiv_(const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here()) const;
  [[nodiscard]] Tensor nan_to_num(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                                  Site site = Site::here()) const;
  const Tensor& nan_to_num_(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                            Site site = Site::here()) const;
  [[nodiscard]] Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, Flag equal_nan = false,
                               Site site = Site::here()) const;
  [[nodiscard]] Tensor logit(std::optional<double> eps = {}, Site site = Site::here()) const;
  const Tensor& logit_(std::optional<double> eps = {}, Site site = Site::here()) const;
  [[nodiscard]] Tensor polygamma(int64_t n, Site site = Site::here()) const;
  const Tensor& polygamma_(int64_t n, Site site = Site::here()) const;
  [[nodiscard]] Tensor prelu(const Tensor& weight, Site site = Site::here()) const;
  [[nodiscard]] Tensor hardshrink(double lambd = 0.5, Site site = Site::here()) const;
  [[nodiscard]] Tensor softmax(int64_t dim, Site site = Site::here()) const;
  [[nodiscard]] Tensor softmax(int64_t dim, ExactlyDType auto dtype, Site site = Site::here()) const {
    return to(dtype, {}, site).softmax(dim, site);
  }
  [[nodiscard]] Tensor log_softmax(int64_t dim, Site site = Site::here()) const;
  [[nodiscard]] Tensor log_softmax(int64_t dim, ExactlyDType auto dtype, Site site = Site::here()) const {
    return to(dtype, {}, site).log_softmax(dim, site);
  }
  [[nodiscard]] Tensor tril(int64_t diagonal = 0, Site site = Site::here()) const;
  const Tensor& tril_(int64_t diagonal = 0, Site site = Site::here()) const;
  [[nodiscard]] Tensor triu(int64_t diagonal = 0, Site site = Site::here()) const;
  const Tensor& triu_(int64_t diagonal = 0, Site site = Site::here()) const;

  // --- Pointwise operations from kernels/pointwise.def
#include "tensor/pointwise_methods.inc"

 private:
  [[noreturn]] static void undefined(Site site);
  void check_dtype(DType wanted) const;
  // What the templates above stand for.
  [[nodiscard]] Tensor on_gpu(Device device, ToOptions options, Site site) const;
  [[nodiscard]] Tensor moved(Device device, DType dtype, ToOptions options, const char* op, Site site) const;
  [[nodiscard]] Tensor view_bytes(DType dtype, Site site) const;
  [[nodiscard]] Tensor squeeze_one(int64_t dim, Site site) const;
  const Tensor& squeeze_one_(int64_t dim, Site site) const;
  [[nodiscard]] std::vector<Tensor> split_every(int64_t size, int64_t dim, Site site) const;
  [[nodiscard]] std::vector<Tensor> split_into(int64_t sections, int64_t dim, Site site) const;

  Ref<TensorImpl> impl_;
};

/// What max, sort, topk and others along a dimension give. As every result of several tensors it can be given to std::tie, and be a
/// std::tuple.
struct ValuesIndices {
  Tensor values, indices;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(values), detail::tied<B>(indices)};
  }
};

}  // namespace tandem

// Closes the circle: a TensorImpl holds a Tensor, its gradient, and what reads a Tensor's layout inline needs the TensorImpl.
#include "tensor/tensor_impl.h"
