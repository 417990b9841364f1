#include "nn/sequential.h"

#include <string>
#include <typeinfo>
#include <utility>

#include "nn/activation.h"
#include "nn/batch_norm.h"
#include "nn/linear.h"
#include "ops/pointwise.h"

namespace tandem::nn {

void Sequential::push_back(AnyModule module, Site /*site*/) {
  if (!module) fail("[Sequential.push_back] the AnyModule holds no module");
  const Module& child = module.get();
  const std::type_info& type = typeid(child);
  // Exact types: a class derived from Linear may compute something else.
  const Kind kind = type == typeid(Linear) || type == typeid(LazyLinear)                                        ? Kind::Linear
                    : type == typeid(BatchNorm1d) || type == typeid(BatchNorm2d) || type == typeid(BatchNorm3d) ? Kind::BatchNorm
                    : type == typeid(ReLU)                                                                      ? Kind::Relu
                    : type == typeid(GELU)                                                                      ? Kind::Gelu
                                                                                                                : Kind::Other;
  children_.push_back({std::move(module), kind});
}

Module& Sequential::at(int64_t i, Site /*site*/) const {
  const auto count = static_cast<int64_t>(children_.size());
  if (i < -count || i >= count)
    fail<IndexError>("[Sequential.at] index ", i, " is out of range: there are ", count, " modules; count from 0, or from the end with -1");
  return children_[static_cast<size_t>(i < 0 ? i + count : i)].module.get();
}

void Sequential::fields(Fields& f) {
  for (size_t i = 0; i < children_.size(); ++i) f(std::to_string(i), children_[i].module.get());
}

Sequential::Kind Sequential::activation_of(size_t i) const {
  if (children_[i].kind != Kind::Linear || i + 1 == children_.size()) return Kind::Other;
  const Child& next = children_[i + 1];
  if (next.kind == Kind::Gelu) return static_cast<const GELU&>(next.module.get()).approximate == "tanh" ? Kind::Gelu : Kind::Other;
  return next.kind == Kind::Relu ? Kind::Relu : Kind::Other;
}

bool Sequential::runs_with_next(size_t i) const { return activation_of(i) == Kind::Relu; }

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < children_.size(); ++i) {
    Module& child = children_[i].module.get();
    // Whoever listens to one of them is to see what lies between.
    const Kind activation = activation_of(i);
    if (activation != Kind::Other && !child.has_hooks() && !children_[i + 1].module->has_hooks()) {
      y = static_cast<Linear&>(child).forward_then(activation == Kind::Relu ? Linear::Then::Relu : Linear::Then::Gelu, y);
      ++i;
    } else if (i > 0 && children_[i].kind == Kind::Relu && children_[i - 1].kind == Kind::BatchNorm && !child.has_hooks() &&
               !static_cast<ReLU&>(child).inplace) {
      y = relu(std::move(y), detail::call_site());  // a temporary, so that its gradient is a part of batch norm's
    } else {
      y = child(y, detail::call_site());
    }
  }
  return y;
}

}  // namespace tandem::nn
