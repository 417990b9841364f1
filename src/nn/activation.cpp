#include "nn/activation.h"

#include "base/error.h"
#include "ops/activation.h"
#include "ops/pointwise.h"

namespace tandem::nn {

Tensor ReLU::forward(const Tensor& x) { return relu(x, detail::call_site()); }
Tensor Tanh::forward(const Tensor& x) { return tanh(x, detail::call_site()); }
Tensor Sigmoid::forward(const Tensor& x) { return sigmoid(x, detail::call_site()); }
Tensor Softmax::forward(const Tensor& x) { return softmax(x, dim, detail::call_site()); }
std::string Softmax::extra_repr() const { return str("dim=", dim); }
Tensor LogSoftmax::forward(const Tensor& x) { return log_softmax(x, dim, detail::call_site()); }
std::string LogSoftmax::extra_repr() const { return str("dim=", dim); }

}  // namespace tandem::nn
