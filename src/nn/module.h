// The base of every model and layer: a plain struct that names its parts, and what can be done with anything that does.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nn/fields.h"
#include "nn/hooks.h"
#include "tensor/state_dict.h"

namespace tandem::nn {

/// Options of load_state_dict().
struct LoadOptions {
  bool strict = true;   // an error where names are missing or unexpected
  bool assign = false;  // take the tensors themselves over instead of their values: memory, dtype and device
};
/// What did not fit where `strict` was off.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

struct Module;
struct ModuleBase;
class Settings;

namespace detail {
struct Named;

/// Tells those who hold a module by reference whether it is still there. Each object has its own: a copy does not take it over.
class Life {
 public:
  Life() = default;
  Life(const Life&) {}
  Life& operator=(const Life&) { return *this; }
  /// Expired once the object has ended.
  [[nodiscard]] std::weak_ptr<const bool> watch() {
    if (!alive_) alive_ = std::make_shared<const bool>(true);
    return alive_;
  }
  /// Whether a call has looked if the model names the object's parameters. Several threads may call one module.
  std::atomic<bool> looked_at = false;

 private:
  std::shared_ptr<const bool> alive_;
};

/// A module's call, while it runs on this thread. The first one that gradients are recorded of looks whether the model that it is a part of
/// names the module's parameters in `fields`, and warns where it doesn't.
class CallFrame {
 public:
  CallFrame(ModuleBase& module, Site site);
  ~CallFrame();
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

 private:
  friend class CallLog;
  void look() const;
  const CallFrame& outermost() const;
  /// Of this call and those around it, the outermost one of a module that is not named; this one where all are.
  const CallFrame& outermost_not_in(const Named& named) const;

  const CallFrame* outer_;
  ModuleBase& module_;
  Site site_;
};

}  // namespace detail

/// What all modules have, whatever their signature: parts, modes, state, hooks. A model derives from `Module`, from tensor to tensor, or
/// from `Callable`.
struct ModuleBase {
 public:
  virtual ~ModuleBase() = default;

  /// For the library: whether the module is still there.
  [[nodiscard]] std::weak_ptr<const bool> watch() { return life_.watch(); }

  /// Names the parts: `f("fc1", fc1); f("weight", weight); f.buffer("mean", mean);`.
  virtual void fields(Fields& f);
  /// Names what the module was made with and `fields` doesn't name: `s(stride, padding)`. So that it can be sent to another process, where
  /// one is made by the default constructor, or where there is none, with ones (`Net(1, 1)`), and then given these members' values, before
  /// `fields` is asked for its parts. A type that names nothing arrives only where its default constructor makes parts of the same sizes.
  virtual void settings(Settings& s);

  /// The type's name as printed: "Linear".
  [[nodiscard]] virtual std::string name() const;
  /// What is printed between the brackets: "in_features=4, out_features=8, bias=True".
  [[nodiscard]] virtual std::string extra_repr() const;

  /// Has a function called before, or after, each call of the module (of its call operator, not of `forward`), in the order of
  /// registration. A copy of the module shares its hooks. A module without hooks pays one comparison. As
  /// torch.nn.Module.register_forward_hook.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  HookHandle register_forward_hook(ForwardHook hook);
  /// The same for functions that want the first tensor of the arguments, and of the results, only.
  HookHandle register_forward_pre_hook(std::function<void(ModuleBase& module, Tensor& input)> hook);
  HookHandle register_forward_hook(std::function<void(ModuleBase& module, const Tensor& input, Tensor& output)> hook);
  /// Whether any hook is registered on this module.
  [[nodiscard]] bool has_hooks() const { return hooks_ && (!hooks_->before.empty() || !hooks_->after.empty()); }

  /// How many products `forward` adds up from these tensors to those, without what its children add up; for nn::summary. Which tensors they
  /// are is as for hooks.
  [[nodiscard]] virtual int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;

  // --- Parts. Each tensor once, also where it is tied; a module's own come before its children's. Error for parameters that wait for a
  // first forward.
  /// The parameters of this module and of all below it.
  [[nodiscard]] std::vector<Tensor> parameters(Site = Site::here()) const;
  /// The same with their names, such as "net.0.weight".
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters(Site = Site::here()) const;
  /// The buffers of this module and of all below it.
  [[nodiscard]] std::vector<Tensor> buffers() const;
  /// The same with their names.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  /// How many numbers the parameters have together.
  [[nodiscard]] int64_t num_parameters(Site = Site::here()) const;
  /// This module (named "") and all below it.
  [[nodiscard]] std::vector<std::pair<std::string, ModuleBase*>> named_modules();
  /// The modules right below this one.
  [[nodiscard]] std::vector<std::pair<std::string, ModuleBase*>> named_children();
  /// Whether some parameter waits for the first forward to know its sizes.
  [[nodiscard]] bool has_uninitialized_params() const;

  // --- Modes
  /// Whether dropout drops and normalisation takes the batch's figures.
  [[nodiscard]] bool training() const { return training_; }
  /// Sets the mode of this module and of all below it.
  void train(Flag mode = true);
  /// train(false): dropout keeps all, normalization takes the running figures.
  void eval() { train(false); }
  /// Calls `f` for all modules below, then for this one; a function of `Module&` for those that are from tensor to tensor.
  template <std::invocable<Module&> F>
  void apply(F&& f);
  /// Asks for gradients of all parameters, or for none.
  void requires_grad_(Flag required = true);
  /// Forgets the parameters' gradients; with `set_to_none` off they are filled with zeros instead.
  void zero_grad(Flag set_to_none = true, Site site = Site::here());

  // --- Moving: parameters, their gradients and buffers keep their identity and get other memory, so an optimizer keeps seeing them.
  /// To a device, such as "cuda:1".
  void to(const DeviceLike auto& device, Site site = Site::here()) { move(tandem::detail::named(device, site), {}, site); }
  /// Floating-point parameters and buffers only.
  void to(ExactlyDType auto dtype, Site site = Site::here()) { move({}, dtype, site); }
  void to(const DeviceLike auto& device, ExactlyDType auto dtype, Site site = Site::here()) {
    move(tandem::detail::named(device, site), dtype, site);
  }
  /// To GPU `index`, or to the current one.
  void cuda(int index = -1, Site site = Site::here()) { to(Device(DeviceType::CUDA, index), site); }
  /// To the CPU.
  void cpu(Site site = Site::here()) { to(Device(), site); }

  /// Moves parameters, their gradients and buffers into memory that processes share, one piece for all of them; those on GPUs are shared as
  /// they are. Error where views of them exist, and for parameters that wait for a first forward. As torch.nn.Module.share_memory.
  void share_memory(Site site = Site::here());

  // --- State
  /// Parameters and persistent buffers by name, without history; they share memory with the module.
  [[nodiscard]] StateDict state_dict() const;
  /// Takes the values over, onto each tensor's own device and dtype. Nothing has changed where it throws. As
  /// torch.nn.Module.load_state_dict.
  IncompatibleKeys load_state_dict(const StateDict& state, LoadOptions options = {}, Site site = Site::here());

 protected:
  ModuleBase() = default;
  // Protected, so that a derived module is never cut down to its base.
  ModuleBase(const ModuleBase&) = default;
  ModuleBase(ModuleBase&&) = default;
  ModuleBase& operator=(const ModuleBase&) = default;
  ModuleBase& operator=(ModuleBase&&) = default;

  /// `forward(args…)`, between the calls of this module's hooks. For call operators of other signatures than tensor to tensor.
  template <class F, class... Args>
  auto hooked(F&& forward, Args&&... args) -> std::decay_t<std::invoke_result_t<F, Args...>> {
    try {
      if (!has_hooks()) return forward(std::forward<Args>(args)...);
      return between_hooks(std::forward<F>(forward), std::forward<Args>(args)...);
    } catch (...) {
      throw_in_layer();
    }
  }
  /// The same of `self.forward(args…, site)`.
  template <class Self, class... Args>
  static auto hooked_forward(Self& self, Site site, const Args&... args) {
    const detail::CallFrame frame(self, site);
    return self.hooked([&](const auto&... given) { return self.forward(given..., site); }, args...);
  }
  /// In a handler: throws what is at hand on; an error of the library's is told that it came out of this module.
  [[noreturn]] void throw_in_layer();

 private:
  friend class detail::CallFrame;
  template <class F, class... Args>
  auto between_hooks(F&& forward, Args&&... args) -> std::decay_t<std::invoke_result_t<F, Args...>> {
    std::tuple<detail::HeldArgument<Args>...> own(std::forward<Args>(args)...);
    const auto run = [&](auto&... kept) -> decltype(auto) { return forward(static_cast<Args&&>(kept)...); };
    std::vector<Tensor> inputs = detail::tensors_of(own);
    before_forward(inputs);
    detail::put_tensors(own, inputs);
    if constexpr (std::is_void_v<std::invoke_result_t<F, Args...>>) {
      std::apply(run, own);
      after_forward(inputs, {});
    } else {
      auto result = std::apply(run, own);
      std::vector<Tensor> outputs = detail::tensors_of(result);
      after_forward(inputs, outputs);
      detail::put_tensors(result, outputs);
      return result;
    }
  }
  void apply_to_all(const std::function<void(ModuleBase&)>& f);
  void move(std::optional<Device> device, std::optional<DType> dtype, Site site);
  void before_forward(std::span<Tensor> inputs);
  void after_forward(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  detail::Hooks& hooks();

  std::shared_ptr<detail::Hooks> hooks_;
  detail::Life life_;
  bool training_ = true;
};

namespace detail {
/// A module's argument where it takes none such: says so when the program is compiled.
struct NotOneTensor {
  template <class T>
  NotOneTensor(const T&) {  // NOLINT: takes whatever is given
    static_assert(sizeof(T) == 0, "a nn::Module is called with one tensor: derive from nn::Callable<YourModule> for another signature");
  }
};

/// The `forward` that is called, and the signatures that would stand beside it instead of overriding it: to declare one is an error.
struct OneForward : ModuleBase {
  virtual Tensor forward(const Tensor&) = 0;

 private:
  virtual Tensor forward(Tensor) = delete;
  virtual Tensor forward(Tensor&) = delete;
  virtual Tensor forward(Tensor&&) = delete;
  virtual Tensor forward(Tensor) const = delete;
  virtual Tensor forward(Tensor&) const = delete;
  virtual Tensor forward(const Tensor&) const = delete;
};
}  // namespace detail

/// A model or a layer, as torch.nn.Module. Derive, hold tensors and modules by value, name them in `fields`, compute in `forward`.
/// Modules are values: a copy shares the parameters of its original, `nn::clone` copies them too.
struct Module : detail::OneForward {
  /// From the input to the output.
  Tensor forward(const Tensor& x) override;
  /// `forward`. Operations inside the library's layers carry the site of this call.
  Tensor operator()(const Tensor& x, Site site = Site::here());
  /// What is called with more wants another base.
  Tensor operator()(const detail::NotOneTensor&, const detail::NotOneTensor&, ...);

  /// As above, for functions of a `Module&`.
  HookHandle register_forward_pre_hook(std::function<void(Module& module, std::span<Tensor> inputs)> hook);
  /// After forward: the hook may replace the outputs.
  HookHandle register_forward_hook(std::function<void(Module& module, std::span<const Tensor> inputs, std::span<Tensor> outputs)> hook);
  /// The same for functions that want the first tensor of the arguments only.
  HookHandle register_forward_pre_hook(std::function<void(Module& module, Tensor& input)> hook);
  /// The same for functions that want the first tensor of the arguments, and of the results, only.
  HookHandle register_forward_hook(std::function<void(Module& module, const Tensor& input, Tensor& output)> hook);
};

template <std::invocable<Module&> F>
void ModuleBase::apply(F&& f) {
  if constexpr (std::invocable<F&, ModuleBase&>) {
    apply_to_all(std::ref(f));
  } else {
    apply_to_all([&](ModuleBase& module) {
      if (auto* called = dynamic_cast<Module*>(&module)) f(*called);
    });
  }
}

/// Any module.
template <class M>
concept IsModule = std::derived_from<std::remove_cvref_t<M>, ModuleBase>;
/// Of modules from tensor to tensor, which others can call.
template <class M>
concept IsTensorModule = std::derived_from<std::remove_cvref_t<M>, Module>;

/// As PyTorch prints it: `Linear(in_features=4, out_features=8, bias=True)`, children indented below their parent.
std::ostream& operator<<(std::ostream& out, const ModuleBase& module);
/// The same as text.
[[nodiscard]] std::string to_string(const ModuleBase& module);

/// Runs the first sample of `input` through a module whose parameters wait for a first forward, without gradients and in evaluation mode;
/// nothing otherwise. Before an optimizer or replicas are made.
void initialize(Module& module, const Tensor& input, Site site = Site::here());

namespace detail {
/// Where the module call that is running on this thread was written.
[[nodiscard]] Site call_site();
/// Error unless `module` is exactly an M: a copy through a base would cut it down.
void check_exact_type(const char* op, const ModuleBase& module, const std::type_info& type);

/// Evaluation mode for a module and all below it, each one's own mode again at the end.
class Evaluation {
 public:
  explicit Evaluation(ModuleBase& module);
  ~Evaluation();
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

 private:
  std::vector<std::pair<ModuleBase*, bool>> modes_;
};
}  // namespace detail

/// A model whose `forward` has a signature of its own, such as several tensors in, or a pair, a tuple or a struct out: `struct Pair :
/// nn::Callable<Pair> { … forward(a, b) }`. The call operator forwards whatever it is given, and gives the result as a value.
template <class Derived>
struct Callable : ModuleBase {
  /// `forward(args…)`, with the hooks before and after it.
  template <class... Args>
  auto operator()(Args&&... args) {
    auto& self = static_cast<Derived&>(*this);
    const detail::CallFrame frame(self, Site::none());  // its arguments are a pack: nothing can stand behind them
    const auto forward = [&self](auto&&... given) -> decltype(auto) { return self.forward(std::forward<decltype(given)>(given)...); };
    // Hooks replace tensors in copies, unless `forward` means to write to its arguments.
    if constexpr (requires { self.forward(std::as_const(args)...); })
      if (has_hooks()) return hooked(forward, std::as_const(args)...);
    return hooked(forward, std::forward<Args>(args)...);
  }
};

}  // namespace tandem::nn
