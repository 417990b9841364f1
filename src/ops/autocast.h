// Mixed precision: in a scope of autocast, operations choose the dtype that they compute in - products and convolutions a half type, losses
// and others float32 - and parameters stay float32. As torch.autocast.
//
//   const auto guard = td::autocast("cuda");
//   loss = td::cross_entropy(net(x), y);
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "base/site.h"
#include "runtime/device.h"

namespace tandem {

/// Options of autocast(), in this order.
struct AutocastOptions {
  std::optional<DType> dtype = {};         // get_autocast_dtype's where not given: bfloat16 on the CPU, float16 on GPUs
  bool enabled = true;                     // false: no autocast in the scope, as within another one
  std::optional<bool> cache_enabled = {};  // as it is where not given
};

namespace ops {

/// What autocast is for a thread: whether it is on, by kinds of devices, and its dtypes.
struct AutocastState {
  uint8_t active = 0;  // a bit for each kind of device
  DType dtypes[2] = {kBFloat16, kFloat16};
  bool cache_enabled = true;
};
namespace detail {
inline thread_local constinit AutocastState autocast_state;
}

/// The calling thread has the autocast of another one, or none, until the end of the scope.
class AutocastScope {
 public:
  AutocastScope() : before_(detail::autocast_state) { detail::autocast_state.active = 0; }
  explicit AutocastScope(const AutocastState& state) : before_(detail::autocast_state) { detail::autocast_state = state; }
  ~AutocastScope() { detail::autocast_state = before_; }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  AutocastState before_;
};
/// What autocast is for the calling thread.
[[nodiscard]] inline const AutocastState& autocast_state() { return detail::autocast_state; }

}  // namespace ops

/// Autocast as asked for, of the calling thread, until the end of the scope. Made by autocast().
class [[nodiscard]] AutocastGuard {
 public:
  /// As autocast(), which makes it.
  AutocastGuard(Device device, const AutocastOptions& options, Site site);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  ops::AutocastState before_;
};

/// Operations of the calling thread on this kind of device ("cpu", "cuda") compute in the dtypes that PyTorch's lists say (docs/amp.md),
/// until the end of the scope. Scopes nest. Casts of float32 leaves that require gradients are kept until the outermost scope ends.
/// Gradients arrive in the tensors' own dtypes; backward computes in those of forward, wherever it is called. Error for a dtype that is not
/// bfloat16 or float16. As torch.autocast.
[[nodiscard]] inline AutocastGuard autocast(Device device, const AutocastOptions& options = {}, Site site = Site::here()) {
  return AutocastGuard(device, options, site);
}

/// Whether autocast is on for the kind of device and the calling thread. As torch.is_autocast_enabled.
[[nodiscard]] bool is_autocast_enabled(Device device);
/// Switches it on or off. As torch.set_autocast_enabled; autocast() is for scopes.
void set_autocast_enabled(Device device, bool enabled);
/// The dtype that autocast computes in on this kind of device. As torch.get_autocast_dtype.
[[nodiscard]] DType get_autocast_dtype(Device device);
/// Sets it for the calling thread. Error for a dtype that is not bfloat16 or float16. As torch.set_autocast_dtype.
void set_autocast_dtype(Device device, DType dtype, Site site = Site::here());
/// Whether casts of parameters are kept in a scope. As torch.is_autocast_cache_enabled.
[[nodiscard]] bool is_autocast_cache_enabled();
/// Sets that for the calling thread. As torch.set_autocast_cache_enabled.
void set_autocast_cache_enabled(bool enabled);
/// Forgets them. As torch.clear_autocast_cache.
void clear_autocast_cache();

}  // namespace tandem
