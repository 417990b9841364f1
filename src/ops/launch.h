// From tensors to kernels: the table of a tensor's device, its raw view, and the queue a call goes to.
#pragma once

#include "kernels/table.h"
#include "runtime/launch.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// The kernels of a device.
const kernels::Table& kernels_of(Device device);
inline const kernels::Table& kernels_of(const Tensor& x) { return kernels_of(x.device()); }

/// Cards use `table` from now on, nullptr: their own. For tools that ask what an operation needs.
void use_card_kernels(const kernels::Table* table);

inline runtime::Launch launch(const Tensor& x, const char* op, Site site) { return runtime::Launch(x.device(), op, site); }

/// What kernels see of `x`. An undefined tensor gives a view without data.
kernels::View view(const Tensor& x);
kernels::Out out(const Tensor& x);
/// A view with `dim` moved to the end, where kernels work along it; a 0-dim one as one element.
kernels::View last(kernels::View v, int64_t dim);

/// Scratch of `bytes` on the device of `like`; undefined for none.
Tensor workspace(const Tensor& like, size_t bytes, Site site);
inline void* address(const Tensor& workspace) { return workspace.defined() ? workspace.impl().data : nullptr; }

/// Error unless both are on one device (undefined ones aside); names the argument that is elsewhere as PyTorch does: the one on the CPU,
/// else the second.
void check_same_device(const char* op, const Tensor& first, const char* first_name, const Tensor& second, const char* second_name);

/// Error unless x is of a floating dtype.
void check_floating(const char* op, const Tensor& x);

}  // namespace tandem::ops
