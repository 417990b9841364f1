#include "compile/seen.h"

#include "autograd/autograd.h"
#include "nn/walk.h"
#include "ops/autocast.h"
#include "tensor/tensor_impl.h"

namespace tandem::compiling {
namespace {

Range range_of(const TensorImpl& impl, bool may_change) {
  return {static_cast<const char*>(impl.storage->data()), impl.storage->bytes(), may_change};
}

bool overlap(const Range& a, const Range& b) { return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes; }

}  // namespace

Seen::Seen(const nn::ModuleBase& module, const Tensor& x) {
  if (!x.defined() || !x.is_cpu() || x.numel() == 0) {
    why = "its input is not on the CPU, or empty";
    return;
  }
  const bool may_record = is_grad_enabled();
  bool trains = false, wants = x.requires_grad(), leaves = true, shared = false;
  input_wanted = may_record && wants;
  if (input_wanted) wanted.push_back(x);
  if (may_record) mode = wants ? "x" : "-";
  nn::detail::Met met;
  nn::detail::walk(module, false, [&](const nn::detail::Field& field) {
    if (field.is_module()) {
      modules.push_back(field.module);
      trains |= field.module->training();
      if (may_record) mode += field.module->training() ? 't' : 'e';
      if (field.module->has_hooks()) why = "a module of it has hooks";
      return;
    }
    if (field.is_pending()) why = "it waits for its first forward";
    if (!field.tensor->defined()) return;
    const TensorImpl& impl = field.tensor->impl();
    if (!impl.device.is_cpu()) why = "it is not on the CPU";
    if (impl.numel > 0 && !impl.data) why = "a tensor of it has no bytes now";
    shared |= field.tensor->is_shared();
    const bool needs = impl.needs_grad();
    wants |= needs;
    known.push_back({*field.tensor, impl.data, impl.sizes, impl.strides, impl.dtype});
    versions.push_back(impl.storage->changes());
    memory.push_back(range_of(impl, field.is_buffer));
    if (!may_record) return;
    leaves &= !needs || (field.is_parameter() && impl.requires_grad && !impl.grad_fn);
    mode += needs ? 'g' : '-';
    if (!met.add(*field.tensor)) return;
    tensors.push_back(*field.tensor);
    if (needs) wanted.push_back(*field.tensor);
  });
  records = may_record && wants;
  if (!records) {
    mode.clear();
    for (Range& range : memory) range.may_change = false;
    if (shared) why = "a tensor of it lies in shared memory, which other processes may change unseen";
    if (trains && !*why) why = "it trains: call eval() before";
  } else if (!leaves) {
    why = "a parameter of it is the result of an operation";
  }
  const Range input = range_of(x.impl(), false);
  for (const Range& range : memory)
    if (overlap(input, range)) why = "its input is a parameter or buffer of it";
  if (is_autocast_enabled(cpu())) why = "autocast is on: its steps are of the module's own dtypes";
}

}  // namespace tandem::compiling
