// What options of libtorch's are where a program does not set them: the defaults of libtorch's documentation.
#include <tuple>

#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "support/on_device.h"

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using std::nullopt;
using std::tuple;
using torch::enumtype::get_enum_name;
using Index = std::optional<int64_t>;
using Number = std::optional<double>;
using Word = std::string;

TEST(OptionDefaults, Activations) {
  EXPECT_FALSE(nn::ReLUOptions().inplace());
  EXPECT_FALSE(nn::ReLU6Options().inplace());
  EXPECT_FALSE(nn::SELUOptions().inplace());
  const nn::ELUOptions elu;
  EXPECT_EQ(tuple(elu.alpha(), elu.inplace()), tuple(1.0, false));
  const nn::CELUOptions celu;
  EXPECT_EQ(tuple(celu.alpha(), celu.inplace()), tuple(1.0, false));
  EXPECT_EQ(nn::GELUOptions().approximate(), "none");
  EXPECT_EQ(nn::GLUOptions().dim(), -1);
  EXPECT_EQ(nn::HardshrinkOptions().lambda(), 0.5);
  EXPECT_EQ(nn::SoftshrinkOptions().lambda(), 0.5);
  const nn::HardtanhOptions hardtanh;
  EXPECT_EQ(tuple(hardtanh.min_val(), hardtanh.max_val(), hardtanh.inplace()), tuple(-1.0, 1.0, false));
  const nn::LeakyReLUOptions leaky;
  EXPECT_EQ(tuple(leaky.negative_slope(), leaky.inplace()), tuple(1e-2, false));
  const nn::RReLUOptions rrelu;
  EXPECT_EQ(tuple(rrelu.lower(), rrelu.upper(), rrelu.inplace()), tuple(1.0 / 8, 1.0 / 3, false));
  const F::RReLUFuncOptions rrelu_function;
  EXPECT_EQ(tuple(rrelu_function.lower(), rrelu_function.upper(), rrelu_function.training(), rrelu_function.inplace()),
            tuple(1.0 / 8, 1.0 / 3, false, false));
  const nn::PReLUOptions prelu;
  EXPECT_EQ(tuple(prelu.num_parameters(), prelu.init()), tuple(1, 0.25));
  const nn::SoftplusOptions softplus;
  EXPECT_EQ(tuple(softplus.beta(), softplus.threshold()), tuple(1.0, 20.0));
  const nn::ThresholdOptions threshold(2, 3);
  EXPECT_EQ(tuple(threshold.threshold(), threshold.value(), threshold.inplace()), tuple(2.0, 3.0, false));
  EXPECT_EQ(nn::SoftmaxOptions(1).dim(), 1);
  EXPECT_EQ(nn::SoftminOptions(1).dim(), 1);
  EXPECT_EQ(nn::LogSoftmaxOptions(1).dim(), 1);
  const F::SoftmaxFuncOptions softmax(1);
  EXPECT_EQ(tuple(softmax.dim(), softmax.dtype().has_value()), tuple(1, false));
  const F::GumbelSoftmaxFuncOptions gumbel;
  EXPECT_EQ(tuple(gumbel.tau(), gumbel.hard(), gumbel.dim()), tuple(1.0, false, -1));
}

TEST(OptionDefaults, Dropout) {
  const nn::DropoutOptions layer;
  EXPECT_EQ(tuple(layer.p(), layer.inplace()), tuple(0.5, false));
  const F::DropoutFuncOptions function;
  EXPECT_EQ(tuple(function.p(), function.training(), function.inplace()), tuple(0.5, true, false));
  const F::AlphaDropoutFuncOptions alpha;
  EXPECT_EQ(tuple(alpha.p(), alpha.training(), alpha.inplace()), tuple(0.5, false, false));
}

TEST(OptionDefaults, Normalization) {
  const nn::BatchNormOptions batch(3);
  EXPECT_EQ(tuple(batch.num_features(), batch.eps(), batch.momentum(), batch.affine(), batch.track_running_stats()),
            tuple(3, 1e-5, Number(0.1), true, true));
  const nn::InstanceNormOptions instance(3);
  EXPECT_EQ(tuple(instance.num_features(), instance.eps(), instance.momentum(), instance.affine(), instance.track_running_stats()),
            tuple(3, 1e-5, 0.1, false, false));
  const nn::LayerNormOptions layer({2, 3});
  EXPECT_EQ(tuple(layer.normalized_shape(), layer.eps(), layer.elementwise_affine()), tuple(std::vector<int64_t>{2, 3}, 1e-5, true));
  const nn::GroupNormOptions group(2, 4);
  EXPECT_EQ(tuple(group.num_groups(), group.num_channels(), group.eps(), group.affine()), tuple(2, 4, 1e-5, true));
  const nn::LocalResponseNormOptions local(2);
  EXPECT_EQ(tuple(local.size(), local.alpha(), local.beta(), local.k()), tuple(2, 1e-4, 0.75, 1.0));
  const nn::CrossMapLRN2dOptions cross(2);
  EXPECT_EQ(tuple(cross.size(), cross.alpha(), cross.beta(), cross.k()), tuple(2, 1e-4, 0.75, 1));
  const F::BatchNormFuncOptions by_batch;
  EXPECT_EQ(tuple(by_batch.training(), by_batch.momentum(), by_batch.eps()), tuple(false, Number(0.1), 1e-5));
  EXPECT_FALSE(by_batch.weight().defined() || by_batch.bias().defined());
  const F::InstanceNormFuncOptions by_instance;
  EXPECT_EQ(tuple(by_instance.use_input_stats(), by_instance.momentum(), by_instance.eps()), tuple(true, 0.1, 1e-5));
  EXPECT_FALSE(by_instance.running_mean().defined() || by_instance.running_var().defined());
  EXPECT_FALSE(by_instance.weight().defined() || by_instance.bias().defined());
  const F::LayerNormFuncOptions by_layer({2});
  EXPECT_EQ(by_layer.eps(), 1e-5);
  EXPECT_FALSE(by_layer.weight().defined() || by_layer.bias().defined());
  const F::GroupNormFuncOptions by_group(2);
  EXPECT_EQ(by_group.eps(), 1e-5);
  EXPECT_FALSE(by_group.weight().defined() || by_group.bias().defined());
  const F::NormalizeFuncOptions lengths;
  EXPECT_EQ(tuple(lengths.p(), lengths.dim(), lengths.eps(), lengths.out().has_value()), tuple(2.0, 1, 1e-12, false));
}

// Of convolutions over D dimensions, as layers and as functions.
template <size_t D>
void expect_convolutions() {
  using Each = torch::ExpandingArray<D>;
  const auto numbers = [](const auto& padding) { return std::get<Each>(padding); };
  const nn::ConvOptions<D> conv(2, 3, 4);
  EXPECT_EQ(tuple(conv.in_channels(), conv.out_channels(), conv.kernel_size()), tuple(2, 3, Each(4)));
  EXPECT_EQ(tuple(conv.stride(), numbers(conv.padding()), conv.dilation()), tuple(Each(1), Each(0), Each(1)));
  EXPECT_EQ(tuple(conv.groups(), conv.bias(), get_enum_name(conv.padding_mode())), tuple(1, true, Word("kZeros")));
  const nn::ConvTransposeOptions<D> back(2, 3, 4);
  EXPECT_EQ(tuple(back.in_channels(), back.out_channels(), back.kernel_size()), tuple(2, 3, Each(4)));
  EXPECT_EQ(tuple(back.stride(), back.padding(), back.output_padding(), back.dilation()), tuple(Each(1), Each(0), Each(0), Each(1)));
  EXPECT_EQ(tuple(back.groups(), back.bias(), get_enum_name(back.padding_mode())), tuple(1, true, Word("kZeros")));
  const F::ConvFuncOptions<D> function;
  EXPECT_EQ(tuple(function.stride(), numbers(function.padding()), function.dilation(), function.groups()),
            tuple(Each(1), Each(0), Each(1), 1));
  const F::ConvTransposeFuncOptions<D> back_function;
  EXPECT_EQ(tuple(back_function.stride(), back_function.padding(), back_function.output_padding(), back_function.groups(),
                  back_function.dilation()),
            tuple(Each(1), Each(0), Each(0), 1, Each(1)));
  EXPECT_FALSE(function.bias().defined() || back_function.bias().defined());
}

TEST(OptionDefaults, Convolutions) {
  expect_convolutions<1>();
  expect_convolutions<2>();
  expect_convolutions<3>();
  using Two = torch::ExpandingArray<2>;
  const nn::FoldOptions fold(5, 3);
  EXPECT_EQ(tuple(fold.output_size(), fold.kernel_size(), fold.dilation(), fold.padding(), fold.stride()),
            tuple(Two(5), Two(3), Two(1), Two(0), Two(1)));
  const nn::UnfoldOptions unfold(3);
  EXPECT_EQ(tuple(unfold.kernel_size(), unfold.dilation(), unfold.padding(), unfold.stride()), tuple(Two(3), Two(1), Two(0), Two(1)));
}

TEST(OptionDefaults, LinearLayersAndDistances) {
  const nn::LinearOptions linear(2, 3);
  EXPECT_EQ(tuple(linear.in_features(), linear.out_features(), linear.bias()), tuple(2, 3, true));
  const nn::BilinearOptions bilinear(2, 3, 4);
  EXPECT_EQ(tuple(bilinear.in1_features(), bilinear.in2_features(), bilinear.out_features(), bilinear.bias()), tuple(2, 3, 4, true));
  EXPECT_EQ(tuple(nn::FlattenOptions().start_dim(), nn::FlattenOptions().end_dim()), tuple(1, -1));
  EXPECT_EQ(tuple(nn::CosineSimilarityOptions().dim(), nn::CosineSimilarityOptions().eps()), tuple(1, 1e-8));
  const nn::PairwiseDistanceOptions distance;
  EXPECT_EQ(tuple(distance.p(), distance.eps(), distance.keepdim()), tuple(2.0, 1e-6, false));
}

TEST(OptionDefaults, Embeddings) {
  const auto rows = [](const auto& o) { return tuple(o.padding_idx(), o.max_norm(), o.norm_type(), o.scale_grad_by_freq(), o.sparse()); };
  const auto usual = tuple(Index(), Number(), 2.0, false, false);
  const nn::EmbeddingOptions layer(4, 3);
  EXPECT_EQ(tuple(layer.num_embeddings(), layer.embedding_dim(), layer._weight().defined()), tuple(4, 3, false));
  EXPECT_EQ(rows(layer), usual);
  EXPECT_EQ(rows(nn::EmbeddingFromPretrainedOptions()), usual);
  EXPECT_TRUE(nn::EmbeddingFromPretrainedOptions().freeze());
  EXPECT_EQ(rows(F::EmbeddingFuncOptions()), usual);
  const nn::EmbeddingBagOptions bag(4, 3);
  EXPECT_EQ(tuple(bag.num_embeddings(), bag.embedding_dim(), bag._weight().defined()), tuple(4, 3, false));
  const auto bags = [](const auto& o) { return tuple(get_enum_name(o.mode()), o.include_last_offset()); };
  EXPECT_EQ(rows(bag), usual);
  EXPECT_EQ(bags(bag), tuple(Word("kMean"), false));
  EXPECT_EQ(rows(nn::EmbeddingBagFromPretrainedOptions()), usual);
  EXPECT_EQ(bags(nn::EmbeddingBagFromPretrainedOptions()), tuple(Word("kMean"), false));
  EXPECT_TRUE(nn::EmbeddingBagFromPretrainedOptions().freeze());
  const F::EmbeddingBagFuncOptions function;
  EXPECT_EQ(rows(function), usual);
  EXPECT_EQ(bags(function), tuple(Word("kMean"), false));
  EXPECT_FALSE(function.offsets().defined() || function.per_sample_weights().defined());
}

TEST(OptionDefaults, Losses) {
  const auto mean = [](const auto& options) { return get_enum_name(options.reduction()) == "kMean"; };
  EXPECT_TRUE(mean(nn::L1LossOptions()) && mean(nn::MSELossOptions()) && mean(nn::MultiLabelMarginLossOptions()));
  EXPECT_TRUE(mean(nn::SoftMarginLossOptions()) && mean(nn::KLDivLossOptions()) && mean(nn::BCELossOptions()));
  EXPECT_TRUE(mean(nn::SmoothL1LossOptions()) && mean(nn::HuberLossOptions()) && mean(nn::BCEWithLogitsLossOptions()));
  EXPECT_TRUE(mean(nn::HingeEmbeddingLossOptions()) && mean(nn::MultiMarginLossOptions()) && mean(nn::CosineEmbeddingLossOptions()));
  EXPECT_TRUE(mean(nn::MultiLabelSoftMarginLossOptions()) && mean(nn::TripletMarginLossOptions()) && mean(nn::CTCLossOptions()));
  EXPECT_TRUE(mean(nn::TripletMarginWithDistanceLossOptions()) && mean(nn::PoissonNLLLossOptions()));
  EXPECT_TRUE(mean(nn::MarginRankingLossOptions()) && mean(nn::NLLLossOptions()) && mean(nn::CrossEntropyLossOptions()));
  EXPECT_EQ(nn::SmoothL1LossOptions().beta(), 1);
  EXPECT_EQ(nn::HuberLossOptions().delta(), 1);
  EXPECT_FALSE(nn::KLDivLossOptions().log_target());
  EXPECT_FALSE(nn::BCELossOptions().weight().defined());
  EXPECT_FALSE(nn::BCEWithLogitsLossOptions().weight().defined() || nn::BCEWithLogitsLossOptions().pos_weight().defined());
  EXPECT_EQ(nn::HingeEmbeddingLossOptions().margin(), 1);
  const nn::MultiMarginLossOptions multi;
  EXPECT_EQ(tuple(multi.p(), multi.margin(), multi.weight().defined()), tuple(1, 1.0, false));
  EXPECT_EQ(nn::CosineEmbeddingLossOptions().margin(), 0);
  EXPECT_FALSE(nn::MultiLabelSoftMarginLossOptions().weight().defined());
  const nn::TripletMarginLossOptions triplet;
  EXPECT_EQ(tuple(triplet.margin(), triplet.p(), triplet.eps(), triplet.swap()), tuple(1.0, 2.0, 1e-6, false));
  const nn::TripletMarginWithDistanceLossOptions distance;
  EXPECT_EQ(tuple(distance.distance_function().has_value(), distance.margin(), distance.swap()), tuple(false, 1.0, false));
  EXPECT_EQ(tuple(nn::CTCLossOptions().blank(), nn::CTCLossOptions().zero_infinity()), tuple(0, false));
  const nn::PoissonNLLLossOptions poisson;
  EXPECT_EQ(tuple(poisson.log_input(), poisson.full(), poisson.eps()), tuple(true, false, 1e-8));
  EXPECT_EQ(nn::MarginRankingLossOptions().margin(), 0);
  EXPECT_EQ(tuple(nn::NLLLossOptions().ignore_index(), nn::NLLLossOptions().weight().defined()), tuple(-100, false));
  const nn::CrossEntropyLossOptions cross;
  EXPECT_EQ(tuple(cross.ignore_index(), cross.weight().defined(), cross.label_smoothing()), tuple(-100, false, 0.0));
  const nn::AdaptiveLogSoftmaxWithLossOptions adaptive(8, 6, {2});
  EXPECT_EQ(tuple(adaptive.in_features(), adaptive.n_classes(), adaptive.cutoffs()), tuple(8, 6, std::vector<int64_t>{2}));
  EXPECT_EQ(tuple(adaptive.div_value(), adaptive.head_bias()), tuple(4.0, false));
}

// Of pools over D dimensions.
template <size_t D>
void expect_pools() {
  using Each = torch::ExpandingArray<D>;
  const nn::AvgPoolOptions<D> avg(3);
  EXPECT_EQ(tuple(avg.kernel_size(), avg.stride(), avg.padding()), tuple(Each(3), Each(3), Each(0)));
  EXPECT_EQ(tuple(avg.ceil_mode(), avg.count_include_pad(), avg.divisor_override()), tuple(false, true, Index()));
  const nn::MaxPoolOptions<D> max(3);
  EXPECT_EQ(tuple(max.kernel_size(), max.stride(), max.padding(), max.dilation(), max.ceil_mode()),
            tuple(Each(3), Each(3), Each(0), Each(1), false));
  const nn::MaxUnpoolOptions<D> back(3);
  EXPECT_EQ(tuple(back.kernel_size(), back.stride(), back.padding()), tuple(Each(3), Each(3), Each(0)));
  const F::MaxUnpoolFuncOptions<D> function(3);
  EXPECT_EQ(tuple(function.kernel_size(), function.stride(), function.padding()), tuple(Each(3), Each(3), Each(0)));
  EXPECT_FALSE(function.output_size().has_value());
  const nn::LPPoolOptions<D> norm(2, 3);
  EXPECT_EQ(tuple(norm.norm_type(), norm.kernel_size(), norm.stride(), norm.ceil_mode()), tuple(2.0, Each(3), Each(3), false));
  const nn::FractionalMaxPoolOptions<D> fractional(3);
  EXPECT_EQ(fractional.kernel_size(), Each(3));
  EXPECT_FALSE(fractional.output_size() || fractional.output_ratio() || fractional._random_samples().defined());
}

TEST(OptionDefaults, PoolsAndImages) {
  expect_pools<1>();
  expect_pools<2>();
  expect_pools<3>();
  const F::PadFuncOptions pad({1, 2});
  EXPECT_EQ(tuple(pad.pad(), get_enum_name(pad.mode()), pad.value()), tuple(std::vector<int64_t>{1, 2}, Word("kConstant"), 0.0));
  const nn::UpsampleOptions up;
  EXPECT_FALSE(up.size() || up.scale_factor() || up.align_corners().has_value());
  EXPECT_EQ(get_enum_name(up.mode()), "kNearest");
  const F::InterpolateFuncOptions resize;
  EXPECT_FALSE(resize.size() || resize.scale_factor() || resize.align_corners().has_value());
  EXPECT_EQ(tuple(get_enum_name(resize.mode()), resize.recompute_scale_factor().has_value(), resize.antialias()),
            tuple(Word("kNearest"), false, false));
  const F::GridSampleFuncOptions sample;
  EXPECT_EQ(tuple(get_enum_name(sample.mode()), get_enum_name(sample.padding_mode()), sample.align_corners().has_value()),
            tuple(Word("kBilinear"), Word("kZeros"), false));
}

TEST(OptionDefaults, RecurrentNetworks) {
  const auto network = [](const auto& o) {
    return tuple(o.input_size(), o.hidden_size(), o.num_layers(), o.bias(), o.batch_first(), o.dropout(), o.bidirectional());
  };
  const auto usual = tuple(3, 4, 1, true, false, 0.0, false);
  EXPECT_EQ(network(nn::RNNOptions(3, 4)), usual);
  EXPECT_EQ(get_enum_name(nn::RNNOptions(3, 4).nonlinearity()), "kTanh");
  EXPECT_EQ(network(nn::GRUOptions(3, 4)), usual);
  EXPECT_EQ(network(nn::LSTMOptions(3, 4)), usual);
  EXPECT_EQ(nn::LSTMOptions(3, 4).proj_size(), 0);
  const auto cell = [](const auto& o) { return tuple(o.input_size(), o.hidden_size(), o.bias()); };
  EXPECT_EQ(cell(nn::RNNCellOptions(3, 4)), tuple(3, 4, true));
  EXPECT_EQ(get_enum_name(nn::RNNCellOptions(3, 4).nonlinearity()), "kTanh");
  EXPECT_EQ(cell(nn::LSTMCellOptions(3, 4)), tuple(3, 4, true));
  EXPECT_EQ(cell(nn::GRUCellOptions(3, 4)), tuple(3, 4, true));
}

TEST(OptionDefaults, AttentionAndTransformers) {
  const nn::MultiheadAttentionOptions attention(8, 2);
  EXPECT_EQ(tuple(attention.embed_dim(), attention.num_heads(), attention.kdim(), attention.vdim()), tuple(8, 2, 8, 8));
  EXPECT_EQ(tuple(attention.dropout(), attention.bias(), attention.add_bias_kv(), attention.add_zero_attn()),
            tuple(0.0, true, false, false));
  const F::MultiheadAttentionForwardFuncOptions function(8, 2, {}, {}, {}, {}, false, 0, {}, {});
  EXPECT_EQ(tuple(function.training(), function.need_weights(), function.use_separate_proj_weight(), function.average_attn_weights()),
            tuple(true, true, false, true));
  EXPECT_FALSE(function.key_padding_mask().defined() || function.attn_mask().defined() || function.q_proj_weight().defined());
  EXPECT_FALSE(function.k_proj_weight().defined() || function.v_proj_weight().defined());
  EXPECT_FALSE(function.static_k().defined() || function.static_v().defined());
  const auto layer = [](const auto& o) {
    const bool relu = std::holds_alternative<torch::enumtype::kReLU>(o.activation());
    return tuple(o.d_model(), o.nhead(), o.dim_feedforward(), o.dropout(), relu);
  };
  const auto usual = tuple(8, 2, 2048, 0.1, true);
  EXPECT_EQ(layer(nn::TransformerEncoderLayerOptions(8, 2)), usual);
  EXPECT_EQ(layer(nn::TransformerDecoderLayerOptions(8, 2)), usual);
  const nn::TransformerOptions transformer;
  EXPECT_EQ(layer(transformer), tuple(512, 8, 2048, 0.1, true));
  EXPECT_EQ(tuple(transformer.num_encoder_layers(), transformer.num_decoder_layers()), tuple(6, 6));
  EXPECT_TRUE(transformer.custom_encoder().is_empty() && transformer.custom_decoder().is_empty());
  EXPECT_TRUE(nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(8, 2), 1).norm().is_empty());
  EXPECT_TRUE(nn::TransformerDecoderOptions(nn::TransformerDecoderLayerOptions(8, 2), 1).norm().is_empty());
}

}  // namespace
