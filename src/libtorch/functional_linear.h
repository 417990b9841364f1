// torch::nn::functional: linear maps, convolutions, embeddings, normalization, distances.
#pragma once

#include "libtorch/options_activation.h"
#include "libtorch/options_conv.h"
#include "libtorch/options_linear.h"

namespace torch::nn::functional {

using tandem::Site;

/// input weightᵀ + bias.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, Site site = Site::here());
/// input1 weight[k] input2 + bias[k].
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {}, Site site = Site::here());

// --- Convolutions

Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {}, Site site = Site::here());
Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {}, Site site = Site::here());
Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {}, Site site = Site::here());
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options = {},
                        Site site = Site::here());
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options = {},
                        Site site = Site::here());
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options = {},
                        Site site = Site::here());
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options, Site site = Site::here());
Tensor fold(const Tensor& input, const FoldFuncOptions& options, Site site = Site::here());

// --- Embeddings

Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1, Site site = Site::here());
Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {}, Site site = Site::here());
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {}, Site site = Site::here());

// --- Normalization

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const BatchNormFuncOptions& options = {},
                  Site site = Site::here());
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {}, Site site = Site::here());
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options, Site site = Site::here());
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options, Site site = Site::here());
Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options, Site site = Site::here());
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {}, Site site = Site::here());

// --- Distances

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {}, Site site = Site::here());
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {}, Site site = Site::here());
/// The distances of each row to those behind it, one after another.
Tensor pdist(const Tensor& input, double p = 2, Site site = Site::here());

}  // namespace torch::nn::functional
