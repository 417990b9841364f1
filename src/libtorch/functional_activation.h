// torch::nn::functional: activations, dropout, and attention.
#pragma once

#include "libtorch/options_activation.h"
#include "libtorch/options_recurrent.h"

namespace torch::nn::functional {

using tandem::Site;

// --- Activations. Those with `inplace` change their input where it is set.

Tensor relu(const Tensor& input, const ReLUFuncOptions& options = {}, Site site = Site::here());
Tensor relu6(const Tensor& input, const ReLU6FuncOptions& options = {}, Site site = Site::here());
Tensor selu(const Tensor& input, const SELUFuncOptions& options = {}, Site site = Site::here());
Tensor elu(const Tensor& input, const ELUFuncOptions& options = {}, Site site = Site::here());
Tensor celu(const Tensor& input, const CELUFuncOptions& options = {}, Site site = Site::here());
Tensor leaky_relu(const Tensor& input, const LeakyReLUFuncOptions& options = {}, Site site = Site::here());
Tensor hardtanh(const Tensor& input, const HardtanhFuncOptions& options = {}, Site site = Site::here());
Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options = {}, Site site = Site::here());
Tensor threshold(const Tensor& input, const ThresholdFuncOptions& options, Site site = Site::here());
Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {}, Site site = Site::here());
Tensor glu(const Tensor& input, const GLUFuncOptions& options = {}, Site site = Site::here());
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {}, Site site = Site::here());
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {}, Site site = Site::here());
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {}, Site site = Site::here());
Tensor logsigmoid(const Tensor& input, Site site = Site::here());
Tensor silu(const Tensor& input, Site site = Site::here());
Tensor mish(const Tensor& input, Site site = Site::here());
Tensor softsign(const Tensor& input, Site site = Site::here());
Tensor tanhshrink(const Tensor& input, Site site = Site::here());
Tensor prelu(const Tensor& input, const Tensor& weight, Site site = Site::here());

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options, Site site = Site::here());
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options, Site site = Site::here());
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options, Site site = Site::here());
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {}, Site site = Site::here());

// --- Dropout

namespace detail {

/// The result, written into the input where it is asked for.
Tensor into(const Tensor& input, bool inplace, const Tensor& result, Site site);
/// Whole channels; an input of another number of dimensions than `batched` is one sample.
Tensor drop_channels(const char* op, int64_t batched, const Tensor& input, const DropoutFuncOptions& options, Site site);
/// alpha_dropout() by its numbers.
Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace, Site site = Site::here());

}  // namespace detail

Tensor dropout(const Tensor& input, const DropoutFuncOptions& options = {}, Site site = Site::here());
Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& options = {}, Site site = Site::here());
Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& options = {}, Site site = Site::here());
Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options = {}, Site site = Site::here());
Tensor feature_alpha_dropout(const Tensor& input, const FeatureAlphaDropoutFuncOptions& options = {}, Site site = Site::here());

// --- Attention

/// The output, and the weights where they are needed.
std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const MultiheadAttentionForwardFuncOptions& options, Site site = Site::here());

}  // namespace torch::nn::functional
