#include "compile/compile.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <new>

#include "autograd/autograd.h"
#include "base/error.h"
#include "compile/plan.h"
#include "nn/walk.h"
#include "ops/autocast.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "runtime/tracer.h"
#include "tensor/tensor_impl.h"

namespace tandem {
namespace {

using compiling::Flow;
using compiling::Plan;
using compiling::Range;
using compiling::Trace;

/// A parameter or buffer as a plan knows it.
struct Known {
  const void* data;
  uint32_t version;
};

/// What a module has, and what keeps it from being compiled.
struct Seen {
  std::vector<Known> known;
  std::vector<Range> memory;
  const char* why = "";

  Seen(const nn::ModuleBase& module, const Tensor& x) {
    if (!x.defined() || !x.is_cpu() || x.numel() == 0) why = "its input is not on the CPU, or empty";
    bool wants_gradients = x.defined() && x.requires_grad();
    nn::detail::walk(module, false, [&](const nn::detail::Field& field) {
      if (field.is_module()) {
        if (field.module->training()) why = "it trains: call eval() before";
        else if (field.module->has_hooks()) why = "a module of it has hooks";
        return;
      }
      if (field.is_pending()) why = "it waits for its first forward";
      if (!field.tensor->defined()) return;
      const TensorImpl& impl = field.tensor->impl();
      if (!impl.device.is_cpu()) why = "it is not on the CPU";
      wants_gradients |= impl.needs_grad();
      known.push_back({impl.data, impl.storage->version()});
      memory.push_back({static_cast<const char*>(impl.storage->data()), impl.storage->bytes()});
    });
    if (is_autocast_enabled(cpu())) why = "autocast is on: its steps are of the module's own dtypes";
    if (wants_gradients && is_grad_enabled()) why = "gradients are recorded: use NoGradGuard";
  }
};

bool is_finite(const Tensor& x) {
  if (x.dtype() != kFloat32) return true;
  const auto* bits = static_cast<const uint32_t*>(x.impl().data);
  uint32_t found = 0;
  for (int64_t i = 0; i < x.numel(); ++i) found |= static_cast<uint32_t>((bits[i] & 0x7f800000U) == 0x7f800000U);
  return found == 0;
}

/// Whether the steps compute what the module does: a forward can depend on what no tensor shows.
bool agrees(const Tensor& steps, const Tensor& own) {
  if (!(steps.sizes() == own.sizes()) || steps.dtype() != own.dtype()) return false;
  if (!is_floating(own.dtype())) return equal(steps, own);
  const double most = own.numel() ? abs(own).max().to(kFloat64).item<double>() : 0;
  return allclose(steps, own, 1e-3, 1e-4 * most, true);
}

}  // namespace

/// What is known of a module, for all copies of its Compiled.
struct Compiled::State {
  struct Learned {
    Shape sizes;
    DType dtype;
    std::unique_ptr<Plan> plan;  // nullptr: cannot be, `why` says what stands in the way
    std::string why;
  };

  std::mutex mutex;
  CompileOptions options;
  std::vector<Known> known;    // that all plans were made with
  std::list<Learned> learned;  // the last used first
  std::string why;

  Learned* find(const Tensor& x) {
    for (auto it = learned.begin(); it != learned.end(); ++it)
      if (it->dtype == x.dtype() && it->sizes == x.sizes()) {
        learned.splice(learned.begin(), learned, it);
        return &learned.front();
      }
    return nullptr;
  }

  /// Follows the module: what was made of values that changed is made anew, what refers to other memory is forgotten.
  void follow(const Seen& seen) {
    const bool same_memory = std::equal(seen.known.begin(), seen.known.end(), known.begin(), known.end(),
                                        [](const Known& a, const Known& b) { return a.data == b.data; });
    const bool same = same_memory && std::equal(seen.known.begin(), seen.known.end(), known.begin(),
                                                [](const Known& a, const Known& b) { return a.version == b.version; });
    if (same) return;
    if (!same_memory) learned.clear();
    known.clear();
    for (Learned& each : learned) refresh(each);
    known = seen.known;
  }

  static void refresh(Learned& learned) {
    if (!learned.plan) return;
    try {
      learned.why = learned.plan->refresh();
    } catch (const std::bad_alloc&) {
      learned.why = "there is not enough memory for its weights";
    }
  }

  static void plan(Learned& made, Flow flow, const Range& input, const Tensor& result) {
    try {
      made.plan = std::make_unique<Plan>(std::move(flow), input, result);
      refresh(made);
      return;
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemoryError&) {
    }
    made.plan.reset();
    made.why = "there is not enough memory for its steps";
  }

  Learned& learn(nn::Module& module, const Tensor& x, const Seen& seen, Site site) {
    Learned made{x.sizes(), x.dtype(), nullptr, {}};
    Trace trace;
    const Range input{static_cast<const char*>(x.impl().data), x.nbytes()};
    if (!trace.record(module, x, site)) {
      made.why = trace.why();
    } else {
      Flow flow = compiling::flow_of(trace, input, seen.memory, made.why);
      if (made.why.empty()) plan(made, std::move(flow), input, trace.result());
    }
    if (learned.size() >= static_cast<size_t>(options.max_sizes)) learned.pop_back();
    learned.push_front(std::move(made));
    return learned.front();
  }

  /// Of steps that are good for `x`; an undefined tensor where the module is to be called.
  Tensor run(nn::Module& module, const Tensor& given, Site site) {
    const Seen seen(module, given);
    why = seen.why;
    if (!why.empty()) return {};
    const NoGradGuard no_grad;
    follow(seen);
    const Tensor x = given.contiguous(site);
    Learned* now = find(x);
    const bool first = !now;
    if (first) now = &learn(module, x, seen, site);
    why = now->why;
    if (!now->plan || !why.empty()) return {};
    if (now->plan->needs_finite_input() && !is_finite(x)) {
      why = "the input has numbers that are not finite";
      return {};
    }
    Tensor result;
    try {
      result = now->plan->run(x, site);
    } catch (const Error& error) {  // the module's own error names the layer, too
      why = error.message();
      return {};
    }
    if (!first) return result;
    const Tensor own = module(x, site);
    if (agrees(result, own)) return own;
    now->plan.reset();
    why = now->why = "its steps give other results: forward depends on more than its input";
    return own;
  }
};

Compiled::Compiled(nn::Module& module, const CompileOptions& options) : module_(module), state_(std::make_shared<State>()) {
  if (options.max_sizes < 1) fail("[compile] max_sizes must be at least 1, got ", options.max_sizes);
  state_->options = options;
}

void Compiled::fields(nn::Fields& f) { f("module", module()); }

Tensor Compiled::forward(const Tensor& x) {
  const Site site = nn::detail::call_site();
  nn::Module& own = module();
  // A part of another module that is being learned is learned with it.
  if (!runtime::tracer()) {
    const std::unique_lock lock(state_->mutex, std::try_to_lock);
    if (lock.owns_lock()) {
      if (const Tensor y = state_->run(own, x, site); y.defined()) return y;
    }
  }
  return own(x, site);
}

std::string Compiled::why() const {
  const std::lock_guard lock(state_->mutex);
  return state_->why;
}

std::string Compiled::steps() const {
  const std::lock_guard lock(state_->mutex);
  return state_->learned.empty() || !state_->learned.front().plan ? std::string() : state_->learned.front().plan->text();
}

void Compiled::reset() {
  const std::lock_guard lock(state_->mutex);
  state_->learned.clear();
  state_->why.clear();
}

Compiled compile(nn::Module& module, const CompileOptions& options) { return Compiled(module, options); }

}  // namespace tandem
