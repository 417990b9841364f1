// torch::nn::utils: clipping of gradients, parameters as one vector. Packed sequences are in utils_rnn.h.
#pragma once

#include <initializer_list>
#include <vector>

#include "base/error.h"
#include "libtorch/utils_rnn.h"
#include "tensor/tensor.h"

namespace torch::nn::utils {

namespace detail {
/// Of all gradients as one vector, on the first one's device; undefined without gradients. Order 0 counts the gradients.
tandem::Tensor total_norm(const std::vector<tandem::Tensor>& parameters, double norm_type, tandem::Site site);
}  // namespace detail

/// Scales all gradients together so that the norm of them, seen as one vector, is at most `max_norm`; returns that norm as it was. With
/// `error_if_nonfinite` an infinite norm, or none, is an error, and no gradient has changed.
double clip_grad_norm_(const std::vector<tandem::Tensor>& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false, tandem::Site site = tandem::Site::here());
double clip_grad_norm_(std::initializer_list<tandem::Tensor> parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false, tandem::Site site = tandem::Site::here());
double clip_grad_norm_(const tandem::Tensor& parameter, double max_norm, double norm_type = 2, bool error_if_nonfinite = false,
                       tandem::Site site = tandem::Site::here());

/// Cuts each number of the gradients to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<tandem::Tensor>& parameters, double clip_value, tandem::Site site = tandem::Site::here());
void clip_grad_value_(std::initializer_list<tandem::Tensor> parameters, double clip_value, tandem::Site site = tandem::Site::here());
void clip_grad_value_(const tandem::Tensor& parameter, double clip_value, tandem::Site site = tandem::Site::here());

namespace detail {
void check_one_device(const char* op, const std::vector<tandem::Tensor>& parameters, tandem::Site site);
}  // namespace detail

/// All parameters as one vector; gradients flow back. Error where they are on several devices.
[[nodiscard]] tandem::Tensor parameters_to_vector(const std::vector<tandem::Tensor>& parameters, tandem::Site site = tandem::Site::here());

/// Gives the parameters their parts of a vector: they are views of it from now on. Error where it has fewer numbers than they.
void vector_to_parameters(const tandem::Tensor& vec, const std::vector<tandem::Tensor>& parameters,
                          tandem::Site site = tandem::Site::here());

}  // namespace torch::nn::utils
