// Operations of neural networks: convolutions, poolings, normalizations, attention, embeddings, dropout, resizing, losses.
#include "exported/call.h"
#include "ops/attention.h"
#include "ops/convolution.h"
#include "ops/creation.h"
#include "ops/distance.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/interpolate.h"
#include "ops/loss/loss.h"
#include "ops/normalization.h"
#include "ops/operators.h"
#include "ops/pooling.h"
#include "ops/random.h"

namespace tandem::exported {
namespace {

using Conv = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&, Site);
using ConvTransposed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const ConvTransposeOptions&, Site);
constexpr Conv kConv[] = {conv1d, conv2d, conv3d};
constexpr ConvTransposed kConvTransposed[] = {conv_transpose1d, conv_transpose2d, conv_transpose3d};

/// How many dimensions windows have: those of the weight but for the channels.
size_t places_of(const Tensor& weight) {
  if (weight.dim() < 3 || weight.dim() > 5) fail("its weight has ", weight.dim(), " dimensions, not 3 to 5");
  return static_cast<size_t>(weight.dim() - 3);
}

void convolve_transposed(Call& call) {
  const Tensor weight = call.tensor("weight");
  const ConvTransposeOptions options{.stride = call.ints("stride", {1}),
                                     .padding = call.ints("padding", {0}),
                                     .output_padding = call.ints("output_padding", {0}),
                                     .groups = call.integer("groups", 1),
                                     .dilation = call.ints("dilation", {1})};
  call.give(kConvTransposed[places_of(weight)](call.tensor("input"), weight, call.tensor_or_none("bias"), options, call.site()));
}
void convolve(Call& call) {
  if (call.truth("transposed", false)) return convolve_transposed(call);
  const Tensor weight = call.tensor("weight");
  (void)call.has("output_padding");  // zeros, of one that is not transposed
  ConvOptions options{.stride = call.ints("stride", {1}), .dilation = call.ints("dilation", {1}), .groups = call.integer("groups", 1)};
  if (call.is_text("padding")) options.padding = call.text("padding", "") == "same" ? "same" : "valid";
  else options.padding = call.ints("padding", {0});
  call.give(kConv[places_of(weight)](call.tensor("input"), weight, call.tensor_or_none("bias"), options, call.site()));
}

MaxPoolOptions max_pool_options(Call& call) {
  return {.stride = call.ints("stride", {}),
          .padding = call.ints("padding", {0}),
          .dilation = call.ints("dilation", {1}),
          .ceil_mode = call.truth("ceil_mode", false)};
}
template <Tensor (*Pool)(const Tensor&, const PerDim&, const MaxPoolOptions&, Site)>
void max_pool(Call& call) {
  call.give(Pool(call.tensor("self"), call.ints("kernel_size"), max_pool_options(call), call.site()));
}
template <ValuesIndices (*Pool)(const Tensor&, const PerDim&, const MaxPoolOptions&, Site)>
void max_pool_and_places(Call& call) {
  call.give(Pool(call.tensor("self"), call.ints("kernel_size"), max_pool_options(call), call.site()));
}
template <Tensor (*Pool)(const Tensor&, const PerDim&, const AvgPoolOptions&, Site)>
void avg_pool(Call& call) {
  const AvgPoolOptions options{.stride = call.ints("stride", {}),
                               .padding = call.ints("padding", {0}),
                               .ceil_mode = call.truth("ceil_mode", false),
                               .count_include_pad = call.truth("count_include_pad", true),
                               .divisor_override = call.integer_or_none("divisor_override")};
  call.give(Pool(call.tensor("self"), call.ints("kernel_size"), options, call.site()));
}
template <Tensor (*Pool)(const Tensor&, const OutputSize&, Site)>
void adaptive_pool(Call& call) {
  call.give(Pool(call.tensor("self"), OutputSize(call.ints("output_size")), call.site()));
}
template <ValuesIndices (*Pool)(const Tensor&, const OutputSize&, Site)>
void adaptive_pool_and_places(Call& call) {
  call.give(Pool(call.tensor("self"), OutputSize(call.ints("output_size")), call.site()));
}

/// batch_norm and the operations that it comes apart into. The running figures follow in place, but for the functional one, which gives
/// them as results.
void batch_normalize(Call& call, bool training, bool functional) {
  Tensor mean = call.tensor_or_none("running_mean"), var = call.tensor_or_none("running_var");
  if (functional) mean = mean.clone(call.site()), var = var.clone(call.site());
  const BatchNormOptions options{.weight = call.tensor_or_none("weight"),
                                 .bias = call.tensor_or_none("bias"),
                                 .training = training,
                                 .momentum = call.real("momentum", 0.1),
                                 .eps = call.real("eps", 1e-5)};
  call.give(batch_norm(call.tensor("input"), mean, var, options, call.site()));
  // The figures that PyTorch keeps for the gradient, which nothing in a program reads.
  call.give(Tensor());
  call.give(Tensor());
  if (functional) call.give(mean), call.give(var);
}
void batch_norm_by_mode(Call& call) { batch_normalize(call, call.truth("training", false), false); }
void batch_norm_of_running(Call& call) { batch_normalize(call, false, false); }
void batch_norm_with_results(Call& call) { batch_normalize(call, call.truth("training", false), true); }

void instance_normalize(Call& call) {
  const InstanceNormOptions options{.running_mean = call.tensor_or_none("running_mean"),
                                    .running_var = call.tensor_or_none("running_var"),
                                    .weight = call.tensor_or_none("weight"),
                                    .bias = call.tensor_or_none("bias"),
                                    .use_input_stats = call.truth("use_input_stats", true),
                                    .momentum = call.real("momentum", 0.1),
                                    .eps = call.real("eps", 1e-5)};
  call.give(instance_norm(call.tensor("input"), options, call.site()));
}
void layer_normalize(Call& call) {
  call.give(layer_norm(call.tensor("input"), call.ints("normalized_shape"), call.tensor_or_none("weight"), call.tensor_or_none("bias"),
                       call.real("eps", 1e-5), call.site()));
  call.give(Tensor());
  call.give(Tensor());
}
void group_normalize(Call& call) {
  for (const char* size : {"N", "C", "HxW"}) (void)call.has(size);  // the input's own
  const int64_t groups = call.integer(call.has("group") ? "group" : "num_groups");
  call.give(group_norm(call.tensor("input"), groups, call.tensor_or_none("weight"), call.tensor_or_none("bias"), call.real("eps", 1e-5),
                       call.site()));
  call.give(Tensor());
  call.give(Tensor());
}
void rms_normalize(Call& call) {
  call.give(
      rms_norm(call.tensor("input"), call.ints("normalized_shape"), call.tensor_or_none("weight"), call.real_or_none("eps"), call.site()));
}

void attend(Call& call) {
  const AttentionOptions options{.attn_mask = call.tensor_or_none("attn_mask"),
                                 .dropout_p = call.real("dropout_p", 0),
                                 .is_causal = call.truth("is_causal", false),
                                 .scale = call.real_or_none("scale"),
                                 .enable_gqa = call.truth("enable_gqa", false)};
  call.give(scaled_dot_product_attention(call.tensor("query"), call.tensor("key"), call.tensor("value"), options, call.site()));
  call.give(Tensor());
}

void look_up(Call& call) {
  const int64_t padding = call.integer("padding_idx", -1);
  const bool scaled = call.truth("scale_grad_by_freq", false);
  call.give(embedding(call.tensor("indices"), call.tensor("weight"), padding < 0 ? std::nullopt : std::optional(padding), {}, 2, scaled,
                      call.site()));
}

template <Tensor (*Drop)(const Tensor&, double, Flag, Site)>
void drop(Call& call) {
  const Tensor x = call.tensor(call.has("input") ? "input" : "self");  // dropout_ calls it self
  call.give(Drop(x, call.real("p", 0.5), call.truth("train", true), call.site()));
}
void drop_and_mask(Call& call) {
  const Tensor x = call.tensor("input");
  const double p = call.real("p", 0.5);
  if (!call.truth("train", true)) {
    call.give(x.clone(call.site()));
    return call.give(ones_like(x, {.dtype = kBool}, call.site()));
  }
  const Tensor factors = dropout(ones_like(x, {}, call.site()), p, true, call.site());
  call.give(mul(x, factors, call.site()));
  call.give(ne(factors, 0, call.site()));
}

/// The upsample_ operations. Some overloads name the factors one by one.
template <int kMode>
void resize(Call& call) {
  constexpr const char* kModes[] = {"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear"};
  InterpolateOptions options{.mode = kModes[kMode]};
  const Tensor x = call.tensor(call.has("input") ? "input" : "self");
  std::optional<std::vector<double>> factors = call.reals_or_none("scale_factors");
  for (const char* name : {"scales", "scales_d", "scales_h", "scales_w"})
    if (const auto factor = call.real_or_none(name)) (factors ? *factors : factors.emplace()).push_back(*factor);
  if (const auto size = call.ints_or_none("output_size"); size && !size->empty()) options.size = *size;
  else options.scale_factor = factors;
  if (kMode >= 2) options.align_corners = call.truth("align_corners", false);
  call.give(interpolate(x, options, call.site()));
}
void shuffle_pixels(Call& call) { call.give(pixel_shuffle(call.tensor("self"), call.integer("upscale_factor"), call.site())); }
void unshuffle_pixels(Call& call) { call.give(pixel_unshuffle(call.tensor("self"), call.integer("downscale_factor"), call.site())); }
void shuffle_channels(Call& call) { call.give(channel_shuffle(call.tensor("self"), call.integer("groups"), call.site())); }

void similarity(Call& call) {
  call.give(cosine_similarity(call.tensor("x1"), call.tensor("x2"), call.integer("dim", 1), call.real("eps", 1e-8), call.site()));
}

Reduction reduction_of(Call& call) {
  const int64_t number = call.integer("reduction", 1);
  return number == 0 ? Reduction::None : number == 1 ? Reduction::Mean : Reduction::Sum;
}
template <Tensor (*Loss)(const Tensor&, const Tensor&, const WeightedLossOptions&, Site)>
void difference_loss(Call& call) {
  call.give(Loss(call.tensor("self"), call.tensor("target"), {.reduction = reduction_of(call)}, call.site()));
}
void class_loss(Call& call) {
  const CrossEntropyOptions options{.weight = call.tensor_or_none("weight"),
                                    .ignore_index = call.integer("ignore_index", -100),
                                    .reduction = reduction_of(call),
                                    .label_smoothing = call.real("label_smoothing", 0)};
  call.give(cross_entropy(call.tensor("self"), call.tensor("target"), options, call.site()));
}
void likelihood_loss(Call& call) {
  const NllLossOptions options{
      .weight = call.tensor_or_none("weight"), .ignore_index = call.integer("ignore_index", -100), .reduction = reduction_of(call)};
  call.give(nll_loss(call.tensor("self"), call.tensor("target"), options, call.site()));
  call.give(Tensor());
}
void logits_loss(Call& call) {
  const BinaryCrossEntropyWithLogitsOptions options{
      .weight = call.tensor_or_none("weight"), .reduction = reduction_of(call), .pos_weight = call.tensor_or_none("pos_weight")};
  call.give(binary_cross_entropy_with_logits(call.tensor("self"), call.tensor("target"), options, call.site()));
}

constexpr OperatorRow kRows[] = {
    {"_adaptive_avg_pool2d", adaptive_pool<adaptive_avg_pool2d>},
    {"_adaptive_avg_pool3d", adaptive_pool<adaptive_avg_pool3d>},
    {"_native_batch_norm_legit", batch_norm_by_mode},
    {"_native_batch_norm_legit_functional", batch_norm_with_results},
    {"_native_batch_norm_legit_no_training", batch_norm_of_running},
    {"_scaled_dot_product_flash_attention_for_cpu", attend},
    {"_upsample_nearest_exact1d", resize<1>, true},
    {"_upsample_nearest_exact2d", resize<1>, true},
    {"_upsample_nearest_exact3d", resize<1>, true},
    {"adaptive_avg_pool1d", adaptive_pool<adaptive_avg_pool1d>},
    {"adaptive_avg_pool2d", adaptive_pool<adaptive_avg_pool2d>},
    {"adaptive_avg_pool3d", adaptive_pool<adaptive_avg_pool3d>},
    {"adaptive_max_pool1d", adaptive_pool_and_places<adaptive_max_pool1d_with_indices>},
    {"adaptive_max_pool2d", adaptive_pool_and_places<adaptive_max_pool2d_with_indices>},
    {"adaptive_max_pool3d", adaptive_pool_and_places<adaptive_max_pool3d_with_indices>},
    {"alpha_dropout", drop<alpha_dropout>, true},
    {"avg_pool1d", avg_pool<avg_pool1d>},
    {"avg_pool2d", avg_pool<avg_pool2d>},
    {"avg_pool3d", avg_pool<avg_pool3d>},
    {"batch_norm", batch_norm_by_mode},
    {"binary_cross_entropy_with_logits", logits_loss},
    {"channel_shuffle", shuffle_channels, true},
    {"conv1d", convolve},
    {"conv2d", convolve},
    {"conv3d", convolve},
    {"conv_transpose1d", convolve_transposed},
    {"conv_transpose2d", convolve_transposed},
    {"conv_transpose3d", convolve_transposed},
    {"convolution", convolve},
    {"cosine_similarity", similarity},
    {"cross_entropy_loss", class_loss},
    {"dropout", drop<dropout>, true},
    {"embedding", look_up},
    {"feature_dropout", drop<feature_dropout>, true},
    {"group_norm", group_normalize},
    {"instance_norm", instance_normalize},
    {"l1_loss", difference_loss<l1_loss>},
    {"layer_norm", layer_normalize},
    {"max_pool1d", max_pool<max_pool1d>},
    {"max_pool1d_with_indices", max_pool_and_places<max_pool1d_with_indices>},
    {"max_pool2d", max_pool<max_pool2d>},
    {"max_pool2d_with_indices", max_pool_and_places<max_pool2d_with_indices>},
    {"max_pool3d", max_pool<max_pool3d>},
    {"max_pool3d_with_indices", max_pool_and_places<max_pool3d_with_indices>},
    {"mse_loss", difference_loss<mse_loss>},
    {"native_dropout", drop_and_mask},
    {"native_group_norm", group_normalize},
    {"native_layer_norm", layer_normalize},
    {"nll_loss", likelihood_loss},
    {"nll_loss_forward", likelihood_loss},
    {"nll_loss_nd", likelihood_loss},
    {"pixel_shuffle", shuffle_pixels, true},
    {"pixel_unshuffle", unshuffle_pixels, true},
    {"rms_norm", rms_normalize},
    {"scaled_dot_product_attention", attend},
    {"upsample_bicubic2d", resize<4>, true},
    {"upsample_bilinear2d", resize<3>, true},
    {"upsample_linear1d", resize<2>, true},
    {"upsample_nearest1d", resize<0>, true},
    {"upsample_nearest2d", resize<0>, true},
    {"upsample_nearest3d", resize<0>, true},
    {"upsample_trilinear3d", resize<5>, true},
};

}  // namespace

std::span<const OperatorRow> layer_operators() { return kRows; }

}  // namespace tandem::exported
