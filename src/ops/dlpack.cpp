#include "ops/dlpack.h"

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/warning.h"
#include "ops/creation.h"
#include "ops/dlpack_layout.h"
#include "runtime/stream.h"
#include "tensor/tensor_impl.h"

namespace tandem {
namespace {

dlpack::NumberType type_of(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * size_of(dtype));
  const uint8_t kind = dtype == kBool       ? dlpack::kBoolean
                       : dtype == kUInt8    ? dlpack::kUInt
                       : dtype == kBFloat16 ? dlpack::kBfloat
                       : is_floating(dtype) ? dlpack::kFloat
                                            : dlpack::kInt;
  return {kind, bits, 1};
}

DType dtype_of_type(dlpack::NumberType type) {
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const dlpack::NumberType ours = type_of(dtype);
    if (type.lanes == 1 && ours.kind == type.kind && ours.bits == type.bits) return dtype;
  }
  if (type.lanes != 1)
    fail<TypeError>("[from_dlpack] DLPack elements of ", static_cast<int>(type.lanes),
                    " lanes have no dtype in tandem: give them a last dimension");
  fail<TypeError>("[from_dlpack] DLPack elements of code ", static_cast<int>(type.kind), " with ", static_cast<int>(type.bits),
                  " bits have no dtype in tandem");
}

Device device_of(const dlpack::Device& device) {
  if (device.kind == dlpack::kCpu || device.kind == dlpack::kCudaHost) return cpu();
  if (device.kind != dlpack::kCuda)
    fail("[from_dlpack] DLPack memory of a device of type ", device.kind, ": tandem takes memory of the CPU and of CUDA GPUs");
  if (cuda::get_device_properties(gpu(device.index)).is_virtual)
    fail("[from_dlpack] DLPack memory of a CUDA GPU, but this program's GPUs are virtual ones");
  return gpu(device.index);
}

template <class Managed>
Tensor imported(Managed* managed, Site site) {
  const dlpack::View& in = dlpack::layout_of(managed)->view;
  const DType dtype = dtype_of_type(in.type);
  const Device device = device_of(in.device);
  if (in.dims < 0 || in.dims > kMaxDims)
    fail("[from_dlpack] a DLPack tensor of ", in.dims, " dimensions: a tensor can have 0 to ", kMaxDims);
  const auto dims = static_cast<size_t>(in.dims);
  if (dims > 0 && !in.sizes) fail("[from_dlpack] a DLPack tensor of ", dims, " dimensions that gives no sizes");
  const Shape sizes(in.sizes, dims);
  const Shape strides = in.strides ? Shape(in.strides, dims) : contiguous_strides(sizes);
  if (!in.data && sizes.numel() != 0) fail("[from_dlpack] a DLPack tensor of sizes ", sizes, " without memory");
  // Where there is no memory an offset leads nowhere.
  void* const data = in.data ? static_cast<char*>(in.data) + in.byte_offset : nullptr;
  return from_blob(
      data, sizes, strides,
      [managed](void*) {
        if (const auto deleter = dlpack::layout_of(managed)->deleter) deleter(managed);
      },
      {.dtype = dtype, .device = device}, site);
}

/// What a consumer holds: the tensor, and the numbers that the struct points to.
template <class Layout>
struct Exported {
  Tensor tensor;
  Shape sizes, strides;
  Layout layout{};
};

template <class Managed>
Managed* exported(const char* op, const Tensor& given, const DLPackOptions& options, Site site) {
  using Layout = std::remove_pointer_t<decltype(dlpack::layout_of(static_cast<Managed*>(nullptr)))>;
  if (given.requires_grad(site)) fail("[", op, "] Can't export tensors that require gradient, use tensor.detach()");
  const Device device = given.device();
  if (device.is_cuda() && cuda::get_device_properties(device).is_virtual)
    fail("[", op, "] the memory of a virtual GPU is not for other libraries: call cpu() first");
  const Tensor tensor = options.copy ? given.clone(site) : given;
  if (device.is_cuda() && options.synchronize) cuda::current_stream(device).synchronize(site);
  auto held = std::make_unique<Exported<Layout>>(Exported<Layout>{tensor, tensor.sizes(), tensor.strides()});
  Layout& layout = held->layout;
  layout.context = held.get();
  layout.deleter = [](Managed* done) { delete static_cast<Exported<Layout>*>(dlpack::layout_of(done)->context); };
  layout.view = {.data = tensor.numel() == 0 ? nullptr : tensor.data_ptr(site),
                 .device = {device.is_cpu() ? dlpack::kCpu : dlpack::kCuda, device.is_cpu() ? 0 : device.index()},
                 .dims = static_cast<int32_t>(tensor.dim()),
                 .type = type_of(tensor.dtype()),
                 .sizes = held->sizes.data(),
                 .strides = held->strides.data(),
                 .byte_offset = 0};
  return reinterpret_cast<Managed*>(&held.release()->layout);
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed, Site site) { return imported(managed, site); }

Tensor detail::from_dlpack_unwarned(DLManagedTensorVersioned* managed, Site site) {
  const dlpack::Version version = dlpack::layout_of(managed)->version;
  if (version.major != dlpack::kMajor)
    fail("[from_dlpack] DLPack of version ", version.major, ".", version.minor, ": tandem reads version 1");
  return imported(managed, site);
}

Tensor from_dlpack(DLManagedTensorVersioned* managed, Site site) {
  const auto& layout = *dlpack::layout_of(managed);
  if (layout.version.major == dlpack::kMajor && layout.flags & dlpack::kReadOnly)
    detail::warn_once("[from_dlpack] this memory is read-only, and tandem has no read-only tensors: clone() it before you change it");
  return detail::from_dlpack_unwarned(managed, site);
}

DLManagedTensor* to_dlpack(const Tensor& tensor, const DLPackOptions& options, Site site) {
  if (options.read_only) fail("[to_dlpack] only DLPack with a version can say that memory is read-only: call to_dlpack_versioned");
  return exported<DLManagedTensor>("to_dlpack", tensor, options, site);
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, const DLPackOptions& options, Site site) {
  auto* const managed = exported<DLManagedTensorVersioned>("to_dlpack_versioned", tensor, options, site);
  auto* const layout = dlpack::layout_of(managed);
  layout->version = {dlpack::kMajor, dlpack::kMinor};
  layout->flags = (options.copy ? dlpack::kIsCopied : 0) | (options.read_only ? dlpack::kReadOnly : 0);
  return managed;
}

}  // namespace tandem
