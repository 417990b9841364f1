#include "libtorch/functional_activation.h"

#include "libtorch/functional_arguments.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/dropout.h"
#include "ops/pointwise.h"
#include "ops/random.h"
#include "ops/view.h"

namespace torch::nn::functional {

// tandem::name(input, …), or tandem::name_ where the options say in place; the arguments between input and site follow.
#define TANDEM_IN_PLACE(name, Options, ...)                                                  \
  Tensor name(const Tensor& input, const Options& options, Site site) {                      \
    return options.inplace() ? tandem::name##_(input, __VA_ARGS__ __VA_OPT__(, ) site)       \
                             : tandem::name({input, site}, __VA_ARGS__ __VA_OPT__(, ) site); \
  }

TANDEM_IN_PLACE(relu, ReLUFuncOptions)
TANDEM_IN_PLACE(relu6, ReLU6FuncOptions)
TANDEM_IN_PLACE(selu, SELUFuncOptions)
TANDEM_IN_PLACE(elu, ELUFuncOptions, options.alpha())
TANDEM_IN_PLACE(celu, CELUFuncOptions, options.alpha())
TANDEM_IN_PLACE(leaky_relu, LeakyReLUFuncOptions, options.negative_slope())
TANDEM_IN_PLACE(hardtanh, HardtanhFuncOptions, options.min_val(), options.max_val())
TANDEM_IN_PLACE(threshold, ThresholdFuncOptions, options.threshold(), options.value())
#undef TANDEM_IN_PLACE

Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options, Site site) {
  const double lower = options.lower(), upper = options.upper();
  return options.inplace() ? tandem::rrelu_(input, lower, upper, options.training(), site)
                           : tandem::rrelu(input, lower, upper, options.training(), site);
}

Tensor gelu(const Tensor& input, const GELUFuncOptions& options, Site site) {
  return tandem::gelu({input, site}, options.approximate(), site);
}

Tensor glu(const Tensor& input, const GLUFuncOptions& options, Site site) { return tandem::glu(input, options.dim(), site); }

Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options, Site site) {
  return tandem::hardshrink({input, site}, options.lambda(), site);
}

Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options, Site site) {
  return tandem::softshrink({input, site}, options.lambda(), site);
}

Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options, Site site) {
  return tandem::softplus({input, site}, options.beta(), options.threshold(), site);
}

Tensor logsigmoid(const Tensor& input, Site site) { return tandem::logsigmoid({input, site}, site); }

Tensor silu(const Tensor& input, Site site) { return tandem::silu({input, site}, site); }

Tensor mish(const Tensor& input, Site site) { return tandem::mish({input, site}, site); }

Tensor softsign(const Tensor& input, Site site) { return tandem::softsign({input, site}, site); }

Tensor tanhshrink(const Tensor& input, Site site) { return tandem::tanhshrink({input, site}, site); }

Tensor prelu(const Tensor& input, const Tensor& weight, Site site) { return tandem::prelu(input, weight, site); }

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options, Site site) {
  return tandem::softmax(options.dtype() ? input.to(*options.dtype(), {}, site) : input, options.dim(), site);
}

Tensor softmin(const Tensor& input, const SoftminFuncOptions& options, Site site) {
  return tandem::softmin(options.dtype() ? input.to(*options.dtype(), {}, site) : input, options.dim(), site);
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options, Site site) {
  return tandem::log_softmax(options.dtype() ? input.to(*options.dtype(), {}, site) : input, options.dim(), site);
}

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options, Site site) {
  return tandem::gumbel_softmax(logits, options.tau(), options.hard(), options.dim(), site);
}

Tensor detail::into(const Tensor& input, bool inplace, const Tensor& result, Site site) {
  return inplace ? input.copy_(result, false, site) : result;
}

Tensor detail::drop_channels(const char* op, int64_t batched, const Tensor& input, const DropoutFuncOptions& options, Site site) {
  if (!(options.p() >= 0 && options.p() <= 1))
    tandem::fail("[", op, "] dropout probability has to be between 0 and 1, but got ", options.p());
  if (input.dim(site) == batched)
    return into(input, options.inplace(), tandem::feature_dropout(input, options.p(), options.training(), site), site);
  const Tensor result = tandem::feature_dropout(input.unsqueeze(0, site), options.p(), options.training(), site);
  return into(input, options.inplace(), result.squeeze(0, site), site);
}

Tensor dropout(const Tensor& input, const DropoutFuncOptions& options, Site site) {
  return options.inplace() ? tandem::dropout_(input, options.p(), options.training(), site)
                           : tandem::dropout(input, options.p(), options.training(), site);
}

Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& options, Site site) {
  return detail::drop_channels("dropout2d", 4, input, options, site);
}

Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& options, Site site) {
  return detail::drop_channels("dropout3d", 5, input, options, site);
}

Tensor detail::alpha_dropout(const Tensor& input, double p, bool training, bool inplace, Site site) {
  return into(input, inplace, tandem::alpha_dropout(input, p, training, site), site);
}

Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options, Site site) {
  return detail::alpha_dropout(input, options.p(), options.training(), options.inplace(), site);
}

Tensor feature_alpha_dropout(const Tensor& input, const FeatureAlphaDropoutFuncOptions& options, Site site) {
  return detail::into(input, options.inplace(), tandem::feature_alpha_dropout(input, options.p(), options.training(), site), site);
}

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const MultiheadAttentionForwardFuncOptions& options, Site site) {
  // Masks of bytes stand for those of bools, as they did before there were such.
  const auto mask = [&](const Tensor& given) {
    return given.defined() && given.dtype() == tandem::kUInt8 ? given.to(tandem::kBool, {}, site) : given;
  };
  if (options.bias_k().defined() && options.static_k().defined())
    tandem::fail("[multi_head_attention_forward] bias cannot be added to static key: leave bias_k out");
  if (options.bias_v().defined() && options.static_v().defined())
    tandem::fail("[multi_head_attention_forward] bias cannot be added to static value: leave bias_v out");
  tandem::MultiHeadAttentionResult result =
      tandem::multi_head_attention_forward(query, key, value, options.embed_dim_to_check(), options.num_heads(),
                                           {.in_proj_weight = options.in_proj_weight(),
                                            .in_proj_bias = options.in_proj_bias(),
                                            .bias_k = options.bias_k(),
                                            .bias_v = options.bias_v(),
                                            .add_zero_attn = options.add_zero_attn(),
                                            .dropout_p = options.dropout_p(),
                                            .out_proj_weight = options.out_proj_weight(),
                                            .out_proj_bias = options.out_proj_bias(),
                                            .training = options.training(),
                                            .key_padding_mask = mask(options.key_padding_mask()),
                                            .need_weights = options.need_weights(),
                                            .attn_mask = mask(options.attn_mask()),
                                            .use_separate_proj_weight = options.use_separate_proj_weight(),
                                            .q_proj_weight = options.q_proj_weight(),
                                            .k_proj_weight = options.k_proj_weight(),
                                            .v_proj_weight = options.v_proj_weight(),
                                            .static_k = options.static_k(),
                                            .static_v = options.static_v(),
                                            .average_attn_weights = options.average_attn_weights()},
                                           site);
  return {std::move(result.attn_output), std::move(result.attn_output_weights)};
}

}  // namespace torch::nn::functional
