// Linear layers, layers that only reshape, embeddings, and distances.
#pragma once

#include <cmath>

#include "libtorch/functional_linear.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_linear.h"
#include "nn/init.h"
#include "nn/reset.h"
#include "ops/random.h"
#include "ops/view.h"

namespace torch::nn {

/// The input itself; arguments of any kind are taken and not used.
class IdentityImpl : public detail::NoOptions<IdentityImpl> {
 public:
  Tensor forward(const Tensor& input, Site = Site::here()) { return input; }
  void pretty_print(std::ostream& stream) const override { detail::Text(stream, "Identity"); }
};
TORCH_MODULE(Identity);

/// input weightᵀ + bias; weight (out, in) and bias (out) start uniform within ±1/sqrt(in).
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features, Site site = Site::here())
      : LinearImpl(LinearOptions(in_features, out_features), site) {}
  explicit LinearImpl(const LinearOptions& options_, Site = Site::here()) : options(options_) { LinearImpl::reset(); }
  void reset() override {
    const Site site = detail::making_site();
    const int64_t in = options.in_features(), out = options.out_features();
    if (in < 0 || out < 0) tandem::fail("[Linear] in_features and out_features must not be negative, got ", in, " and ", out);
    weight = register_parameter("weight", tandem::empty({out, in}, {}, site), true, site);
    bias = register_parameter("bias", options.bias() ? tandem::empty({out}, {}, site) : Tensor(), options.bias(), site);
    reset_parameters(site);
  }
  void reset_parameters(Site site = Site::here()) { tandem::nn::detail::reset_uniform(weight, bias, site); }
  Tensor forward(const Tensor& input, Site site = Site::here()) { return tandem::linear(input, weight, bias, site); }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "Linear")("in_features", options.in_features())("out_features", options.out_features())("bias", options.bias());
  }

  LinearOptions options;
  Tensor weight, bias;
};
TORCH_MODULE(Linear);

/// input1 weight[k] input2 + bias[k], which start uniform within ±1/sqrt(in1).
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features, Site site = Site::here())
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features), site) {}
  explicit BilinearImpl(const BilinearOptions& options_, Site = Site::here()) : options(options_) { BilinearImpl::reset(); }
  void reset() override {
    const Site site = detail::making_site();
    const int64_t in1 = options.in1_features(), in2 = options.in2_features(), out = options.out_features();
    if (in1 <= 0 || in2 < 0 || out < 0)
      tandem::fail("[Bilinear] needs in1_features > 0 and no negative sizes, got ", in1, ", ", in2, " and ", out);
    weight = register_parameter("weight", tandem::empty({out, in1, in2}, {}, site), true, site);
    bias = register_parameter("bias", options.bias() ? tandem::empty({out}, {}, site) : Tensor(), options.bias(), site);
    reset_parameters(site);
  }
  void reset_parameters(Site site = Site::here()) {
    const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1, site)));
    tandem::nn::init::uniform_(weight, -bound, bound, site);
    if (bias.defined()) tandem::nn::init::uniform_(bias, -bound, bound, site);
  }
  Tensor forward(const Tensor& input1, const Tensor& input2, Site site = Site::here()) {
    return tandem::bilinear(input1, input2, weight, bias, site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "Bilinear")("in1_features", options.in1_features())("in2_features", options.in2_features())(
        "out_features", options.out_features())("bias", options.bias());
  }

  BilinearOptions options;
  Tensor weight, bias;
};
TORCH_MODULE(Bilinear);

/// Merges dimensions into one.
class FlattenImpl : public detail::OptionsOnly<FlattenImpl, FlattenOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) { return input.flatten(options.start_dim(), options.end_dim(), site); }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "Flatten")("start_dim", options.start_dim())("end_dim", options.end_dim());
  }
};
TORCH_MODULE(Flatten);

/// Divides a dimension into several.
class UnflattenImpl : public detail::OptionsOnly<UnflattenImpl, UnflattenOptions> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes, Site site = Site::here())
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes)), site) {}
  UnflattenImpl(std::string dimname, UnflattenOptions::namedshape_t namedshape, Site site = Site::here())
      : UnflattenImpl(UnflattenOptions(std::move(dimname), std::move(namedshape)), site) {}
  explicit UnflattenImpl(UnflattenOptions options_, Site = Site::here()) : OptionsOnly(std::move(options_)) {}
  /// Error for a dimension by name.
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    if (!options.dimname().empty())
      tandem::fail<tandem::NotImplementedError>("[Unflatten] dimension \"", options.dimname(),
                                                "\" is given by name, and tensors have no names here: give its number");
    return input.unflatten(options.dim(), options.sizes(), site);
  }
  void pretty_print(std::ostream& stream) const override {
    if (options.namedshape().empty()) {
      detail::Text(stream, "Unflatten")("dim", options.dim())("unflattened_size", options.sizes());
      return;
    }
    stream << "torch::nn::Unflatten(dim=\"" << options.dimname() << "\", unflattened_size=";
    const char* between = "{";
    for (const auto& [name, size] : options.namedshape()) stream << std::exchange(between, ", ") << "{\"" << name << "\", " << size << '}';
    stream << "})";
  }
};
TORCH_MODULE(Unflatten);

class CosineSimilarityImpl : public detail::OptionsOnly<CosineSimilarityImpl, CosineSimilarityOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input1, const Tensor& input2, Site site = Site::here()) {
    return functional::cosine_similarity(input1, input2, options, site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "CosineSimilarity")("dim", options.dim())("eps", options.eps());
  }
};
TORCH_MODULE(CosineSimilarity);

class PairwiseDistanceImpl : public detail::OptionsOnly<PairwiseDistanceImpl, PairwiseDistanceOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input1, const Tensor& input2, Site site = Site::here()) {
    return functional::pairwise_distance(input1, input2, options, site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "PairwiseDistance")("p", options.p())("eps", options.eps())("keepdim", options.keepdim());
  }
};
TORCH_MODULE(PairwiseDistance);

}  // namespace torch::nn
