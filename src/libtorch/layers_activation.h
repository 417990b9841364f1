// Activations and dropout as layers.
#pragma once

#include "libtorch/functional_activation.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_activation.h"

namespace torch::nn {

/// A layer NameImpl, and Name that holds one, which computes functional::function(input, …); printed as the options that follow.
#define TANDEM_ACTIVATION(Name, function, arguments, ...)                                                                  \
  class Name##Impl : public detail::OptionsOnly<Name##Impl, Name##Options> {                                               \
   public:                                                                                                                 \
    using OptionsOnly::OptionsOnly;                                                                                        \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::function(input, arguments, site); } \
    void pretty_print(std::ostream& stream) const override { detail::Text(stream, #Name) __VA_ARGS__; }                    \
  };                                                                                                                       \
  TORCH_MODULE(Name)

TANDEM_ACTIVATION(ReLU, relu, options, .when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(ReLU6, relu6, options, .when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(SELU, selu, options, .when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(ELU, elu, options, ("alpha", options.alpha()).when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(CELU, celu, options, ("alpha", options.alpha()).when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(LeakyReLU, leaky_relu, options, ("negative_slope", options.negative_slope()).when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(Threshold, threshold, options,
                  ("threshold", options.threshold())("value", options.value()).when(options.inplace(), "inplace", true));
TANDEM_ACTIVATION(GELU, gelu, options, );
TANDEM_ACTIVATION(GLU, glu, options, ("dim", options.dim()));
TANDEM_ACTIVATION(Hardshrink, hardshrink, options, ("", options.lambda()));
TANDEM_ACTIVATION(Softshrink, softshrink, options, ("", options.lambda()));
TANDEM_ACTIVATION(Softplus, softplus, options, ("beta", options.beta())("threshold", options.threshold()));
TANDEM_ACTIVATION(Softmax, softmax, options.dim(), ("dim", options.dim()));
TANDEM_ACTIVATION(Softmin, softmin, options.dim(), ("dim", options.dim()));
TANDEM_ACTIVATION(LogSoftmax, log_softmax, options.dim(), ("dim", options.dim()));

#undef TANDEM_ACTIVATION

/// The same of those that have no options: tandem::function(input).
#define TANDEM_PLAIN_ACTIVATION(Name, function)                                                                     \
  class Name##Impl : public detail::NoOptions<Name##Impl> {                                                         \
   public:                                                                                                          \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return tandem::function({input, site}, site); } \
    void pretty_print(std::ostream& stream) const override { detail::Text(stream, #Name); }                         \
  };                                                                                                                \
  TORCH_MODULE(Name)

TANDEM_PLAIN_ACTIVATION(LogSigmoid, logsigmoid);
TANDEM_PLAIN_ACTIVATION(SiLU, silu);
TANDEM_PLAIN_ACTIVATION(Mish, mish);
TANDEM_PLAIN_ACTIVATION(Sigmoid, sigmoid);
TANDEM_PLAIN_ACTIVATION(Softsign, softsign);
TANDEM_PLAIN_ACTIVATION(Tanh, tanh);
TANDEM_PLAIN_ACTIVATION(Tanhshrink, tanhshrink);

#undef TANDEM_PLAIN_ACTIVATION

/// Error unless max_val > min_val.
class HardtanhImpl : public detail::OptionsOnly<HardtanhImpl, HardtanhOptions> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {}, Site = Site::here()) : OptionsOnly(options_) { HardtanhImpl::reset(); }
  void reset() override {
    if (!(options.max_val() > options.min_val()))
      tandem::fail("[Hardtanh] max_val must be greater than min_val, but they are ", options.max_val(), " and ", options.min_val());
  }
  Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::hardtanh(input, options, site); }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "Hardtanh")("min_val", options.min_val())("max_val", options.max_val()).when(options.inplace(), "inplace", true);
  }
};
TORCH_MODULE(Hardtanh);

/// Softmax over the channels of (N, C, H, W) or (C, H, W).
class Softmax2dImpl : public detail::NoOptions<Softmax2dImpl> {
 public:
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    const int64_t dims = input.dim(site);
    if (dims != 3 && dims != 4) tandem::fail("[Softmax2d] requires a 3D or 4D tensor as input, got ", dims, "D");
    return tandem::softmax(input, -3, site);
  }
  void pretty_print(std::ostream& stream) const override { detail::Text(stream, "Softmax2d"); }
};
TORCH_MODULE(Softmax2d);

/// Slopes are random in training, their mean else.
class RReLUImpl : public detail::OptionsOnly<RReLUImpl, RReLUOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    return functional::rrelu(
        input,
        functional::RReLUFuncOptions().lower(options.lower()).upper(options.upper()).training(is_training()).inplace(options.inplace()),
        site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "RReLU")("lower", options.lower())("upper", options.upper()).when(options.inplace(), "inplace", true);
  }
};
TORCH_MODULE(RReLU);

/// The slope of negative inputs is learned: one for all channels, or one each.
class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {}, Site = Site::here()) : options(options_) { PReLUImpl::reset(); }
  void reset() override {
    const Site site = detail::making_site();
    weight = register_parameter("weight", tandem::full({options.num_parameters()}, options.init(), {}, site), true, site);
  }
  Tensor forward(const Tensor& input, Site site = Site::here()) { return tandem::prelu(input, weight, site); }
  void pretty_print(std::ostream& stream) const override { detail::Text(stream, "PReLU")("num_parameters", options.num_parameters()); }

  PReLUOptions options;
  Tensor weight;
};
TORCH_MODULE(PReLU);

namespace detail {

/// Dropout of one function: of some elements, of whole channels, …. Error unless 0 <= p <= 1.
template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
class DropoutOf : public OptionsOnly<Derived, DropoutOptions> {
 public:
  explicit DropoutOf(DropoutOptions options_ = {}, Site = Site::here()) : OptionsOnly<Derived, DropoutOptions>(options_) { reset(); }
  explicit DropoutOf(double p, Site site = Site::here()) : DropoutOf(DropoutOptions(p), site) {}
  void reset() override {
    if (!(this->options.p() >= 0 && this->options.p() <= 1))
      tandem::fail("[", Derived::kName, "] dropout probability has to be between 0 and 1, but got ", this->options.p());
  }
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    return Function(input, FuncOptions().p(this->options.p()).training(this->is_training()).inplace(this->options.inplace()), site);
  }
  void pretty_print(std::ostream& stream) const override {
    Text(stream, Derived::kName)("p", this->options.p())("inplace", this->options.inplace());
  }
};

}  // namespace detail

#define TANDEM_DROPOUT(Name, FuncOptions, function)                                                        \
  class Name##Impl : public detail::DropoutOf<Name##Impl, functional::FuncOptions, functional::function> { \
   public:                                                                                                 \
    static constexpr const char* kName = #Name;                                                            \
    using DropoutOf::DropoutOf;                                                                            \
  };                                                                                                       \
  TORCH_MODULE(Name)

TANDEM_DROPOUT(Dropout, DropoutFuncOptions, dropout);
TANDEM_DROPOUT(Dropout2d, Dropout2dFuncOptions, dropout2d);
TANDEM_DROPOUT(Dropout3d, Dropout3dFuncOptions, dropout3d);
TANDEM_DROPOUT(AlphaDropout, AlphaDropoutFuncOptions, alpha_dropout);
TANDEM_DROPOUT(FeatureAlphaDropout, FeatureAlphaDropoutFuncOptions, feature_alpha_dropout);

#undef TANDEM_DROPOUT

}  // namespace torch::nn
