#include "libtorch/functional_linear.h"

#include "libtorch/functional_arguments.h"
#include "ops/counting.h"
#include "ops/creation.h"
#include "ops/distance.h"
#include "ops/embedding.h"
#include "ops/fold.h"
#include "ops/indexing.h"
#include "ops/linalg/products.h"
#include "ops/matmul.h"
#include "ops/normalization.h"
#include "ops/view.h"

namespace torch::nn::functional {
namespace {

using nn::detail::shape_of;

template <size_t D>
tandem::ConvOptions conv_options(const ConvFuncOptions<D>& options) {
  return {.stride = shape_of(options.stride()),
          .padding = nn::detail::conv_padding_of<D>(options.padding()),
          .dilation = shape_of(options.dilation()),
          .groups = options.groups()};
}
template <size_t D>
tandem::ConvTransposeOptions conv_transpose_options(const ConvTransposeFuncOptions<D>& options) {
  return {.stride = shape_of(options.stride()),
          .padding = shape_of(options.padding()),
          .output_padding = shape_of(options.output_padding()),
          .groups = options.groups(),
          .dilation = shape_of(options.dilation())};
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Site site) {
  return tandem::linear(input, weight, bias, site);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias, Site site) {
  return tandem::bilinear(input1, input2, weight, bias, site);
}

#define TANDEM_CONVOLUTIONS(D)                                                                                                       \
  Tensor conv##D##d(const Tensor& input, const Tensor& weight, const Conv##D##dFuncOptions& options, Site site) {                    \
    return tandem::conv##D##d(input, weight, options.bias(), conv_options(options), site);                                           \
  }                                                                                                                                  \
  Tensor conv_transpose##D##d(const Tensor& input, const Tensor& weight, const ConvTranspose##D##dFuncOptions& options, Site site) { \
    return tandem::conv_transpose##D##d(input, weight, options.bias(), conv_transpose_options(options), site);                       \
  }

TANDEM_CONVOLUTIONS(1)
TANDEM_CONVOLUTIONS(2)
TANDEM_CONVOLUTIONS(3)
#undef TANDEM_CONVOLUTIONS

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options, Site site) {
  return tandem::unfold(
      input, shape_of(options.kernel_size()),
      {.dilation = shape_of(options.dilation()), .padding = shape_of(options.padding()), .stride = shape_of(options.stride())}, site);
}

Tensor fold(const Tensor& input, const FoldFuncOptions& options, Site site) {
  return tandem::fold(
      input, shape_of(options.output_size()), shape_of(options.kernel_size()),
      {.dilation = shape_of(options.dilation()), .padding = shape_of(options.padding()), .stride = shape_of(options.stride())}, site);
}

Tensor one_hot(const Tensor& tensor, int64_t num_classes, Site site) { return tandem::one_hot(tensor, num_classes, site); }

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options, Site site) {
  return tandem::embedding(input, weight, options.padding_idx(), options.max_norm(), options.norm_type(), options.scale_grad_by_freq(),
                           site);
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options, Site site) {
  return tandem::embedding_bag(input, weight,
                               {.offsets = options.offsets(),
                                .max_norm = options.max_norm(),
                                .norm_type = options.norm_type(),
                                .scale_grad_by_freq = options.scale_grad_by_freq(),
                                .mode = nn::detail::word_of(options.mode()),
                                .per_sample_weights = options.per_sample_weights(),
                                .include_last_offset = options.include_last_offset(),
                                .padding_idx = options.padding_idx()},
                               site);
}

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const BatchNormFuncOptions& options,
                  Site site) {
  return tandem::batch_norm(input, running_mean, running_var,
                            {.weight = options.weight(),
                             .bias = options.bias(),
                             .training = options.training(),
                             .momentum = options.momentum().value_or(0),
                             .eps = options.eps()},
                            site);
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options, Site site) {
  return tandem::instance_norm(input,
                               {.running_mean = options.running_mean(),
                                .running_var = options.running_var(),
                                .weight = options.weight(),
                                .bias = options.bias(),
                                .use_input_stats = options.use_input_stats(),
                                .momentum = options.momentum(),
                                .eps = options.eps()},
                               site);
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options, Site site) {
  return tandem::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps(), site);
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options, Site site) {
  return tandem::group_norm(input, options.num_groups(), options.weight(), options.bias(), options.eps(), site);
}

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options, Site site) {
  return tandem::local_response_norm(input, options.size(), options.alpha(), options.beta(), options.k(), site);
}

Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options, Site site) {
  const Tensor result = tandem::normalize(input, options.p(), options.dim(), options.eps(), site);
  if (!options.out()) return result;
  const Tensor& out = *options.out();
  out.resize_(result.sizes(), site);
  return out.copy_(result, false, site);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options, Site site) {
  return tandem::cosine_similarity(x1, x2, options.dim(), options.eps(), site);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options, Site site) {
  return tandem::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim(), site);
}

Tensor pdist(const Tensor& input, double p, Site site) {
  const Tensor behind = tandem::ones({input.size(0, site), input.size(0, site)}, {.dtype = tandem::kBool, .device = input.device()}, site);
  return tandem::masked_select(tandem::cdist(input, input, p, "donot_use_mm_for_euclid_dist", site), behind.triu(1, site), site);
}

}  // namespace torch::nn::functional
