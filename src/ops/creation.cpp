#include "ops/creation.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/pointwise.h"
#include "ops/view.h"
#include "runtime/driver.h"
#include "runtime/tracer.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

Tensor finish(Tensor x, const Options& options) {
  if (options.requires_grad) x.requires_grad_();
  return x;
}

Tensor allocate(const Shape& sizes, DType dtype, const Options& options, Site site) {
  const Device device = options.device ? detail::resolve(*options.device) : Device();
  if (options.pin_memory && device.is_cuda())
    fail("[empty] only dense CPU tensors can be pinned, not one on ", device, "; pin it on the CPU, then copy it");
  return Tensor(TensorImpl::make(sizes, dtype, device, options.pin_memory, site));
}

/// Error where a tensor of that type cannot hold the number. Fractions are cut off, a negative number counts from the end of what an
/// unsigned type holds, and a half type makes an infinity of what is too large for it, as in PyTorch.
void check_fits(const char* op, const Scalar& value, DType dtype) {
  const auto number = value.to<double>();
  const auto check = [&](const char* type, double low, double high) {
    if (std::isnan(number) || std::trunc(number) < low || std::trunc(number) > high)
      fail("[", op, "] value cannot be converted to type ", type, " without overflow: ", number, " is not between ", low, " and ", high);
  };
  switch (dtype) {
    case kUInt8: return check("uint8_t", -255, 255);
    case kInt8: return check("int8_t", -128, 127);
    case kInt16: return check("int16_t", -32768, 32767);
    case kInt32: return check("int", -0x1p31, 0x1p31 - 1);
    case kInt64: return check("int64_t", -0x1p63, 0x1p63);
    case kFloat32: {
      constexpr double kLargest = std::numeric_limits<float>::max();
      if (std::isfinite(number)) check("float", -kLargest, kLargest);
      return;
    }
    case kBool:
    case kFloat16:
    case kBFloat16:
    case kFloat64: return;
  }
}

void fill(const Tensor& x, const Scalar& value, const char* op, Site site) {
  check_fits(op, value, x.dtype());
  if (x.numel() == 0) return;
  ops::launch(x, op, site, &kernels::Table::fill, x, ops::value_of(value));
}

Tensor filled(const Shape& sizes, const Scalar& value, DType dtype, const Options& options, const char* op, Site site) {
  Tensor x = allocate(sizes, dtype, options, site);
  fill(x, value, op, site);
  return finish(x, options);
}

/// A bound of linspace and logspace: a number, or a tensor of no dimensions, whose value is read.
double bound_of(const char* op, const Operand& x, DType dtype) {
  const auto fitting = [&](double value) { return is_floating(dtype) ? value : std::trunc(value); };  // integers take the whole part
  if (!x.is_tensor()) return fitting(x.number().to<double>());
  if (x.tensor().dim() > 0)
    fail("[", op, "] only supports 0-dimensional start and end tensors, but got one with ", x.tensor().dim(), " dimension(s).");
  return fitting(read_value(x.tensor(), op, x.site()).to<double>());
}

/// The options of a `_like` function: what is left out is as `other` has it.
Options like(const Tensor& other, Options options) {
  if (!options.dtype) options.dtype = other.dtype();
  if (!options.device) options.device = other.device();
  return options;
}

// --- Nested braces
void measure(const NestedList& data, size_t depth, Shape& sizes, Scalar::Kind& kind, bool& any) {
  if (!data.is_list()) {
    if (sizes.size() != depth) fail("[tensor] expected a list of length ", sizes[depth], " at dimension ", depth, ", but found a number");
    if (!any || data.number().kind() > kind) kind = data.number().kind();
    any = true;
    return;
  }
  const auto length = static_cast<int64_t>(data.items().size());
  if (sizes.size() == depth) sizes.push_back(length);
  if (sizes[depth] != length) fail("[tensor] expected sequence of length ", sizes[depth], " at dim ", depth, " (got ", length, ")");
  for (size_t i = 0; i < data.items().size(); ++i) {
    if (i > 0 && data.items()[i].is_list() && sizes.size() == depth + 1)
      fail("[tensor] expected a number at dimension ", depth + 1, ", but found a list");
    measure(data.items()[i], depth + 1, sizes, kind, any);
  }
}

template <class T>
void write(const NestedList& data, T*& to) {
  if (!data.is_list()) {
    *to++ = data.number().to<T>();
    return;
  }
  for (const NestedList& item : data.items()) write(item, to);
}

}  // namespace

Tensor tensor(const NestedList& data, const Options& options, Site site) {
  Shape sizes;
  Scalar::Kind kind = Scalar::Kind::Floating;
  bool any = false;
  measure(data, 0, sizes, kind, any);
  const DType natural = !any || kind == Scalar::Kind::Floating ? get_default_dtype() : kind == Scalar::Kind::Integer ? kInt64 : kBool;
  const DType dtype = options.dtype.value_or(natural);
  Tensor host = allocate(sizes, dtype, {.pin_memory = options.pin_memory && (!options.device || options.device->is_cpu())}, site);
  visit(dtype, [&](auto zero) {
    auto* to = static_cast<decltype(zero)*>(host.impl().data);
    write(data, to);
  });
  if (runtime::Tracer* const tracer = runtime::tracer()) tracer->wrote(host.impl().data);
  if (options.device && options.device->is_cuda()) host = host.to(*options.device, {}, site);
  return finish(host, options);
}

Tensor empty(const Shape& sizes, const Options& options, Site site) {
  return finish(allocate(sizes, options.dtype ? *options.dtype : get_default_dtype(), options, site), options);
}

Tensor zeros(const Shape& sizes, const Options& options, Site site) {
  return filled(sizes, 0, options.dtype.value_or(get_default_dtype()), options, "zeros", site);
}

Tensor ones(const Shape& sizes, const Options& options, Site site) {
  return filled(sizes, 1, options.dtype.value_or(get_default_dtype()), options, "ones", site);
}

Tensor full(const Shape& sizes, const Scalar& value, const Options& options, Site site) {
  return filled(sizes, value, options.dtype.value_or(value.dtype()), options, "full", site);
}

Tensor eye(int64_t n, std::optional<int64_t> m, const Options& options, Site site) {
  if (n < 0) fail("[eye] n must be greater or equal to 0, got ", n);
  if (m && *m < 0) fail("[eye] m must be greater or equal to 0, got ", *m);
  Tensor x = allocate({n, m.value_or(n)}, options.dtype.value_or(get_default_dtype()), options, site);
  fill(x, 0, "eye", site);
  const NoGradGuard no_grad;
  fill(x.diagonal(0, 0, 1, site), 1, "eye", site);
  return finish(x, options);
}

Tensor arange(const Scalar& end, const Options& options, Site site) {
  return arange(end.is_floating() ? Scalar(0.0) : Scalar(0), end, Scalar(1), options, site);
}
Tensor arange(const Scalar& start, const Scalar& end, const Options& options, Site site) {
  return arange(start, end, Scalar(1), options, site);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const Options& options, Site site) {
  const bool floating = start.is_floating() || end.is_floating() || step.is_floating();
  const DType dtype = options.dtype.value_or(floating ? get_default_dtype() : kInt64);
  const double from = start.to<double>(), to = end.to<double>(), by = step.to<double>();
  if (dtype == kBool) fail<NotImplementedError>("[arange] is not implemented for 'Bool'");
  if (by == 0 || std::isnan(by)) fail("[arange] step must be nonzero, not ", by);
  if (!std::isfinite(from) || !std::isfinite(to)) fail("[arange] unsupported range: ", from, " -> ", to);
  if ((by > 0 && from > to) || (by < 0 && from < to))
    fail("[arange] upper bound and lower bound inconsistent with step sign: ", from, " -> ", to, " by ", by);
  int64_t count;
  if (floating) {
    const double size = std::ceil((to - from) / by);
    if (!(size < 9e18)) fail("[arange] the range ", from, " -> ", to, " by ", by, " has too many elements");
    count = static_cast<int64_t>(size);
  } else {
    const __int128 span = static_cast<__int128>(end.to<int64_t>()) - start.to<int64_t>(), width = step.to<int64_t>();
    const __int128 steps = span / width + (span % width != 0);
    if (steps > INT64_MAX) fail("[arange] the range ", from, " -> ", to, " has too many elements");
    count = static_cast<int64_t>(steps);
  }
  Tensor x = allocate({count}, dtype, options, site);
  ops::launch(x, "arange", site, &kernels::Table::arange, x, ops::value_of(start), ops::value_of(step));
  return finish(x, options);
}

Tensor linspace(const Operand& start, const Operand& end, int64_t steps, const Options& options, Site site) {
  if (options.dtype == kBool) fail<NotImplementedError>("[linspace] is not implemented for 'Bool'");
  if (steps < 0) fail("[linspace] number of steps must be non-negative, not ", steps);
  const DType dtype = options.dtype.value_or(get_default_dtype());
  const double from = bound_of("linspace", start, dtype), to = bound_of("linspace", end, dtype);
  Tensor x = allocate({steps}, dtype, options, site);
  ops::launch(x, "linspace", site, &kernels::Table::linspace, x, from, to);
  return finish(x, options);
}

Tensor logspace(const Operand& start, const Operand& end, int64_t steps, double base, const Options& options, Site site) {
  if (options.dtype == kBool) fail<NotImplementedError>("[logspace] is not implemented for 'Bool'");
  if (steps < 0) fail("[logspace] number of steps must be non-negative, not ", steps);
  const DType dtype = options.dtype.value_or(get_default_dtype());
  const double from = bound_of("logspace", start, dtype), to = bound_of("logspace", end, dtype);
  Options wide = options;  // the exponents need digits that only the powers may lose; integers are cut off
  wide.dtype = kFloat64;
  wide.requires_grad = false;
  return finish(pow(base, linspace(from, to, steps, wide, site), site).to(dtype, {}, site), options);
}

namespace {

/// Positions (row, column) of the elements of a row-by-column matrix that a triangle holds, in order: int64, sizes (2, count).
Tensor triangle_indices(const char* op, int64_t row, int64_t col, int64_t offset, bool upper, const Options& options, Site site) {
  if (row < 0) fail("[", op, "] row must be non-negative, got ", row);
  if (col < 0) fail("[", op, "] col must be non-negative, got ", col);
  const DType dtype = options.dtype.value_or(kInt64);
  if (dtype != kInt64 && dtype != kInt32)
    fail<NotImplementedError>("[", op, "] is not implemented for '", scalar_name(dtype), "'; use kInt64");
  Options host;
  host.dtype = kBool;
  host.device = options.device;
  const Tensor mask = ones({row, col}, host, site);
  const Tensor where = (upper ? mask.triu(offset, site) : mask.tril(offset, site)).nonzero(site);
  return finish(where.t(site).contiguous(site).to(dtype, {}, site), options);
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const Options& options, Site site) {
  return triangle_indices("tril_indices", row, col, offset, false, options, site);
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const Options& options, Site site) {
  return triangle_indices("triu_indices", row, col, offset, true, options, site);
}

Tensor empty_like(const Tensor& other, const Options& options, Site site) { return empty(other.sizes(), like(other, options), site); }
Tensor zeros_like(const Tensor& other, const Options& options, Site site) { return zeros(other.sizes(), like(other, options), site); }
Tensor ones_like(const Tensor& other, const Options& options, Site site) { return ones(other.sizes(), like(other, options), site); }
Tensor full_like(const Tensor& other, const Scalar& value, const Options& options, Site site) {
  return full(other.sizes(), value, like(other, options), site);
}

Tensor Tensor::new_empty(const Shape& sizes, const Options& options, Site site) const { return empty(sizes, like(*this, options), site); }
Tensor Tensor::new_zeros(const Shape& sizes, const Options& options, Site site) const { return zeros(sizes, like(*this, options), site); }
Tensor Tensor::new_ones(const Shape& sizes, const Options& options, Site site) const { return ones(sizes, like(*this, options), site); }
Tensor Tensor::new_full(const Shape& sizes, const Scalar& value, const Options& options, Site site) const {
  return full(sizes, value, like(*this, options), site);
}

namespace {
/// What lies behind a tensor of from_blob, until it is let go.
struct Blob {
  void* data;
  std::function<void(void*)> deleter;
  Device device;
  bool given = false;  // there is a tensor, which lets go of it

  static void let_go(void* context) {
    const std::unique_ptr<Blob> blob(static_cast<Blob*>(context));
    if (!blob->given || !blob->deleter) return;
    if (blob->device.is_cuda()) cuda::synchronize(blob->device, Site::none());
    blob->deleter(blob->data);
  }
};

Tensor blob_tensor(void* data, const Shape& sizes, const Shape& strides, std::function<void(void*)> deleter, const Options& options) {
  const Device device = options.device ? detail::resolve(*options.device) : Device();
  const DType dtype = options.dtype.value_or(get_default_dtype());
  if (strides.size() != sizes.size())
    fail("[from_blob] there are ", sizes.size(), " sizes and ", strides.size(), " strides: each dimension takes one of both");
  int64_t elements = sizes.numel() == 0 ? 0 : 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides[i] < 0)
      fail("[from_blob] sizes ", sizes, " with strides ", strides, ": none of them can be negative; copy such memory first");
    if (elements) elements += (sizes[i] - 1) * strides[i];
  }
  void* address = device.is_cuda() ? runtime::require_driver().kernel_address(device.index(), data) : data;
  auto blob = std::make_unique<Blob>(Blob{data, std::move(deleter), device});
  const Ref<Storage> storage(new Storage(device, address, static_cast<size_t>(elements) * size_of(dtype), Blob::let_go, blob.get()));
  Blob* const held = blob.release();
  Tensor x = finish(Tensor(TensorImpl::view(storage.get(), sizes, strides, 0, dtype)), options);
  held->given = true;
  return x;
}
}  // namespace

Tensor from_blob(void* data, const Shape& sizes, const Options& options, Site) {
  return blob_tensor(data, sizes, contiguous_strides(sizes), nullptr, options);
}
Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, std::function<void(void*)> deleter, const Options& options, Site) {
  return blob_tensor(data, sizes, strides, std::move(deleter), options);
}

const Tensor& Tensor::fill_(const Operand& value, Site site) const {
  autograd::check_in_place("fill_", *this);
  if (value.is_tensor()) {
    if (value.tensor().dim() > 0)
      fail("[fill_] fill_ only supports 0-dimension value tensor but got tensor with ", value.tensor().dim(), " dimensions.");
    return copy_(value.tensor().expand(sizes(), site), false, site);
  }
  fill(*this, value.number(), "fill_", site);
  impl().bump_version();
  if (autograd::needs_grad(*this)) {
    auto backward = [](const Tensor& g) { return zeros_like(g); };
    autograd::record_in_place("FillBackward0", *this, {*this}, site, backward);
  }
  return *this;
}

Tensor fill(const Tensor& x, const Operand& value, Site site) {
  return (value.is_tensor() || autograd::needs_grad(x) ? x.clone(site) : empty_like(x, {}, site)).fill_(value, site);
}

const Tensor& Tensor::zero_(Site site) const { return fill_(0, site); }

}  // namespace tandem
