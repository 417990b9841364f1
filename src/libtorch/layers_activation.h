// Activations and dropout as layers.
#pragma once

#include "libtorch/functional_activation.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_activation.h"

namespace torch::nn {

/// A layer that computes functional's function of its name.
#define TANDEM_ACTIVATION(Name) TANDEM_OPTIONS_LAYER(Name, const Tensor& input)

TANDEM_ACTIVATION(ReLU);
TANDEM_ACTIVATION(ReLU6);
TANDEM_ACTIVATION(SELU);
TANDEM_ACTIVATION(ELU);
TANDEM_ACTIVATION(CELU);
TANDEM_ACTIVATION(LeakyReLU);
TANDEM_ACTIVATION(Threshold);
TANDEM_ACTIVATION(GELU);
TANDEM_ACTIVATION(GLU);
TANDEM_ACTIVATION(Hardshrink);
TANDEM_ACTIVATION(Softshrink);
TANDEM_ACTIVATION(Softplus);
TANDEM_ACTIVATION(Softmax);
TANDEM_ACTIVATION(Softmin);
TANDEM_ACTIVATION(LogSoftmax);

#undef TANDEM_ACTIVATION

/// The same of those that have no options.
#define TANDEM_PLAIN_ACTIVATION(Name)                              \
  class Name##Impl : public detail::NoOptions<Name##Impl> {        \
   public:                                                         \
    Tensor forward(const Tensor& input, Site site = Site::here()); \
    void pretty_print(std::ostream& stream) const override;        \
  };                                                               \
  TANDEM_TORCH_LAYER(Name)

TANDEM_PLAIN_ACTIVATION(LogSigmoid);
TANDEM_PLAIN_ACTIVATION(SiLU);
TANDEM_PLAIN_ACTIVATION(Mish);
TANDEM_PLAIN_ACTIVATION(Sigmoid);
TANDEM_PLAIN_ACTIVATION(Softsign);
TANDEM_PLAIN_ACTIVATION(Tanh);
TANDEM_PLAIN_ACTIVATION(Tanhshrink);

#undef TANDEM_PLAIN_ACTIVATION

/// Error unless max_val > min_val.
class HardtanhImpl : public detail::OptionsOnly<HardtanhImpl, HardtanhOptions> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {}, Site = Site::here());
  void reset() override;
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};
TANDEM_TORCH_LAYER(Hardtanh);

/// Softmax over the channels of (N, C, H, W) or (C, H, W).
class Softmax2dImpl : public detail::NoOptions<Softmax2dImpl> {
 public:
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};
TANDEM_TORCH_LAYER(Softmax2d);

/// Slopes are random in training, their mean else.
TANDEM_OPTIONS_LAYER(RReLU, const Tensor& input);

/// The slope of negative inputs is learned: one for all channels, or one each.
class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {}, Site = Site::here());
  void reset() override;
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  PReLUOptions options;
  Tensor weight;
};
TANDEM_TORCH_LAYER(PReLU);

namespace detail {

/// Dropout of one function: of some elements, of whole channels, …. Error unless 0 <= p <= 1.
template <class Derived, class FuncOptions, Tensor (*Function)(const Tensor&, const FuncOptions&, Site)>
class DropoutOf : public OptionsOnly<Derived, DropoutOptions> {
 public:
  explicit DropoutOf(DropoutOptions options_ = {}, Site = Site::here());
  explicit DropoutOf(double p, Site site = Site::here());
  void reset() override;
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};

}  // namespace detail

#define TANDEM_DROPOUT(Name, FuncOptions, function)                                                        \
  class Name##Impl : public detail::DropoutOf<Name##Impl, functional::FuncOptions, functional::function> { \
   public:                                                                                                 \
    static constexpr const char* kName = #Name;                                                            \
    using DropoutOf::DropoutOf;                                                                            \
  };                                                                                                       \
  extern template class detail::DropoutOf<Name##Impl, functional::FuncOptions, functional::function>;      \
  TANDEM_TORCH_LAYER(Name)

TANDEM_DROPOUT(Dropout, DropoutFuncOptions, dropout);
TANDEM_DROPOUT(Dropout2d, Dropout2dFuncOptions, dropout2d);
TANDEM_DROPOUT(Dropout3d, Dropout3dFuncOptions, dropout3d);
TANDEM_DROPOUT(AlphaDropout, AlphaDropoutFuncOptions, alpha_dropout);
TANDEM_DROPOUT(FeatureAlphaDropout, FeatureAlphaDropoutFuncOptions, feature_alpha_dropout);

#undef TANDEM_DROPOUT

}  // namespace torch::nn
