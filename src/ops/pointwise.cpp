// The functions of kernels/pointwise.def: each row becomes a function, its in-place form, and the two methods, with its gradient.
#include "ops/pointwise.h"

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/elementwise.h"
#include "ops/operand_gradient.h"
#include "ops/operators.h"
#include "ops/pointwise_checks.h"
#include "ops/pointwise_gradients.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::SavedTensor;
using ops::PointwiseRow;
using ops::refuse_bools;
using ops::refuse_mixed_dtypes;
using ops::refuse_negative_of_bool;
using ops::refuse_negative_power;
using ops::Rule;
using ops::wants_grad;

/// What a gradient needs to have been kept.
enum Needs : uint8_t { kNothing = 0, kA = 1, kX = kA, kB = 2, kY = 4 };
using GradientFunction = Tensor (*)(const Tensor& g, const Operand& a, const Operand& b, const Operand& y);

struct Gradient {
  int needs;
  GradientFunction function;
};

/// A row with functions of its own.
struct Function {
  PointwiseRow row;
  const char* in_place;       // the name of the form in place
  const Gradient* gradients;  // of each operand
};

/// A tensor or number that a gradient needs.
struct SavedOperand {
  SavedTensor tensor;
  Scalar number = 0;
  bool is_tensor = false;
  Shape sizes;
  DType dtype = kFloat32;

  void note(const Operand& operand) {
    is_tensor = operand.is_tensor();
    if (is_tensor) {
      sizes = operand.tensor().sizes();
      dtype = operand.tensor().dtype();
    } else {
      number = operand.number();
    }
  }
};

/// The history of any pointwise operation with up to two operands.
class PointwiseNode final : public autograd::Node {
 public:
  PointwiseNode(const char* name, Site site, uint32_t count, const Gradient* gradients)
      : Node(name, site, 1, edges_, count), count_(count), gradients_(gradients) {}

  void connect(size_t i, const Operand& operand) {
    in_[i].note(operand);
    if (operand.is_tensor()) edges_[i] = autograd::edge_of(operand.tensor());
  }
  [[nodiscard]] int needs() const {
    int needs = 0;
    for (size_t i = 0; i < count_; ++i)
      if (edges_[i]) needs |= gradients_[i].needs;
    return needs;
  }
  void keep(size_t i, const Operand& operand) {
    if (operand.is_tensor()) in_[i].tensor = SavedTensor(operand.tensor());
    saves_ = true;  // a number counts too, as PyTorch has one kept as a tensor
  }
  void keep_result(const Tensor& y) {
    y_ = SavedTensor(y, true);
    saves_ = true;
  }
  void forget_saved() override {
    if (!saves_) return;
    in_[0].tensor.reset();
    in_[1].tensor.reset();
    y_.reset();
    released_ = true;
  }

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    if (released_) autograd::fail_released(*this);
    const Tensor a = in_[0].tensor.get(), b = in_[1].tensor.get(), y = y_.get(this);
    const Operand a_operand = a.defined() ? Operand(a) : Operand(in_[0].number),
                  b_operand = b.defined() ? Operand(b) : Operand(in_[1].number);
    for (size_t i = 0; i < count_; ++i) {
      if (!edges_[i]) continue;
      Tensor gradient = gradients_[i].function(gradients[0], a_operand, b_operand, Operand(y));
      if (!(gradient.sizes() == in_[i].sizes)) gradient = sum_to_size(gradient, in_[i].sizes);
      if (gradient.dtype() != in_[i].dtype) gradient = gradient.to(in_[i].dtype);
      results[i] = std::move(gradient);
    }
  }

 private:
  autograd::Edge edges_[2];
  uint32_t count_;
  bool saves_ = false, released_ = false;
  const Gradient* gradients_;
  SavedOperand in_[2];
  SavedTensor y_;
};

/// The name after the first, in a literal such as "PowBackward0\0PowBackward1"; else the first.
template <size_t N>
constexpr const char* second_name(const char (&names)[N]) {
  for (size_t i = 0; i + 1 < N; ++i)
    if (names[i] == 0) return names + i + 1;
  return names;
}

Ref<autograd::Node> make_node(const Function& f, std::span<const Operand* const> operands, Site site, PointwiseNode*& node) {
  const bool tensors = operands.size() > 1 && operands[1]->is_tensor();
  const auto count = static_cast<uint32_t>(operands.size());
  node = new PointwiseNode(tensors ? f.row.grad_fn_tensor : f.row.grad_fn, site, count, f.gradients);
  Ref<autograd::Node> held(node);
  for (size_t i = 0; i < operands.size(); ++i) node->connect(i, *operands[i]);
  for (size_t i = 0; i < operands.size(); ++i)
    if (node->needs() & (i == 0 ? kA : kB)) node->keep(i, *operands[i]);
  return held;
}

/// ReLU of a temporary whose history does ReLU's part of backward, so that nothing is kept for it; undefined where the history doesn't.
Tensor relu_by_history(const PointwiseRow& row, std::span<const Operand* const> operands, Site site) {
  const Tensor& x = operands[0]->tensor();
  const Ref<autograd::Node>& history = x.impl().grad_fn;
  if (!history || history->use_count() > 1 || history->hooks() || !history->relu_follows()) return {};
  ops::pointwise_into(row, x, operands, site);
  return autograd::record(row.grad_fn, x, {x}, site, [](const Tensor& g) { return g; });
}

bool any_wants_grad(std::span<const Operand* const> operands) {
  bool any = false;
  for (const Operand* operand : operands) any |= wants_grad(*operand);
  return any;
}

Tensor apply(const Function& f, std::span<const Operand* const> operands, Site site);

/// apply() of what autocast makes of the operands; undefined where it leaves them alone.
Tensor apply_cast(const Function& f, std::span<const Operand* const> operands, Site site) {
  const ops::Cast cast(f.row.casts_number.row && !operands[0]->is_tensor() ? f.row.casts_number : f.row.casts, site, operands);
  if (!cast) return {};
  Tensor held[2];
  const Operand cast_operands[] = {cast(*operands.front(), held[0]), cast(*operands.back(), held[1])};
  const Operand* const all[] = {&cast_operands[0], &cast_operands[1]};
  return apply(f, {all, operands.size()}, site);
}

Tensor apply(const Function& f, std::span<const Operand* const> operands, Site site) {
  if (ops::autocasts()) [[unlikely]]
    if (Tensor y = apply_cast(f, operands, site); y.defined()) return y;
  if (!f.gradients[0].function || !any_wants_grad(operands)) return ops::pointwise(f.row, operands, site);
  if (f.row.by_history && operands[0]->is_temporary() && operands[0]->tensor().impl().unseen())
    if (Tensor y = f.row.by_history(f.row, operands, site); y.defined()) return y;
  PointwiseNode* node;
  Ref<autograd::Node> held = make_node(f, operands, site, node);
  Tensor y = ops::pointwise(f.row, operands, site);
  if (node->needs() & kY) node->keep_result(y);
  autograd::set_history(y, std::move(held));
  return y;
}

const Tensor& apply_in_place(const Function& f, const Tensor& target, std::span<const Operand* const> operands, Site site) {
  const bool recording = any_wants_grad(operands);
  autograd::check_in_place(f.in_place, target, recording);
  if (!recording) {
    ops::pointwise_into(f.row, target, operands, site);
    return target;
  }
  if (!f.gradients[0].function) fail("[", f.in_place, "] is not differentiable, but its operand requires a gradient; use detach()");
  PointwiseNode* node;
  Ref<autograd::Node> held = make_node(f, operands, site, node);
  if (node->needs() & kA) node->keep(0, target.clone(site));  // the target as it was
  ops::pointwise_into(f.row, target, operands, site);
  if (node->needs() & kY) node->keep_result(target);
  autograd::set_history_in_place(target, std::move(held));
  return target;
}

/// A function and its form in place, of so many operands.
template <class... Operands>
Tensor called(const Function& f, Site site, const Operands&... given) {
  const Operand* const operands[] = {&given...};
  return apply(f, operands, site);
}
template <class... Operands>
const Tensor& called_in_place(const Function& f, Site site, const Tensor& target, const Operands&... given) {
  const Operand first(target, site);
  const Operand* const operands[] = {&first, &given...};
  return apply_in_place(f, target, operands, site);
}

}  // namespace

// The words of the rows.
#define NONE \
  Gradient { kNothing, nullptr }
#define GRAD(what, ...)                                                                           \
  Gradient {                                                                                      \
    (what),                                                                                       \
        [](const Tensor& g, [[maybe_unused]] const Operand& a, [[maybe_unused]] const Operand& b, \
           [[maybe_unused]] const Operand& y) -> Tensor {                                         \
          [[maybe_unused]] const Operand& x = a;                                                  \
          return __VA_ARGS__;                                                                     \
        }                                                                                         \
  }

#define ROW(op_, grad_name, rule_, ...)                                                                                                 \
  PointwiseRow {                                                                                                                        \
    .op = kernels::PointwiseOp::op_, .name = #op_, .grad_fn = grad_name, .grad_fn_tensor = second_name(grad_name), .rule = Rule::rule_, \
    .casts = ops::find_cast_row(#op_), __VA_ARGS__                                                                                      \
  }

#define TD_UNARY(name, Functor, rule, grad_name, gradient, doc, ...)                                        \
  namespace {                                                                                               \
  constexpr Gradient name##_gradients[] = {gradient};                                                       \
  constexpr Function name##_function{ROW(name, grad_name, rule, __VA_ARGS__), #name "_", name##_gradients}; \
  }                                                                                                         \
  Tensor name(const Input& x, Site site) { return called(name##_function, site, x); }                       \
  const Tensor& name##_(const Tensor& x, Site site) { return called_in_place(name##_function, site, x); }   \
  Tensor Tensor::name(Site site) const { return tandem::name(*this, site); }                                \
  const Tensor& Tensor::name##_(Site site) const { return tandem::name##_(*this, site); }

#define TD_BINARY(name, Functor, rule, grad_name, gradient_a, gradient_b, doc, ...)                                            \
  namespace {                                                                                                                  \
  constexpr Gradient name##_gradients[] = {gradient_a, gradient_b};                                                            \
  constexpr Function name##_function{ROW(name, grad_name, rule, __VA_ARGS__), #name "_", name##_gradients};                    \
  }                                                                                                                            \
  Tensor name(const Operand& a, const Operand& b, Site site) { return called(name##_function, site, a, b); }                   \
  const Tensor& name##_(const Tensor& a, const Operand& b, Site site) { return called_in_place(name##_function, site, a, b); } \
  Tensor Tensor::name(const Operand& b, Site site) const { return tandem::name(*this, b, site); }                              \
  const Tensor& Tensor::name##_(const Operand& b, Site site) const { return tandem::name##_(*this, b, site); }

#define TD_KERNEL(...)

#include "kernels/pointwise.def"

}  // namespace tandem
