#include "libtorch/layers_activation.h"

#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/softmax.h"

namespace torch::nn {

// functional::function(input, …); printed as the options that follow.
#define TANDEM_ACTIVATION(Name, function, arguments, ...)                                                             \
  Tensor Name##Impl::forward(const Tensor& input, Site site) { return functional::function(input, arguments, site); } \
  void Name##Impl::pretty_print(std::ostream& stream) const { detail::Text(stream, #Name) __VA_ARGS__; }

TANDEM_ACTIVATION(ReLU, relu, options, .when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(ReLU6, relu6, options, .when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(SELU, selu, options, .when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(ELU, elu, options, ("alpha", options.alpha()).when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(CELU, celu, options, ("alpha", options.alpha()).when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(LeakyReLU, leaky_relu, options, ("negative_slope", options.negative_slope()).when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(Threshold, threshold, options,
                  ("threshold", options.threshold())("value", options.value()).when(options.inplace(), "inplace", true))
TANDEM_ACTIVATION(GELU, gelu, options, )
TANDEM_ACTIVATION(GLU, glu, options, ("dim", options.dim()))
TANDEM_ACTIVATION(Hardshrink, hardshrink, options, ("", options.lambda()))
TANDEM_ACTIVATION(Softshrink, softshrink, options, ("", options.lambda()))
TANDEM_ACTIVATION(Softplus, softplus, options, ("beta", options.beta())("threshold", options.threshold()))
TANDEM_ACTIVATION(Softmax, softmax, options.dim(), ("dim", options.dim()))
TANDEM_ACTIVATION(Softmin, softmin, options.dim(), ("dim", options.dim()))
TANDEM_ACTIVATION(LogSoftmax, log_softmax, options.dim(), ("dim", options.dim()))

#undef TANDEM_ACTIVATION

// tandem::function(input).
#define TANDEM_PLAIN_ACTIVATION(Name, function)                                                                \
  Tensor Name##Impl::forward(const Tensor& input, Site site) { return tandem::function({input, site}, site); } \
  void Name##Impl::pretty_print(std::ostream& stream) const { detail::Text(stream, #Name); }

TANDEM_PLAIN_ACTIVATION(LogSigmoid, logsigmoid)
TANDEM_PLAIN_ACTIVATION(SiLU, silu)
TANDEM_PLAIN_ACTIVATION(Mish, mish)
TANDEM_PLAIN_ACTIVATION(Sigmoid, sigmoid)
TANDEM_PLAIN_ACTIVATION(Softsign, softsign)
TANDEM_PLAIN_ACTIVATION(Tanh, tanh)
TANDEM_PLAIN_ACTIVATION(Tanhshrink, tanhshrink)

#undef TANDEM_PLAIN_ACTIVATION

HardtanhImpl::HardtanhImpl(const HardtanhOptions& options_, Site) : OptionsOnly(options_) { HardtanhImpl::reset(); }

void HardtanhImpl::reset() {
  if (!(options.max_val() > options.min_val()))
    tandem::fail("[Hardtanh] max_val must be greater than min_val, but they are ", options.max_val(), " and ", options.min_val());
}

Tensor HardtanhImpl::forward(const Tensor& input, Site site) { return functional::hardtanh(input, options, site); }

void HardtanhImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "Hardtanh")("min_val", options.min_val())("max_val", options.max_val()).when(options.inplace(), "inplace", true);
}

Tensor Softmax2dImpl::forward(const Tensor& input, Site site) {
  const int64_t dims = input.dim(site);
  if (dims != 3 && dims != 4) tandem::fail("[Softmax2d] requires a 3D or 4D tensor as input, got ", dims, "D");
  return tandem::softmax(input, -3, site);
}

void Softmax2dImpl::pretty_print(std::ostream& stream) const { detail::Text(stream, "Softmax2d"); }

Tensor RReLUImpl::forward(const Tensor& input, Site site) {
  return functional::rrelu(
      input,
      functional::RReLUFuncOptions().lower(options.lower()).upper(options.upper()).training(is_training()).inplace(options.inplace()),
      site);
}

void RReLUImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "RReLU")("lower", options.lower())("upper", options.upper()).when(options.inplace(), "inplace", true);
}

PReLUImpl::PReLUImpl(const PReLUOptions& options_, Site) : options(options_) { PReLUImpl::reset(); }

void PReLUImpl::reset() {
  const Site site = detail::making_site();
  weight = register_parameter("weight", tandem::full({options.num_parameters()}, options.init(), {}, site), true, site);
}

Tensor PReLUImpl::forward(const Tensor& input, Site site) { return tandem::prelu(input, weight, site); }

void PReLUImpl::pretty_print(std::ostream& stream) const { detail::Text(stream, "PReLU")("num_parameters", options.num_parameters()); }

template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
detail::DropoutOf<Derived, FuncOptions, Function>::DropoutOf(DropoutOptions options_, Site)
    : OptionsOnly<Derived, DropoutOptions>(options_) {
  reset();
}

template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
detail::DropoutOf<Derived, FuncOptions, Function>::DropoutOf(double p, Site site) : DropoutOf(DropoutOptions(p), site) {}

template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
void detail::DropoutOf<Derived, FuncOptions, Function>::reset() {
  if (!(this->options.p() >= 0 && this->options.p() <= 1))
    tandem::fail("[", Derived::kName, "] dropout probability has to be between 0 and 1, but got ", this->options.p());
}

template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
Tensor detail::DropoutOf<Derived, FuncOptions, Function>::forward(const Tensor& input, Site site) {
  return Function(input, FuncOptions().p(this->options.p()).training(this->is_training()).inplace(this->options.inplace()), site);
}

template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
void detail::DropoutOf<Derived, FuncOptions, Function>::pretty_print(std::ostream& stream) const {
  Text(stream, Derived::kName)("p", this->options.p())("inplace", this->options.inplace());
}

template class detail::DropoutOf<DropoutImpl, functional::DropoutFuncOptions, functional::dropout>;
template class detail::DropoutOf<Dropout2dImpl, functional::Dropout2dFuncOptions, functional::dropout2d>;
template class detail::DropoutOf<Dropout3dImpl, functional::Dropout3dFuncOptions, functional::dropout3d>;
template class detail::DropoutOf<AlphaDropoutImpl, functional::AlphaDropoutFuncOptions, functional::alpha_dropout>;
template class detail::DropoutOf<FeatureAlphaDropoutImpl, functional::FeatureAlphaDropoutFuncOptions, functional::feature_alpha_dropout>;

}  // namespace torch::nn
