#include "compile/compile.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <new>

#include "autograd/autograd.h"
#include "autograd/hooks.h"
#include "base/error.h"
#include "compile/gradient_plan.h"
#include "compile/plan.h"
#include "compile/seen.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "runtime/tracer.h"
#include "tensor/tensor_impl.h"

namespace tandem {
namespace {

using compiling::Flow;
using compiling::ForBackward;
using compiling::GradientPlan;
using compiling::Known;
using compiling::Plan;
using compiling::Range;
using compiling::Seen;
using compiling::Trace;

bool is_finite(const Tensor& x) {
  if (x.dtype() != kFloat32) return true;
  const auto* bits = static_cast<const uint32_t*>(x.impl().data);
  uint32_t found = 0;
  for (int64_t i = 0; i < x.numel(); ++i) found |= static_cast<uint32_t>((bits[i] & 0x7f800000U) == 0x7f800000U);
  return found == 0;
}

/// Whether the steps compute what the module does: a forward can depend on what no tensor shows.
bool agrees(const Tensor& steps, const Tensor& own) {
  if (steps.defined() != own.defined()) return false;
  if (!steps.defined()) return true;
  if (!(steps.sizes() == own.sizes()) || steps.dtype() != own.dtype()) return false;
  if (steps.is_contiguous() && own.is_contiguous() && std::memcmp(steps.impl().data, own.impl().data, own.nbytes()) == 0) return true;
  if (!is_floating(own.dtype())) return equal(steps, own);
  const double most = own.numel() ? abs(own).max().to(kFloat64).item<double>() : 0;
  return allclose(steps, own, 1e-3, 1e-4 * most, true);
}
bool agree(const std::vector<Tensor>& steps, const std::vector<Tensor>& own) {
  const NoGradGuard no_grad;
  return std::equal(steps.begin(), steps.end(), own.begin(), own.end(), [](const Tensor& a, const Tensor& b) { return agrees(a, b); });
}

std::vector<Tensor> clones(const std::vector<Tensor>& tensors) {
  const NoGradGuard no_grad;
  std::vector<Tensor> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.clone());
  return values;
}

/// Buffers that forward changes, as they were before: `restore` puts that back.
class Before {
 public:
  explicit Before(const std::vector<Tensor>& buffers) : buffers_(buffers), values_(clones(buffers)) {}
  void restore() const {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(values_[i]);
  }

 private:
  const std::vector<Tensor>& buffers_;
  std::vector<Tensor> values_;
};

/// `x` as a leaf of a graph of its own.
Tensor leaf_of(const Tensor& x, bool wanted) {
  const Tensor leaf = x.detach();
  if (wanted) leaf.requires_grad_();
  return leaf;
}

/// What `seen` wants gradients of, with another tensor in place of the input.
std::vector<Tensor> wanted_with(const Seen& seen, const Tensor& input) {
  std::vector<Tensor> wanted = seen.wanted;
  if (seen.input_wanted) wanted.front() = input;
  return wanted;
}

/// Does the plan's forward, and compares result, gradients and buffers with the module's own. Where they agree the buffers have changed
/// once, and `y` and `kept` are what the forward gave; else the buffers are as they were.
bool agrees(GradientPlan& plan, nn::Module& module, const Tensor& x, const Seen& seen, Tensor& y, ForBackward& kept, Site site) {
  const Before before(plan.changed());
  try {
    y = plan.forward(x, kept, site);
    const std::vector<Tensor> changed = clones(plan.changed());
    before.restore();
    const EnableGradGuard recording;
    const Tensor leaf = leaf_of(x, seen.input_wanted), own = module(leaf, site);
    Tensor gradient;
    {
      const NoGradGuard no_grad;
      gradient = cos(arange(own.numel(), {.dtype = kFloat32}, site), site).to(own.dtype(), {}, site).reshape(own.sizes(), site);
    }
    const std::vector<Tensor> gradients = grad({own}, wanted_with(seen, leaf), {.grad_outputs = {gradient}, .allow_unused = true}, site);
    if (agree({y}, {own}) && agree(changed, plan.changed()) && agree(plan.backward(kept, gradient, site), gradients)) return true;
  } catch (...) {
    before.restore();
    throw;
  }
  before.restore();
  return false;
}

/// Whether a parameter has hooks, which would be called while its backward is learned.
bool any_has_hooks(const std::vector<Tensor>& wanted, bool input_wanted) {
  return std::any_of(wanted.begin() + input_wanted, wanted.end(), [](const Tensor& parameter) {
    const AutogradExtras* const extras = parameter.impl().extras.get();
    return extras && !extras->hooks.empty();
  });
}

constexpr const char* kKeepsInput = "it keeps its input";
constexpr const char* kNoMemory = "there is not enough memory for its steps";
constexpr const char* kOther = "its steps give other results: forward depends on more than its input";

/// A module that plans were learned of: another may be in its place in memory later.
class WatchedModule {
 public:
  explicit WatchedModule(nn::ModuleBase& module) : module_(&module), alive_(watched(module)) {}
  [[nodiscard]] bool is(const nn::ModuleBase* module) const { return module == module_ && !alive_.expired(); }

 private:
  static std::weak_ptr<const bool> watched(nn::ModuleBase& module) {
    static std::mutex mutex;  // several compiled modules may have parts in common
    const std::lock_guard lock(mutex);
    return module.watch();
  }
  const nn::ModuleBase* module_;
  std::weak_ptr<const bool> alive_;
};

}  // namespace

/// What is known of a module, for all copies of its Compiled.
struct Compiled::State {
  /// What a call gives: the module is to be called where there is no result.
  struct Answer {
    Tensor result;
    std::string why;  // why steps did not give it; empty where they did
  };
  struct Learned {
    Shape sizes;
    DType dtype;
    std::string mode;
    std::unique_ptr<Plan> plan;               // where nothing is recorded
    std::shared_ptr<GradientPlan> gradients;  // where gradients are; neither: it cannot be, `why` says what stands in the way
    std::string why;
    std::vector<uint32_t> made_of;  // the versions of the values that the plan was made with

    [[nodiscard]] bool is_of(const Tensor& x, const std::string& of_mode) const {
      return dtype == x.dtype() && sizes == x.sizes() && mode == of_mode;
    }
  };

  std::mutex mutex;
  CompileOptions options;
  std::vector<WatchedModule> parts;  // that all plans were learned of
  std::vector<Known> known;          // that all plans refer to
  std::list<Learned> learned;        // the last used first
  std::string why;                   // of the last answer

  Learned* find(const Tensor& x, const std::string& mode) {
    for (auto it = learned.begin(); it != learned.end(); ++it)
      if (it->is_of(x, mode)) {
        learned.splice(learned.begin(), learned, it);
        return &learned.front();
      }
    return nullptr;
  }

  Learned& add(Learned made) {
    if (learned.size() >= static_cast<size_t>(options.max_sizes)) learned.pop_back();
    learned.push_front(std::move(made));
    return learned.front();
  }

  /// Forgets what was learned of other modules, or refers to memory that the module has left.
  void follow(const Seen& seen) {
    if (std::equal(parts.begin(), parts.end(), seen.modules.begin(), seen.modules.end(),
                   [](const WatchedModule& part, const nn::ModuleBase* module) { return part.is(module); }) &&
        std::equal(known.begin(), known.end(), seen.known.begin(), seen.known.end(),
                   [](const Known& a, const Known& b) { return a.is(b); }))
      return;
    learned.clear();
    parts.clear();
    for (nn::ModuleBase* const module : seen.modules) parts.emplace_back(*module);
    known = seen.known;
  }

  /// Makes anew what was made of values that changed.
  static void follow_values(Learned& learned, const Seen& seen) {
    if (learned.plan && learned.made_of != seen.versions) refresh(learned, seen);
  }
  static void refresh(Learned& learned, const Seen& seen) {
    learned.made_of.clear();
    try {
      learned.why = learned.plan->refresh();
      // What is not finite may come to a ReLU of oneDNN's from any parameter.
      if (learned.why.empty() && learned.plan->needs_finite_input() &&
          !std::all_of(seen.known.begin(), seen.known.end(), [](const Known& known) { return is_finite(known.tensor.contiguous()); }))
        learned.why = "a parameter is not finite";
    } catch (const std::bad_alloc&) {
      learned.why = "there is not enough memory for its weights";
    }
    learned.made_of = seen.versions;
  }

  static void plan(Learned& made, Flow flow, const Range& input, const Tensor& result, const Seen& seen) {
    try {
      made.plan = std::make_unique<Plan>(std::move(flow), input, result);
      refresh(made, seen);
      return;
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemoryError&) {
    }
    made.plan.reset();
    made.why = kNoMemory;
  }

  Learned& learn(nn::Module& module, const Tensor& x, const Seen& seen, Site site) {
    Learned made{x.sizes(), x.dtype(), seen.mode, nullptr, nullptr, {}, {}};
    Trace trace;
    const Range input{static_cast<const char*>(x.impl().data), x.nbytes()};
    const Tensor own = x.detach();
    if (!trace.record(module, own, site)) {
      made.why = trace.why();
    } else if (own.impl().use_count() > 1) {
      made.why = kKeepsInput;
    } else {
      Flow flow = compiling::flow_of(trace, input, seen.memory);
      made.why = flow.why;
      if (made.why.empty()) plan(made, std::move(flow), input, trace.result(), seen);
    }
    return add(std::move(made));
  }

  /// Forward and backward. Where they can be, `y` and `kept` are of a forward for `x`.
  Learned& learn_gradients(nn::Module& module, const Tensor& x, const Seen& seen, Tensor& y, ForBackward& kept, Site site) {
    Learned made{x.sizes(), x.dtype(), seen.mode, nullptr, nullptr, {}, {}};
    Trace trace;
    const Range input{static_cast<const char*>(x.impl().data), x.nbytes()};
    const Tensor leaf = leaf_of(x, seen.input_wanted);
    if (!trace.record_with_gradients(module, leaf, wanted_with(seen, leaf), site)) {
      made.why = trace.why();
      return add(std::move(made));
    }
    if (leaf.impl().use_count() > 1) {
      made.why = kKeepsInput;
      return add(std::move(made));
    }
    Flow flow = compiling::flow_of(trace, input, seen.memory);
    made.why = flow.why;
    if (!made.why.empty()) return add(std::move(made));
    auto plan = std::make_shared<GradientPlan>(std::move(flow), trace, input, seen.tensors);
    if (agrees(*plan, module, x, seen, y, kept, site)) made.gradients = std::move(plan);
    else made.why = kOther;
    return add(std::move(made));
  }

  Answer run(nn::Module& module, const Tensor& given, Site site) {
    const Seen seen(module, given);
    if (*seen.why) return {{}, seen.why};
    follow(seen);
    return seen.records ? run_recorded(module, given, seen, site) : run_unrecorded(module, given, seen, site);
  }

  Answer run_unrecorded(nn::Module& module, const Tensor& given, const Seen& seen, Site site) {
    const NoGradGuard no_grad;
    const Tensor x = given.contiguous(site);
    Learned* now = find(x, seen.mode);
    const bool first = !now;
    if (first) now = &learn(module, x, seen, site);
    else follow_values(*now, seen);
    if (!now->plan || !now->why.empty()) return {{}, now->why};
    if (now->plan->needs_finite_input() && !is_finite(x)) return {{}, "the input has numbers that are not finite"};
    Tensor result;
    try {
      result = now->plan->run(x, site);
    } catch (const Error& error) {  // the module's own error names the layer, too
      return {{}, error.message()};
    }
    if (!first) return {result, {}};
    const Tensor own = module(x, site);
    if (!agrees(result, own)) {
      now->plan.reset();
      now->why = kOther;
    }
    return {own, now->why};
  }

  Answer run_recorded(nn::Module& module, const Tensor& x, const Seen& seen, Site site) {
    // Products of other strides round otherwise.
    if (!x.is_contiguous()) return {{}, "gradients are recorded, and its input is not contiguous"};
    Learned* now = find(x, seen.mode);
    Tensor y;
    ForBackward kept;
    try {
      if (now) {
        if (now->gradients) y = now->gradients->forward(x, kept, site);
      } else if (any_has_hooks(seen.wanted, seen.input_wanted)) {
        return {{}, "a parameter of it has hooks"};
      } else {
        now = &learn_gradients(module, x, seen, y, kept, site);
      }
    } catch (const Error& error) {  // the module's own error names the layer, too
      // Steps that have changed buffers are not to be done again.
      if (now && !now->gradients->changed().empty()) throw;
      return {{}, error.message()};
    } catch (const std::bad_alloc&) {
      return {{}, kNoMemory};
    }
    if (!now->gradients) return {{}, now->why};
    if (!y.defined()) return {{}, "another thread is in its steps"};
    compiling::record(now->gradients, y, seen.wanted, std::move(kept), site);
    return {y, {}};
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
      State::Answer answer = state_->run(own, x, site);
      state_->why = std::move(answer.why);
      if (answer.result.defined()) return answer.result;
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
  if (state_->learned.empty()) return {};
  const State::Learned& last = state_->learned.front();
  return last.plan ? last.plan->text() : last.gradients ? last.gradients->text() : std::string();
}

void Compiled::reset() {
  const std::lock_guard lock(state_->mutex);
  state_->learned.clear();
  state_->parts.clear();
  state_->known.clear();
  state_->why.clear();
}

Compiled compile(nn::Module& module, const CompileOptions& options) { return Compiled(module, options); }

}  // namespace tandem
