#include "ops/autocast.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/autocasting.h"
#include "runtime/capture.h"
#include "runtime/stream_record.h"

namespace tandem {
namespace {

using ops::detail::autocast_state;

uint8_t bit_of(DeviceType type) { return static_cast<uint8_t>(1U << static_cast<unsigned>(type)); }
const char* name_of(DeviceType type) { return type == DeviceType::CPU ? "CPU" : "CUDA"; }

void check_dtype(const char* op, DeviceType type, DType dtype) {
  if (!is_half(dtype))
    fail('[', op, "] ", name_of(type), " autocast only supports dtypes of bfloat16 and float16, but got ", dtype, ": ",
         Hint("pass one of them, or {.enabled = false} for no autocast", "pass one of them, or enabled=False for no autocast"));
}

/// A parameter in another dtype. It holds what it was made of, so no other tensor can take that one's place.
struct KeptCast {
  Tensor source, cast;
  uint32_t changes;
  const runtime::StreamRecord* stream;  // that it was made on
};

/// What a thread keeps from the beginning of its outermost scope to its end.
struct KeptCasts {
  int depth = 0;
  std::unordered_map<const TensorImpl*, KeptCast> casts;
};
thread_local constinit KeptCasts* kept = nullptr;  // a pointer: thread-local memory is scarce in a library that is opened later

const runtime::StreamRecord* stream_of(Device device) { return device.is_cuda() ? runtime::current_stream(device.index()) : nullptr; }

/// A capture records the cast itself, so that replays see the parameter as it is then.
bool keeps(const Tensor& x) {
  return kept && autocast_state.cache_enabled && x.dtype() == kFloat32 && x.impl().requires_grad && x.is_leaf() && !x.impl().base &&
         !(x.is_cuda() && runtime::capture_on(x.device().index()));
}

/// Whether a cast is still the tensor's: same bytes, not changed since, for this stream, with a history where one is recorded.
bool is_current(const KeptCast& of, const Tensor& x, DType dtype) {
  return of.changes == x.impl().storage->changes() && of.cast.dtype() == dtype && of.stream == stream_of(x.device()) &&
         (of.cast.grad_fn() || !autograd::needs_grad(x));
}

Tensor cast_and_keep(const Tensor& x, DType dtype, Site site) {
  if (const auto found = kept->casts.find(&x.impl()); found != kept->casts.end() && is_current(found->second, x, dtype))
    return found->second.cast;
  Tensor cast = x.to(dtype, {}, site);
  kept->casts.insert_or_assign(&x.impl(), KeptCast{x, cast, x.impl().storage->changes(), stream_of(x.device())});
  return cast;
}

}  // namespace

AutocastGuard::AutocastGuard(Device device, const AutocastOptions& options, Site site) : before_(autocast_state) {
  const DeviceType type = device.type();
  if (options.enabled && options.dtype) check_dtype("autocast", type, *options.dtype);
  if (!kept) kept = new KeptCasts;
  ++kept->depth;  // from here on nothing throws
  if (options.enabled && options.dtype) set_autocast_dtype(type, *options.dtype, site);
  set_autocast_enabled(type, options.enabled);
  if (options.cache_enabled) autocast_state.cache_enabled = *options.cache_enabled;
}

AutocastGuard::~AutocastGuard() {
  autocast_state = before_;
  if (--kept->depth == 0) delete std::exchange(kept, nullptr);  // casts die when nothing looks for them any more
}

bool is_autocast_enabled(Device device) { return (autocast_state.active & bit_of(device.type())) != 0; }
void set_autocast_enabled(Device device, bool enabled) {
  const uint8_t bit = bit_of(device.type());
  autocast_state.active = static_cast<uint8_t>(enabled ? autocast_state.active | bit : autocast_state.active & ~bit);
}
DType get_autocast_dtype(Device device) { return autocast_state.dtypes[static_cast<size_t>(device.type())]; }
void set_autocast_dtype(Device device, DType dtype, Site) {
  check_dtype("autocast", device.type(), dtype);
  autocast_state.dtypes[static_cast<size_t>(device.type())] = dtype;
}
bool is_autocast_cache_enabled() { return autocast_state.cache_enabled; }
void set_autocast_cache_enabled(bool enabled) { autocast_state.cache_enabled = enabled; }
void clear_autocast_cache() {
  if (!kept) return;
  const auto casts = std::exchange(kept->casts, {});  // they die when nothing looks for them any more
}

namespace ops {

void Cast::begin(const CastRow& row, Site site, std::span<const Tensor* const> tensors) {
  const auto on = [&](DeviceType type) {
    return (detail::autocast_state.active & bit_of(type)) != 0 &&
           std::any_of(tensors.begin(), tensors.end(), [type](const Tensor* x) { return x->defined() && x->device().type() == type; });
  };
  if (on(DeviceType::CUDA)) device_ = DeviceType::CUDA;
  else if (!on(DeviceType::CPU)) return;
  const CastRule rule = device_ == DeviceType::CUDA ? row.gpu : row.cpu;
  const DType lower = get_autocast_dtype(device_);
  switch (rule) {
    case CastRule::None: return;
    case CastRule::Whole: break;
    case CastRule::Lower: to_ = lower; break;
    case CastRule::Float: to_ = kFloat32; break;
    case CastRule::Widest:
      to_ = lower;
      for (const Tensor* x : tensors) {
        if (!may_convert(*x) || x->dtype() == lower) continue;
        if (x->dtype() != kFloat32)
          fail('[', row.name, "] autocast of ", lower, " on ", device_ == DeviceType::CPU ? "cpu" : "cuda", " met a tensor of ", x->dtype(),
               ": convert it with to(kFloat32) or to(", lower == kBFloat16 ? "kBFloat16" : "kFloat16", ')');
        to_ = kFloat32;
      }
      break;
    case CastRule::Refused:
      const std::string advice =
          str("leave the sigmoid before it out and call ", row.name, "_with_logits, or call it with float32 tensors in a scope of ");
      fail('[', row.name, "] is unsafe to autocast: ",
           Hint(advice + "autocast(\"cuda\", {.enabled = false})", advice + "autocast(\"cuda\", enabled=False)"));
  }
  converts_ = rule != CastRule::Whole;
  applies_ = true;
  site_ = site;
  before_ = std::exchange(detail::autocast_state.active, uint8_t{0});
}

bool Cast::may_convert(const Tensor& x) const {
  return x.defined() && is_floating(x.dtype()) && x.dtype() != kFloat64 && x.device().type() == device_;
}

bool Cast::converts(const Tensor& x) const { return converts_ && may_convert(x) && x.dtype() != to_; }

Tensor Cast::converted(const Tensor& x) const { return is_half(to_) && keeps(x) ? cast_and_keep(x, to_, site_) : x.to(to_, {}, site_); }

Operand Cast::operator()(const Operand& x, Tensor& held) const {
  if (!x.is_tensor() || !converts(x.tensor())) return x;
  held = converted(x.tensor());
  return {held, x.site()};
}

}  // namespace ops
}  // namespace tandem
