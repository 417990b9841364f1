// The functions that libtorch and tandem call in the same way.
#pragma once

#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/attention.h"
#include "ops/convolution.h"
#include "ops/counting.h"
#include "ops/creation.h"
#include "ops/distance.h"
#include "ops/dropout.h"
#include "ops/grid_sample.h"
#include "ops/indexing.h"
#include "ops/interpolate.h"
#include "ops/join.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/norms.h"
#include "ops/linalg/products.h"
#include "ops/loss/loss.h"
#include "ops/matmul.h"
#include "ops/moving.h"
#include "ops/normalization.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/pointwise.h"
#include "ops/pooling.h"
#include "ops/random.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/scatter.h"
#include "ops/softmax.h"
#include "ops/sort.h"
#include "ops/view.h"

namespace torch {

// ops/activation.h
using tandem::celu, tandem::celu_, tandem::elu_, tandem::gelu, tandem::glu, tandem::hardshrink, tandem::hardtanh, tandem::hardtanh_,
    tandem::leaky_relu, tandem::leaky_relu_, tandem::prelu, tandem::rrelu, tandem::rrelu_, tandem::softplus, tandem::softshrink,
    tandem::threshold, tandem::threshold_;

// ops/arithmetic.h
using tandem::add, tandem::addcdiv, tandem::addcmul, tandem::clamp, tandem::clamp_max, tandem::clamp_min, tandem::div, tandem::float_power,
    tandem::isclose, tandem::lerp, tandem::logit, tandem::nan_to_num, tandem::polygamma, tandem::positive, tandem::round, tandem::rsub,
    tandem::sub, tandem::true_divide, tandem::where;

// ops/attention.h
using tandem::scaled_dot_product_attention;

// ops/convolution.h
using tandem::conv1d, tandem::conv2d, tandem::conv3d, tandem::conv_transpose1d, tandem::conv_transpose2d, tandem::conv_transpose3d;

// ops/counting.h
using tandem::bincount, tandem::histc, tandem::one_hot, tandem::unique_consecutive;

// ops/creation.h
using tandem::arange, tandem::empty, tandem::empty_like, tandem::eye, tandem::fill, tandem::from_blob, tandem::full, tandem::full_like,
    tandem::linspace, tandem::logspace, tandem::ones, tandem::ones_like, tandem::tensor, tandem::tril_indices, tandem::triu_indices,
    tandem::zeros, tandem::zeros_like;

// ops/distance.h
using tandem::cosine_similarity, tandem::pairwise_distance;

// ops/dropout.h
using tandem::alpha_dropout, tandem::feature_alpha_dropout, tandem::feature_dropout;

// ops/grid_sample.h
using tandem::grid_sampler_2d, tandem::grid_sampler_3d;

// ops/indexing.h
using tandem::argwhere, tandem::index_put, tandem::index_select, tandem::masked_fill, tandem::masked_scatter, tandem::masked_select,
    tandem::nonzero, tandem::put, tandem::take, tandem::tril, tandem::triu, tandem::where;

// ops/interpolate.h
using tandem::channel_shuffle, tandem::pixel_shuffle, tandem::pixel_unshuffle;

// ops/join.h
using tandem::block_diag, tandem::cartesian_prod, tandem::cat, tandem::column_stack, tandem::dstack, tandem::hstack, tandem::meshgrid,
    tandem::repeat, tandem::stack, tandem::tile, tandem::vstack;

// ops/loss/loss.h
using tandem::binary_cross_entropy_with_logits, tandem::cosine_embedding_loss, tandem::ctc_loss, tandem::hinge_embedding_loss,
    tandem::huber_loss, tandem::kl_div, tandem::l1_loss, tandem::margin_ranking_loss, tandem::mse_loss, tandem::multi_margin_loss,
    tandem::multilabel_margin_loss, tandem::nll_loss, tandem::poisson_nll_loss, tandem::smooth_l1_loss, tandem::soft_margin_loss,
    tandem::triplet_margin_loss;

// ops/matmul.h
using tandem::addbmm, tandem::addmm, tandem::baddbmm, tandem::bmm, tandem::dot, tandem::einsum, tandem::linear, tandem::matmul, tandem::mm,
    tandem::mv;

// ops/moving.h
using tandem::flip, tandem::fliplr, tandem::flipud, tandem::roll, tandem::rot90;

// ops/normalization.h
using tandem::batch_norm, tandem::group_norm, tandem::instance_norm, tandem::layer_norm, tandem::rms_norm;

// ops/linalg/norms.h
using tandem::dist, tandem::norm;

// ops/padding.h
using tandem::constant_pad_nd, tandem::pad;

// ops/pointwise.h
using tandem::abs, tandem::abs_, tandem::acos, tandem::acos_, tandem::acosh, tandem::acosh_, tandem::add, tandem::angle, tandem::asin,
    tandem::asin_, tandem::asinh, tandem::asinh_, tandem::atan, tandem::atan2, tandem::atan_, tandem::atanh, tandem::atanh_,
    tandem::bitwise_and, tandem::bitwise_left_shift, tandem::bitwise_not, tandem::bitwise_or, tandem::bitwise_right_shift,
    tandem::bitwise_xor, tandem::ceil, tandem::ceil_, tandem::copysign, tandem::cos, tandem::cos_, tandem::cosh, tandem::cosh_,
    tandem::deg2rad, tandem::deg2rad_, tandem::digamma, tandem::div, tandem::eq, tandem::erf, tandem::erf_, tandem::erfc, tandem::erfc_,
    tandem::erfinv, tandem::exp, tandem::exp2, tandem::exp2_, tandem::exp_, tandem::expm1, tandem::expm1_, tandem::floor, tandem::floor_,
    tandem::floor_divide, tandem::fmax, tandem::fmin, tandem::fmod, tandem::frac, tandem::frac_, tandem::ge, tandem::gt,
    tandem::hardsigmoid, tandem::hardswish, tandem::heaviside, tandem::hypot, tandem::isfinite, tandem::isinf, tandem::isnan,
    tandem::isneginf, tandem::isposinf, tandem::ldexp, tandem::ldexp_, tandem::le, tandem::lgamma, tandem::log, tandem::log10,
    tandem::log10_, tandem::log1p, tandem::log1p_, tandem::log2, tandem::log2_, tandem::log_, tandem::logaddexp, tandem::logaddexp2,
    tandem::logical_and, tandem::logical_not, tandem::logical_or, tandem::logical_xor, tandem::lt, tandem::maximum, tandem::minimum,
    tandem::mish, tandem::mish_, tandem::mul, tandem::ne, tandem::neg, tandem::neg_, tandem::pow, tandem::rad2deg, tandem::rad2deg_,
    tandem::reciprocal, tandem::reciprocal_, tandem::relu, tandem::relu6, tandem::relu_, tandem::remainder, tandem::round, tandem::round_,
    tandem::rsqrt, tandem::rsqrt_, tandem::rsub, tandem::selu, tandem::selu_, tandem::sgn, tandem::sigmoid, tandem::sigmoid_, tandem::sign,
    tandem::signbit, tandem::silu, tandem::silu_, tandem::sin, tandem::sin_, tandem::sinc, tandem::sinc_, tandem::sinh, tandem::sinh_,
    tandem::softsign, tandem::sqrt, tandem::sqrt_, tandem::square, tandem::square_, tandem::sub, tandem::tan, tandem::tan_, tandem::tanh,
    tandem::tanh_, tandem::tanhshrink, tandem::trunc, tandem::trunc_, tandem::xlogy, tandem::xlogy_;

// ops/pooling.h
using tandem::adaptive_avg_pool1d, tandem::adaptive_avg_pool2d, tandem::adaptive_avg_pool3d;

// ops/linalg/products.h
using tandem::addmv, tandem::addr, tandem::bilinear, tandem::cdist, tandem::chain_matmul, tandem::cross, tandem::inner, tandem::kron,
    tandem::outer, tandem::tensordot, tandem::vdot;

// ops/random.h
using tandem::bernoulli, tandem::dropout, tandem::dropout_, tandem::initial_seed, tandem::multinomial, tandem::normal, tandem::rand,
    tandem::rand_like, tandem::randint, tandem::randint_like, tandem::randn, tandem::randn_like, tandem::randperm;

// ops/recurrent/recurrent.h
using tandem::gru, tandem::gru_cell, tandem::lstm, tandem::lstm_cell, tandem::rnn_relu, tandem::rnn_relu_cell, tandem::rnn_tanh,
    tandem::rnn_tanh_cell;

// ops/reduce.h
using tandem::all, tandem::allclose, tandem::amax, tandem::amin, tandem::aminmax, tandem::any, tandem::argmax, tandem::argmin,
    tandem::count_nonzero, tandem::equal, tandem::logsumexp, tandem::max, tandem::mean, tandem::min, tandem::nanmean, tandem::nansum,
    tandem::prod, tandem::std, tandem::std_mean, tandem::sum, tandem::trace, tandem::var, tandem::var_mean;

// ops/scan.h
using tandem::cummax, tandem::cummin, tandem::cumprod, tandem::cumsum, tandem::diff, tandem::logcumsumexp, tandem::trapezoid, tandem::trapz;

// ops/scatter.h
using tandem::gather, tandem::index_add, tandem::index_copy, tandem::index_fill, tandem::index_reduce, tandem::repeat_interleave,
    tandem::scatter, tandem::scatter_add, tandem::scatter_reduce, tandem::take_along_dim;

// ops/softmax.h
using tandem::log_softmax, tandem::softmax;

// ops/sort.h
using tandem::argsort, tandem::bucketize, tandem::isin, tandem::kthvalue, tandem::median, tandem::mode, tandem::msort, tandem::nanmedian,
    tandem::nanquantile, tandem::quantile, tandem::searchsorted, tandem::sort, tandem::topk;

// ops/view.h
using tandem::as_strided, tandem::atleast_1d, tandem::atleast_2d, tandem::atleast_3d, tandem::broadcast_tensors, tandem::broadcast_to,
    tandem::chunk, tandem::diag, tandem::diag_embed, tandem::diagflat, tandem::diagonal, tandem::dsplit, tandem::flatten, tandem::hsplit,
    tandem::movedim, tandem::narrow, tandem::permute, tandem::ravel, tandem::reshape, tandem::select, tandem::split, tandem::squeeze,
    tandem::swapaxes, tandem::t, tandem::tensor_split, tandem::transpose, tandem::unbind, tandem::unflatten, tandem::unsqueeze,
    tandem::vsplit;

}  // namespace torch
